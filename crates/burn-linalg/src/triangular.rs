//! Systems whose matrix is triangular, by halves: all but the last step is matrix products.

use crate::batch::{below, block, rows};
use burn_tensor::Tensor;

/// `x` of `a·x = b`, where only the lower triangle of `a` counts, and its diagonal is 1 if `unit`.
pub(crate) fn solve_lower(a: &Tensor<3>, b: Tensor<3>, unit: bool) -> Tensor<3> {
    let n = a.dims()[1];
    match n {
        0 => return b,
        1 if unit => return b,
        1 => return b.div(a.clone()),
        _ => {}
    }
    let half = n / 2;
    let top = solve_lower(&block(a, 0..half, 0..half), rows(&b, 0..half), unit);
    let known = block(a, half..n, 0..half).matmul(top.clone());
    let rest = rows(&b, half..n).sub(known);
    let bottom = solve_lower(&block(a, half..n, half..n), rest, unit);
    below(top, bottom)
}

/// `x` of `a·x = b`, where only the upper triangle of `a` counts.
pub(crate) fn solve_upper(a: &Tensor<3>, b: Tensor<3>) -> Tensor<3> {
    let n = a.dims()[1];
    match n {
        0 => return b,
        1 => return b.div(a.clone()),
        _ => {}
    }
    let half = n / 2;
    let bottom = solve_upper(&block(a, half..n, half..n), rows(&b, half..n));
    let known = block(a, 0..half, half..n).matmul(bottom.clone());
    let rest = rows(&b, 0..half).sub(known);
    let top = solve_upper(&block(a, 0..half, 0..half), rest);
    below(top, bottom)
}
