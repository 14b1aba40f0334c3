//! Activations. NaN stays NaN in all of them.

use crate::Tensor;
use crate::emit;
use crate::tensor::ANY;
use burn_ir::{ActivationOp, Described};
use burn_std::AsIndex;
use core::f64::consts::FRAC_2_PI;
use num_traits::Float;

/// A tensor of any rank.
type Any = Tensor<ANY>;

/// Beyond this many units of `beta · x`, [`softplus`] is `x` to the last bit: `e^-20` is below the precision of an f32.
pub const DEFAULT_SOFTPLUS_THRESHOLD: f64 = 20.0;

/// An activation that is an instruction.
macro_rules! instructions {
    ($($(#[$doc:meta])* $name:ident = $op:ident;)+) => {
        $(
            $(#[$doc])*
            #[track_caller]
            pub fn $name<const D: usize>(tensor: Tensor<D>) -> Tensor<D> {
                Tensor::new(emit::activation(ActivationOp::$op, tensor.handle))
            }
        )+
    };
}

instructions! {
    /// `max(x, 0)`
    relu = Relu;
    /// `x · Φ(x)` with the normal distribution function Φ (Hendrycks and Gimpel 2016, section 2).
    gelu = Gelu;
    /// `1 / (1 + e^-x)`
    sigmoid = Sigmoid;
}

/// Activations that are made of others, compiled here once for tensors of any rank.
macro_rules! composed {
    ($($(#[$doc:meta])* $name:ident($tensor:ident $(, $argument:ident: $ty:ty)*) $body:block)+) => {
        $(
            $(#[$doc])*
            #[track_caller]
            pub fn $name<const D: usize>(tensor: Tensor<D> $(, $argument: $ty)*) -> Tensor<D> {
                #[track_caller]
                fn composed($tensor: Any $(, $argument: $ty)*) -> Any $body

                composed(tensor.ranked() $(, $argument)*).ranked()
            }
        )+
    };
}

composed! {
    /// `x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))) / 2` (Hendrycks and Gimpel 2016, section 2).
    gelu_approximate(tensor) {
        let cube = tensor.clone().square().mul(tensor.clone());
        let inner = cube.mul_scalar(0.044715).add(tensor.clone());
        let tanh = inner.mul_scalar(Float::sqrt(FRAC_2_PI)).tanh();
        tensor.mul_scalar(0.5).mul(tanh.add_scalar(1))
    }

    /// `x` above 0, `slope · x` elsewhere.
    leaky_relu(tensor, slope: f64) {
        let below = tensor.clone().lower_equal_scalar(0);
        let scaled = tensor.clone().mul_scalar(slope);
        tensor.mask_where(below, scaled)
    }

    /// `x` above 0, `alpha · x` elsewhere; one `alpha` for all, or one for each channel of dim 1.
    ///
    /// # Panics
    /// If there are neither 1 nor as many `alpha` as channels.
    prelu(tensor, alpha: Tensor<1>) {
        let count = alpha.dims()[0];
        let rank = emit::shape(&tensor.handle).rank();
        let channels = if rank < 2 { 1 } else { emit::shape(&tensor.handle)[1] };
        if count != 1 && count != channels {
            emit::fail(
                "prelu",
                tensor.handle.meta(),
                format_args!("{count} slopes were given"),
                format_args!("1 slope, or {channels}"),
            );
        }
        let mut shape = burn_std::Shape::from(alloc::vec![1; rank]);
        if count != 1 {
            shape[1] = count;
        }
        let slope: Any = alpha.reshape(shape);
        let below = tensor.clone().lower_equal_scalar(0);
        let scaled = tensor.clone().mul(slope);
        tensor.mask_where(below, scaled)
    }

    /// `x` above `threshold`, `value` elsewhere.
    threshold(tensor, threshold: f64, value: f64) {
        let below = tensor.clone().lower_equal_scalar(threshold);
        tensor.mask_fill(below, value)
    }

    /// `x` above 0, `alpha · (e^x - 1)` elsewhere (Clevert, Unterthiner and Hochreiter 2015, equation 15).
    elu(tensor, alpha: f64) {
        let below = tensor.clone().lower_equal_scalar(0);
        let curve = exp_minus_one_below(tensor.clone()).mul_scalar(alpha);
        tensor.mask_where(below, curve)
    }

    /// `x` above 0, `alpha · (e^(x / alpha) - 1)` elsewhere (Barron 2017, equation 2).
    celu(tensor, alpha: f64) {
        let below = tensor.clone().lower_equal_scalar(0);
        let curve = exp_minus_one_below(tensor.clone().div_scalar(alpha)).mul_scalar(alpha);
        tensor.mask_where(below, curve)
    }

    /// The scaled [`elu`] with the fixed point of mean 0 and variance 1 (Klambauer and others 2017, equation 14).
    selu(tensor) {
        const ALPHA: f64 = 1.673_263_242_354_377_2;
        const SCALE: f64 = 1.050_700_987_355_480_5;
        elu(tensor, ALPHA).mul_scalar(SCALE)
    }

    /// `ln(1 + e^(beta · x)) / beta`, and `x` where `beta · x` is above `threshold`.
    softplus_with_threshold(tensor, beta: f64, threshold: f64) {
        let scaled = tensor.clone().mul_scalar(beta);
        let above = scaled.clone().greater_scalar(threshold);
        soft(scaled).div_scalar(beta).mask_where(above, tensor)
    }

    /// `ln(1 / (1 + e^-x))`
    log_sigmoid(tensor) {
        soft(tensor.neg()).neg()
    }

    /// `x / (1 + |x|)`
    softsign(tensor) {
        tensor.clone().div(tensor.abs().add_scalar(1))
    }

    /// `x · sigmoid(x)` (Elfwing, Uchibe and Doya 2017, equation 2).
    silu(tensor) {
        tensor.clone().mul(sigmoid(tensor))
    }

    /// `x · tanh(softplus(x))` (Misra 2019, equation 1).
    mish(tensor) {
        tensor.clone().mul(softplus(tensor, 1.0).tanh())
    }

    /// `x - tanh(x)`
    tanhshrink(tensor) {
        tensor.clone().sub(tensor.tanh())
    }

    /// `alpha · x + beta`, no less than 0 and no more than 1.
    hard_sigmoid(tensor, alpha: f64, beta: f64) {
        tensor.mul_scalar(alpha).add_scalar(beta).clamp(0, 1)
    }

    /// `x · min(max(x + 3, 0), 6) / 6` (Howard and others 2019, section 5.2).
    hard_swish(tensor) {
        tensor.clone().mul(hard_sigmoid(tensor, 1.0 / 6.0, 0.5))
    }

    /// `x + bias` below `-lambda`, `x - bias` above `lambda`, 0 between.
    shrink(tensor, lambda: f64, bias: f64) {
        let inside = tensor.clone().abs().lower_equal_scalar(lambda);
        let moved = match bias {
            0.0 => tensor,
            _ => tensor.clone().sub(tensor.sign().mul_scalar(bias)),
        };
        moved.mask_fill(inside, 0)
    }
}

/// `e^x - 1` for `x ≤ 0` as `tanh(x/2) · (e^x + 1)`, which keeps its accuracy near 0; 0 above, so that no part
/// overflows.
#[track_caller]
fn exp_minus_one_below(tensor: Any) -> Any {
    // By a mask, because a clamp has half a gradient at 0.
    let above = tensor.clone().greater_scalar(0);
    let tensor = tensor.mask_fill(above, 0);
    let half = tensor.clone().mul_scalar(0.5).tanh();
    half.mul(tensor.exp().add_scalar(1))
}

/// `ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|)`, where nothing overflows. The gradient is [`sigmoid`] on both sides and
/// at 0: each branch is differentiable where it is chosen.
#[track_caller]
fn soft(tensor: Any) -> Any {
    let positive = tensor.clone().greater_scalar(0);
    let (low, high) = (positive.clone(), positive.clone().bool_not());
    let below = tensor.clone().mask_fill(low, 0).exp().log1p();
    let decay = tensor.clone().mask_fill(high, 0).neg().exp().log1p();
    below.mask_where(positive, decay.add(tensor))
}

/// `min(max(x, 0), 6)`
#[track_caller]
pub fn relu6<const D: usize>(tensor: Tensor<D>) -> Tensor<D> {
    relu(tensor).clamp_max(6)
}

/// `x` above `alpha`, 0 elsewhere.
#[track_caller]
pub fn thresholded_relu<const D: usize>(tensor: Tensor<D>, alpha: f64) -> Tensor<D> {
    threshold(tensor, alpha, 0.0)
}

/// `ln(1 + e^(beta · x)) / beta`
#[track_caller]
pub fn softplus<const D: usize>(tensor: Tensor<D>, beta: f64) -> Tensor<D> {
    softplus_with_threshold(tensor, beta, DEFAULT_SOFTPLUS_THRESHOLD)
}

/// The hyperbolic tangent.
#[track_caller]
pub fn tanh<const D: usize>(tensor: Tensor<D>) -> Tensor<D> {
    tensor.tanh()
}

/// `x` in `[min, max]`, the nearer end elsewhere.
#[track_caller]
pub fn hardtanh<const D: usize>(tensor: Tensor<D>, min: f64, max: f64) -> Tensor<D> {
    tensor.clamp(min, max)
}

/// `x` beyond `lambda` on both sides, 0 between.
#[track_caller]
pub fn hard_shrink<const D: usize>(tensor: Tensor<D>, lambda: f64) -> Tensor<D> {
    shrink(tensor, lambda, 0.0)
}

/// `x` nearer to 0 by `lambda`, 0 where that would pass it.
#[track_caller]
pub fn soft_shrink<const D: usize>(tensor: Tensor<D>, lambda: f64) -> Tensor<D> {
    shrink(tensor, lambda, lambda)
}

/// `e^x / Σ e^x` along a dim.
#[track_caller]
pub fn softmax<const D: usize>(tensor: Tensor<D>, dim: impl AsIndex) -> Tensor<D> {
    let dim = emit::dim("softmax", tensor.handle.meta(), dim.index());
    Tensor::new(emit::activation(
        ActivationOp::Softmax { dim },
        tensor.handle,
    ))
}

/// The logarithm of [`softmax`], without its underflow.
#[track_caller]
pub fn log_softmax<const D: usize>(tensor: Tensor<D>, dim: impl AsIndex) -> Tensor<D> {
    let dim = emit::dim("log_softmax", tensor.handle.meta(), dim.index());
    Tensor::new(emit::activation(
        ActivationOp::LogSoftmax { dim },
        tensor.handle,
    ))
}

/// `e^-x / Σ e^-x` along a dim.
#[track_caller]
pub fn softmin<const D: usize>(tensor: Tensor<D>, dim: impl AsIndex) -> Tensor<D> {
    softmax(tensor.neg(), dim)
}

/// `e^x / (1 + Σ e^x)` along a dim, which may give 0 everywhere (Miller 2023). Computed after subtracting
/// `max(max(x), 0)`, so that neither the sum nor the 1 overflows.
#[track_caller]
pub fn quiet_softmax<const D: usize>(tensor: Tensor<D>, dim: impl AsIndex) -> Tensor<D> {
    #[track_caller]
    fn composed(tensor: Any, dim: isize) -> Any {
        let dim = emit::dim("quiet_softmax", tensor.handle.meta(), dim);
        if emit::shape(&tensor.handle)[dim] == 0 {
            return tensor;
        }
        let max = tensor.clone().max_dim(dim).clamp_min(0);
        let exp = tensor.sub(max.clone()).exp();
        let sum = exp.clone().sum_dim(dim).add(max.neg().exp());
        exp.div(sum)
    }

    composed(tensor.ranked(), dim.index()).ranked()
}

/// The first half of a dim times the [`sigmoid`] of the second (Dauphin and others 2016, equation 1).
///
/// # Panics
/// If the size of the dim is odd.
#[track_caller]
pub fn glu<const D: usize>(tensor: Tensor<D>, dim: impl AsIndex) -> Tensor<D> {
    #[track_caller]
    fn composed(tensor: Any, dim: isize) -> Any {
        let dim = emit::dim("glu", tensor.handle.meta(), dim);
        let size = emit::shape(&tensor.handle)[dim];
        if !size.is_multiple_of(2) {
            emit::fail(
                "glu",
                tensor.handle.meta(),
                format_args!("dim {dim} has no halves"),
                format_args!("an even size"),
            );
        }
        let gate = tensor.clone().narrow(dim, size / 2, size / 2);
        tensor.narrow(dim, 0, size / 2).mul(sigmoid(gate))
    }

    composed(tensor.ranked(), dim.index()).ranked()
}
