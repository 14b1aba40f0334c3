//! Losses that keep a distance: hinges of one value ([`HingeEmbeddingLoss`], [`SoftMarginLoss`]), of two
//! ([`MarginRankingLoss`], [`CosineEmbeddingLoss`]), of three ([`TripletMarginLoss`]) and of classes
//! ([`MultiMarginLoss`]).

use super::Reduction;
use crate::modules::similarity::norm;
use crate::{check, display::in_one_line};
use burn_core::config::Config;
use burn_core::module::Module;
use burn_core::tensor::{Int, Tensor, activation};

/// Describes a [`HingeEmbeddingLoss`].
#[derive(Config, Debug)]
pub struct HingeEmbeddingLossConfig {
    /// From where on a distance of others is enough.
    #[config(default = 1.0)]
    pub margin: f64,
}

/// `x` where the target is 1, `max(0, margin - x)` where it is -1: of distances between equals and between others.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct HingeEmbeddingLoss {
    /// From where on a distance of others is enough.
    pub margin: f64,
}

impl HingeEmbeddingLossConfig {
    /// The loss.
    pub fn init(&self) -> HingeEmbeddingLoss {
        HingeEmbeddingLoss {
            margin: self.margin,
        }
    }
}

impl HingeEmbeddingLoss {
    /// The losses, reduced.
    #[track_caller]
    pub fn forward<const D: usize>(
        &self,
        input: Tensor<D>,
        target: Tensor<D>,
        reduction: Reduction,
    ) -> Tensor<1> {
        reduction.reduce(self.forward_no_reduction(input, target))
    }

    /// The loss of each element.
    #[track_caller]
    pub fn forward_no_reduction<const D: usize>(
        &self,
        input: Tensor<D>,
        target: Tensor<D>,
    ) -> Tensor<D> {
        let equals = target.greater_scalar(0.0);
        let others = hinge(input.clone().neg().add_scalar(self.margin));
        others.mask_where(equals, input)
    }
}

/// `max(0, x)`; the gradient at 0 is 0.
fn hinge<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    activation::relu(x)
}

/// Describes a [`MarginRankingLoss`].
#[derive(Config, Debug)]
pub struct MarginRankingLossConfig {
    /// From where on a difference is enough.
    #[config(default = 0.0)]
    pub margin: f64,
}

/// `max(0, margin - y · (x₁ - x₂))`: the first ranks higher where the target `y` is 1, lower where it is -1.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct MarginRankingLoss {
    /// From where on a difference is enough.
    pub margin: f64,
}

impl MarginRankingLossConfig {
    /// The loss.
    pub fn init(&self) -> MarginRankingLoss {
        MarginRankingLoss {
            margin: self.margin,
        }
    }
}

impl MarginRankingLoss {
    /// The losses, reduced.
    #[track_caller]
    pub fn forward<const D: usize>(
        &self,
        input1: Tensor<D>,
        input2: Tensor<D>,
        target: Tensor<D>,
        reduction: Reduction,
    ) -> Tensor<1> {
        reduction.reduce(self.forward_no_reduction(input1, input2, target))
    }

    /// The loss of each pair.
    #[track_caller]
    pub fn forward_no_reduction<const D: usize>(
        &self,
        input1: Tensor<D>,
        input2: Tensor<D>,
        target: Tensor<D>,
    ) -> Tensor<D> {
        let lead = target.mul(input1.sub(input2));
        hinge(lead.neg().add_scalar(self.margin))
    }
}

/// `ln(1 + e^(-y · x))`: of values whose sign should be that of the target `y`, 1 or -1.
#[derive(Module, Debug, Default)]
pub struct SoftMarginLoss;

impl SoftMarginLoss {
    /// The loss.
    pub fn new() -> Self {
        Self
    }

    /// The losses, reduced.
    #[track_caller]
    pub fn forward<const D: usize>(
        &self,
        input: Tensor<D>,
        target: Tensor<D>,
        reduction: Reduction,
    ) -> Tensor<1> {
        reduction.reduce(self.forward_no_reduction(input, target))
    }

