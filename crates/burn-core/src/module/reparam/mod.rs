//! Reparameterizations: parameters whose value is computed from a stored base and a small module beside it.
//!
//! The base stays what visitors and mappers see as the parameter; the module beside it is walked below the parameter's
//! path, under the name of the reparameterization. How a module of any type fits into a
//! [`Param`] is in [`erased`].

pub(super) mod erased;
mod lora;
mod qlora;
mod walk;
mod weight_norm;

use burn_tensor::Tensor;

use super::{Module, Param, ParameterValue};
pub use erased::{Attached, Erased};
pub use lora::{Lora, LoraAdapter};
pub use qlora::QLora;
pub(super) use walk::{Merge, Reparameterize};
pub use weight_norm::{WeightNorm, WeightNormScale};

/// A module that a parameter's value is computed with.
///
/// ```
/// use burn_core::module::{Module, Param, Reparameterization, Reparameterizer};
/// use burn_core::tensor::{Device, Tensor};
///
/// #[derive(Module, Debug)]
/// struct Gain {
///     factor: Param<Tensor<1>>,
/// }
///
/// impl Reparameterization for Gain {
///     const NAME: &'static str = "gain";
///
///     fn apply<const D: usize>(&self, base: Tensor<D>) -> Tensor<D> {
///         base * self.factor.val().unsqueeze()
///     }
/// }
///
/// struct WithGain;
///
/// impl Reparameterizer for WithGain {
///     type Reparam = Gain;
///
///     fn reparameterize<const D: usize>(
///         &mut self,
///         _path: &str,
///         param: Param<Tensor<D>>,
///     ) -> (Param<Tensor<D>>, Option<Gain>) {
///         let factor = Param::from_data([2.0], &param.lazy_device());
///         (param, Some(Gain { factor }))
///     }
/// }
///
/// let param = Param::<Tensor<1>>::from_data([1.0, 3.0], &Device::default());
/// let param = param.apply_reparameterization(WithGain);
/// assert_eq!(param.val().try_into_vec_as::<f32>().unwrap(), [2.0, 6.0]);
/// assert_eq!(param.base().try_into_vec_as::<f32>().unwrap(), [1.0, 3.0]);
/// ```
pub trait Reparameterization: Module + Sync + 'static {
    /// The level of the path below the parameter: the parameters of this module are at `weight.NAME.…`.
    const NAME: &'static str;

    /// The value of the parameter, in the shape of its base.
    fn apply<const D: usize>(&self, tensor: Tensor<D>) -> Tensor<D>;
}

/// Chooses the parameters of a module that get a [`Reparameterization`], and makes it.
pub trait Reparameterizer {
    /// What is made.
    type Reparam: Reparameterization;

    /// The base for the parameter at `path`, and what to compute its value with; `None` leaves the parameter alone.
    fn reparameterize<const D: usize>(
        &mut self,
        path: &str,
        param: Param<Tensor<D>>,
    ) -> (Param<Tensor<D>>, Option<Self::Reparam>);
}

impl<T: ParameterValue> Param<T> {
    /// What the value is computed with, if it is an `R`.
    pub fn reparameterization<R: Reparameterization>(&self) -> Option<&R> {
        self.attached()?.module().as_any().downcast_ref()
    }

    /// The low-rank adapter, if there is one.
    pub fn adapter(&self) -> Option<&LoraAdapter> {
        self.reparameterization()
    }
}
