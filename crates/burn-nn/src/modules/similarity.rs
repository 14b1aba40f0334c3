//! [`CosineSimilarity`] and [`PairwiseDistance`] of vectors.

use crate::{check, display::in_one_line};
use burn_core::config::Config;
use burn_core::module::Module;
use burn_core::tensor::Tensor;

/// Describes a [`CosineSimilarity`].
#[derive(Config, Debug)]
pub struct CosineSimilarityConfig {
    /// The dim of the vectors; it may count from the end.
    #[config(default = 1)]
    pub dim: isize,
    /// The least length of a vector.
    #[config(default = 1e-8)]
    pub eps: f64,
}

/// The cosine of the angle between vectors: `x · y / (max(‖x‖, ε) · max(‖y‖, ε))`.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct CosineSimilarity {
    /// The dim of the vectors.
    pub dim: isize,
    /// The least length of a vector.
    pub eps: f64,
}

impl CosineSimilarityConfig {
    /// The layer.
    ///
    /// # Panics
    /// If `eps` is not above 0.
    #[track_caller]
    pub fn init(&self) -> CosineSimilarity {
        let ok = self.eps > 0.0 && self.eps.is_finite();
        check::field(ok, "CosineSimilarity", "eps", self.eps, "above 0");
        CosineSimilarity {
            dim: self.dim,
            eps: self.eps,
        }
    }
}

impl CosineSimilarity {
    /// The similarity of each pair of vectors, which are columns if `dim` is 0 and rows otherwise.
    ///
    /// # Shapes
    /// - `x1`, `x2`: `[rows, columns]`
    /// - output: `[rows]`, or `[columns]` if `dim` is 0
    #[track_caller]
    pub fn forward(&self, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<1> {
        let product = x1.clone().mul(x2.clone()).sum_dim(self.dim);
        let lengths = [x1, x2].map(|x| norm(x.abs(), 2.0, self.dim).clamp_min(self.eps));
        let [x1, x2] = lengths;
        product.div(x1).div(x2).squeeze_dims(&[self.dim])
    }
}

/// Describes a [`PairwiseDistance`].
#[derive(Config, Debug)]
pub struct PairwiseDistanceConfig {
    /// The power of the norm.
    #[config(default = 2.0)]
    pub p: f64,
    /// Added to each difference, so that the distance of equal vectors has a gradient.
    #[config(default = 1e-6)]
    pub eps: f64,
}

/// The length of the difference of two vectors: `‖x - y + ε‖ₚ`.
///
/// With `p = ±∞` it is the largest or smallest difference, with `p = 0` the number of those that are not 0.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct PairwiseDistance {
    /// The power of the norm.
    pub p: f64,
    /// Added to each difference.
    pub eps: f64,
}

impl PairwiseDistanceConfig {
    /// The layer.
    ///
    /// # Panics
    /// If `p` is NaN, or `eps` is negative.
    #[track_caller]
    pub fn init(&self) -> PairwiseDistance {
        check::field(
            !self.p.is_nan(),
            "PairwiseDistance",
            "p",
            self.p,
            "a number",
        );
        let ok = self.eps >= 0.0 && self.eps.is_finite();
        check::field(ok, "PairwiseDistance", "eps", self.eps, "at least 0");
        PairwiseDistance {
            p: self.p,
            eps: self.eps,
        }
    }
}

