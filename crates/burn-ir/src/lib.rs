//! The instruction set.
//!
//! [`Operation<T>`] is one tensor instruction; everything between a user's `x.exp()` and a kernel is a function over
//! instructions. This crate holds the instructions ([`op`]), what they produce ([`Operation::infer`], [`Checked`]),
//! and programs made of them ([`Graph`]). It holds no tensor, no kernel and no gradient.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod dims;
mod error;
mod graph;
mod meta;
pub mod op;
mod operation;
mod outputs;
mod print;

pub use dims::Dims;
pub use error::{OperationError, Problem};
pub use graph::{Graph, GraphError, IR_VERSION, Node, Symbol, TensorId};
pub use meta::{Described, TensorMeta};
pub use op::{
    ActivationOp, BinaryOp, CompareOp, CreateOp, Filter, IndexOp, ModuleOp, MovementOp, PadRange,
    ReduceOp, ScanOp, Scores, SliceRange, SortOp, UnaryOp, Window,
};
pub use operation::{Checked, Class, Operand, Operation, Tier};
pub use outputs::Outputs;
