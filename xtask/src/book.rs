//! `book`: the Rust snippets of the book and README, run as a reader would, and the book itself.
//!
//! `rustdoc` tests them: it knows hidden lines (`# use …`), `no_run`, `should_panic`,
//! `compile_fail` and `ignore`, and names the file and line of what fails. It links the facade
//! that the workspace has built, so nothing is resolved or compiled a second time.

use crate::util::{Result, Steps, cargo, execute, files, installed, output_of, program, read};
use crate::util::{relative, root};
use std::path::{Path, PathBuf};

/// Tests all snippets, then builds the book if `mdbook` is there.
pub(crate) fn run(steps: &mut Steps) -> Result {
    let pages = pages()?;
    steps.step("book: code blocks", || {
        let bare: Vec<_> = pages
            .iter()
            .map(|path| untagged(path))
            .collect::<Result<_>>()?;
        let bare: Vec<_> = bare.into_iter().flatten().collect();
        for finding in &bare {
            println!("{finding}");
        }
        if bare.is_empty() {
            Ok(())
        } else {
            Err(format!("{} code blocks", bare.len()))
        }
    })?;
    let facade = steps.step("book: build the facade", facade)?;
    steps.step("book: snippets", || {
        pages.iter().try_for_each(|page| test(page, &facade))
    })?;
    if installed("mdbook") {
        steps.command(
            "book: build",
            &mut program("mdbook", &["build", "burn-book"]),
        )
    } else {
        steps.skip("book: build", "mdbook is not installed");
        Ok(())
    }
}

/// The book's pages and the README.
fn pages() -> Result<Vec<PathBuf>> {
    let mut pages = files(&root().join("burn-book/src"), "md")?;
    pages.extend(Some(root().join("README.md")).filter(|readme| readme.exists()));
    Ok(pages)
}

/// Code blocks that name no language: `rustdoc` would take them for Rust.
fn untagged(path: &Path) -> Result<Vec<String>> {
    Ok(untagged_lines(&read(path)?)
        .into_iter()
        .map(|line| {
            format!(
                "{}:{line}: a code block without a language: it would be compiled as Rust; \
                 write its language or `text` behind the opening fence",
                relative(path)
            )
        })
        .collect())
}

/// The lines, from 1, of opening fences without a language.
fn untagged_lines(markdown: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut open: Option<usize> = None;
    for (index, line) in markdown.lines().enumerate() {
        let line = line.trim();
        let ticks = line.len() - line.trim_start_matches('`').len();
        let info = line[ticks..].trim();
        match open {
            None if ticks >= 3 => {
                open = Some(ticks);
                if info.is_empty() {
                    found.push(index + 1);
                }
            }
            Some(opened) if ticks >= opened && info.is_empty() => open = None,
            _ => {}
        }
    }
    found
}

/// Builds the facade and returns its library.
fn facade() -> Result<PathBuf> {
    let args = [
        "build",
        "-p",
        "burn",
        "--lib",
        "--message-format=json-render-diagnostics",
    ];
    library(&output_of(&mut cargo(&args))?)
        .ok_or_else(|| "cargo built the facade but named no library of it".to_owned())
}

/// The path of `libburn-….rlib` in cargo's messages, one JSON object a line.
fn library(messages: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter(|line| line.contains(r#""reason":"compiler-artifact""#))
        .flat_map(|line| line.split('"'))
        .filter(|string| string.ends_with(".rlib"))
        // JSON doubles the backslashes of Windows paths.
        .map(|path| PathBuf::from(path.replace(r"\\", r"\")))
        .find(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            name == "libburn" || name.starts_with("libburn-")
        })
}

fn test(page: &Path, facade: &Path) -> Result {
    let folder = facade
        .parent()
        .ok_or("the facade's library has no folder")?;
    // Cargo links the finished library one folder above those of its dependencies.
    let dependencies = if folder.ends_with("deps") {
        folder.into()
    } else {
        folder.join("deps")
    };
    let page = relative(page);
    let mut rustdoc = program("rustdoc", &["--test", "--edition", "2024", &page]);
    rustdoc
        .arg("--extern")
        .arg(format!("burn={}", facade.display()));
    rustdoc
        .arg("-L")
        .arg(format!("dependency={}", dependencies.display()));
    execute(&mut rustdoc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_without_a_language_is_found() {
        let markdown = "```rust\nlet a = 1;\n```\ntext\n```\nplain\n```\n````text\n```\n````\n";
        assert_eq!(untagged_lines(markdown), [5]);
    }

    #[test]
    fn the_library_of_the_facade_is_told_from_those_of_its_parts() {
        let line = |path: &str| {
            format!(r#"{{"reason":"compiler-artifact","filenames":["{path}","/t/a.rmeta"]}}"#)
        };
        let messages = [line("/t/libburn_core-1.rlib"), line("/t/libburn.rlib")].join("\n");
        assert_eq!(library(&messages), Some(PathBuf::from("/t/libburn.rlib")));
        assert_eq!(library(r#"{"reason":"build-finished"}"#), None);
    }
}