impl PairwiseDistance {
    /// The distance of each pair of rows.
    ///
    /// # Shapes
    /// - `x1`, `x2`: `[rows, columns]`
    /// - output: `[rows]`
    #[track_caller]
    pub fn forward(&self, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<1> {
        let difference = x1.sub(x2).add_scalar(self.eps).abs();
        norm(difference, self.p, 1).squeeze_dim(1)
    }
}

/// `(Σ xᵖ)^(1/p)` of `x ≥ 0` along a dim. Where all are 0 it has the gradient 0, one of those there are.
#[track_caller]
pub(crate) fn norm(x: Tensor<2>, p: f64, dim: isize) -> Tensor<2> {
    match p {
        0.0 => x.not_equal_scalar(0.0).float().sum_dim(dim),
        1.0 => x.sum_dim(dim),
        f64::INFINITY => x.max_dim(dim),
        f64::NEG_INFINITY => x.min_dim(dim),
        p => {
            let sum = if p == 2.0 {
                x.square()
            } else {
                x.powf_scalar(p)
            };
            let sum = sum.sum_dim(dim);
            let zero = sum.clone().equal_scalar(0.0);
            let sum = sum.mask_fill(zero.clone(), 1.0);
            let root = match p == 2.0 {
                true => sum.sqrt(),
                false => sum.powf_scalar(p.recip()),
            };
            root.mask_fill(zero, 0.0)
        }
    }
}

in_one_line! {
    CosineSimilarity { dim, eps }
    PairwiseDistance { p, eps }
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

    fn pair() -> [Tensor<2>; 2] {
        let device = Device::default();
        [[[1.0, 2.0], [0.0, 3.0]], [[4.0, -2.0], [0.0, -1.0]]]
            .map(|rows| Tensor::from_data(rows, &device))
    }

    #[test]
    fn every_norm_has_its_distance() {
        let distance = |p: f64| {
            let [x, y] = pair();
            let config = PairwiseDistanceConfig::new().with_p(p).with_eps(0.0);
            values(config.init().forward(x, y))
        };
        // Of the differences (3, 4) and (0, 4).
        assert_eq!(distance(1.0), [7.0, 4.0]);
        assert_eq!(distance(2.0), [5.0, 4.0]);
        assert_eq!(distance(0.0), [2.0, 1.0]);
        assert_eq!(distance(f64::INFINITY), [4.0, 4.0]);
        assert_eq!(distance(f64::NEG_INFINITY), [3.0, 0.0]);
    }

    #[test]
    fn vectors_lie_along_the_dim() {
        let cosine = |dim: isize| {
            let [x, y] = pair();
            values(
                CosineSimilarityConfig::new()
                    .with_dim(dim)
                    .init()
                    .forward(x, y),
            )
        };
        // The second columns are (2, 3) and (-2, -1).
        assert_eq!(cosine(0)[0], 1.0);
        assert!((cosine(0)[1] + 7.0 / 65f32.sqrt()).abs() < 1e-6);
        assert_eq!(cosine(-1), [0.0, -1.0]);
    }

    #[test]
    #[cfg(feature = "autodiff")]
    fn vectors_of_nothing_have_finite_gradients() {
        let device = Device::default().autodiff();
        let zeros = Tensor::<2>::zeros([1, 2], &device).require_grad();
        let other = Tensor::<2>::from_data([[3.0, 4.0]], &device);
        let cosine = CosineSimilarityConfig::new().with_eps(0.5).init();
        let output = cosine.forward(zeros.clone(), other);
        let gradient = zeros.grad(&output.clone().backward());
        assert_eq!(values(output), [0.0]);
        // y / (ε · ‖y‖)
        let gradient = gradient.expect("the input is a leaf");
        assert_eq!(values(gradient), [1.2, 1.6]);
        let distance = PairwiseDistanceConfig::new().with_eps(0.0).init();
        let output = distance.forward(zeros.clone(), zeros.clone());
        let gradient = zeros.grad(&output.backward());
        let gradient = gradient.expect("the input is a leaf");
        assert_eq!(values(gradient), [0.0, 0.0]);
    }

    #[test]
    fn the_layers_print_their_options() {
        assert_eq!(
            format!("{}", CosineSimilarityConfig::new().init()),
            "CosineSimilarity {dim: 1, eps: 0.00000001}"
        );
        assert_eq!(
            format!("{}", PairwiseDistanceConfig::new().init()),
            "PairwiseDistance {p: 2, eps: 0.000001}"
        );
    }

    #[test]
    #[should_panic(expected = "`CosineSimilarity`: the field `eps` is 0.0\n  legal: above 0")]
    fn a_length_of_nothing_is_refused() {
        CosineSimilarityConfig::new().with_eps(0.0).init();
    }
}
