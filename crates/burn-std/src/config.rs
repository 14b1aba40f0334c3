//! What a user may switch for the whole process: by environment, or in `burn.toml`. Read once, here and nowhere else.
//!
//! ```toml
//! [fusion]
//! enabled = false     # or BURN_FUSION=0
//!
//! [autotune]
//! enabled = false     # or BURN_AUTOTUNE=0
//! ```
//!
//! The file is the first `burn.toml` found in the working directory or above it; the environment wins. Other sections
//! belong to others: `[cubecl]` is read by CubeCL. Without `std` there is nothing to read, and everything is on.

#[cfg(feature = "std")]
use std::{format, string::String};

/// The switches of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switches {
    /// Whether devices that fuse by themselves do so.
    pub fusion: bool,
    /// Whether kernels are chosen by trying them, rather than by a rule.
    pub autotune: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            fusion: true,
            autotune: true,
        }
    }
}

/// The switches, as they were when they were first asked for.
///
/// # Panics
/// The first time, if the environment or `burn.toml` gives a switch another value than on or off.
#[cfg(feature = "std")]
pub fn switches() -> Switches {
    static SWITCHES: crate::sync::LazyLock<Result<Switches, String>> =
        crate::sync::LazyLock::new(|| {
            let file = file().unwrap_or_default();
            read(&file, |name| std::env::var(name).ok())
        });
    match &*SWITCHES {
        Ok(switches) => *switches,
        Err(error) => panic!("{error}"),
    }
}

/// The switches: all on.
#[cfg(not(feature = "std"))]
pub fn switches() -> Switches {
    Switches::default()
}

/// The text of the nearest `burn.toml`, if there is one.
#[cfg(feature = "std")]
fn file() -> Option<String> {
    let folder = std::env::current_dir().ok()?;
    folder
        .ancestors()
        .find_map(|folder| std::fs::read_to_string(folder.join("burn.toml")).ok())
}

#[cfg(feature = "std")]
fn read(file: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Switches, String> {
    let mut switches = Switches::default();
    for (section, variable, switch) in [
        ("fusion", "BURN_FUSION", &mut switches.fusion),
        ("autotune", "BURN_AUTOTUNE", &mut switches.autotune),
    ] {
        let wrong = |place: &str, value: &str| {
            format!("{place}: `{value}` is neither on nor off\n  legal: `true` or `false`")
        };
        if let Some((line, value)) = enabled(file, section) {
            let place = || format!("burn.toml, line {line}, `enabled` of `{section}`");
            *switch = on(value).ok_or_else(|| wrong(&place(), value))?;
        }
        if let Some(value) = environment(variable) {
            *switch = on(&value).ok_or_else(|| wrong(variable, &value))?;
        }
    }
    Ok(switches)
}

/// The value of `enabled` in a section, with its line from 1. Reads what this file needs of TOML: sections and keys that
/// start their own line.
#[cfg(feature = "std")]
fn enabled<'a>(file: &'a str, section: &str) -> Option<(usize, &'a str)> {
    let mut inside = false;
    for (at, line) in file.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        match line.strip_prefix('[') {
            Some(header) => inside = header.trim_end_matches(']').trim() == section,
            None if inside => match line.split_once('=') {
                Some((key, value)) if key.trim() == "enabled" => {
                    return Some((at + 1, value.trim()));
                }
                _ => {}
            },
            None => {}
        }
    }
    None
}

#[cfg(feature = "std")]
fn on(value: &str) -> Option<bool> {
    match value.trim() {
        "1" | "true" | "on" => Some(true),
        "0" | "false" | "off" => Some(false),
        _ => None,
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use std::string::ToString;

    const OFF: &str =
        "[cubecl.autotune]\nlevel = \"full\"\n\n[fusion] # chains\nenabled = false # slow\n";

    #[test]
    fn everything_is_on_where_nothing_is_said() {
        assert_eq!(read("", |_| None), Ok(Switches::default()));
    }

    #[test]
    fn a_section_of_the_file_switches_its_part() {
        let switches = read(OFF, |_| None).unwrap();
        assert!(!switches.fusion && switches.autotune);
    }

    #[test]
    fn the_environment_wins_over_the_file() {
        let both = |name: &str| Some(if name == "BURN_FUSION" { "on" } else { "0" }.to_string());
        let switches = read(OFF, both).unwrap();
        assert!(switches.fusion && !switches.autotune);
    }

    #[test]
    fn another_value_is_an_error_that_names_its_place() {
        let error = read("[autotune]\nenabled = 3\n", |_| None).unwrap_err();
        assert!(
            error.starts_with("burn.toml, line 2, `enabled` of `autotune`: `3`"),
            "{error}"
        );
        let error = read("", |_| Some("maybe".to_string())).unwrap_err();
        assert!(error.starts_with("BURN_FUSION: `maybe`"), "{error}");
    }
}
