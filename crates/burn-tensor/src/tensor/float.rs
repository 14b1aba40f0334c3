//! Functions of floats.

use super::Tensor;
use crate::emit::{self, create};
use crate::kind::{Bool, Float, FloatMath, Int};
use burn_ir::{BinaryOp, UnaryOp};
use burn_std::{AsIndex, ElementConversion};
use core::f64::consts::{LN_2, PI};

/// A method for each elementwise function of one argument.
macro_rules! unary {
    ($($(#[$doc:meta])* $method:ident = $op:ident;)+) => {
        $(
            $(#[$doc])*
            #[track_caller]
            pub fn $method(self) -> Self {
                self.unary(UnaryOp::$op)
            }
        )+
    };
}

impl<const D: usize, K: FloatMath> Tensor<D, K> {
    unary! {
        /// `e^x`
        exp = Exp;
        /// The natural logarithm.
        log = Log;
        /// `ln(1 + x)`, accurate near 0.
        log1p = Log1p;
        /// The square root.
        sqrt = Sqrt;
        /// The sine of an angle in radians.
        sin = Sin;
        /// The cosine of an angle in radians.
        cos = Cos;
        /// The angle in [-π/2, π/2] whose tangent the element is, in radians.
        atan = Atan;
        /// The hyperbolic tangent.
        tanh = Tanh;
    }

    /// The angle in [-π/2, π/2] whose sine the element is, in radians; NaN beyond [-1, 1].
    ///
    /// `asin x = atan(x / √((1 - x)·(1 + x)))`, a quotient that is infinite at the ends, as it should be.
    #[track_caller]
    pub fn asin(self) -> Self {
        let below = self.clone().neg().add_scalar(1);
        let above = self.clone().add_scalar(1);
        self.div(below.mul(above).sqrt()).atan()
    }

    /// The angle in [0, π] whose cosine the element is, in radians; NaN beyond [-1, 1].
    ///
    /// `acos x = 2·atan(√((1 - x) / (1 + x)))`, which keeps its accuracy near 1.
    #[track_caller]
    pub fn acos(self) -> Self {
        let below = self.clone().neg().add_scalar(1);
        let above = self.add_scalar(1);
        below.div(above).sqrt().atan().mul_scalar(2)
    }

    /// The tangent of an angle in radians.
    #[track_caller]
    pub fn tan(self) -> Self {
        self.clone().sin().div(self.cos())
    }

    /// The hyperbolic cosine: `(e^x + e^-x) / 2`, by halves of `x` so that no part overflows before the whole.
    #[track_caller]
    pub fn cosh(self) -> Self {
        let half = self.mul_scalar(0.5).exp();
        let part = half.clone().mul_scalar(0.5).mul(half.clone());
        let rest = half.clone().mul(half).mul_scalar(2).unary(UnaryOp::Recip);
        part.add(rest)
    }

    /// The hyperbolic sine, as `tanh x · cosh x`, which keeps its accuracy near 0.
    #[track_caller]
    pub fn sinh(self) -> Self {
        self.clone().tanh().mul(self.cosh())
    }

    /// The inverse hyperbolic sine: `sign x · ln(1 + (|x| + x² / (1 + √(1 + x²))))`.
    #[track_caller]
    pub fn asinh(self) -> Self {
        let size = self.clone().abs();
        let low = size.clone().clamp_max(self.far());
        let square = low.clone().square();
        let root = square.clone().add_scalar(1).sqrt().add_scalar(1);
        let near = low.add(square.div(root)).log1p();
        self.sign().mul(size.or_log_of_twice(near))
    }

    /// The inverse hyperbolic cosine: `ln(1 + (x - 1 + √(x - 1) · √(x + 1)))`.
    #[track_caller]
    pub fn acosh(self) -> Self {
        let low = self.clone().clamp_max(self.far());
        let below = low.clone().sub_scalar(1);
        let above = low.add_scalar(1).sqrt();
        let near = below.clone().add(below.sqrt().mul(above)).log1p();
        self.or_log_of_twice(near)
    }

    /// From where on `√(x² ± 1)` is `x`, to the precision of the element type.
    fn far(&self) -> f64 {
        let dtype = emit::plain_dtype(&self.handle);
        let info = dtype.finfo().expect("the kind has floats only");
        num_traits::Float::sqrt(info.epsilon.recip())
    }

    /// `near` up to [`Tensor::far`], and `ln(2x)` beyond, where no square is formed that overflows.
    #[track_caller]
    fn or_log_of_twice(self, near: Self) -> Self {
        let far = self.far();
        let beyond = self.clone().greater_scalar(far);
        let log = self.clamp_min(far).log().add_scalar(LN_2);
        near.mask_where(beyond, log)
    }

    /// The inverse hyperbolic tangent: `(ln(1 + x) - ln(1 - x)) / 2`.
    #[track_caller]
    pub fn atanh(self) -> Self {
        let below = self.clone().neg().log1p();
        self.log1p().sub(below).mul_scalar(0.5)
    }
}

impl<const D: usize> Tensor<D, Float> {
    unary! {
        /// The error function.
        erf = Erf;
        /// `1 / x`
        recip = Recip;
        /// The largest integer that is not above.
        floor = Floor;
        /// The smallest integer that is not below.
        ceil = Ceil;
        /// The nearest integer, halves to even.
        round = Round;
        /// The integer part.
        trunc = Trunc;
    }

    /// The angle of the point `(other, self)` in [-π, π], in radians: `y.atan2(x)`. Signs of zeros count.
    #[track_caller]
    pub fn atan2(self, other: Self) -> Self {
        let (y, x) = (self.clone().abs(), other.clone().abs());
        let (larger, smaller) = (y.clone().max_pair(x.clone()), y.clone().min_pair(x.clone()));
        // 0 / 0 stands for the axis, ∞ / ∞ for the diagonal.
        let ratio = smaller.div(larger.clone());
        let ratio = ratio
            .mask_fill(larger.clone().equal_scalar(0), 0)
            .mask_fill(x.clone().is_inf().bool_and(y.clone().is_inf()), 1);
        let acute = ratio.atan();
        let steep = acute.clone().neg().add_scalar(PI / 2.0);
        let right = acute.mask_where(y.greater(x), steep);
        let left = right.clone().neg().add_scalar(PI);
        let angle = right.mask_where(other.signed(), left);
        angle.clone().mask_where(self.signed(), angle.neg())
    }

    /// Whether the sign is set, that of zero too.
    #[track_caller]
    fn signed(self) -> Tensor<D, Bool> {
        self.clone()
            .lower_scalar(0)
            .bool_or(self.recip().lower_scalar(0))
    }

    /// The tensor to the power of another one.
    #[track_caller]
    pub fn powf(self, other: Self) -> Self {
        self.binary(BinaryOp::Pow, other)
    }

    /// The tensor to the power of a number.
    #[track_caller]
    pub fn powf_scalar<E: ElementConversion>(self, other: E) -> Self {
        self.binary_scalar(BinaryOp::Pow, other)
    }

    /// The remainder with the sign of the dividend.
    #[track_caller]
    pub fn fmod(self, other: Self) -> Self {
        // Of positive numbers the two remainders are the same.
        let size = self.clone().abs().remainder(other.abs());
        size.clone().mask_where(self.lower_scalar(0), size.neg())
    }

    /// The remainder with the sign of the dividend.
    #[track_caller]
    pub fn fmod_scalar(self, other: f32) -> Self {
        let size = self.clone().abs().remainder_scalar(other.abs());
        size.clone().mask_where(self.lower_scalar(0), size.neg())
    }

    /// `√(x² + y²)`, scaled by the larger so that no square overflows.
    #[track_caller]
    pub fn hypot(self, other: Self) -> Self {
        let (one, other) = (self.abs(), other.abs());
        let larger = one.clone().max_pair(other.clone());
        let ratio = one.min_pair(other).div(larger.clone());
        // 0 / 0 and ∞ / ∞: the larger one is the whole result.
        let settled = larger
            .clone()
            .equal_scalar(0)
            .bool_or(larger.clone().is_inf());
        let scaled = larger.clone().mul(ratio.square().add_scalar(1).sqrt());
        scaled.mask_where(settled, larger)
    }

    /// Degrees as radians.
    #[track_caller]
    pub fn deg2rad(self) -> Self {
        self.mul_scalar(PI / 180.0)
    }

    /// Radians as degrees.
    #[track_caller]
    pub fn rad2deg(self) -> Self {
        self.mul_scalar(180.0 / PI)
    }

    /// Whether each element is NaN.
    #[track_caller]
    pub fn is_nan(self) -> Tensor<D, Bool> {
        self.clone().not_equal(self)
    }

    /// Whether any element is NaN.
    #[track_caller]
    pub fn contains_nan(self) -> Tensor<1, Bool> {
        self.is_nan().any()
    }

    /// Whether each element is infinite.
    #[track_caller]
    pub fn is_inf(self) -> Tensor<D, Bool> {
        self.abs().equal_scalar(f64::INFINITY)
    }

    /// Whether each element is neither infinite nor NaN.
    #[track_caller]
    pub fn is_finite(self) -> Tensor<D, Bool> {
        self.abs().lower_scalar(f64::INFINITY)
    }

    /// Whether each pair of elements is equal, or finite with `|x - y| ≤ absolute + relative · |y|`.
    ///
    /// By default the relative tolerance is 1e-5 and the absolute one 1e-8. NaN is close to nothing.
    #[track_caller]
    pub fn is_close(
        self,
        other: Self,
        relative: Option<f64>,
        absolute: Option<f64>,
    ) -> Tensor<D, Bool> {
        let (relative, absolute) = (relative.unwrap_or(1e-5), absolute.unwrap_or(1e-8));
        let equal = self.clone().equal(other.clone());
        let finite = other.clone().is_finite();
        let limit = other
            .clone()
            .abs()
            .mul_scalar(relative)
            .add_scalar(absolute);
        let near = self.sub(other).abs().lower_equal(limit);
        equal.bool_or(near.bool_and(finite))
    }

    /// Whether all pairs of elements are close; see [`Tensor::is_close`].
    #[track_caller]
    pub fn all_close(self, other: Self, relative: Option<f64>, absolute: Option<f64>) -> bool {
        self.is_close(other, relative, absolute).all().into_scalar()
    }

    /// The variance along a dim, which keeps size 1: squared deviations over `n - 1`.
    #[track_caller]
    pub fn var<I: AsIndex>(self, dim: I) -> Self {
        self.var_mean(dim).0
    }

    /// The variance along a dim, which keeps size 1: squared deviations over `n`.
    #[track_caller]
    pub fn var_bias<I: AsIndex>(self, dim: I) -> Self {
        self.var_mean_bias(dim).0
    }

    /// Variance over `n - 1` and mean along a dim, which keeps size 1.
    #[track_caller]
    pub fn var_mean<I: AsIndex>(self, dim: I) -> (Self, Self) {
        self.moments(dim.index(), 1)
    }

    /// Variance over `n` and mean along a dim, which keeps size 1.
    #[track_caller]
    pub fn var_mean_bias<I: AsIndex>(self, dim: I) -> (Self, Self) {
        self.moments(dim.index(), 0)
    }

    #[track_caller]
    fn moments(self, dim: isize, correction: usize) -> (Self, Self) {
        let dim = emit::dim("var", burn_ir::Described::meta(&self.handle), dim);
        let count = emit::shape(&self.handle)[dim].saturating_sub(correction);
        let mean = self.clone().mean_dim(dim);
        let squares = self.sub(mean.clone()).square().sum_dim(dim);
        (squares.div_scalar(count as f64), mean)
    }

    /// The covariance of the other of the last two dims, along `dim` of them: products of deviations over
    /// `n - correction`. Leading dims are batches.
    ///
    /// # Shapes
    /// - `self`: `[…, variables, observations]`, or the two exchanged
    /// - output: `[…, variables, variables]`
    #[track_caller]
    pub fn cov<I: AsIndex>(self, dim: I, correction: usize) -> Tensor<D> {
        let meta = burn_ir::Described::meta(&self.handle);
        let dim = emit::dim("cov", meta, dim.index());
        if D < 2 || dim + 2 < D {
            emit::fail(
                "cov",
                meta,
                format_args!("dim {dim} is not one of the last two"),
                format_args!(
                    "observations along one of the last two dims, variables along the other"
                ),
            );
        }
        let count = emit::shape(&self.handle)[dim].saturating_sub(correction);
        let centred = self.clone().sub(self.mean_dim(dim));
        let rows = match dim + 1 == D {
            true => centred,
            false => centred.transpose(),
        };
        let products = rows.clone().matmul(rows.transpose());
        products.div_scalar(count as f64)
    }

    /// Draws categories with the given weights, which need not sum to 1: `samples` independent ones for each row of the
    /// last dim, from the device's generator.
    ///
    /// # Shapes
    /// - `self`: `[…, categories]`, not negative and not all 0
    /// - output: `[…, samples]`
    #[track_caller]
    pub fn categorical(self, samples: usize) -> Tensor<D, Int> {
        Tensor::new(create::categorical(self.handle, samples))
    }

    /// The cross product along a dim of size 3.
    #[track_caller]
    pub fn cross<Dim: AsIndex>(self, other: Tensor<D>, dim: Dim) -> Tensor<D> {
        let meta = burn_ir::Described::meta(&self.handle);
        let dim = emit::dim("cross", meta, dim.index());
        if meta.shape[dim] != 3 || emit::shape(&other.handle)[dim] != 3 {
            emit::fail(
                "cross",
                meta,
                format_args!("dim {dim} meets size {}", emit::shape(&other.handle)[dim]),
                format_args!("size 3 on both sides"),
            );
        }
        // (x₁y₂ - x₂y₁, x₂y₀ - x₀y₂, x₀y₁ - x₁y₀)
        let turn = |tensor: &Self, by: isize| tensor.clone().roll_dim(-by, dim);
        let left = turn(&self, 1).mul(turn(&other, 2));
        left.sub(turn(&self, 2).mul(turn(&other, 1)))
    }
}
