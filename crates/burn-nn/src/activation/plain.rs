//! Activations without numbers of their own, and [`Gelu`].

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
            #[track_caller]
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
    /// `min(max(x, 0), 6)` (Krizhevsky 2010).
    Relu6, relu6
}

activation! {
    /// The logistic function `1 / (1 + e^-x)`.
    Sigmoid, sigmoid
}

activation! {
    /// `ln(1 / (1 + e^-x))`.
    LogSigmoid, log_sigmoid
}

activation! {
    /// The hyperbolic tangent.
    Tanh, tanh
}

activation! {
    /// `x - tanh(x)`.
    Tanhshrink, tanhshrink
}

activation! {
    /// `scale · x` above 0 and `scale · alpha · (e^x - 1)` elsewhere, with the numbers for which mean 0 and variance 1
    /// are a fixed point (Klambauer and others 2017, equation 14).
    Selu, selu
}

activation! {
    /// `x · sigmoid(x)` (Elfwing, Uchibe and Doya 2017, equation 2).
    SiLU, silu
}

activation! {
    /// `x · tanh(ln(1 + e^x))` (Misra 2019, equation 1).
    Mish, mish
}

activation! {
    /// `x · min(max(x + 3, 0), 6) / 6` (Howard and others 2019, section 5.2).
    HardSwish, hard_swish
}

activation! {
    /// `x / (1 + |x|)`.
    Softsign, softsign
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
    #[track_caller]
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

    #[test]
    fn an_activation_has_no_parameters() {
        assert_eq!(Relu::new().num_params(), 0);
        assert_eq!(format!("{}", SiLU::new()), "SiLU");
        assert_eq!(
            format!("{}", Gelu::new()),
            "Gelu {\n  approximate: false\n}"
        );
    }
}