    /// The loss of each element.
    #[track_caller]
    pub fn forward_no_reduction<const D: usize>(
        &self,
        input: Tensor<D>,
        target: Tensor<D>,
    ) -> Tensor<D> {
        activation::log_sigmoid(input.mul(target)).neg()
    }
}

/// Describes a [`MultiMarginLoss`].
#[derive(Config, Debug)]
pub struct MultiMarginLossConfig {
    /// From where on a lead is enough.
    #[config(default = 1.0)]
    pub margin: f64,
    /// The power of what is missing, 1 or 2.
    #[config(default = 1)]
    pub p: i32,
}

/// `Σ max(0, margin - x[y] + x[c])ᵖ / C` over the classes `c` but the target `y` (Weston and Watkins 1999).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct MultiMarginLoss {
    /// From where on a lead is enough.
    pub margin: f64,
    /// The power of what is missing.
    pub p: i32,
}

impl MultiMarginLossConfig {
    /// The loss.
    ///
    /// # Panics
    /// If `p` is neither 1 nor 2.
    #[track_caller]
    pub fn init(&self) -> MultiMarginLoss {
        let ok = matches!(self.p, 1 | 2);
        check::field(ok, "MultiMarginLoss", "p", self.p, "1 or 2");
        MultiMarginLoss {
            margin: self.margin,
            p: self.p,
        }
    }
}

impl MultiMarginLoss {
    /// The losses, reduced.
    #[track_caller]
    pub fn forward(
        &self,
        input: Tensor<2>,
        target: Tensor<1, Int>,
        reduction: Reduction,
    ) -> Tensor<1> {
        reduction.reduce(self.forward_no_reduction(input, target))
    }

    /// The loss of each row.
    ///
    /// # Shapes
    /// - `input`: `[rows, classes]`
    /// - `target`: `[rows]`, numbers of classes
    /// - output: `[rows]`
    #[track_caller]
    pub fn forward_no_reduction(&self, input: Tensor<2>, target: Tensor<1, Int>) -> Tensor<1> {
        let ([rows, classes], [targets]) = (input.dims(), target.dims());
        assert!(
            rows == targets,
            "`MultiMarginLoss`: {targets} targets for {rows} rows\n  legal: one target for each row"
        );
        let target = target.unsqueeze_dim::<2>(1);
        let options = (&target.device(), target.dtype());
        let columns = Tensor::<1, Int>::arange(0..classes as i64, options).unsqueeze::<2>();
        let own = target.clone().equal(columns);
        let lead = input.clone().gather(1, target);
        let missing = hinge(input.sub(lead).add_scalar(self.margin)).mask_fill(own, 0.0);
        let missing = if self.p == 2 {
            missing.square()
        } else {
            missing
        };
        missing.sum_dim(1).div_scalar(classes as f64).squeeze_dim(1)
    }
}

/// Describes a [`TripletMarginLoss`].
#[derive(Config, Debug)]
pub struct TripletMarginLossConfig {
    /// How much farther the negative has to be than the positive.
    #[config(default = 1.0)]
    pub margin: f64,
    /// The power of the norm, above 0.
    #[config(default = 2.0)]
    pub p: f64,
}

/// `max(0, ‖a - p‖ - ‖a - n‖ + margin)`: of an anchor, a vector that should be near and one that should be far (Balntas
/// and others 2016, equation 1).
///
/// As in [`PairwiseDistance`](crate::PairwiseDistance), 1e-6 is added to each difference.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct TripletMarginLoss {
    /// How much farther the negative has to be than the positive.
    pub margin: f64,
    /// The power of the norm.
    pub p: f64,
}

impl TripletMarginLossConfig {
    /// The loss.
    ///
    /// # Panics
    /// If the margin or `p` is not above 0.
    #[track_caller]
    pub fn init(&self) -> TripletMarginLoss {
        let (margin, p) = (self.margin, self.p);
        check::field(
            margin > 0.0,
            "TripletMarginLoss",
            "margin",
            margin,
            "above 0",
        );
        check::field(p > 0.0, "TripletMarginLoss", "p", p, "above 0");
        TripletMarginLoss { margin, p }
    }
}

