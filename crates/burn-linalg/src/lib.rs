//! Norms, products, decompositions and solutions of linear systems, over batches of matrices.
//!
//! Everything here is a composition of tensor operations, so that it runs on every device, is captured, and has
//! gradients where the mathematics has them. Decompositions work by blocks, most of whose work is matrix products, and
//! in f32 for narrower floats. No instruction is added, and no backend is known here.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod batch;
mod lu;
mod norm;
mod product;
mod qr;
mod solve;
mod svd;
mod triangular;

pub use lu::lu;
pub use norm::{
    Norm, cosine_similarity, l0_norm, l0_norm_dims, l1_norm, l1_norm_dims, l2_norm, l2_norm_dims,
    lp_norm, lp_norm_dims, matrix_norm, max_abs_norm, max_abs_norm_dims, min_abs_norm,
    min_abs_norm_dims, vector_norm, vector_norm_dims, vector_normalize,
};
pub use product::{diag, matvec, outer, outer_dim, trace};
pub use qr::qr;
pub use solve::{det, inverse, slogdet, solve};
pub use svd::{svd, svd_full, svdvals};
