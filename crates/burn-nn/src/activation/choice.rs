//! [`Activation`]: one of the activations, chosen by a configuration.

use super::{
    Celu, CeluConfig, Elu, EluConfig, Gelu, HardShrink, HardShrinkConfig, HardSigmoid,
    HardSigmoidConfig, HardSwish, LeakyRelu, LeakyReluConfig, PRelu, PReluConfig, Relu, Selu,
    Shrink, ShrinkConfig, Sigmoid, SoftShrink, SoftShrinkConfig, Softplus, SoftplusConfig,
    Softsign, SwiGlu, SwiGluConfig, Tanh, ThresholdedRelu, ThresholdedReluConfig,
};
use crate::Identity;
use burn_core::config::Config;
use burn_core::module::Module;
use burn_core::tensor::{Device, Tensor};

/// Names an [`Activation`] and its numbers.
#[derive(Config, Debug)]
#[non_exhaustive]
pub enum ActivationConfig {
    /// [`Gelu`].
    Gelu,
    /// [`Gelu`] by its tanh form.
    GeluApproximate,
    /// [`PRelu`].
    PRelu(PReluConfig),
    /// [`Relu`].
    Relu,
    /// [`LeakyRelu`].
    LeakyRelu(LeakyReluConfig),
    /// [`SwiGlu`].
    SwiGlu(SwiGluConfig),
    /// [`Selu`].
    Selu,
    /// [`Sigmoid`].
    Sigmoid,
    /// [`Tanh`].
    Tanh,
    /// [`HardSigmoid`].
    HardSigmoid(HardSigmoidConfig),
    /// [`HardSwish`].
    HardSwish,
    /// [`Softplus`].
    Softplus(SoftplusConfig),
    /// [`Softsign`].
    Softsign,
    /// [`Elu`].
    Elu(EluConfig),
    /// [`Celu`].
    Celu(CeluConfig),
    /// [`ThresholdedRelu`].
    ThresholdedRelu(ThresholdedReluConfig),
    /// [`HardShrink`].
    HardShrink(HardShrinkConfig),
    /// [`SoftShrink`].
    SoftShrink(SoftShrinkConfig),
    /// [`Shrink`].
    Shrink(ShrinkConfig),
    /// [`Identity`].
    Identity,
}

/// One of the activations.
#[derive(Module, Debug)]
#[non_exhaustive]
#[allow(
    clippy::large_enum_variant,
    reason = "the variants are part of the interface"
)]
pub enum Activation {
    /// [`Gelu`].
    Gelu(Gelu),
    /// [`PRelu`].
    PRelu(PRelu),
    /// [`Relu`].
    Relu(Relu),
    /// [`LeakyRelu`].
    LeakyRelu(LeakyRelu),
    /// [`SwiGlu`].
    SwiGlu(SwiGlu),
    /// [`Selu`].
    Selu(Selu),
    /// [`Sigmoid`].
    Sigmoid(Sigmoid),
    /// [`Tanh`].
    Tanh(Tanh),
    /// [`HardSigmoid`].
    HardSigmoid(HardSigmoid),
    /// [`HardSwish`].
    HardSwish(HardSwish),
    /// [`Softplus`].
    Softplus(Softplus),
    /// [`Softsign`].
    Softsign(Softsign),
    /// [`Elu`].
    Elu(Elu),
    /// [`Celu`].
    Celu(Celu),
    /// [`ThresholdedRelu`].
    ThresholdedRelu(ThresholdedRelu),
    /// [`HardShrink`].
    HardShrink(HardShrink),
    /// [`SoftShrink`].
    SoftShrink(SoftShrink),
    /// [`Shrink`].
    Shrink(Shrink),
    /// [`Identity`].
    Identity(Identity),
}

