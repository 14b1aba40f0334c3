//! Sizes of vectors and matrices.

use burn_tensor::kind::{Numeric, Ordered};
use burn_tensor::{AsIndex, ElementConversion, Tensor};

/// Which size of a vector is meant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Norm {
    /// The number of elements that are not 0.
    L0,
    /// The sum of absolute values.
    L1,
    /// The root of the sum of squares.
    L2,
    /// The largest absolute value.
    LInf,
    /// The smallest absolute value.
    LNegInf,
    /// The `p`-th root of the sum of `p`-th powers of absolute values.
    Lp(f64),
}

impl Norm {
    /// The `p` of the norm.
    pub fn to_exponent(self) -> f64 {
        match self {
            Self::L0 => 0.0,
            Self::L1 => 1.0,
            Self::L2 => 2.0,
            Self::LInf => f64::INFINITY,
            Self::LNegInf => f64::NEG_INFINITY,
            Self::Lp(p) => p,
        }
    }
}

impl From<f64> for Norm {
    fn from(p: f64) -> Self {
        match p {
            0.0 => Self::L0,
            1.0 => Self::L1,
            2.0 => Self::L2,
            f64::INFINITY => Self::LInf,
            f64::NEG_INFINITY => Self::LNegInf,
            p => Self::Lp(p),
        }
    }
}

impl From<f32> for Norm {
    fn from(p: f32) -> Self {
        Self::from(f64::from(p))
    }
}

impl From<i32> for Norm {
    fn from(p: i32) -> Self {
        Self::from(f64::from(p))
    }
}

impl From<u32> for Norm {
    fn from(p: u32) -> Self {
        Self::from(f64::from(p))
    }
}

/// The norm of the vectors along `dim`, which keeps size 1.
///
/// The gradient of a vector of zeros is 0, one of its subgradients.
#[track_caller]
pub fn vector_norm<const D: usize>(
    x: Tensor<D>,
    norm: impl Into<Norm>,
    dim: impl AsIndex,
) -> Tensor<D> {
    vector_norm_dims(x, norm, &[dim.index()])
}

/// The norm of the vectors that `dims` span together, all of which keep size 1; of single elements if there are none.
#[track_caller]
pub fn vector_norm_dims<const D: usize, I: AsIndex>(
    x: Tensor<D>,
    norm: impl Into<Norm>,
    dims: &[I],
) -> Tensor<D> {
    match norm.into() {
        Norm::L0 => l0_norm_dims(x, dims),
        Norm::L1 => l1_norm_dims(x, dims),
        Norm::L2 => l2_norm_dims(x, dims),
        Norm::LInf => max_abs_norm_dims(x, dims),
        Norm::LNegInf => min_abs_norm_dims(x, dims),
        Norm::Lp(p) => lp_norm_dims(x, p, dims),
    }
}

/// The vectors along `dim` over their norm, which is taken as `eps` if it is smaller.
#[track_caller]
pub fn vector_normalize<const D: usize, E: ElementConversion>(
    x: Tensor<D>,
    norm: impl Into<Norm>,
    dim: impl AsIndex,
    eps: E,
) -> Tensor<D> {
    let size = vector_norm(x.clone(), norm, dim).clamp_min(eps);
    x.div(size)
}

/// The number of elements along `dim` that are not 0. No gradient flows through it.
#[track_caller]
pub fn l0_norm<const D: usize, K: Numeric>(x: Tensor<D, K>, dim: impl AsIndex) -> Tensor<D, K> {
    l0_norm_dims(x, &[dim.index()])
}

/// The number of elements along `dims` that are not 0, as [`vector_norm_dims`].
#[track_caller]
pub fn l0_norm_dims<const D: usize, K: Numeric, I: AsIndex>(
    x: Tensor<D, K>,
    dims: &[I],
) -> Tensor<D, K> {
    let zero = x.clone().bool().bool_not();
    along(x.ones_like().mask_fill(zero, 0), dims, Tensor::sum_dim)
}

/// The sum of absolute values along `dim`.
#[track_caller]
pub fn l1_norm<const D: usize, K: Numeric>(x: Tensor<D, K>, dim: impl AsIndex) -> Tensor<D, K> {
    l1_norm_dims(x, &[dim.index()])
}

/// The sum of absolute values along `dims`, as [`vector_norm_dims`].
#[track_caller]
pub fn l1_norm_dims<const D: usize, K: Numeric, I: AsIndex>(
    x: Tensor<D, K>,
    dims: &[I],
) -> Tensor<D, K> {
    along(x.abs(), dims, Tensor::sum_dim)
}

/// The root of the sum of squares along `dim`, scaled so that no square overflows or vanishes.
#[track_caller]
pub fn l2_norm<const D: usize>(x: Tensor<D>, dim: impl AsIndex) -> Tensor<D> {
    l2_norm_dims(x, &[dim.index()])
}

/// The root of the sum of squares along `dims`, as [`l2_norm`] and [`vector_norm_dims`].
#[track_caller]
pub fn l2_norm_dims<const D: usize, I: AsIndex>(x: Tensor<D>, dims: &[I]) -> Tensor<D> {
    scaled_norm(x, 2.0, dims)
}

/// The `p`-th root of the sum of `p`-th powers of absolute values along `dim`, scaled so that no power overflows or
/// vanishes. What `p` makes another norm of [`Norm`] is that norm.
#[track_caller]
pub fn lp_norm<const D: usize>(x: Tensor<D>, p: f64, dim: impl AsIndex) -> Tensor<D> {
    lp_norm_dims(x, p, &[dim.index()])
}

