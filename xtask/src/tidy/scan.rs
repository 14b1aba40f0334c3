//! Rust source seen as code and as comments, line by line, without a parser.
//!
//! [`Source`] blanks comments and the insides of literals, so that a rule that looks for `{` or
//! for a word finds only code. What the words mean is left to the rules.

use std::ops::Range;

/// One source file, as the rules see it.
pub(crate) struct Source {
    /// Below the workspace, with forward slashes.
    pub(crate) path: String,
    /// The file as it is.
    pub(crate) text: String,
    /// The text with comments as spaces and the insides of literals as dots; ASCII only, one byte
    /// for each character of `text`.
    pub(crate) code: String,
    /// The text of comments, in the line where it stands.
    pub(crate) comments: Vec<String>,
    /// Whether the line belongs to an item under `#[cfg(test)]`.
    pub(crate) test: Vec<bool>,
}

impl Source {
    /// Scans `text`.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let (code, comments) = Scanner::new(text).split();
        let test = test_lines(&code);
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            code,
            comments,
            test,
        }
    }

    /// The lines of code, each with its number from 0; blank lines and comments are left out.
    pub(crate) fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
    }

    /// How many of `lines`, counted from 0, hold code outside tests.
    pub(crate) fn count(&self, lines: Range<usize>) -> usize {
        self.code_lines()
            .filter(|(line, _)| lines.contains(line) && !self.test[*line])
            .count()
    }

    /// The line of a place in `code`, from 0.
    pub(crate) fn line(&self, at: usize) -> usize {
        line(&self.code, at)
    }

    /// Whether the whole file is a test: below `tests/`, `benches/`, or a `tests` module.
    pub(crate) fn is_test(&self) -> bool {
        self.path
            .split('/')
            .any(|part| matches!(part, "tests" | "benches" | "tests.rs"))
    }
}

/// The words of `code` with their places: identifiers, keywords and numbers.
pub(crate) fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + code[rest..].find(is_word)?;
        rest = code[start..]
            .find(|c| !is_word(c))
            .map_or(code.len(), |length| start + length);
        Some((start, &code[start..rest]))
    })
}

