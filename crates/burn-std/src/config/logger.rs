//! What parts of the framework say about their work, and where it goes.

use super::BurnConfig;
use super::autodiff::AutodiffLogLevel;
use super::fusion::FusionLogLevel;
use alloc::sync::Arc;
use core::fmt::{Debug, Display};

/// How much a part says.
pub trait LogLevel: Copy + Default + PartialEq + Debug {
    /// The level of a name in `burn.toml`.
    fn of(name: &str) -> Option<Self>;

    /// The names, as an error shows them.
    fn names() -> &'static str;
}

/// Levels with the names that `burn.toml` has for them; the first says nothing.
macro_rules! levels {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$level_meta:meta])* $level:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            #[default]
            $($(#[$level_meta])* $level,)*
        }

        impl $crate::config::LogLevel for $name {
            fn of(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$level),)*
                    _ => None,
                }
            }

            fn names() -> &'static str {
                concat!($("`\"", $text, "\"` ",)*)
            }
        }
    };
}
pub(super) use levels;

/// What a part says, and where it goes: to as many places as are named.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggerConfig<L> {
    /// A file.
    #[cfg(feature = "std")]
    pub file: Option<std::path::PathBuf>,
    /// Whether the file is continued rather than replaced. Who opens a file first decides.
    pub append: bool,
    /// The standard output.
    pub stdout: bool,
    /// The standard error.
    pub stderr: bool,
    /// How much.
    pub level: L,
}

impl<L: Default> Default for LoggerConfig<L> {
    fn default() -> Self {
        Self {
            #[cfg(feature = "std")]
            file: None,
            append: true,
            stdout: false,
            stderr: false,
            level: L::default(),
        }
    }
}

#[cfg(feature = "std")]
impl<L: LogLevel> LoggerConfig<L> {
    pub(super) fn read(
        &mut self,
        entry: &super::file::Entry<'_>,
    ) -> Result<(), alloc::string::String> {
        match entry.key {
            "level" => {
                let level = L::of(&entry.text());
                self.level = level.ok_or_else(|| entry.wrong(L::names()))?;
            }
            "file" => self.file = Some(entry.text().into()),
            "append" => self.append = entry.truth()?,
            "stdout" => self.stdout = entry.truth()?,
            "stderr" => self.stderr = entry.truth()?,
            _ => return Err(entry.wrong("`level`, `file`, `append`, `stdout` or `stderr`")),
        }
        Ok(())
    }
}

/// Says things where the settings of the process want them.
#[derive(Debug)]
pub struct Logger {
    /// The settings.
    pub config: Arc<BurnConfig>,
    #[cfg(feature = "std")]
    files: std::vec::Vec<(std::path::PathBuf, std::fs::File)>,
}

impl Default for Logger {
    fn default() -> Self {
        Self::new()
    }
}

impl Logger {
    /// A logger by the settings of the process.
    pub fn new() -> Self {
        Self::with(super::RuntimeConfig::get())
    }

    fn with(config: Arc<BurnConfig>) -> Self {
        Self {
            config,
            #[cfg(feature = "std")]
            files: std::vec::Vec::new(),
        }
    }

    /// How much is said about fusion.
    pub fn log_level_fusion(&self) -> FusionLogLevel {
        self.config.fusion.logger.level
    }

    /// How much is said about gradients.
    pub fn log_level_autodiff(&self) -> AutodiffLogLevel {
        self.config.autodiff.logger.level
    }

    /// Says something about fusion.
    pub fn log_fusion<S: Display>(&mut self, message: &S) {
        let config = self.config.clone();
        self.log("fusion", &config.fusion.logger, message);
    }

    /// Says something about gradients.
    pub fn log_autodiff<S: Display>(&mut self, message: &S) {
        let config = self.config.clone();
        self.log("autodiff", &config.autodiff.logger, message);
    }

