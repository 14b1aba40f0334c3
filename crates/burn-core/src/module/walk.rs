//! The mapper and the visitors behind the methods of [`Module`](super::Module).
//!
//! One mapper with a value for the action, not a mapper for each: a user's crate then holds one
//! copy of the walk over its modules.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use burn_tensor::kind::Autodiff;
use burn_tensor::{Bool, Device, Int, Tensor};

use super::reparam::Erased;
use super::{Flag, ModuleMapper, ModuleVisitor, Param, ParamGroup, ParamId, Parameter};

/// What [`Transform`] does to each parameter.
pub(super) enum Action<'a> {
    ToDevice(&'a Device),
    Fork(&'a Device),
    Train,
    Valid,
    Materialize,
    RequireGrad(bool),
    Frozen(bool),
}

pub(super) struct Transform<'a> {
    action: Action<'a>,
    group: Option<ParamGroup>,
    path: Path,
}

impl<'a> Transform<'a> {
    pub fn new(action: Action<'a>) -> Self {
        Self {
            action,
            group: None,
            path: Path::default(),
        }
    }

    pub fn within(action: Action<'a>, group: ParamGroup) -> Self {
        Self {
            action,
            group: Some(group),
            path: Path::default(),
        }
    }

    fn selects(&self, id: &ParamId) -> bool {
        self.group
            .as_ref()
            .is_none_or(|group| group.matches(id, Some(&self.path.to_string())))
    }

    fn apply<const D: usize, K: Autodiff>(&self, param: Param<Tensor<D, K>>) -> Param<Tensor<D, K>>
    where
        Tensor<D, K>: Parameter,
    {
        if !self.selects(&param.id) {
            return param;
        }
        match &self.action {
            Action::ToDevice(target) => param.relocate(
                |device| like(&device, target),
                |tensor, grad| match Parameter::device(&tensor) == **target {
                    true => tensor,
                    false => anew(tensor, target, grad),
                },
            ),
            Action::Fork(target) => param.relocate(
                |device| like(&device, target),
                |tensor, grad| anew(tensor, target, grad),
            ),
            Action::Train => param.relocate(with_tape, |tensor, grad| {
                let device = with_tape(Parameter::device(&tensor));
                let tensor = tensor.to_device(&device);
                // A parameter that was moved along the tape is a result there, and stays one.
                match grad && tensor.is_on_tape() {
                    true => tensor,
                    false => tensor.set_require_grad(grad),
                }
            }),
            Action::Valid => param.relocate(Device::without_autodiff, |tensor, _| {
                tensor.without_autodiff()
            }),
            Action::Materialize => {
                param.val();
                param
            }
            Action::RequireGrad(grad) => param.set_require_grad(*grad),
            Action::Frozen(frozen) => param.set_require_grad(!frozen),
        }
    }
}

impl ModuleMapper for Transform<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        self.apply(param)
    }

    fn map_int<const D: usize>(&mut self, param: Param<Tensor<D, Int>>) -> Param<Tensor<D, Int>> {
        self.apply(param)
    }

    fn map_bool<const D: usize>(
        &mut self,
        param: Param<Tensor<D, Bool>>,
    ) -> Param<Tensor<D, Bool>> {
        self.apply(param)
    }

    fn map_erased(&mut self, module: Box<dyn Erased>) -> Box<dyn Erased> {
        module.map(self)
    }

    fn map_flag(&mut self, param: Param<Flag>) -> Param<Flag> {
        if !self.selects(&param.id) {
            return param;
        }
        match self.action {
            Action::Train => param.activate(true),
            Action::Valid => param.activate(false),
            Action::Frozen(frozen) => param.with_value(!frozen),
            Action::ToDevice(_)
            | Action::Fork(_)
            | Action::Materialize
            | Action::RequireGrad(_) => param,
        }
    }

    fn map_tensor<const D: usize, K: Autodiff>(&mut self, tensor: Tensor<D, K>) -> Tensor<D, K> {
        match &self.action {
            Action::ToDevice(target) | Action::Fork(target) => {
                let device = like(&tensor.device(), target);
                tensor.to_device(&device)
            }
            Action::Train => {
                let device = with_tape(tensor.device());
                tensor.to_device(&device)
            }
            Action::Valid => tensor.without_autodiff(),
            Action::Materialize | Action::RequireGrad(_) | Action::Frozen(_) => tensor,
        }
    }

    fn enter_module(&mut self, name: &str, _container_type: &str) {
        // Only a group asks for the path.
        if self.group.is_some() {
            self.path.enter(name);
        }
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.exit();
    }
}

/// The value on `target`, as the start of a tape if there is one.
fn anew<T: Parameter>(value: T, target: &Device, require_grad: bool) -> T {
    let device = like(&value.device(), target);
    value.load_to_device(&device).set_require_grad(require_grad)
}

/// `target`, with autodiff if `device` has it: a move changes the place, and only `train` and
/// `valid` change whether there is a tape.
fn like(device: &Device, target: &Device) -> Device {
    match device.is_autodiff() {
        true => with_tape(target.clone()),
        false => target.clone().without_autodiff(),
    }
}

/// `device` with autodiff; a build without autodiff has no such device.
fn with_tape(device: Device) -> Device {
    #[cfg(feature = "autodiff")]
    return device.autodiff();
    #[cfg(not(feature = "autodiff"))]
    device
}

/// The names of the fields from the root to where a walk is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path(Vec<String>);

impl Path {
    pub fn enter(&mut self, name: &str) {
        self.0.push(name.to_string());
    }

    pub fn exit(&mut self) {
        self.0.pop();
    }
}

impl core::fmt::Display for Path {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

/// Counts the elements of float parameters.
pub(super) struct Count {
    pub elements: usize,
}

impl ModuleVisitor for Count {
    fn visit_erased(&mut self, module: &dyn Erased) {
        module.visit(self);
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.elements += param.lazy_shape().num_elements();
    }
}

/// Collects the devices, each once.
pub(super) struct Collect {
    pub devices: Vec<Device>,
}

impl Collect {
    fn add(&mut self, device: Device) {
        if !self.devices.contains(&device) {
            self.devices.push(device);
        }
    }
}

impl ModuleVisitor for Collect {
    fn visit_erased(&mut self, module: &dyn Erased) {
        module.visit(self);
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.add(param.lazy_device());
    }

    fn visit_int<const D: usize>(&mut self, param: &Param<Tensor<D, Int>>) {
        self.add(param.lazy_device());
    }

    fn visit_bool<const D: usize>(&mut self, param: &Param<Tensor<D, Bool>>) {
        self.add(param.lazy_device());
    }

    fn visit_tensor<const D: usize, K: Autodiff>(&mut self, tensor: &Tensor<D, K>) {
        self.add(tensor.device());
    }
}
