//! The traits: [`Module`], and what walks one, [`ModuleVisitor`] and [`ModuleMapper`].

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use burn_tensor::kind::Autodiff;
use burn_tensor::{Bool, Device, Int, Tensor};

use super::reparam::erased::CONTAINER;
use super::reparam::{Attached, Erased, Lora, Merge, QLora, Reparameterize, Reparameterizer};
use super::walk::{Action, Collect, Count, Transform};
use super::{Flag, Param, ParamGroup, ParamId, Quantizer};
use crate::store::{ModuleRecord, RecordError};

/// The devices that the parameters of a module live on.
pub type Devices = Vec<Device>;

/// A tree of parameters; made by `#[derive(Module)]`.
///
/// Only [`visit`](Module::visit) and [`map`](Module::map) differ between modules.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a module",
    label = "neither a module nor plain data",
    note = "a field that is configuration or runtime state is marked with `#[module(skip)]`",
    note = "a type with parameters becomes a module by `#[derive(Module, Debug)]`"
)]
pub trait Module: Clone + Send + Debug {
    /// Shows each parameter to `visitor`, in the order of the fields.
    fn visit<Visitor: ModuleVisitor>(&self, visitor: &mut Visitor);

    /// Passes each parameter through `mapper`, in the order of the fields.
    fn map<Mapper: ModuleMapper>(self, mapper: &mut Mapper) -> Self;

    /// Adds the devices of the parameters to `devices`, each once.
    fn collect_devices(&self, devices: Devices) -> Devices {
        let mut collect = Collect { devices };
        self.visit(&mut collect);
        collect.devices
    }

    /// The devices of the parameters, each once.
    fn devices(&self) -> Devices {
        self.collect_devices(Vec::new())
    }

    /// The module on `device` as a new start of the tape: its parameters have no history and can be
    /// optimized there. Whether there is a tape does not change.
    fn fork(self, device: &Device) -> Self {
        self.map(&mut Transform::new(Action::Fork(device)))
    }

    /// Moves the module to `device`: as [`fork`](Module::fork), except that a parameter that is there
    /// already stays what it is.
    fn to_device(self, device: &Device) -> Self {
        self.map(&mut Transform::new(Action::ToDevice(device)))
    }

    /// The module for training: on an autodiff device, with gradients for all parameters that are
    /// not frozen, and with layers such as dropout active.
    fn train(self) -> Self {
        self.map(&mut Transform::new(Action::Train))
    }

    /// The module for validation: without autodiff, with layers such as dropout inactive.
    fn valid(&self) -> Self {
        self.clone().map(&mut Transform::new(Action::Valid))
    }

    /// Computes every parameter that is still to be initialized.
    fn materialize(self) -> Self {
        self.map(&mut Transform::new(Action::Materialize))
    }

    /// Keeps all parameters from being trained, and layers such as dropout inactive.
    fn freeze(self) -> Self {
        self.map(&mut Transform::new(Action::Frozen(true)))
    }

    /// Reverses [`freeze`](Module::freeze).
    fn unfreeze(self) -> Self {
        self.map(&mut Transform::new(Action::Frozen(false)))
    }

    /// [`freeze`](Module::freeze) for the parameters in `group`.
    fn freeze_group(self, group: ParamGroup) -> Self {
        self.map(&mut Transform::within(Action::Frozen(true), group))
    }

    /// [`unfreeze`](Module::unfreeze) for the parameters in `group`.
    fn unfreeze_group(self, group: ParamGroup) -> Self {
        self.map(&mut Transform::within(Action::Frozen(false), group))
    }

    /// Lets no parameter have a gradient; layers such as dropout stay as they are.
    fn no_grad(self) -> Self {
        self.set_require_grad(false)
    }

    /// Sets for all parameters whether they get gradients.
    fn set_require_grad(self, require_grad: bool) -> Self {
        self.map(&mut Transform::new(Action::RequireGrad(require_grad)))
    }

    /// [`set_require_grad`](Module::set_require_grad) for the parameters in `group`.
    fn set_require_grad_group(self, group: ParamGroup, require_grad: bool) -> Self {
        self.map(&mut Transform::within(
            Action::RequireGrad(require_grad),
            group,
        ))
    }

    /// The module with the float parameters that `quantizer` selects as codes of few bits, which are constants.
    fn quantize_weights(self, quantizer: &mut Quantizer) -> Self {
        self.map(quantizer)
    }

