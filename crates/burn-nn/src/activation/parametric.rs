//! Activations with numbers that are given, not learned.

use crate::modules::inline;
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay};
use burn_core::tensor::{Tensor, activation};

macro_rules! parametric {
    (
        $(#[$doc:meta])* $name:ident, $config:ident, $function:ident;
        $($(#[$field_doc:meta])* $(#=$default:literal)? $field:ident),+
    ) => {
        #[doc = concat!("Describes a [`", stringify!($name), "`].")]
        #[derive(Config, Debug)]
        pub struct $config {
            $(
                $(#[$field_doc])*
                $(#[config(default = $default)])?
                pub $field: f64,
            )+
        }

        impl $config {
            /// The module; it has no parameters.
            pub fn init(&self) -> $name {
                $name { $($field: self.$field),+ }
            }
        }

        $(#[$doc])*
        ///
        /// # Shapes
        /// - input and output: `[d0, …, dn]`
        #[derive(Module, Debug)]
        #[module(custom_display)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: f64,)+
        }

        impl $name {
            /// Applies the function to each element.
            #[track_caller]
            pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
                activation::$function(input, $(self.$field),+)
            }
        }

        impl ModuleDisplay for $name {
            fn custom_settings(&self) -> Option<DisplaySettings> {
                inline()
            }

            fn custom_content(&self, content: Content) -> Option<Content> {
                content$(.add(stringify!($field), &self.$field))+.optional()
            }
        }
    };
}

parametric! {
    /// `x` above 0, `alpha · (e^x - 1)` elsewhere (Clevert, Unterthiner and Hochreiter 2015, equation 15).
    Elu, EluConfig, elu;
    /// The depth that the function approaches on the left.
    #=1.0 alpha
}

parametric! {
    /// `x` above 0, `alpha · (e^(x / alpha) - 1)` elsewhere (Barron 2017, equation 2).
    Celu, CeluConfig, celu;
    /// The depth that the function approaches on the left; not 0.
    #=1.0 alpha
}

parametric! {
    /// `x` beyond `lambda` on both sides, 0 between.
    HardShrink, HardShrinkConfig, hard_shrink;
    /// From here outwards elements stay.
    #=0.5 lambda
}

parametric! {
    /// `x` nearer to 0 by `lambda`, 0 where that would pass it.
    SoftShrink, SoftShrinkConfig, soft_shrink;
    /// How far elements move.
    #=0.5 lambda
}

parametric! {
    /// `x + bias` below `-lambda`, `x - bias` above `lambda`, 0 between.
    Shrink, ShrinkConfig, shrink;
    /// From here outwards elements are not 0.
    #=0.5 lambda,
    /// How far these move towards 0.
    #=0.5 bias
}

parametric! {
    /// `alpha · x + beta`, no less than 0 and no more than 1.
    HardSigmoid, HardSigmoidConfig, hard_sigmoid;
    /// The slope between the ends.
    #=0.2 alpha,
    /// The value at 0.
    #=0.5 beta
}

parametric! {
    /// `x` in `[min_val, max_val]`, the nearer end elsewhere.
    Hardtanh, HardtanhConfig, hardtanh;
    /// The lower end.
    #=-1.0 min_val,
    /// The upper end.
    #=1.0 max_val
}

parametric! {
    /// `x` above 0, `negative_slope · x` elsewhere (Maas, Hannun and Ng 2013).
    LeakyRelu, LeakyReluConfig, leaky_relu;
    /// The slope on the left.
    #=0.01 negative_slope
}

parametric! {
    /// `ln(1 + e^(beta · x)) / beta`, and `x` where `beta · x` is above `threshold`.
    Softplus, SoftplusConfig, softplus_with_threshold;
    /// How sharp the bend is; not 0.
    #=1.0 beta,
    /// From here on the function is taken for the identity.
    #=20.0 threshold
}

parametric! {
    /// `x` above `threshold`, `value` elsewhere.
    Threshold, ThresholdConfig, threshold;
    /// Elements above it stay.
    threshold,
    /// What the others become.
    value
}

parametric! {
    /// `x` above `alpha`, 0 elsewhere (Konda, Memisevic and Krueger 2014).
    ThresholdedRelu, ThresholdedReluConfig, thresholded_relu;
    /// Elements above it stay.
    #=1.0 alpha
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn numbers_are_shown_and_start_from_their_defaults() {
        let shown = [
            format!("{}", CeluConfig::new().init()),
            format!("{}", HardtanhConfig::new().init()),
            format!("{}", ThresholdConfig::new(0.5, 1.0).init()),
            format!("{}", SoftplusConfig::new().with_beta(2.5).init()),
        ];
        assert_eq!(
            shown,
            [
                "Celu {alpha: 1}",
                "Hardtanh {min_val: -1, max_val: 1}",
                "Threshold {threshold: 0.5, value: 1}",
                "Softplus {beta: 2.5, threshold: 20}",
            ]
        );
    }
}
