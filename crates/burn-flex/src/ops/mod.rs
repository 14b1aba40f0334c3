//! Kernels, one module for each family of instructions.
//!
//! Elementwise families are block functions: what they do to a few thousand elements that lie side by side.
//! [`exec`](crate::exec) feeds them, for single instructions and for fused groups alike.

pub(crate) mod activation;
mod attention;
mod bands;
pub(crate) mod binary;
pub(crate) mod cast;
pub(crate) mod cat;
pub(crate) mod compare;
mod conv;
pub(crate) mod create;
mod fold;
pub(crate) mod index;
pub(crate) mod matmul;
pub(crate) mod module;
pub(crate) mod movement;
mod norm;
mod pool;
pub(crate) mod quant;
pub(crate) mod random;
pub(crate) mod reduce;
mod resample;
pub(crate) mod scan;
pub(crate) mod select;
pub(crate) mod softmax;
pub(crate) mod sort;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod unary;

/// One vectorised loop: a scalar function over slices.
///
/// Each block function matches its leaf once and runs one of these, so that the compiler sees plain loops.
macro_rules! map {
    ($f:expr, $x:expr => $out:expr) => {
        for (out, x) in $out.iter_mut().zip($x) {
            *out = $f(*x);
        }
    };
    ($f:expr, $x:expr, $y:expr => $out:expr) => {
        for ((out, x), y) in $out.iter_mut().zip($x).zip($y) {
            *out = $f(*x, *y);
        }
    };
}
pub(crate) use map;
