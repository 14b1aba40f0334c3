//! What can be switched off, in `burn.toml` or by environment, which wins. Without `std` there is nothing to read, and
//! everything is on.

#[cfg(feature = "std")]
use super::file::{entries, on};
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
            let file = super::text().unwrap_or_default();
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

#[cfg(feature = "std")]
fn read(file: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Switches, String> {
    let mut switches = Switches::default();
    for (section, variable, switch) in [
        ("fusion", "BURN_FUSION", &mut switches.fusion),
        ("autotune", "BURN_AUTOTUNE", &mut switches.autotune),
    ] {
        let mut entries = entries(file);
        if let Some(entry) = entries.find(|it| it.section == section && it.key == "enabled") {
            *switch = entry.truth()?;
        }
        if let Some(value) = environment(variable) {
            let wrong = || {
                format!("{variable}: `{value}` is neither on nor off\n  legal: `true` or `false`")
            };
            *switch = on(&value).ok_or_else(wrong)?;
        }
    }
    Ok(switches)
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
