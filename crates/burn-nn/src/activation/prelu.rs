//! [`PRelu`]: a slope on the left that is learned.

use crate::Initializer;
use crate::modules::inline;
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn_core::tensor::{Device, Tensor, activation};

/// Describes a [`PRelu`].
#[derive(Config, Debug)]
pub struct PReluConfig {
    /// How many slopes there are: one, or one for each channel.
    #[config(default = "1")]
    pub num_parameters: usize,
    /// What they start from.
    #[config(default = 0.25)]
    pub alpha: f64,
}

/// `x` above 0, `alpha · x` elsewhere, where `alpha` is learned (He and others 2015, equation 1).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct PRelu {
    /// The slopes, `[num_parameters]`.
    pub alpha: Param<Tensor<1>>,
    /// What they started from.
    pub alpha_value: f64,
}

impl PReluConfig {
    /// The layer on `device`.
    ///
    /// # Panics
    /// If there is no slope.
    #[track_caller]
    pub fn init(&self, device: &Device) -> PRelu {
        assert!(
            self.num_parameters > 0,
            "`PRelu`: `num_parameters` is 0\n  legal: 1, or the number of channels"
        );
        let initializer = Initializer::Constant { value: self.alpha };
        PRelu {
            alpha: initializer.init([self.num_parameters], device),
            alpha_value: self.alpha,
        }
    }
}

impl PRelu {
    /// Applies the function to each element.
    ///
    /// # Shapes
    /// - input and output: `[batch, channels, …]`; with one slope any
    #[track_caller]
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        activation::prelu(input, self.alpha.val())
    }
}

impl ModuleDisplay for PRelu {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        content
            .add("num_parameters", &self.alpha.lazy_shape()[0])
            .add("alpha_value", &self.alpha_value)
            .optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn the_slopes_are_parameters() {
        let layer = PReluConfig::new().init(&Device::default());
        assert_eq!(
            format!("{layer}"),
            "PRelu {num_parameters: 1, alpha_value: 0.25, params: 1}"
        );
    }

    #[test]
    #[should_panic(expected = "1 slope, or 3")]
    fn slopes_belong_to_channels() {
        let layer = PReluConfig::new().with_num_parameters(2);
        let device = Device::default();
        layer
            .init(&device)
            .forward(Tensor::<2>::ones([1, 3], &device));
    }
}
