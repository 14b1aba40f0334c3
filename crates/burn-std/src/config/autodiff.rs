//! What may be set about tapes.

use super::logger::{LoggerConfig, levels};

levels! {
    /// How much is said about gradients.
    pub enum AutodiffLogLevel {
        /// Nothing.
        Disabled = "disabled",
        /// Each backward pass, with the number of instructions it went through.
        Basic = "basic",
        /// As basic.
        Medium = "medium",
        /// The instructions too.
        Full = "full",
    }
}

/// Settings of tapes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AutodiffConfig {
    /// What is said, and where.
    pub logger: LoggerConfig<AutodiffLogLevel>,
}