impl TripletMarginLoss {
    /// The losses, reduced.
    #[track_caller]
    pub fn forward(
        &self,
        anchor: Tensor<2>,
        positive: Tensor<2>,
        negative: Tensor<2>,
        reduction: Reduction,
    ) -> Tensor<1> {
        reduction.reduce(self.forward_no_reduction(anchor, positive, negative))
    }

    /// The loss of each row.
    ///
    /// # Shapes
    /// - inputs: `[rows, columns]`
    /// - output: `[rows]`
    #[track_caller]
    pub fn forward_no_reduction(
        &self,
        anchor: Tensor<2>,
        positive: Tensor<2>,
        negative: Tensor<2>,
    ) -> Tensor<1> {
        let near = self.distance(anchor.clone(), positive);
        let far = self.distance(anchor, negative);
        hinge(near.sub(far).add_scalar(self.margin)).squeeze_dim(1)
    }

    #[track_caller]
    fn distance(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<2> {
        norm(from.sub(to).add_scalar(1e-6).abs(), self.p, 1)
    }
}

/// Describes a [`CosineEmbeddingLoss`].
#[derive(Config, Debug)]
pub struct CosineEmbeddingLossConfig {
    /// The cosine that others may have.
    #[config(default = 0.0)]
    pub margin: f32,
    /// How losses become one number.
    #[config(default = "Reduction::Mean")]
    pub reduction: Reduction,
}

/// `1 - cos` where the target is 1, `max(0, cos - margin)` where it is -1: of the angle between two vectors.
///
/// The cosine is `x · y / √((x² + ε) · (y² + ε))` with `ε = 1e-12`, which is 0 for a vector of nothing.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct CosineEmbeddingLoss {
    /// The cosine that others may have.
    pub margin: f32,
    /// How losses become one number.
    #[module(skip)]
    pub reduction: Reduction,
}

impl CosineEmbeddingLossConfig {
    /// The loss.
    ///
    /// # Panics
    /// If the margin is no cosine.
    #[track_caller]
    pub fn init(&self) -> CosineEmbeddingLoss {
        let margin = self.margin;
        let ok = (-1.0..=1.0).contains(&margin);
        check::field(ok, "CosineEmbeddingLoss", "margin", margin, "-1 to 1");
        CosineEmbeddingLoss {
            margin,
            reduction: self.reduction,
        }
    }
}

impl Default for CosineEmbeddingLoss {
    fn default() -> Self {
        CosineEmbeddingLossConfig::new().init()
    }
}

impl CosineEmbeddingLoss {
    /// The loss with margin 0, and the mean.
    pub fn new() -> Self {
        Self::default()
    }

    /// The losses, reduced.
    #[track_caller]
    pub fn forward(
        &self,
        input1: Tensor<2>,
        input2: Tensor<2>,
        target: Tensor<1, Int>,
    ) -> Tensor<1> {
        let losses = self.forward_no_reduction(input1, input2, target);
        self.reduction.reduce(losses)
    }

    /// The loss of each pair of rows.
    ///
    /// # Shapes
    /// - `input1`, `input2`: `[rows, columns]`
    /// - `target`: `[rows]`, 1 or -1
    /// - output: `[rows]`
    #[track_caller]
    pub fn forward_no_reduction(
        &self,
        input1: Tensor<2>,
        input2: Tensor<2>,
        target: Tensor<1, Int>,
    ) -> Tensor<1> {
        let ([rows, _], [targets]) = (input1.dims(), target.dims());
        assert!(
            rows == targets,
            "`CosineEmbeddingLoss`: {targets} targets for {rows} rows\n  legal: one target for each row"
        );
        let product = input1.clone().mul(input2.clone()).sum_dim(1);
        let [x, y] = [input1, input2].map(|x| x.square().sum_dim(1).add_scalar(1e-12).sqrt());
        let cosine: Tensor<1> = product.div(x).div(y).squeeze_dim(1);
        let equals = target.greater_scalar(0);
        let others = hinge(cosine.clone().sub_scalar(self.margin));
        others.mask_where(equals, cosine.neg().add_scalar(1.0))
    }
}

