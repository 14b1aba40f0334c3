//! The families: what each leaf is called, what it takes and what it yields.
//!
//! Leaves carry no tensor, so one copy of the vocabulary serves every pass.

pub(crate) mod activation;
pub(crate) mod assign;
pub(crate) mod binary;
pub(crate) mod cast;
pub(crate) mod cat;
pub(crate) mod compare;
pub(crate) mod create;
pub(crate) mod index;
pub(crate) mod matmul;
pub(crate) mod module;
pub(crate) mod movement;
pub(crate) mod reduce;
pub(crate) mod scan;
pub(crate) mod select;
pub(crate) mod sort;
pub(crate) mod unary;

mod broadcast;

pub use activation::ActivationOp;
pub use binary::BinaryOp;
pub use compare::CompareOp;
pub use create::CreateOp;
pub use index::IndexOp;
pub use module::{Filter, ModuleOp, Scores, Window};
pub use movement::{MovementOp, PadRange, SliceRange};
pub use reduce::ReduceOp;
pub use scan::ScanOp;
pub use sort::SortOp;
pub use unary::UnaryOp;

use burn_std::{DType, Kind};

/// Fieldless leaf enums with the name of each leaf as errors, traces and prints show it.
macro_rules! leaves {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$leaf_meta:meta])* $leaf:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        $vis enum $name {
            $($(#[$leaf_meta])* $leaf,)*
        }

        impl $name {
            /// Every leaf.
            pub const ALL: &[Self] = &[$(Self::$leaf,)*];

            /// The name in errors, traces and prints.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$leaf => $text,)* }
            }
        }
    };
}
pub(crate) use leaves;

/// The kinds of element that an operand may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(&'static [Kind], pub(crate) &'static str);

pub(crate) const FLOAT: Kinds = Kinds(&[Kind::Float], "float");
pub(crate) const INT: Kinds = Kinds(&[Kind::Int], "int");
pub(crate) const BOOL: Kinds = Kinds(&[Kind::Bool], "bool");
pub(crate) const NUMERIC: Kinds = Kinds(&[Kind::Float, Kind::Int], "float or int");
pub(crate) const BITS: Kinds = Kinds(&[Kind::Int, Kind::Bool], "int or bool");
pub(crate) const ANY: Kinds = Kinds(&[Kind::Float, Kind::Int, Kind::Bool], "any");

impl Kinds {
    /// Whether the kinds hold the elements, which codes of quantized floats are not: nothing is computed with them but what
    /// says so.
    pub(crate) fn contain(self, dtype: DType) -> bool {
        self.0.contains(&dtype.kind()) && !dtype.is_quantized()
    }
}
