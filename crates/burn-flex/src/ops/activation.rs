//! Activations that are elementwise functions, over blocks. Those that reduce are in [`softmax`](super::softmax).

use super::map;
use crate::math;
use crate::simd::Kernel;
use burn_ir::ActivationOp;
use core::f64::consts::FRAC_1_SQRT_2;
use num_traits::Float;

/// An element type with activations.
pub(crate) trait Activation: Copy {
    /// Applies the activation to a block.
    fn activation<const FMA: bool>(op: ActivationOp, x: &[Self], out: &mut [Self]);
}

/// A block of one activation.
pub(crate) struct Block<'a, T> {
    pub op: ActivationOp,
    pub x: &'a [T],
    pub out: &'a mut [T],
}

impl<T: Activation> Kernel for Block<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        T::activation::<FMA>(self.op, self.x, self.out);
    }
}

impl Activation for f32 {
    #[inline(always)]
    fn activation<const FMA: bool>(op: ActivationOp, x: &[f32], out: &mut [f32]) {
        match op {
            // NaN is not below 0 and stays.
            ActivationOp::Relu => map!(|x| if x <= 0.0 { 0.0 } else { x }, x => out),
            ActivationOp::Gelu => map!(math::gelu::<FMA>, x => out),
            ActivationOp::Sigmoid => map!(math::sigmoid::<FMA>, x => out),
            ActivationOp::Softmax { .. } | ActivationOp::LogSoftmax { .. } => reduces(op),
        }
    }
}

impl Activation for f64 {
    #[inline(always)]
    fn activation<const FMA: bool>(op: ActivationOp, x: &[f64], out: &mut [f64]) {
        match op {
            ActivationOp::Relu => map!(|x| if x <= 0.0 { 0.0 } else { x }, x => out),
            ActivationOp::Gelu => {
                map!(|x: f64| (x * 0.5) * (1.0 + libm::erf(x * FRAC_1_SQRT_2)), x => out);
            }
            ActivationOp::Sigmoid => map!(|x: f64| 1.0 / (1.0 + Float::exp(-x)), x => out),
            ActivationOp::Softmax { .. } | ActivationOp::LogSoftmax { .. } => reduces(op),
        }
    }
}

#[cold]
fn reduces(op: ActivationOp) -> ! {
    panic!("`{}` is no elementwise function", op.name())
}
