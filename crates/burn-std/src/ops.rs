//! Options of operations that appear in the user API; the operations live in `burn-ir`.

mod module;

use crate::ElementConversion;
pub use module::*;
use serde::{Deserialize, Serialize};

/// What a padded border holds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum PadMode {
    /// One value everywhere.
    Constant(f32),
    /// The values next to the border, mirrored at the outermost element, which is not repeated.
    Reflect,
    /// The outermost element, repeated.
    Edge,
}

impl Default for PadMode {
    fn default() -> Self {
        Self::Constant(0.0)
    }
}

impl<E: ElementConversion> From<E> for PadMode {
    fn from(value: E) -> Self {
        Self::Constant(value.elem())
    }
}

/// How attention weighs positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AttentionModuleOptions {
    /// What scores are multiplied by; by default one over the square root of the number of features.
    pub scale: Option<f64>,
    /// Scores stay between plus and minus this number, by a hyperbolic tangent; by default they are not bent.
    pub softcap: Option<f64>,
    /// Whether a query sees no key behind its own position.
    pub is_causal: bool,
}

/// How a written value combines with the one that is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IndexingUpdateOp {
    /// Replaces it.
    Assign,
    /// Adds to it.
    Add,
    /// Multiplies it.
    Mul,
    /// Keeps the smaller.
    Min,
    /// Keeps the larger.
    Max,
}
