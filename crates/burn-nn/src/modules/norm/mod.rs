//! Normalizations, and [`Normalization`]: any of them.

mod batch;
mod group;
mod layer;
mod local_response;
mod rms;

pub use batch::{BatchNorm, BatchNormConfig};
pub use group::{GroupNorm, GroupNormConfig, InstanceNorm, InstanceNormConfig};
pub use layer::{LayerNorm, LayerNormConfig};
pub use local_response::{LocalResponseNorm, LocalResponseNormConfig};
pub use rms::{RmsNorm, RmsNormConfig};

use crate::Identity;
use burn_core::config::Config;
use burn_core::module::Module;
use burn_core::tensor::{Device, Tensor};

/// Stops at an input whose dim 1 is not as large as a layer was made for.
///
/// # Panics
/// If the input has no dim 1, or it has another size.
#[track_caller]
fn channels(layer: &str, field: &str, shape: &[usize], count: usize) {
    assert!(
        shape.get(1) == Some(&count),
        "`{layer}`: `{field}` is {count}, but the input has the shape {shape:?}\n  legal: [batch, {count}, …]"
    );
}

/// A vector along dim 1.
fn along<const D: usize>(vector: Tensor<1>) -> Tensor<D> {
    let mut shape = [1; D];
    shape[1] = vector.dims()[0];
    vector.reshape(shape)
}

macro_rules! normalizations {
    ($($(#[$doc:meta])* $variant:ident($norm:ident, $config:ident, $size:ident, $of:expr);)+) => {
        /// Describes a [`Normalization`].
        #[derive(Config, Debug)]
        #[non_exhaustive]
        pub enum NormalizationConfig {
            $($(#[$doc])* $variant($config),)+
            /// None.
            Identity,
        }

        /// A normalization that is chosen when a program runs.
        #[derive(Module, Debug)]
        #[non_exhaustive]
        pub enum Normalization {
            $($(#[$doc])* $variant($norm),)+
            /// None.
            Identity(Identity),
        }

        impl NormalizationConfig {
            /// The layer on `device`.
            ///
            /// # Panics
            /// As the chosen configuration does.
            #[track_caller]
            pub fn init(&self, device: &Device) -> Normalization {
                match self {
                    $(Self::$variant(config) => Normalization::$variant(config.init(device)),)+
                    Self::Identity => Normalization::Identity(Identity::new()),
                }
            }

            /// The same for another number of features; none takes any.
            pub fn with_num_features(self, num_features: usize) -> Self {
                match self {
                    $(Self::$variant(config) => Self::$variant($config {
                        $size: num_features,
                        ..config
                    }),)+
                    Self::Identity => Self::Identity,
                }
            }

            /// The number of features; 0 for none.
            pub fn num_features(&self) -> usize {
                match self {
                    $(Self::$variant(config) => config.$size,)+
                    Self::Identity => 0,
                }
            }
        }

        impl Normalization {
            /// Normalizes as the chosen layer does.
            #[track_caller]
            pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
                match self {
                    $(Self::$variant(norm) => norm.forward(input),)+
                    Self::Identity(norm) => norm.forward(input),
                }
            }

            /// The number of features; 0 for none.
            pub fn num_features(&self) -> usize {
                match self {
                    $(Self::$variant(norm) => {
                        let of: fn(&$norm) -> usize = $of;
                        of(norm)
                    })+
                    Self::Identity(_) => 0,
                }
            }
        }

        $(
            impl From<$config> for NormalizationConfig {
                fn from(config: $config) -> Self {
                    Self::$variant(config)
                }
            }

            impl From<$norm> for Normalization {
                fn from(norm: $norm) -> Self {
                    Self::$variant(norm)
                }
            }
        )+
    };
}

normalizations! {
    /// [`BatchNorm`]
    Batch(BatchNorm, BatchNormConfig, num_features, |norm| norm.gamma.lazy_shape()[0]);
    /// [`GroupNorm`]
    Group(GroupNorm, GroupNormConfig, num_channels, |norm| norm.num_channels);
    /// [`InstanceNorm`]
    Instance(InstanceNorm, InstanceNormConfig, num_channels, |norm| norm.num_channels);
    /// [`LayerNorm`]
    Layer(LayerNorm, LayerNormConfig, d_model, |norm| norm.gamma.lazy_shape()[0]);
    /// [`RmsNorm`]
    Rms(RmsNorm, RmsNormConfig, d_model, |norm| norm.gamma.lazy_shape()[0]);
}

impl From<Identity> for Normalization {
    fn from(norm: Identity) -> Self {
        Self::Identity(norm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn any_normalization_knows_its_features() {
        let device = Device::default();
        let configs: [NormalizationConfig; 6] = [
            BatchNormConfig::new(6).into(),
            GroupNormConfig::new(2, 6).into(),
            InstanceNormConfig::new(6).into(),
            LayerNormConfig::new(6).into(),
            RmsNormConfig::new(6).into(),
            NormalizationConfig::Identity,
        ];
        for config in configs {
            let count = match config {
                NormalizationConfig::Identity => [0, 0],
                _ => [6, 8],
            };
            assert_eq!(config.num_features(), count[0]);
            let config = config.with_num_features(8);
            assert_eq!(config.num_features(), count[1]);
            let norm = config.init(&device);
            assert_eq!(norm.num_features(), count[1]);
            let input = Tensor::<2>::ones([1, 8], &device);
            assert_eq!(norm.forward(input).dims(), [1, 8]);
        }
    }

    #[test]
    fn any_normalization_prints_which_it_is() {
        let config = NormalizationConfig::from(RmsNormConfig::new(3));
        assert_eq!(
            format!("{}", config.init(&Device::default())),
            "Rms {\n  _0: RmsNorm {d_model: 3, epsilon: 0.00001, params: 3}\n  params: 3\n}"
        );
        let none = Normalization::from(Identity::new());
        assert_eq!(format!("{none}"), "Identity {\n  _0: Identity\n}");
    }
}