in_one_line! {
    HingeEmbeddingLoss { margin }
    MarginRankingLoss { margin }
    MultiMarginLoss { margin, p }
    TripletMarginLoss { margin, p }
    CosineEmbeddingLoss { margin; debug reduction }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;
    use burn_core::tensor::Device;

    fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.try_into_vec_as().expect("a CPU tensor can be read")
    }

    #[test]
    #[cfg(feature = "autodiff")]
    fn large_values_have_a_soft_margin() {
        let device = Device::default().autodiff();
        let x = Tensor::<1>::from_data([-200.0, 3.0, 1e4, -1e4], &device).require_grad();
        let ones = Tensor::<1>::ones([4], &device);
        let losses = SoftMarginLoss::new().forward_no_reduction(x.clone(), ones);
        let gradient = x.grad(&losses.clone().sum().backward());
        let gradient = values(gradient.expect("the input is a leaf"));
        let expected = [200.0, 0.048_587_35, 0.0, 1e4];
        for (found, expected) in values(losses).into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-8, "{found} for {expected}");
        }
        // -1 / (1 + e³)
        assert!((gradient[1] + 0.047_425_87).abs() < 1e-7);
        assert_eq!([gradient[0], gradient[2], gradient[3]], [-1.0, 0.0, -1.0]);
    }

    #[test]
    #[cfg(feature = "autodiff")]
    fn vectors_of_nothing_have_finite_gradients() {
        let device = Device::default().autodiff();
        let zeros = Tensor::<2>::zeros([1, 2], &device).require_grad();
        let others = || Tensor::<2>::from_data([[3.0, 4.0]], &device);
        let target = Tensor::<1, Int>::from_data([1], &device);
        let loss = CosineEmbeddingLoss::new().forward(zeros.clone(), others(), target);
        let gradient = zeros.grad(&loss.clone().backward());
        assert_eq!(values(loss), [1.0]);
        // -y / (√1e-12 · ‖y‖)
        let gradient = values(gradient.expect("the input is a leaf"));
        assert!((gradient[0] + 6e5).abs() < 1.0 && (gradient[1] + 8e5).abs() < 1.0);

        let loss = TripletMarginLossConfig::new().init();
        let loss = loss.forward(zeros.clone(), zeros.clone(), others(), Reduction::Sum);
        let gradient = zeros.grad(&loss.backward()).expect("the input is a leaf");
        assert!(values(gradient).iter().all(|x| x.is_finite()));
    }

    #[test]
    fn losses_print_their_options() {
        assert_eq!(
            format!("{}", CosineEmbeddingLoss::new()),
            "CosineEmbeddingLoss {margin: 0, reduction: Mean}"
        );
        assert_eq!(
            format!("{}", MultiMarginLossConfig::new().init()),
            "MultiMarginLoss {margin: 1, p: 1}"
        );
    }

    #[test]
    #[should_panic(expected = "`MultiMarginLoss`: the field `p` is 3\n  legal: 1 or 2")]
    fn a_third_power_is_refused() {
        MultiMarginLossConfig::new().with_p(3).init();
    }

    #[test]
    #[should_panic(expected = "`CosineEmbeddingLoss`: the field `margin` is 1.5")]
    fn a_margin_beyond_a_cosine_is_refused() {
        CosineEmbeddingLossConfig::new().with_margin(1.5).init();
    }

    #[test]
    #[should_panic(expected = "`MultiMarginLoss`: 1 targets for 2 rows")]
    fn a_row_without_a_target_is_refused() {
        let device = Device::default();
        let target = Tensor::<1, Int>::from_data([0], &device);
        let loss = MultiMarginLossConfig::new().init();
        loss.forward_no_reduction(Tensor::ones([2, 3], &device), target);
    }
}
