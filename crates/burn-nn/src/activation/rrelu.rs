//! [`RRelu`]: a slope on the left that is drawn.

use crate::modules::inline;
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Flag, Module, ModuleDisplay, Param};
use burn_core::tensor::{Distribution, Tensor, activation};

/// Describes an [`RRelu`].
#[derive(Config, Debug)]
pub struct RReluConfig {
    /// The least slope.
    #[config(default = "1.0 / 8.0")]
    pub lower: f64,
    /// The greatest slope.
    #[config(default = "1.0 / 3.0")]
    pub upper: f64,
}

/// `x` above 0, `slope · x` elsewhere: in training each element draws its slope from `[lower, upper]`, otherwise it is
/// the mean of both (Xu and others 2015, section 2.4).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct RRelu {
    /// The least slope.
    pub lower: f64,
    /// The greatest slope.
    pub upper: f64,
    /// On in training.
    pub training: Param<Flag>,
}

impl RReluConfig {
    /// The layer.
    ///
    /// # Panics
    /// If the greatest slope is less than the least.
    #[track_caller]
    pub fn init(&self) -> RRelu {
        assert!(
            self.lower <= self.upper,
            "`RRelu`: `lower` is {}, `upper` is {}\n  legal: `lower` no greater than `upper`",
            self.lower,
            self.upper
        );
        RRelu {
            lower: self.lower,
            upper: self.upper,
            training: Param::from_bool(true),
        }
    }
}

impl RRelu {
    /// Applies the function to each element of a tensor of any shape.
    #[track_caller]
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let mean = (self.lower + self.upper) / 2.0;
        // A range without width cannot be drawn from.
        let drawn = self.training.val().is_enabled() && input.is_autodiff();
        if !drawn || self.lower == self.upper {
            return activation::leaky_relu(input, mean);
        }
        let slopes = input.random_like(Distribution::Uniform(self.lower, self.upper));
        let below = input.clone().lower_equal_scalar(0);
        let scaled = input.clone().mul(slopes);
        input.mask_where(below, scaled)
    }
}

impl ModuleDisplay for RRelu {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        content
            .add("lower", &self.lower)
            .add("upper", &self.upper)
            .optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;
    use burn_core::tensor::Device;

    fn values(tensor: Tensor<1>) -> Vec<f32> {
        tensor.try_into_vec_as().expect("a CPU tensor can be read")
    }

    #[test]
    #[cfg(feature = "autodiff")]
    fn slopes_are_drawn_in_training_and_fixed_in_validation() {
        let device = Device::default().autodiff();
        let layer = RReluConfig::new().with_lower(0.25).with_upper(0.5).init();
        let input = || Tensor::<1>::full([1000], -1.0, &device);
        let found = values(layer.forward(input()));
        assert!(found.iter().all(|x| (-0.5..=-0.25).contains(x)));
        let (low, high) = found.iter().fold((0.0f32, -1.0f32), |(low, high), x| {
            (low.min(*x), high.max(*x))
        });
        // A thousand draws leave no gap of 0.025 at either end but with a chance of 0.9^1000.
        assert!(low < -0.475 && high > -0.275, "{low} {high}");
        let positive = Tensor::<1>::full([4], 2.0, &device);
        assert_eq!(values(layer.forward(positive)), [2.0; 4]);
        let found = values(layer.valid().forward(input()));
        assert!(found.iter().all(|x| *x == -0.375));
    }

    #[test]
    fn the_range_is_shown() {
        assert_eq!(
            format!("{}", RReluConfig::new().init()),
            "RRelu {lower: 0.125, upper: 0.3333333333333333}"
        );
    }

    #[test]
    #[should_panic(expected = "`RRelu`: `lower` is 0.5, `upper` is 0.25")]
    fn a_range_that_is_none_is_refused() {
        RReluConfig::new().with_lower(0.5).with_upper(0.25).init();
    }
}