impl ActivationConfig {
    /// The activation on `device`.
    #[track_caller]
    pub fn init(&self, device: &Device) -> Activation {
        match self {
            Self::Gelu => Gelu::new().into(),
            Self::GeluApproximate => Gelu::new_approximate().into(),
            Self::PRelu(config) => config.init(device).into(),
            Self::Relu => Relu::new().into(),
            Self::LeakyRelu(config) => config.init().into(),
            Self::SwiGlu(config) => config.init(device).into(),
            Self::Selu => Selu::new().into(),
            Self::Sigmoid => Sigmoid::new().into(),
            Self::Tanh => Tanh::new().into(),
            Self::HardSigmoid(config) => config.init().into(),
            Self::HardSwish => HardSwish::new().into(),
            Self::Softplus(config) => config.init().into(),
            Self::Softsign => Softsign::new().into(),
            Self::Elu(config) => config.init().into(),
            Self::Celu(config) => config.init().into(),
            Self::ThresholdedRelu(config) => config.init().into(),
            Self::HardShrink(config) => config.init().into(),
            Self::SoftShrink(config) => config.init().into(),
            Self::Shrink(config) => config.init().into(),
            Self::Identity => Identity::new().into(),
        }
    }
}

/// What holds for every variant: how it is run, and that it is one.
macro_rules! variants {
    ($($name:ident)+) => {
        impl Activation {
            /// Applies the activation.
            ///
            /// # Shapes
            /// - input and output: the same, but for [`SwiGlu`]
            #[track_caller]
            pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
                match self {
                    $(Self::$name(layer) => layer.forward(input),)+
                }
            }
        }

        $(
            impl From<$name> for Activation {
                fn from(layer: $name) -> Self {
                    Self::$name(layer)
                }
            }
        )+
    };
}

variants! {
    Gelu PRelu Relu LeakyRelu SwiGlu Selu Sigmoid Tanh HardSigmoid HardSwish Softplus Softsign Elu Celu ThresholdedRelu
    HardShrink SoftShrink Shrink Identity
}

macro_rules! configurations {
    ($($name:ident($config:ident))+) => {
        $(
            impl From<$config> for ActivationConfig {
                fn from(config: $config) -> Self {
                    Self::$name(config)
                }
            }
        )+
    };
}

configurations! {
    PRelu(PReluConfig) LeakyRelu(LeakyReluConfig) SwiGlu(SwiGluConfig) HardSigmoid(HardSigmoidConfig)
    Softplus(SoftplusConfig) Elu(EluConfig) Celu(CeluConfig) ThresholdedRelu(ThresholdedReluConfig)
    HardShrink(HardShrinkConfig) SoftShrink(SoftShrinkConfig) Shrink(ShrinkConfig)
}

impl Activation {
    /// Whether each element of the output depends on the element in its place alone, so that tensors may be joined before
    /// the activation and split after it.
    pub(crate) fn is_elementwise(&self) -> bool {
        match self {
            Self::SwiGlu(_) => false,
            // With more than one, a slope belongs to a column.
            Self::PRelu(layer) => layer.alpha.lazy_shape()[0] == 1,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    #[test]
    fn a_configuration_is_the_activation_it_names() {
        let device = Device::default();
        let input = || Tensor::<1>::from_data([-1.0, 2.0], &device);
        let forward = |config: ActivationConfig| -> Vec<f32> {
            let output = config.init(&device).forward(input());
            output.try_into_vec_as().expect("a CPU tensor can be read")
        };
        assert_eq!(forward(ActivationConfig::Relu), [0.0, 2.0]);
        assert_eq!(forward(ActivationConfig::Identity), [-1.0, 2.0]);
        assert_eq!(forward(PReluConfig::new().into()), [-0.25, 2.0]);
        assert_eq!(forward(ShrinkConfig::new().into()), [-0.5, 1.5]);
    }

    #[test]
    fn a_configuration_survives_json() {
        let config = ActivationConfig::from(CeluConfig::new().with_alpha(0.5));
        let json = config.to_string();
        assert_eq!(json, "{\n  \"Celu\": {\n    \"alpha\": 0.5\n  }\n}");
        let loaded = ActivationConfig::load_binary(json.as_bytes());
        assert_eq!(loaded.map(|config| config.to_string()), Ok(json));
        assert_eq!(ActivationConfig::Tanh.to_string(), "\"Tanh\"");
    }

    #[test]
    fn an_activation_prints_what_it_is() {
        let device = Device::default();
        assert_eq!(
            format!("{}", ActivationConfig::Relu.init(&device)),
            "Relu {\n  _0: Relu\n}"
        );
    }
}
