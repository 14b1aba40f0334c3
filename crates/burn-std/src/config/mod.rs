//! What a user may set for the whole process: by `burn.toml`, by environment, or at the start of the program. Read once,
//! here and nowhere else.
//!
//! ```toml
//! [fusion]
//! enabled = false         # or BURN_FUSION=0
//! max_graph_size = 16     # instructions of a group
//!
//! [fusion.logger]
//! level = "full"          # "disabled", "basic", "medium", "full"
//! stdout = true           # stderr, file = "fusion.log", append = false
//!
//! [autodiff.logger]
//! level = "basic"
//! stderr = true
//!
//! [autotune]
//! enabled = false         # or BURN_AUTOTUNE=0
//! ```
//!
//! The file is the first `burn.toml` found in the working directory or above it. Other sections belong to others:
//! `[cubecl]` is read by CubeCL. Without `std` there is nothing to read and nowhere to log to.

pub mod autodiff;
#[cfg(feature = "std")]
mod file;
pub mod fusion;
mod logger;
mod switches;

pub use logger::{LogLevel, Logger, LoggerConfig, log_autodiff, log_fusion};
pub use switches::{Switches, switches};

use crate::sync::Mutex;
use alloc::sync::Arc;
use autodiff::AutodiffConfig;
use fusion::FusionConfig;

/// Settings that a process has once.
pub trait RuntimeConfig: Default + Clone + Send + Sync + 'static {
    /// The place of the settings.
    fn storage() -> &'static Mutex<Option<Arc<Self>>>;

    /// The settings of `burn.toml`, where there is one.
    fn load() -> Self {
        Self::default()
    }

    /// The settings, read when they are first asked for.
    fn get() -> Arc<Self> {
        let mut stored = Self::storage().lock();
        stored.get_or_insert_with(|| Arc::new(Self::load())).clone()
    }

    /// Sets the settings unless they are set or were asked for; whether it did.
    fn try_set(config: Self) -> bool {
        let mut stored = Self::storage().lock();
        let free = stored.is_none();
        if free {
            *stored = Some(Arc::new(config));
        }
        free
    }

    /// Sets the settings, at the start of a program.
    ///
    /// # Panics
    /// If they are set or were asked for.
    #[track_caller]
    fn set(config: Self) {
        assert!(
            Self::try_set(config),
            "the settings of the process are in use\n  legal: to set them once, before the first tensor"
        );
    }
}

/// The settings of the parts of the framework.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BurnConfig {
    pub(crate) autodiff: AutodiffConfig,
    pub(crate) fusion: FusionConfig,
}

impl BurnConfig {
    /// The same with settings of tapes.
    pub fn with_autodiff(self, autodiff: AutodiffConfig) -> Self {
        Self { autodiff, ..self }
    }

    /// The same with settings of fusion.
    pub fn with_fusion(self, fusion: FusionConfig) -> Self {
        Self { fusion, ..self }
    }

    /// The settings of tapes.
    pub fn autodiff(&self) -> &AutodiffConfig {
        &self.autodiff
    }

    /// The settings of fusion.
    pub fn fusion(&self) -> &FusionConfig {
        &self.fusion
    }

    /// The settings that a file says.
    #[cfg(feature = "std")]
    fn read(text: &str) -> Result<Self, alloc::string::String> {
        let mut config = Self::default();
        for entry in file::entries(text) {
            match entry.section {
                "autodiff.logger" => config.autodiff.logger.read(&entry)?,
                "fusion" => config.fusion.read(&entry)?,
                "fusion.logger" => config.fusion.logger.read(&entry)?,
                "fusion.beam_search" => config.fusion.beam_search.read(&entry)?,
                _ => {}
            }
        }
        Ok(config)
    }
}

impl RuntimeConfig for BurnConfig {
    fn storage() -> &'static Mutex<Option<Arc<Self>>> {
        static STORAGE: Mutex<Option<Arc<BurnConfig>>> = Mutex::new(None);
        &STORAGE
    }

    /// # Panics
    /// If `burn.toml` gives a setting a value that is not legal.
    #[cfg(feature = "std")]
    fn load() -> Self {
        match Self::read(&text().unwrap_or_default()) {
            Ok(config) => config,
            Err(error) => panic!("{error}"),
        }
    }
}

/// The text of the nearest `burn.toml`, if there is one.
#[cfg(feature = "std")]
fn text() -> Option<alloc::string::String> {
    let folder = std::env::current_dir().ok()?;
    folder
        .ancestors()
        .find_map(|folder| std::fs::read_to_string(folder.join("burn.toml")).ok())
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::autodiff::AutodiffLogLevel;
    use super::fusion::FusionLogLevel;
    use super::*;

    const FILE: &str = "[fusion]\nmax_graph_size = 4\n[fusion.logger]\nlevel = \"full\"\nfile = \"f.log\"\nappend = false\n\
        [autodiff.logger] # tapes\nlevel = 'basic'\nstderr = true\n[cubecl.logger]\nlevel = 7\n";

    #[test]
    fn sections_of_the_file_set_their_part() {
        let config = BurnConfig::read(FILE).unwrap();
        assert_eq!(config.fusion().max_graph_size, Some(4));
        let logger = &config.fusion().logger;
        assert_eq!((logger.level, logger.append), (FusionLogLevel::Full, false));
        assert_eq!(logger.file.as_deref(), Some(std::path::Path::new("f.log")));
        let logger = &config.autodiff().logger;
        assert_eq!(logger.level, AutodiffLogLevel::Basic);
        assert!(logger.stderr && !logger.stdout && logger.append);
        assert_eq!(BurnConfig::read(""), Ok(BurnConfig::default()));
    }

    #[test]
    fn another_value_is_an_error_that_names_its_place() {
        for (text, part) in [
            (
                "[fusion.logger]\nlevel = \"loud\"\n",
                "line 2, `level` of `fusion.logger`: `\"loud\"`",
            ),
            (
                "[autodiff.logger]\n\nstdout = 3\n",
                "line 3, `stdout` of `autodiff.logger`: `3`",
            ),
            (
                "[fusion]\nmax_graph_size = -1\n",
                "line 2, `max_graph_size` of `fusion`: `-1`",
            ),
            (
                "[fusion.logger]\nsink = 1\n",
                "line 2, `sink` of `fusion.logger`: `1`",
            ),
        ] {
            let error = BurnConfig::read(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
