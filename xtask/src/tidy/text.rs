//! Rules on the text of one file: module docs, and what may not be merged.

use super::Finding;
use super::scan::Source;

/// Code that marks something as unfinished or skipped.
const FORBIDDEN: [(&str, &str, &str); 4] = [
    (
        "todo!(",
        "main has no holes",
        "implement it, or return an error that names what is missing",
    ),
    (
        "unimplemented!(",
        "main has no holes",
        "implement it, or return an error that names what is missing",
    ),
    (
        "#[ignore",
        "a test that does not run proves nothing",
        "fix the test or delete it",
    ),
    ("dbg!(", "it prints to the user's terminal", "remove it"),
];

/// A file that does not say what it is.
pub(crate) fn module_docs(source: &Source) -> Option<Finding> {
    let described = source
        .text
        .lines()
        .map(str::trim_start)
        .take_while(|line| line.is_empty() || line.starts_with("//") || line.starts_with("#!["))
        .any(|line| {
            line.strip_prefix("//!")
                .is_some_and(|text| !text.trim().is_empty())
        });
    (!described).then(|| {
        source.finding(
            0,
            "no module documentation".to_owned(),
            "a reader must know what is here, and what is not, before the code",
            "begin the file with `//! What this holds.`",
        )
    })
}

/// Each forbidden string in code, and each `TODO` without its issue in a comment.
pub(crate) fn forbidden(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, code) in source.code_lines() {
        for (string, why, remedy) in FORBIDDEN {
            if starts_word(code, string) {
                findings.push(source.finding(line, format!("`{string}`"), why, remedy));
            }
        }
    }
    for (line, comment) in source.comments.iter().enumerate() {
        // Between backticks the word is spoken of, not used.
        let bare = comment
            .match_indices("TODO")
            .any(|(at, _)| !comment[..at].ends_with('`') && !has_issue(&comment[at + 4..]));
        if bare {
            findings.push(source.finding(
                line,
                "`TODO` without an issue".to_owned(),
                "nobody finds it again",
                "write `TODO(#123)` with the issue's number, or do it now",
            ));
        }
    }
    findings
}

/// Whether `string` is in `code` and is not the end of a longer word.
fn starts_word(code: &str, string: &str) -> bool {
    code.match_indices(string)
        .any(|(at, _)| !code[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

/// Whether `rest`, which follows a `TODO`, begins with `(#123)`.
fn has_issue(rest: &str) -> bool {
    rest.strip_prefix("(#")
        .and_then(|rest| rest.split_once(')'))
        .is_some_and(|(issue, _)| !issue.is_empty() && issue.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, String)> {
        let source = Source::new("a.rs", text);
        forbidden(&source)
            .into_iter()
            .map(|finding| (finding.line, finding.what))
            .collect()
    }

    #[test]
    fn a_file_begins_with_its_documentation() {
        let documented = |text| module_docs(&Source::new("a.rs", text)).is_none();
        assert!(documented("//! Kernels.\n"));
        assert!(documented(
            "// Licence\n#![no_std]\n//! Kernels.\nfn f() {}"
        ));
        assert!(!documented("fn f() {}\n//! Late."));
        assert!(!documented("//!\nfn f() {}"));
        assert!(!documented(""));
    }

    #[test]
    fn unfinished_code_is_found_in_code_only() {
        assert_eq!(found("\nfn f() { todo!() }"), [(2, "`todo!(`".to_owned())]);
        assert_eq!(
            found("#[ignore = \"slow\"]\nfn f() {}"),
            [(1, "`#[ignore`".to_owned())]
        );
        assert_eq!(found("f(dbg!(x), unimplemented!())").len(), 2);
        assert_eq!(found("// never `todo!()`\nf(\"dbg!(\"); my_dbg!(x);"), []);
    }

    #[test]
    fn a_todo_names_its_issue() {
        assert_eq!(found("// TODO(#12): widen"), []);
        assert_eq!(found("let TODO = 1; // not a `TODO`"), []);
        for bare in [
            "// TODO: widen",
            "// TODO(me)",
            "// TODO(#)",
            "/* a\nTODO */",
        ] {
            assert_eq!(found(bare).len(), 1, "{bare}");
        }
    }
}