/// The place of the brace that closes the one at `open`.
pub(crate) fn close(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The place of the `{` that opens the body of what starts at `from`; none if `;` ends it first.
///
/// Braces inside parentheses and brackets, and those of a const argument, open no body.
pub(crate) fn body(code: &str, from: usize) -> Option<usize> {
    let bytes = code.as_bytes();
    let (mut at, mut depth) = (from, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b';' if depth == 0 => return None,
            b'{' if code[from..at].trim_end().ends_with(['<', ',']) => at = close(code, at)?,
            b'{' if depth == 0 => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

fn line(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count()
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Marks the lines of each item that an attribute gives to tests.
fn test_lines(code: &str) -> Vec<bool> {
    let mut test = vec![false; code.lines().count()];
    let mut rest = 0;
    while let Some(found) = code[rest..].find("#[cfg(") {
        let start = rest + found;
        let Some(length) = code[start..].find(']') else {
            break;
        };
        rest = start + length + 1;
        let condition = &code[start..rest];
        if !words(condition).any(|(_, word)| word == "test") || condition.contains("not(test") {
            continue;
        }
        let end = match body(code, rest) {
            Some(open) => close(code, open).unwrap_or(code.len()),
            None => rest + code[rest..].find(';').unwrap_or(0),
        };
        for mark in &mut test[line(code, start)..=line(code, end)] {
            *mark = true;
        }
        rest = end;
    }
    test
}

/// Splits a text into its code and its comments.
struct Scanner {
    text: Vec<char>,
    at: usize,
    code: String,
    comments: Vec<String>,
}

impl Scanner {
    fn new(text: &str) -> Self {
        let comments = vec![String::new()];
        Self {
            text: text.chars().collect(),
            at: 0,
            code: String::new(),
            comments,
        }
    }

    fn split(mut self) -> (String, Vec<String>) {
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('/', Some('/')) => self.line_comment(),
                ('/', Some('*')) => self.block_comment(),
                ('"', _) => self.string(),
                ('r', _) if self.raw_hashes().is_some() => self.raw_string(),
                ('\'', Some('\\')) => self.char_literal(),
                ('\'', Some(_)) if self.peek(2) == Some('\'') => self.char_literal(),
                _ => self.keep(),
            }
        }
        (self.code, self.comments)
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    /// Takes one character as code.
    fn keep(&mut self) {
        let c = self.text[self.at];
        self.push(if c.is_ascii() { c } else { '.' });
    }

    /// Takes one character of a literal.
    fn hide(&mut self) {
        let c = self.text[self.at];
        self.push(if c.is_ascii_whitespace() { c } else { '.' });
    }

    /// Takes one character of a comment.
    fn comment(&mut self) {
        let c = self.text[self.at];
        if c == '\n' {
            self.push('\n');
        } else {
            self.comments
                .last_mut()
                .expect("there is a line from the start")
                .push(c);
            self.push(' ');
        }
    }

    fn push(&mut self, code: char) {
        self.code.push(code);
        self.at += 1;
        if code == '\n' {
            self.comments.push(String::new());
        }
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.comment();
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while self.at < self.text.len() {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => depth += 1,
                (Some('*'), Some('/')) => depth -= 1,
                _ => {
                    self.comment();
                    continue;
                }
            }
            self.comment();
            self.comment();
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.keep();
        while let Some(c) = self.peek(0) {
            match c {
                '"' => return self.keep(),
                '\\' if self.peek(1).is_some() => {
                    self.hide();
                    self.hide();
                }
                _ => self.hide(),
            }
        }
    }

    /// The number of `#` if a raw string starts here.
    fn raw_hashes(&self) -> Option<usize> {
        let before = self.code.trim_end_matches(['b', 'c']);
        if before.ends_with(is_word) {
            return None;
        }
        let hashes = self.text[self.at + 1..]
            .iter()
            .take_while(|c| **c == '#')
            .count();
        (self.peek(hashes + 1) == Some('"')).then_some(hashes)
    }

    fn raw_string(&mut self) {
        let hashes = self.raw_hashes().expect("the caller saw a raw string");
        for _ in 0..hashes + 2 {
            self.keep();
        }
        while self.at < self.text.len() {
            let ends = self.peek(0) == Some('"')
                && (1..=hashes).all(|ahead| self.peek(ahead) == Some('#'));
            if ends {
                for _ in 0..=hashes {
                    self.keep();
                }
                return;
            }
            self.hide();
        }
    }

    fn char_literal(&mut self) {
        self.keep();
        if self.peek(0) == Some('\\') {
            self.hide();
        }
        self.hide();
        while self.peek(0).is_some_and(|c| c != '\'' && c != '\n') {
            self.hide();
        }
        if self.peek(0) == Some('\'') {
            self.keep();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_code(text: &str, code: &str) {
        assert_eq!(Source::new("a.rs", text).code, code);
    }

    #[test]
    fn comments_become_spaces_and_literals_dots() {
        assert_code("a // b\nc", "a     \nc");
        assert_code("a /* { /* } */ */ b", "a                 b");
        assert_code(r#"f("{ \" }");"#, r#"f(". .. .");"#);
        assert_code(r##"f(r#"a"{"#);"##, r##"f(r#"..."#);"##);
        assert_code(r#"f(br"\");"#, r#"f(br".");"#);
        assert_code("let é = \"ü\";", "let . = \".\";");
    }

    #[test]
    fn char_literals_are_hidden_and_lifetimes_are_not() {
        assert_code(r"['{', '\'', '\u{7d}']", r"['.', '..', '......']");
        assert_code("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}");
        assert_code("r#type", "r#type");
    }

    #[test]
    fn comments_stay_in_their_line() {
        let source = Source::new("a.rs", "a // one\n/* two\nthree */ b");
        assert_eq!(source.comments, ["// one", "/* two", "three */"]);
        assert_eq!(
            source
                .code_lines()
                .map(|(line, _)| line)
                .collect::<Vec<_>>(),
            [0, 2]
        );
    }

    #[test]
    fn items_under_cfg_test_are_marked() {
        let text = "#[cfg(test)]\nuse a::b;\nfn f() {}\n\
                    #[cfg(all(test, feature = \"std\"))]\nmod tests {\n}\n\
                    #[cfg(not(test))]\nfn g() {}";
        let expected = [true, true, false, true, true, true, false, false];
        assert_eq!(Source::new("a.rs", text).test, expected);
    }

    #[test]
    fn a_body_is_found_behind_const_arguments_and_arrays() {
        let code = "fn f() -> A<{ 1 + 1 }, [u8; 2]> { 1 }";
        assert_eq!(
            body(code, 0),
            Some(code.rfind('{').expect("there is a body"))
        );
        assert_eq!(body("fn f();\nfn g() {}", 0), None);
    }
}
