//! What is needed of TOML to read `burn.toml`: sections and keys that start their own line, and values without lists.

use alloc::string::{String, ToString};

/// A key with its value, and where both are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    pub section: &'a str,
    pub key: &'a str,
    pub value: &'a str,
    /// From 1.
    pub line: usize,
}

impl Entry<'_> {
    /// What is wrong with the value, and what would be legal.
    pub fn wrong(&self, legal: &str) -> String {
        alloc::format!(
            "burn.toml, line {}, `{}` of `{}`: `{}` is not legal\n  legal: {legal}",
            self.line,
            self.key,
            self.section,
            self.value
        )
    }

    /// The value as text, without its quotes.
    pub fn text(&self) -> String {
        let value = self.value.trim();
        let inner = ['"', '\''].into_iter().find_map(|quote| {
            let inner = value.strip_prefix(quote)?;
            inner.strip_suffix(quote)
        });
        inner.unwrap_or(value).to_string()
    }

    /// Whether the value says yes.
    pub fn truth(&self) -> Result<bool, String> {
        on(self.value).ok_or_else(|| self.wrong("`true` or `false`"))
    }

    /// The value as a number.
    pub fn number(&self) -> Result<usize, String> {
        let number = self.value.trim().parse();
        number.map_err(|_| self.wrong("a whole number of at least 0"))
    }
}

/// The entries of a file, in order.
pub(super) fn entries(file: &str) -> impl Iterator<Item = Entry<'_>> {
    let mut section = "";
    file.lines().enumerate().filter_map(move |(at, line)| {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']').trim();
            return None;
        }
        let (key, value) = line.split_once('=')?;
        Some(Entry {
            section,
            key: key.trim(),
            value: value.trim(),
            line: at + 1,
        })
    })
}

pub(super) fn on(value: &str) -> Option<bool> {
    match value.trim() {
        "1" | "true" | "on" => Some(true),
        "0" | "false" | "off" => Some(false),
        _ => None,
    }
}
