//! Activations as modules. The functions are in `burn_tensor::activation`.

use burn_core::module::Module;
use burn_core::tensor::{Tensor, activation};

macro_rules! activation {
    ($(#[$doc:meta])* $name:ident, $function:ident) => {
        $(#[$doc])*
        ///
        /// # Shapes
        /// - input and output: `[d0, …, dn]`
        #[derive(Module, Debug, Default)]
        pub struct $name;

        impl $name {
            /// The module; it has no parameters.
            pub fn new() -> Self {
                Self
            }

            /// Applies the function to each element.
            pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
                activation::$function(input)
            }
        }
    };
}

activation! {
    /// `max(x, 0)`.
    Relu, relu
}

activation! {
    /// The logistic function `1 / (1 + e^-x)`.
    Sigmoid, sigmoid
}

activation! {
    /// The hyperbolic tangent.
    Tanh, tanh
}

/// `x · Φ(x)` with the distribution function `Φ` of the normal distribution (Hendrycks and
/// Gimpel, 2016), exactly or by its tanh form.
///
/// # Shapes
/// - input and output: `[d0, …, dn]`
#[derive(Module, Debug, Default)]
pub struct Gelu {
    /// Whether the tanh form is used.
    pub approximate: bool,
}

impl Gelu {
    /// The exact function.
    pub fn new() -> Self {
        Self { approximate: false }
    }

    /// The tanh form.
    pub fn new_approximate() -> Self {
        Self { approximate: true }
    }

    /// Applies the function to each element.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        match self.approximate {
            true => activation::gelu_approximate(input),
            false => activation::gelu(input),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;
    use burn_core::tensor::Device;

    #[test]
    fn each_module_applies_its_function() {
        let input = || Tensor::<1>::from_data([-1.0, 2.0], &Device::default());
        let outputs = [
            // max(x, 0)
            (Relu::new().forward(input()), [0.0, 2.0]),
            // 1 / (1 + e^-x)
            (Sigmoid::new().forward(input()), [0.268_941_4, 0.880_797_1]),
            (Tanh::new().forward(input()), [-0.761_594_2, 0.964_027_6]),
            // x (1 + erf(x / √2)) / 2
            (Gelu::new().forward(input()), [-0.158_655_26, 1.954_499_7]),
            // x (1 + tanh(√(2 / π) (x + 0.044715 x³))) / 2
            (
                Gelu::new_approximate().forward(input()),
                [-0.158_808_01, 1.954_597_7],
            ),
        ];
        for (output, expected) in outputs {
            let output: Vec<f32> = output.try_into_vec_as().expect("it can be read");
            for (found, expected) in output.iter().zip(expected) {
                // f32: a few roundings of values around 1.
                assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
            }
        }
    }

    #[test]
    fn an_activation_has_no_parameters() {
        assert_eq!(Relu::new().num_params(), 0);
        assert_eq!(format!("{}", Relu::new()), "Relu");
    }
}