    /// [`quantize_weights`](Module::quantize_weights) for the parameters in `group`, whatever `quantizer` selects.
    fn quantize_weights_group(self, quantizer: &mut Quantizer, group: ParamGroup) -> Self {
        let own = core::mem::replace(&mut quantizer.group, group);
        let module = self.map(quantizer);
        quantizer.set_param_group(own);
        module
    }

    /// Computes parameters from what they are and what `reparameterizer` makes beside them.
    ///
    /// # Panics
    /// If a parameter would get a second reparameterization.
    #[track_caller]
    fn apply_reparameterization<R>(self, reparameterizer: R) -> Self
    where
        Self: Sized,
        R: Reparameterizer,
    {
        self.map(&mut Reparameterize::new(reparameterizer))
    }

    /// Freezes all parameters, and adds trained adapters of low rank to the matrices. Layers such as dropout stay active.
    ///
    /// # Panics
    /// If no parameter gets an adapter, or one would get a second reparameterization.
    #[track_caller]
    fn apply_lora(self, lora: Lora) -> Self
    where
        Self: Sized,
    {
        let group = lora.param_group.clone();
        adapted(self, "apply_lora", lora, &group)
    }

    /// As [`apply_lora`](Module::apply_lora), with the matrices that get adapters as codes of few bits.
    ///
    /// # Panics
    /// As [`apply_lora`](Module::apply_lora), and if the blocks of the quantizer's scheme do not divide a matrix.
    #[track_caller]
    fn apply_qlora(self, qlora: QLora) -> Self
    where
        Self: Sized,
    {
        let group = qlora.lora.param_group.clone();
        adapted(self, "apply_qlora", qlora, &group)
    }

    /// Stores the values that parameters are computed to, as from adapters, and ends the computation.
    fn merge_reparameterizations(self) -> Self
    where
        Self: Sized,
    {
        self.map(&mut Merge)
    }

    /// The number of elements in all float parameters.
    fn num_params(&self) -> usize {
        let mut count = Count { elements: 0 };
        self.visit(&mut count);
        count.elements
    }

    /// The values of all parameters under their paths.
    fn into_record(self) -> ModuleRecord {
        ModuleRecord::from_module(&self, None)
    }

    /// The values of the parameters in `group` under their paths.
    fn into_record_group(self, group: ParamGroup) -> ModuleRecord {
        ModuleRecord::from_module(&self, Some(group))
    }