    #[cfg(feature = "std")]
    fn log<L: LogLevel>(&mut self, part: &str, to: &LoggerConfig<L>, message: &dyn Display) {
        use std::io::Write;

        if to.level == L::default() {
            return;
        }
        if to.stdout {
            std::println!("[{part}] {message}");
        }
        if to.stderr {
            std::eprintln!("[{part}] {message}");
        }
        if let Some(path) = &to.file
            && let Some(file) = self.file(path, to.append)
        {
            // A full disk is no reason to stop computing.
            let _ = writeln!(file, "[{part}] {message}");
        }
    }

    #[cfg(not(feature = "std"))]
    fn log<L: LogLevel>(&mut self, _part: &str, _to: &LoggerConfig<L>, _message: &dyn Display) {}

    /// The open file, or a word to the standard error if there is none.
    #[cfg(feature = "std")]
    fn file(&mut self, path: &std::path::Path, append: bool) -> Option<&mut std::fs::File> {
        let at = self.files.iter().position(|(other, _)| other == path);
        let at = match at {
            Some(at) => at,
            None => {
                let mut options = std::fs::OpenOptions::new();
                let options = options
                    .create(true)
                    .write(true)
                    .append(append)
                    .truncate(!append);
                match options.open(path) {
                    Ok(file) => self.files.push((path.into(), file)),
                    Err(error) => {
                        std::eprintln!("cannot log to {}: {error}", path.display());
                        return None;
                    }
                }
                self.files.len() - 1
            }
        };
        Some(&mut self.files[at].1)
    }
}

/// The logger of the process, and whether it says anything about fusion and about gradients.
#[cfg(feature = "std")]
static LOGGER: crate::sync::LazyLock<(
    crate::sync::Mutex<Logger>,
    FusionLogLevel,
    AutodiffLogLevel,
)> = crate::sync::LazyLock::new(|| {
    let logger = Logger::new();
    let levels = (logger.log_level_fusion(), logger.log_level_autodiff());
    (crate::sync::Mutex::new(logger), levels.0, levels.1)
});

/// Says about fusion what `message` gives for the level of the process, if that is not [`FusionLogLevel::Disabled`].
#[cfg(feature = "std")]
pub fn log_fusion(message: impl FnOnce(FusionLogLevel) -> alloc::string::String) {
    let (logger, level, _) = &*LOGGER;
    if *level != FusionLogLevel::Disabled {
        let message = message(*level);
        logger.lock().log_fusion(&message);
    }
}

/// Says about gradients what `message` gives for the level of the process, if that is not
/// [`AutodiffLogLevel::Disabled`].
#[cfg(feature = "std")]
pub fn log_autodiff(message: impl FnOnce(AutodiffLogLevel) -> alloc::string::String) {
    let (logger, _, level) = &*LOGGER;
    if *level != AutodiffLogLevel::Disabled {
        let message = message(*level);
        logger.lock().log_autodiff(&message);
    }
}

/// Nothing: there is nowhere to log to.
#[cfg(not(feature = "std"))]
pub fn log_fusion(_message: impl FnOnce(FusionLogLevel) -> alloc::string::String) {}

/// Nothing: there is nowhere to log to.
#[cfg(not(feature = "std"))]
pub fn log_autodiff(_message: impl FnOnce(AutodiffLogLevel) -> alloc::string::String) {}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn a_part_logs_to_its_file_and_others_do_not() {
        let path = std::env::temp_dir().join(std::format!("burn-log-{}", std::process::id()));
        let mut config = BurnConfig::default();
        config.fusion.logger.file = Some(path.clone());
        config.fusion.logger.append = false;
        config.autodiff.logger.file = Some(path.clone());
        config.fusion.logger.level = FusionLogLevel::Basic;
        let mut logger = Logger::with(Arc::new(config));
        logger.log_fusion(&"two");
        logger.log_autodiff(&"never");
        logger.log_fusion(&"groups");
        drop(logger);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text, "[fusion] two\n[fusion] groups\n");
    }
}
