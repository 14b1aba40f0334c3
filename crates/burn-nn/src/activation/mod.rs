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
