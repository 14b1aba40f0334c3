//! The instruction set: its budget of leaves, and the crates that may not know its names.

use super::Finding;
use super::scan::{Source, body, close, words};

/// How many leaves each enum of the instruction set may have.
///
/// A number that grows here is a decision: a composition of existing instructions needs no leaf.
const BUDGET: &[(&str, usize)] = &[
    ("ActivationOp", 5),
    ("BinaryOp", 11),
    ("CompareOp", 6),
    ("CreateOp", 3),
    ("IndexOp", 3),
    ("ModuleOp", 13),
    ("MovementOp", 5),
    ("Operation", 18),
    ("ReduceOp", 9),
    ("ScanOp", 4),
    ("SortOp", 2),
    ("UnaryOp", 18),
];

/// Crates that pass instructions on without knowing any of them.
const GENERIC: [&str; 3] = [
    "crates/burn-capture/src/",
    "crates/burn-dispatch/src/",
    "crates/burn-remote/src/",
];

/// Where the instruction set is.
const INSTRUCTIONS: &str = "crates/burn-ir/src/";

/// An enum of instructions, with the place it stands.
struct Leaves<'a> {
    source: &'a Source,
    line: usize,
    name: &'a str,
    count: usize,
}

/// Checks the budget, and that no generic crate names an instruction.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let enums: Vec<_> = sources
        .iter()
        .filter(|source| source.path.starts_with(INSTRUCTIONS))
        .flat_map(leaves)
        .collect();
    let mut findings = over_budget(&enums, BUDGET);
    let names: Vec<_> = enums.iter().map(|leaves| leaves.name).collect();
    for source in sources {
        if GENERIC.iter().any(|folder| source.path.starts_with(folder)) {
            findings.extend(named(source, &names));
        }
    }
    findings
}

/// The enums of instructions in a file: `Operation`, and those whose name ends in `Op`.
fn leaves(source: &Source) -> Vec<Leaves<'_>> {
    let code = &source.code;
    let mut found = Vec::new();
    let mut words = words(code);
    while let Some((_, word)) = words.next() {
        if word != "enum" {
            continue;
        }
        let Some((at, name)) = words.next() else {
            break;
        };
        let line = source.line(at);
        let is_instruction = name == "Operation" || name.ends_with("Op");
        if !is_instruction || source.test[line] {
            continue;
        }
        let Some(open) = body(code, at) else { continue };
        let Some(end) = close(code, open) else {
            continue;
        };
        found.push(Leaves {
            source,
            line,
            name,
            count: variants(&code[open + 1..end]),
        });
    }
    found
}

/// The number of variants in an enum's body: parts between commas that hold a name.
fn variants(body: &str) -> usize {
    let (mut depth, mut count, mut named) = (0, 0, false);
    for byte in body.bytes() {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth -= 1,
            b',' if depth == 0 => {
                count += usize::from(named);
                named = false;
            }
            _ if depth == 0 && byte.is_ascii_alphabetic() => named = true,
            _ => {}
        }
    }
    count + usize::from(named)
}

/// Enums whose size is not the one in `budget`, and entries of `budget` without an enum.
fn over_budget(enums: &[Leaves<'_>], budget: &[(&str, usize)]) -> Vec<Finding> {
    let why = "an instruction is work in every engine and every layer";
    let mut findings = Vec::new();
    for leaves in enums {
        let planned = budget
            .iter()
            .find(|(name, _)| *name == leaves.name)
            .map(|(_, count)| *count);
        if planned != Some(leaves.count) {
            let planned = planned.map_or("none".to_owned(), |count| count.to_string());
            findings.push(leaves.source.finding(
                leaves.line,
                format!(
                    "`{}` has {} leaves, the budget is {planned}",
                    leaves.name, leaves.count
                ),
                why,
                &format!(
                    "compose it of others, or set (\"{}\", {}) in BUDGET in xtask and say why",
                    leaves.name, leaves.count
                ),
            ));
        }
    }
    for (name, count) in budget {
        if !enums.iter().any(|leaves| leaves.name == *name) {
            findings.push(Finding {
                path: INSTRUCTIONS.to_owned(),
                line: 1,
                what: format!("`{name}` is gone, the budget is {count}"),
                why: why.to_owned(),
                remedy: "remove it from BUDGET in xtask".to_owned(),
            });
        }
    }
    findings
}

/// The lines that name an instruction, or an enum of instructions among `enums`.
///
/// Comments and tests count: `grep` has to find nothing.
fn named(source: &Source, enums: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, text) in source.text.lines().enumerate() {
        let found = words(text).find(|(at, word)| {
            let rest = &text[at + word.len()..];
            let leaf = rest.strip_prefix("::").is_some_and(|rest| {
                rest.starts_with(|c: char| c.is_ascii_uppercase() || "*{".contains(c))
            });
            match *word {
                "Operation" => leaf,
                _ => enums.contains(word) || (leaf && word.ends_with("Op")),
            }
        });
        if let Some((_, word)) = found {
            findings.push(source.finding(
                line,
                format!("an operation is named by `{word}`"),
                "a layer that passes instructions on knows none of them",
                "move the knowledge into a method of `Operation`, a test into `tests/`",
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unary() -> Source {
        let text = "/// Leaves.\n#[derive(Clone, Copy)]\npub enum UnaryOp {\n    /// a, b\n    Exp,\n    \
                    #[default]\n    Clamp { min: f64, max: f64 },\n    Powi(i32, u8),\n}\n\
                    enum Other { A }\n#[cfg(test)]\nmod tests {\n    enum FakeOp { A }\n}\n";
        Source::new("crates/burn-ir/src/op/unary.rs", text)
    }

    fn what(findings: Vec<Finding>) -> Vec<String> {
        findings.into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn variants_are_counted_with_payloads_attributes_and_docs() {
        let source = unary();
        let found: Vec<_> = leaves(&source)
            .iter()
            .map(|l| (l.name, l.line, l.count))
            .collect();
        assert_eq!(found, [("UnaryOp", 2, 3)]);
        assert_eq!(variants(" A = 1, B<C>(D) "), 2);
        assert_eq!(variants(""), 0);
    }

    #[test]
    fn a_leaf_more_or_less_than_the_budget_is_found() {
        let source = unary();
        let enums = leaves(&source);
        assert!(over_budget(&enums, &[("UnaryOp", 3)]).is_empty());
        assert_eq!(
            what(over_budget(&enums, &[("UnaryOp", 2), ("ScanOp", 1)])),
            [
                "`UnaryOp` has 3 leaves, the budget is 2",
                "`ScanOp` is gone, the budget is 1"
            ]
        );
        assert_eq!(
            what(over_budget(&enums, &[])),
            ["`UnaryOp` has 3 leaves, the budget is none"]
        );
    }

    #[test]
    fn a_generic_crate_names_no_operation() {
        let lines = |text| named(&Source::new("a.rs", text), &["UnaryOp", "Operation"]).len();
        for text in [
            "let op = UnaryOp::Exp;",
            "use burn_ir::{Checked, UnaryOp};",
            "// like `ScanOp::Sum`",
            "match op { Operation::Unary { .. } => 1 }",
            "use burn_ir::Operation::*;",
            "CreateOp::{Full, Random}",
        ] {
            assert_eq!(lines(text), 1, "{text}");
        }
        for text in [
            "fn run(op: Operation<Handle>) -> Checked<Handle> { Operation::check(op) }",
            "let x: CustomOp<T> = CustomOp::new();",
        ] {
            assert_eq!(lines(text), 0, "{text}");
        }
    }
}