/// The `p`-th root of the sum of `p`-th powers of absolute values along `dims`, as [`lp_norm`] and [`vector_norm_dims`].
#[track_caller]
pub fn lp_norm_dims<const D: usize, I: AsIndex>(x: Tensor<D>, p: f64, dims: &[I]) -> Tensor<D> {
    match Norm::from(p) {
        Norm::Lp(p) => scaled_norm(x, p, dims),
        norm => vector_norm_dims(x, norm, dims),
    }
}

/// The norm of a `p` that is neither 0 nor infinite.
#[track_caller]
fn scaled_norm<const D: usize, I: AsIndex>(x: Tensor<D>, p: f64, dims: &[I]) -> Tensor<D> {
    let empty = x.shape().num_elements() == 0;
    if empty || p < 0.0 {
        let sum = along(x.abs().powf_scalar(p), dims, Tensor::sum_dim);
        return sum.powf_scalar(p.recip());
    }
    let largest = along(x.clone().detach().abs(), dims, Tensor::max_dim);
    // Where all are 0 the root below is of 1, whose slope is finite, and is replaced by 0. Infinity is its own norm.
    let none = largest.clone().equal_scalar(0);
    let settled = none.clone().bool_or(largest.clone().is_inf());
    let scale = largest.clone().mask_fill(settled.clone(), 1);
    let unit = x.div(scale.clone());
    let powers = match p == 2.0 {
        true => unit.square(),
        false => unit.abs().powf_scalar(p),
    };
    let sum = along(powers, dims, Tensor::sum_dim).mask_fill(settled.clone(), 1);
    let root = match p == 2.0 {
        true => sum.sqrt(),
        false => sum.powf_scalar(p.recip()),
    };
    root.mul(scale).mask_where(settled, largest)
}

/// The largest absolute value along `dim`.
#[track_caller]
pub fn max_abs_norm<const D: usize, K: Ordered>(
    x: Tensor<D, K>,
    dim: impl AsIndex,
) -> Tensor<D, K> {
    max_abs_norm_dims(x, &[dim.index()])
}

/// The largest absolute value along `dims`, as [`vector_norm_dims`].
#[track_caller]
pub fn max_abs_norm_dims<const D: usize, K: Ordered, I: AsIndex>(
    x: Tensor<D, K>,
    dims: &[I],
) -> Tensor<D, K> {
    along(x.abs(), dims, Tensor::max_dim)
}

/// The smallest absolute value along `dim`.
#[track_caller]
pub fn min_abs_norm<const D: usize, K: Ordered>(
    x: Tensor<D, K>,
    dim: impl AsIndex,
) -> Tensor<D, K> {
    min_abs_norm_dims(x, &[dim.index()])
}

/// The smallest absolute value along `dims`, as [`vector_norm_dims`].
#[track_caller]
pub fn min_abs_norm_dims<const D: usize, K: Ordered, I: AsIndex>(
    x: Tensor<D, K>,
    dims: &[I],
) -> Tensor<D, K> {
    along(x.abs(), dims, Tensor::min_dim)
}

/// A reduction along each of `dims`.
#[track_caller]
fn along<const D: usize, K: Numeric, I: AsIndex>(
    x: Tensor<D, K>,
    dims: &[I],
    reduce: impl Fn(Tensor<D, K>, isize) -> Tensor<D, K>,
) -> Tensor<D, K> {
    dims.iter().fold(x, |x, dim| reduce(x, dim.index()))
}

/// The cosine of the angle between vectors along `dim`, which keeps size 1. Norms below `eps` count as `eps`, by default
/// the smallest positive normal number of the element type.
#[track_caller]
pub fn cosine_similarity<const D: usize>(
    x1: Tensor<D>,
    x2: Tensor<D>,
    dim: impl AsIndex,
    eps: Option<f64>,
) -> Tensor<D> {
    let smallest = x1.dtype().finfo().map_or(0.0, |info| info.min_positive);
    let (dim, eps) = (dim.index(), eps.unwrap_or(smallest));
    // Each side is made a unit vector first, so that no product overflows.
    let x1 = vector_normalize(x1, Norm::L2, dim, eps);
    let x2 = vector_normalize(x2, Norm::L2, dim, eps);
    x1.mul(x2).sum_dim(dim)
}

/// The norm of matrices, which keep size 1 in both dims: the root of the sum of squares for [`Norm::L2`] (Frobenius'
/// norm), and the largest, for [`Norm::LNegInf`] the smallest, sum of absolute values of a column for [`Norm::L1`] and of
/// a row for [`Norm::LInf`] and [`Norm::LNegInf`].
///
/// # Shapes
/// - `x`: `[…, m, n]`
/// - output: `[…, 1, 1]`
///
/// # Panics
/// For other norms, and for fewer than 2 dims.
#[track_caller]
pub fn matrix_norm<const D: usize>(x: Tensor<D>, norm: impl Into<Norm>) -> Tensor<D> {
    assert!(
        D >= 2,
        "`matrix_norm`: {} has no rows and columns\n  legal: at least 2 dims",
        x.shape()
    );
    let (rows, columns) = (D - 2, D - 1);
    match norm.into() {
        Norm::L2 => l2_norm(l2_norm(x, columns), rows),
        Norm::L1 => x.abs().sum_dim(rows).max_dim(columns),
        Norm::LInf => x.abs().sum_dim(columns).max_dim(rows),
        Norm::LNegInf => x.abs().sum_dim(columns).min_dim(rows),
        norm @ (Norm::L0 | Norm::Lp(_)) => {
            panic!("`matrix_norm`: {norm:?} is no norm of matrices\n  legal: L1, L2, LInf, LNegInf")
        }
    }
}
