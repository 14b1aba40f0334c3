//! The kernels: one generator a family, each a match on the leaf at the time the kernel is built.

mod activation;
mod binary;
mod cast;
mod compare;
mod epilogue;
mod fold;
mod gemv;
mod kernel;
mod layout;
mod plan;
mod random;
mod scatter;
mod search;
mod shader;
mod transpose;
mod unary;

pub(crate) mod create;
pub(crate) mod group;
pub(crate) mod guard;
pub(crate) mod matmul;
pub(crate) mod movement;
pub(crate) mod reduce;
pub(crate) mod softmax;
