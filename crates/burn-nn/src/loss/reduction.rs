//! [`Reduction`]: one number of many losses.

use burn_core::config::Config;
use burn_core::tensor::Tensor;

/// How losses become one number.
#[derive(Config, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Their mean.
    Mean,
    /// Their sum.
    Sum,
    /// Their sum, divided by the size of the first dim.
    BatchMean,
    /// What suits the loss: the mean, and the batch mean of a Kullback–Leibler divergence.
    Auto,
}

impl Reduction {
    pub(super) fn reduce<const D: usize>(self, losses: Tensor<D>) -> Tensor<1> {
        let batch = losses.dims().first().map_or(1, |size| *size);
        match self {
            Self::Mean | Self::Auto => losses.mean(),
            Self::Sum => losses.sum(),
            Self::BatchMean => losses.sum().div_scalar(batch as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_core::tensor::Device;

    #[test]
    fn each_reduction_is_one_number() {
        let reduced = |reduction: Reduction| -> f32 {
            let rows = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
            let losses = Tensor::<2>::from_data(rows, &Device::default());
            reduction.reduce(losses).into_scalar()
        };
        assert_eq!(reduced(Reduction::Mean), 3.5);
        assert_eq!(reduced(Reduction::Auto), 3.5);
        assert_eq!(reduced(Reduction::Sum), 21.0);
        assert_eq!(reduced(Reduction::BatchMean), 10.5);
    }
}
