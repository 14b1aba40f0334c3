//! Composites as smaller instructions, for backends without a kernel of their own. Primitives have no lowering.

mod activation;
mod attention;
mod join;
mod module;

pub use attention::{AttentionRows, attention_weights};

use crate::Emit;
use burn_ir::{Operation, Outputs};

/// Rewrites an instruction into instructions of a lower tier.
///
/// # Panics
/// If the instruction is primitive: the backend broke its promise to support it.
pub fn lower<E: Emit>(e: &mut E, operation: Operation<E::Tensor>) -> Outputs<E::Tensor> {
    match operation {
        Operation::Activation { op, input } => Outputs::One(activation::lower(e, op, input)),
        Operation::Module(op) => Outputs::One(module::lower(e, *op)),
        Operation::Cat { dim, inputs } => Outputs::One(join::cat(e, dim, inputs)),
        Operation::SliceAssign {
            ranges,
            input,
            values,
        } => Outputs::One(join::slice_assign(e, &ranges, input, values)),
        other => no_lowering(other.name()),
    }
}

#[cold]
fn no_lowering(name: &str) -> ! {
    panic!("`{name}` is primitive: the backend must implement it")
}
