//! Gaussian elimination with partial pivoting, by halves of the columns (Toledo 1997, "Locality of reference in LU
//! decomposition with partial pivoting").
//!
//! Rows stay where they are until the end: a mask says which still wait for their turn, so that no step moves memory.

use crate::batch::{Batch, below, beside, columns, ones_where, positions, ranks};
use crate::triangular::solve_lower;
use alloc::vec;
use burn_tensor::{Bool, Int, Tensor};

/// A decomposition `order·a = (order·lower)·upper` of matrices `[m, n]` with `k = min(m, n)` pivots.
pub(crate) struct Lu {
    /// `[m, k]`, its rows in the order of the input's; those that have not been chosen yet are last in the result.
    lower: Tensor<3>,
    /// `[k, n]`, upper triangular.
    pub upper: Tensor<3>,
    /// `[k, m]`: 1 where the row of the input is the pivot.
    pub order: Tensor<3>,
    /// `[k, 1]`: the rows that are pivots.
    pub pivots: Tensor<3, Int>,
    /// `[m, 1]`: the rows that are no pivot.
    waiting: Tensor<3, Bool>,
}

/// Eliminates all columns that have a pivot.
pub(crate) fn decompose(a: &Tensor<3>) -> Lu {
    let [batch, m, n] = a.dims();
    let device = a.device().without_autodiff();
    let waiting = Tensor::<3, Bool>::ones([batch, m, 1], &device);
    let k = m.min(n);
    let mut lu = eliminate(&columns(a, 0..k), waiting);
    if n > k {
        let wide = lu.order.clone().matmul(columns(a, k..n));
        let right = solve_lower(&lu.pivot_rows(), wide, true);
        lu.upper = beside(lu.upper, right);
    }
    lu
}

impl Lu {
    /// The rows of `lower` that are pivots, in their order: unit lower triangular.
    pub(crate) fn pivot_rows(&self) -> Tensor<3> {
        self.order.clone().matmul(self.lower.clone())
    }

    /// Every row of the input, `[m, m]`: the pivots in their order, then the rest.
    fn full_order(&self) -> Tensor<3> {
        let [_, k, m] = self.order.dims();
        if m == k {
            return self.order.clone();
        }
        // The place of a waiting row is the number of those before it.
        let waiting = ones_where(self.waiting.clone(), &self.lower).swap_dims(1, 2);
        let [batch, ..] = waiting.dims();
        let earlier = waiting.clone().expand([batch, m, m]).tril(-1).sum_dim(2);
        let place = earlier.swap_dims(1, 2).int();
        let rest = positions(&self.lower, m - k).expand([batch, m - k, m]);
        let chosen = rest.equal(place.expand([batch, m - k, m]));
        let waits = self.waiting.clone().swap_dims(1, 2);
        let rest = ones_where(
            chosen.bool_and(waits.expand([batch, m - k, m])),
            &self.lower,
        );
        below(self.order.clone(), rest)
    }
}

fn eliminate(a: &Tensor<3>, waiting: Tensor<3, Bool>) -> Lu {
    let n = a.dims()[2];
    if n < 2 {
        return column(a, waiting);
    }
    let half = n / 2;
    let left = eliminate(&columns(a, 0..half), waiting);
    let right = columns(a, half..n);
    let above = solve_lower(
        &left.pivot_rows(),
        left.order.clone().matmul(right.clone()),
        true,
    );
    // Rows that are pivots already change too, and nobody looks at them again.
    let rest = right.sub(left.lower.clone().matmul(above.clone()));
    let second = eliminate(&rest, left.waiting);
    let corner = crate::batch::zeros(a, n - half, half);
    Lu {
        lower: beside(left.lower, second.lower),
        upper: below(beside(left.upper, above), beside(corner, second.upper)),
        order: below(left.order, second.order),
        pivots: Tensor::cat(vec![left.pivots, second.pivots], 1),
        waiting: second.waiting,
    }
}

/// One column: its largest waiting element is the pivot.
fn column(a: &Tensor<3>, waiting: Tensor<3, Bool>) -> Lu {
    let [batch, m, n] = a.dims();
    if m == 0 || n == 0 {
        let device = a.device().without_autodiff();
        return Lu {
            lower: a.clone(),
            upper: crate::batch::zeros(a, 0, n),
            order: crate::batch::zeros(a, 0, m),
            pivots: Tensor::zeros([batch, 0, 1], &device),
            waiting,
        };
    }
    let taken = waiting.clone().bool_not();
    // -1 is below every absolute value.
    let sizes = a.clone().detach().abs().mask_fill(taken, -1);
    let pivot = sizes.argmax(1);
    let chosen = positions(a, m)
        .expand([batch, m, 1])
        .equal(pivot.clone().expand([batch, m, 1]));
    let others = chosen.clone().bool_not();
    let value = a.clone().mask_fill(others.clone(), 0).sum_dim(1);
    let waiting = waiting.bool_and(others);
    // A pivot of 0 has only zeros below it: there is nothing to eliminate.
    let divisor = value.clone().mask_fill(value.clone().equal_scalar(0), 1);
    let factors = a.clone().div(divisor);
    let lower = factors.mask_fill(waiting.clone().bool_not(), 0);
    Lu {
        lower: lower.mask_fill(chosen.clone(), 1),
        upper: value,
        order: ones_where(chosen, a).swap_dims(1, 2),
        pivots: pivot,
        waiting,
    }
}

/// The decomposition `a = p·l·u` by Gaussian elimination with partial pivoting: a permutation, a lower triangular matrix
/// with ones on its diagonal, and an upper triangular one.
///
/// # Shapes
/// - `tensor`: `[…, m, n]`, with `k = min(m, n)`
/// - output: `[…, m, m]`, `[…, m, k]` and `[…, k, n]`
///
/// Gradients of any order flow through `l` and `u`; the choice of pivots is constant.
///
/// # Panics
/// If `D1`, the rank of the pivots, is not one less than `D`.
#[track_caller]
pub fn lu<const D: usize, const D1: usize>(tensor: Tensor<D>) -> (Tensor<D>, Tensor<D>, Tensor<D>) {
    ranks("lu", D, D1);
    let (batch, a) = Batch::of("lu", tensor);
    let [_, m, n] = a.dims();
    let k = m.min(n);
    let lu = decompose(&a);
    let order = lu.full_order();
    let lower = order.clone().matmul(lu.lower.clone());
    (
        batch.back(order.swap_dims(1, 2), &[m, m]),
        batch.back(lower, &[m, k]),
        batch.back(lu.upper, &[k, n]),
    )
}
