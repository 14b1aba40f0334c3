//! File and function sizes.

use super::Finding;
use super::scan::{Source, body, close, words};
use std::ops::Range;

/// Most lines of code in a file.
const FILE: usize = 700;

/// Most lines of code in a function's body.
const FUNCTION: usize = 60;

/// Most lines around the `match` in a function that is a table.
const AROUND: usize = 15;

/// Most lines in one arm of such a table.
const ARM: usize = 20;

/// Files above the cap; tests and benches may be longer.
pub(crate) fn file(source: &Source) -> Option<Finding> {
    let size = source.count(0..usize::MAX);
    (size > FILE && !source.is_test()).then(|| {
        source.finding(
            0,
            format!("{size} lines of code, the cap is {FILE} without tests, comments and blanks"),
            "nobody reads a longer file top-down",
            "move one of its subjects to a file of its own",
        )
    })
}

/// Functions above the cap that are not one `match` table.
pub(crate) fn functions(source: &Source) -> Vec<Finding> {
    if source.is_test() {
        return Vec::new();
    }
    let code = &source.code;
    let mut findings = Vec::new();
    for (name, open) in bodies(code) {
        let Some(end) = close(code, open) else {
            continue;
        };
        let size = source.count(inside(source, open..end));
        if size > FUNCTION && !is_table(source, open..end, size) {
            findings.push(source.finding(
                source.line(open),
                format!("`{name}` has {size} lines of code, the cap is {FUNCTION}"),
                "a function says one thing",
                "split it; one `match` may be longer if its arms are short",
            ));
        }
    }
    findings
}

/// The functions with a body: their names and the places of their opening braces.
fn bodies(code: &str) -> Vec<(&str, usize)> {
    let mut found = Vec::new();
    let mut words = words(code).peekable();
    while let Some((at, word)) = words.next() {
        if word != "fn" {
            continue;
        }
        // A pointer type, `fn(A) -> B`, has a parenthesis where a function has its name.
        let Some((start, name)) = words.peek().copied() else {
            break;
        };
        if code[at + 2..start]
            .trim_matches(['$', ' ', '\n'])
            .is_empty()
        {
            found.extend(body(code, start).map(|open| (name, open)));
        }
    }
    found
}

/// The lines between a pair of braces, without those that the braces stand in.
fn inside(source: &Source, block: Range<usize>) -> Range<usize> {
    source.line(block.start) + 1..source.line(block.end)
}

/// Whether nearly all of a body is one `match` with short arms.
fn is_table(source: &Source, block: Range<usize>, size: usize) -> bool {
    let code = &source.code;
    let outer = &code[..block.end];
    words(outer).any(|(at, word)| {
        if at < block.start || word != "match" {
            return false;
        }
        let Some(open) = body(outer, at) else {
            return false;
        };
        let Some(end) = close(outer, open) else {
            return false;
        };
        let table = source.count(inside(source, open..end));
        size - table <= AROUND && longest_arm(source, open..end) <= ARM
    })
}

/// The lines of the longest arm of a `match`: the most that begin deeper than the arms do.
fn longest_arm(source: &Source, block: Range<usize>) -> usize {
    let lines = inside(source, block.clone());
    let (mut depth, mut run, mut longest) = (0, 0, 0);
    for (line, code) in source.code_lines().filter(|(line, _)| lines.contains(line)) {
        let closes = code.trim_start().starts_with(['}', ')', ']']);
        run = if depth > 0 && !(closes && depth == 1) {
            run + 1
        } else {
            0
        };
        longest = longest.max(if source.test[line] { 0 } else { run });
        for byte in code.bytes() {
            match byte {
                b'{' | b'(' | b'[' => depth += 1,
                b'}' | b')' | b']' => depth -= 1,
                _ => {}
            }
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oversized(text: &str) -> Vec<String> {
        let source = Source::new("crates/a/src/a.rs", text);
        functions(&source)
            .into_iter()
            .map(|finding| finding.what)
            .collect()
    }

    #[test]
    fn a_file_is_measured_without_comments_blanks_and_tests() {
        let code = "fn f() {}\n".repeat(FILE);
        let rest = "// why\n\n#[cfg(test)]\nmod tests {\nfn t() {}\n}\n";
        assert!(file(&Source::new("a.rs", &format!("{code}{rest}"))).is_none());
        let longer = Source::new("a.rs", &format!("{code}fn g() {{}}\n{rest}"));
        assert!(file(&longer).is_some());
        let bench = Source::new("crates/a/benches/a.rs", &longer.text);
        assert!(file(&bench).is_none());
    }

    #[test]
    fn a_function_over_the_cap_is_found_by_name() {
        let function =
            |lines: usize| format!("fn long() {{\n{}}}\n", "    call();\n".repeat(lines));
        assert!(oversized(&function(FUNCTION)).is_empty());
        assert_eq!(
            oversized(&function(FUNCTION + 1)),
            ["`long` has 61 lines of code, the cap is 60"]
        );
        assert!(oversized(&format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function(99))).is_empty());
    }

    #[test]
    fn a_match_table_may_be_longer() {
        let arms = "        A::B => 1,\n        A::C => {\n            2\n        }\n".repeat(40);
        let table = format!("fn table(a: A) {{\n    match a {{\n{arms}    }}\n}}\n");
        assert!(oversized(&table).is_empty());
        let arm = format!(
            "        A::B => {{\n{}        }}\n",
            "            call();\n".repeat(61)
        );
        let one_arm = format!("fn table(a: A) {{\n    match a {{\n{arm}    }}\n}}\n");
        assert_eq!(oversized(&one_arm).len(), 1);
    }

    #[test]
    fn a_match_among_other_code_is_no_table() {
        let arms = "        A::B => 1,\n".repeat(50);
        let rest = "    call();\n".repeat(AROUND + 1);
        let text = format!("fn mixed(a: A) {{\n{rest}    match a {{\n{arms}    }}\n}}\n");
        assert_eq!(oversized(&text).len(), 1);
    }

    #[test]
    fn function_pointers_and_declarations_have_no_body() {
        assert_eq!(
            bodies("type F = fn(u8) -> u8; trait T { fn f(&self); }"),
            []
        );
        assert_eq!(bodies("fn a(f: fn() -> u8) { }"), [("a", 20)]);
    }
}
