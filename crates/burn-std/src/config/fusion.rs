//! What may be set about groups of instructions.

use super::logger::{LoggerConfig, levels};

levels! {
    /// How much is said about groups.
    pub enum FusionLogLevel {
        /// Nothing.
        Disabled = "disabled",
        /// Each group that runs, with the number of its instructions.
        Basic = "basic",
        /// The shape of what it writes too.
        Medium = "medium",
        /// The instructions too.
        Full = "full",
    }
}

/// Settings of fusion.
#[derive(Clone, Debug, PartialEq)]
pub struct FusionConfig {
    /// What is said, and where.
    pub logger: LoggerConfig<FusionLogLevel>,
    /// The most elementwise instructions on one side of an anchor; no limit by default.
    pub max_graph_size: Option<usize>,
    /// For how many instructions a search for a larger group goes on without success. Groups follow from what a value is
    /// made of, and no search decides about them: kept for programs that set it.
    pub growth_patience: usize,
    /// How widely groups are searched for. As [`FusionConfig::growth_patience`].
    pub beam_search: BeamSearchConfig,
}

impl Default for FusionConfig {
    fn default() -> Self {
        Self {
            logger: LoggerConfig::default(),
            max_graph_size: None,
            growth_patience: 0,
            beam_search: BeamSearchConfig::default(),
        }
    }
}

/// The most elementwise instructions on one side of an anchor, by the settings of the process.
pub fn max_graph_size() -> usize {
    use super::{BurnConfig, RuntimeConfig};
    static MOST: crate::sync::LazyLock<usize> = crate::sync::LazyLock::new(|| {
        let most = BurnConfig::get().fusion.max_graph_size;
        most.unwrap_or(usize::MAX)
    });
    *MOST
}

/// How widely groups are searched for; see [`FusionConfig::growth_patience`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BeamSearchConfig {
    /// The most groups that are followed at once.
    pub max_blocks: usize,
    /// The most groups that are tried.
    pub max_explorations: Option<usize>,
}

#[cfg(feature = "std")]
mod reading {
    use super::{BeamSearchConfig, FusionConfig};
    use crate::config::file::Entry;
    use alloc::string::String;

    impl FusionConfig {
        pub(in crate::config) fn read(&mut self, entry: &Entry<'_>) -> Result<(), String> {
            match entry.key {
                "max_graph_size" => self.max_graph_size = Some(entry.number()?),
                "growth_patience" => self.growth_patience = entry.number()?,
                // A switch, which has a reader of its own.
                "enabled" => {}
                _ => return Err(entry.wrong("`enabled`, `max_graph_size` or `growth_patience`")),
            }
            Ok(())
        }
    }

    impl BeamSearchConfig {
        pub(in crate::config) fn read(&mut self, entry: &Entry<'_>) -> Result<(), String> {
            match entry.key {
                "max_blocks" => self.max_blocks = entry.number()?,
                "max_explorations" => self.max_explorations = Some(entry.number()?),
                _ => return Err(entry.wrong("`max_blocks` or `max_explorations`")),
            }
            Ok(())
        }
    }
}
