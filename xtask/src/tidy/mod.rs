//! `tidy`: the house rules that no compiler checks, in code.
//!
//! Each rule is a function from a [`scan::Source`], a manifest or the instruction set to its
//! findings, and has its tests on small strings beside it. All findings are listed, not only the
//! first. What clippy can deny is left to clippy.

mod edges;
mod ops;
mod scan;
mod size;
mod text;

use crate::util::{Result, Steps, files, read, relative, root};
use scan::Source;
use std::fmt;

/// One broken rule at one place.
#[derive(Debug)]
pub(crate) struct Finding {
    path: String,
    /// From 1.
    line: usize,
    what: String,
    why: String,
    remedy: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            what,
            why,
            remedy,
        } = self;
        write!(f, "{path}:{line}: {what}: {why}; {remedy}")
    }
}

impl Source {
    /// A finding in this file; `line` counts from 0.
    fn finding(&self, line: usize, what: String, why: &str, remedy: &str) -> Finding {
        let (path, why, remedy) = (self.path.clone(), why.to_owned(), remedy.to_owned());
        Finding {
            path,
            line: line + 1,
            what,
            why,
            remedy,
        }
    }
}

/// Applies every rule to the workspace.
pub(crate) fn run(steps: &mut Steps) -> Result {
    steps.step("tidy", || {
        let sources = sources()?;
        let mut findings = Vec::new();
        for source in &sources {
            findings.extend(text::forbidden(source));
            findings.extend(size::file(source));
            findings.extend(size::functions(source));
            if source.path.contains("/src/") {
                findings.extend(text::module_docs(source));
            }
        }
        findings.extend(edges::check(&manifests()?));
        findings.extend(ops::check(&sources));
        findings.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
        for finding in &findings {
            println!("{finding}");
        }
        println!("{} files, {} findings", sources.len(), findings.len());
        match findings.len() {
            0 => Ok(()),
            count => Err(format!("{count} findings, listed above")),
        }
    })
}

/// The project's Rust files.
fn sources() -> Result<Vec<Source>> {
    let mut found = Vec::new();
    for folder in ["crates", "examples", "xtask"] {
        for path in files(&root().join(folder), "rs")? {
            found.push(Source::new(&relative(&path), &read(&path)?));
        }
    }
    Ok(found)
}

/// The manifests of the crates: path and text.
fn manifests() -> Result<Vec<(String, String)>> {
    let paths = files(&root().join("crates"), "toml")?;
    let manifests = paths.iter().filter(|path| path.ends_with("Cargo.toml"));
    manifests
        .map(|path| Ok((relative(path), read(path)?)))
        .collect()
}