    /// Takes the values of all parameters from `record`.
    ///
    /// # Panics
    /// If the record does not fit the module; see [`try_load_record`](Module::try_load_record).
    #[track_caller]
    fn load_record(self, record: ModuleRecord) -> Self {
        self.try_load_record(record)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Takes the values of all parameters from `record`.
    ///
    /// # Errors
    /// [`RecordError::Validation`] naming every parameter that is missing, unused, or of another
    /// shape; nothing is loaded then.
    fn try_load_record(self, record: ModuleRecord) -> Result<Self, RecordError> {
        record.apply(self)
    }

    /// Writes the values of all parameters to `file`, with the extension `bpk` if it has none.
    ///
    /// # Errors
    /// [`RecordError::Io`] naming the file.
    #[cfg(feature = "std")]
    fn save_file<P: AsRef<std::path::Path>>(self, file: P) -> Result<(), RecordError> {
        self.into_record().save(file)
    }

    /// Takes the values of all parameters from `file`.
    ///
    /// # Panics
    /// If the file cannot be read or does not fit; see [`try_load_file`](Module::try_load_file).
    #[cfg(feature = "std")]
    #[track_caller]
    fn load_file<P: AsRef<std::path::Path>>(self, file: P) -> Self {
        self.try_load_file(file)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Takes the values of all parameters from `file`.
    ///
    /// # Errors
    /// [`RecordError::Io`] if the file cannot be read, [`RecordError::Validation`] if it is
    /// corrupt or does not fit; nothing is loaded then.
    #[cfg(feature = "std")]
    fn try_load_file<P: AsRef<std::path::Path>>(self, file: P) -> Result<Self, RecordError> {
        self.try_load_record(ModuleRecord::load(file)?)
    }
}

#[track_caller]
fn adapted<M: Module>(
    module: M,
    method: &str,
    reparameterizer: impl Reparameterizer,
    group: &ParamGroup,
) -> M {
    let mut reparameterize = Reparameterize::new(reparameterizer);
    let module = module.no_grad().map(&mut reparameterize);
    assert!(
        reparameterize.attached > 0,
        "`{method}`: the module has no float parameter of 2 dimensions in {group:?}"
    );
    module
}

/// Is shown the parameters of a module. Every method does nothing unless you write it.
pub trait ModuleVisitor {
    /// A float parameter.
    fn visit_float<const D: usize>(&mut self, _param: &Param<Tensor<D>>) {}

    /// An int parameter.
    fn visit_int<const D: usize>(&mut self, _param: &Param<Tensor<D, Int>>) {}

    /// A bool parameter.
    fn visit_bool<const D: usize>(&mut self, _param: &Param<Tensor<D, Bool>>) {}

    /// A switch.
    fn visit_flag(&mut self, _param: &Param<Flag>) {}

    /// Enters the field `name` of a container such as `Struct:Net` or `Vec`.
    fn enter_module(&mut self, _name: &str, _container_type: &str) {}

    /// Leaves the field entered last.
    fn exit_module(&mut self, _name: &str, _container_type: &str) {}

    /// For visitors that keep the path: a float tensor below it. No module calls this.
    fn visit_float_with_path<const D: usize>(
        &mut self,
        _path: &[String],
        _id: ParamId,
        _tensor: &Tensor<D>,
    ) {
    }

    /// For visitors that keep the path: an int tensor below it. No module calls this.
    fn visit_int_with_path<const D: usize>(
        &mut self,
        _path: &[String],
        _id: ParamId,
        _tensor: &Tensor<D, Int>,
    ) {
    }

    /// For visitors that keep the path: a bool tensor below it. No module calls this.
    fn visit_bool_with_path<const D: usize>(
        &mut self,
        _path: &[String],
        _id: ParamId,
        _tensor: &Tensor<D, Bool>,
    ) {
    }

    /// What a parameter is computed with. Visitors of this workspace override it with the same call, so that it is
    /// compiled with them and not in a user's crate.
    #[doc(hidden)]
    fn visit_erased(&mut self, module: &dyn Erased)
    where
        Self: Sized,
    {
        module.visit(self);
    }

    /// A tensor that is a field without being a parameter.
    #[doc(hidden)]
    fn visit_tensor<const D: usize, K: Autodiff>(&mut self, _tensor: &Tensor<D, K>) {}
}

/// Changes the parameters of a module. Every method gives the parameter back unchanged unless
/// you write it.
pub trait ModuleMapper {
    /// A float parameter.
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param
    }

    /// An int parameter.
    fn map_int<const D: usize>(&mut self, param: Param<Tensor<D, Int>>) -> Param<Tensor<D, Int>> {
        param
    }

    /// A bool parameter.
    fn map_bool<const D: usize>(
        &mut self,
        param: Param<Tensor<D, Bool>>,
    ) -> Param<Tensor<D, Bool>> {
        param
    }

    /// A switch.
    fn map_flag(&mut self, param: Param<Flag>) -> Param<Flag> {
        param
    }

    /// Enters the field `name` of a container such as `Struct:Net` or `Vec`.
    fn enter_module(&mut self, _name: &str, _container_type: &str) {}

    /// Leaves the field entered last.
    fn exit_module(&mut self, _name: &str, _container_type: &str) {}

    /// What a parameter is computed with: as `visit_erased`.
    #[doc(hidden)]
    fn map_erased(&mut self, module: Box<dyn Erased>) -> Box<dyn Erased>
    where
        Self: Sized,
    {
        module.map(self)
    }

    /// A base that was mapped, and what its value is computed with.
    #[doc(hidden)]
    fn map_attached<const D: usize>(
        &mut self,
        param: Param<Tensor<D>>,
        attached: Attached<Tensor<D>>,
    ) -> Param<Tensor<D>>
    where
        Self: Sized,
    {
        let name = attached.module().name();
        self.enter_module(name, CONTAINER);
        let attached = attached.map(|module| self.map_erased(module));
        self.exit_module(name, CONTAINER);
        param.attach(attached)
    }

    /// A tensor that is a field without being a parameter.
    #[doc(hidden)]
    fn map_tensor<const D: usize, K: Autodiff>(&mut self, tensor: Tensor<D, K>) -> Tensor<D, K> {
        tensor
    }
}
