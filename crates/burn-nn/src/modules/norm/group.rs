//! [`GroupNorm`] and [`InstanceNorm`]: channels of a sample normalized, several together or each alone.

use super::{along, channels};
use crate::{Initializer, check, display::in_one_line};
use burn_core::config::Config;
use burn_core::module::{Module, Param};
use burn_core::tensor::module::layer_norm;
use burn_core::tensor::{Device, Tensor};

/// Describes a [`GroupNorm`].
#[derive(Config, Debug)]
pub struct GroupNormConfig {
    /// Parts of the channels that are normalized together.
    pub num_groups: usize,
    /// The channels.
    pub num_channels: usize,
    /// Added to the variance.
    #[config(default = 1e-5)]
    pub epsilon: f64,
    /// Whether each channel is scaled and shifted.
    #[config(default = true)]
    pub affine: bool,
}

/// Each group of channels (dimension 1) of each sample with mean 0 and variance 1, each channel scaled and shifted (Wu
/// and He 2018, equation 7).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct GroupNorm {
    /// The scale, `[num_channels]`.
    pub gamma: Option<Param<Tensor<1>>>,
    /// The shift, `[num_channels]`.
    pub beta: Option<Param<Tensor<1>>>,
    /// Parts of the channels that are normalized together.
    pub num_groups: usize,
    /// The channels.
    pub num_channels: usize,
    /// Added to the variance.
    pub epsilon: f64,
    /// Whether each channel is scaled and shifted.
    pub affine: bool,
}

impl GroupNormConfig {
    /// The layer on `device`: scale 1, shift 0.
    ///
    /// # Panics
    /// If the groups do not divide the channels, or `epsilon` is negative.
    #[track_caller]
    pub fn init(&self, device: &Device) -> GroupNorm {
        let (groups, channels) = (self.num_groups, self.num_channels);
        assert!(
            groups > 0 && channels.is_multiple_of(groups),
            "`GroupNorm`: the field `num_groups` is {groups}, `num_channels` is {channels}\n  legal: a number of groups that divides that of channels"
        );
        check::epsilon("GroupNorm", self.epsilon);
        let (gamma, beta) = affine(self.affine, channels, device);
        GroupNorm {
            gamma,
            beta,
            num_groups: groups,
            num_channels: channels,
            epsilon: self.epsilon,
            affine: self.affine,
        }
    }
}

impl GroupNorm {
    /// Normalizes `[batch, num_channels, …]`.
    ///
    /// # Panics
    /// If the input has another number of channels.
    #[track_caller]
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        channels(
            "GroupNorm",
            "num_channels",
            &input.dims(),
            self.num_channels,
        );
        let affine = [&self.gamma, &self.beta];
        normalize(input, self.num_groups, self.epsilon, affine)
    }
}

/// Describes an [`InstanceNorm`].
#[derive(Config, Debug)]
pub struct InstanceNormConfig {
    /// The channels.
    pub num_channels: usize,
    /// Added to the variance.
    #[config(default = 1e-5)]
    pub epsilon: f64,
    /// Whether each channel is scaled and shifted.
    #[config(default = true)]
    pub affine: bool,
}

/// Each channel (dimension 1) of each sample with mean 0 and variance 1, scaled and shifted (Ulyanov, Vedaldi and
/// Lempitsky 2016, equation 2).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct InstanceNorm {
    /// The scale, `[num_channels]`.
    pub gamma: Option<Param<Tensor<1>>>,
    /// The shift, `[num_channels]`.
    pub beta: Option<Param<Tensor<1>>>,
    /// The channels.
    pub num_channels: usize,
    /// Added to the variance.
    pub epsilon: f64,
    /// Whether each channel is scaled and shifted.
    pub affine: bool,
}

impl InstanceNormConfig {
    /// The layer on `device`: scale 1, shift 0.
    ///
    /// # Panics
    /// If `epsilon` is negative.
    #[track_caller]
    pub fn init(&self, device: &Device) -> InstanceNorm {
        check::epsilon("InstanceNorm", self.epsilon);
        let (gamma, beta) = affine(self.affine, self.num_channels, device);
        InstanceNorm {
            gamma,
            beta,
            num_channels: self.num_channels,
            epsilon: self.epsilon,
            affine: self.affine,
        }
    }
}

impl InstanceNorm {
    /// Normalizes `[batch, num_channels, …]`.
    ///
    /// # Panics
    /// If the input has another number of channels.
    #[track_caller]
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let count = self.num_channels;
        channels("InstanceNorm", "num_channels", &input.dims(), count);
        normalize(input, count, self.epsilon, [&self.gamma, &self.beta])
    }
}

type Line = Option<Param<Tensor<1>>>;

/// A scale of 1 and a shift of 0 for each channel, if there are any.
fn affine(affine: bool, channels: usize, device: &Device) -> (Line, Line) {
    let line = |initializer: Initializer| affine.then(|| initializer.init([channels], device));
    (line(Initializer::Ones), line(Initializer::Zeros))
}

/// Groups as the rows of a layer norm, which is one pass over memory.
fn normalize<const D: usize>(
    input: Tensor<D>,
    groups: usize,
    epsilon: f64,
    [gamma, beta]: [&Line; 2],
) -> Tensor<D> {
    let shape = input.shape();
    let rows = shape[0] * groups;
    let size = shape.num_elements() / rows.max(1);
    let input: Tensor<2> = input.reshape([rows, size]);
    let ones = Tensor::ones([size], (&input.device(), input.dtype()));
    let output: Tensor<D> = layer_norm(input, ones, None, epsilon).reshape(shape);
    let scaled = match gamma {
        Some(gamma) => output.mul(along(gamma.val())),
        None => output,
    };
    match beta {
        Some(beta) => scaled.add(along(beta.val())),
        None => scaled,
    }
}

in_one_line! {
    GroupNorm { num_groups, num_channels, epsilon, affine }
    InstanceNorm { num_channels, epsilon, affine }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn a_group_norm_prints_its_options() {
        let device = Device::default();
        assert_eq!(
            format!("{}", GroupNormConfig::new(2, 4).init(&device)),
            "GroupNorm {num_groups: 2, num_channels: 4, epsilon: 0.00001, affine: true, params: 8}"
        );
        let config = InstanceNormConfig::new(4).with_affine(false);
        assert_eq!(
            format!("{}", config.init(&device)),
            "InstanceNorm {num_channels: 4, epsilon: 0.00001, affine: false}"
        );
    }

    #[test]
    fn a_batch_of_nothing_stays_one() {
        let device = Device::default();
        let layer = GroupNormConfig::new(2, 4).init(&device);
        let output = layer.forward(Tensor::<3>::ones([0, 4, 3], &device));
        assert_eq!(output.dims(), [0, 4, 3]);
    }

    #[test]
    #[should_panic(expected = "`GroupNorm`: the field `num_groups` is 3, `num_channels` is 4")]
    fn groups_divide_the_channels() {
        GroupNormConfig::new(3, 4).init(&Device::default());
    }

    #[test]
    #[should_panic(
        expected = "`InstanceNorm`: `num_channels` is 4, but the input has the shape [2, 3, 5]"
    )]
    fn an_input_of_other_channels_is_refused() {
        let device = Device::default();
        let layer = InstanceNormConfig::new(4).init(&device);
        layer.forward(Tensor::<3>::ones([2, 3, 5], &device));
    }
}
