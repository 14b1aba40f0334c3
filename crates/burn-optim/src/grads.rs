//! Gradients by parameter.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;

use burn_core::module::{Module, ModuleVisitor, Param, ParamId};
use burn_core::tensor::{Device, Gradients, Tensor};

/// The gradients of a module's parameters, by the id of the parameter.
#[derive(Default)]
pub struct GradientsParams {
    grads: BTreeMap<ParamId, Box<dyn Any + Send>>,
}

impl GradientsParams {
    /// No gradients.
    pub fn new() -> Self {
        Self::default()
    }

    /// The gradients of the parameters of `module`.
    pub fn from_grads<M: Module>(grads: Gradients, module: &M) -> Self {
        let mut grads = grads;
        Self::from_module(&mut grads, module)
    }

    /// The gradients of the parameters of `module`, taken out of `grads`.
    pub fn from_module<M: Module>(grads: &mut Gradients, module: &M) -> Self {
        Self::take(grads, module, None)
    }

    /// The gradients of the parameters `ids` of `module`, taken out of `grads`.
    pub fn from_params<M: Module>(grads: &mut Gradients, module: &M, ids: &[ParamId]) -> Self {
        Self::take(grads, module, Some(ids))
    }

    fn take<M: Module>(grads: &mut Gradients, module: &M, ids: Option<&[ParamId]>) -> Self {
        let mut take = Take {
            grads,
            ids,
            taken: Self::new(),
        };
        module.visit(&mut take);
        take.taken
    }

    /// The gradient of the parameter `id`.
    ///
    /// # Panics
    /// If the parameter does not have `D` dimensions.
    pub fn get<const D: usize>(&self, id: ParamId) -> Option<Tensor<D>> {
        self.grads.get(&id).map(|grad| {
            let grad = grad.downcast_ref::<Tensor<D>>();
            grad.unwrap_or_else(|| wrong_rank::<D>(id)).clone()
        })
    }

    /// Takes the gradient of the parameter `id` out.
    ///
    /// # Panics
    /// If the parameter does not have `D` dimensions.
    pub fn remove<const D: usize>(&mut self, id: ParamId) -> Option<Tensor<D>> {
        self.grads.remove(&id).map(|grad| {
            let grad = grad.downcast::<Tensor<D>>();
            *grad.unwrap_or_else(|_| wrong_rank::<D>(id))
        })
    }

    /// Sets the gradient of the parameter `id`.
    pub fn register<const D: usize>(&mut self, id: ParamId, grad: Tensor<D>) {
        self.grads.insert(id, Box::new(grad));
    }

    /// The number of gradients.
    pub fn len(&self) -> usize {
        self.grads.len()
    }

    /// Whether there is no gradient.
    pub fn is_empty(&self) -> bool {
        self.grads.is_empty()
    }

    /// The gradients of the parameters of `module`, on `device`.
    pub fn to_device<M: Module>(mut self, device: &Device, module: &M) -> Self {
        module.visit(&mut Move {
            grads: &mut self,
            device,
        });
        self
    }
}

#[track_caller]
fn wrong_rank<const D: usize>(id: ParamId) -> ! {
    panic!("the gradient of the parameter {id} does not have {D} dimensions")
}

impl fmt::Debug for GradientsParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GradientsParams")
            .field(&self.grads.keys().collect::<Vec<_>>())
            .finish()
    }
}

struct Take<'a> {
    grads: &'a mut Gradients,
    ids: Option<&'a [ParamId]>,
    taken: GradientsParams,
}

impl ModuleVisitor for Take<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if self.ids.is_some_and(|ids| !ids.contains(&param.id)) {
            return;
        }
        if let Some(grad) = param.grad_remove(self.grads) {
            self.taken.register(param.id, grad);
        }
    }
}

struct Move<'a> {
    grads: &'a mut GradientsParams,
    device: &'a Device,
}

impl ModuleVisitor for Move<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(grad) = self.grads.remove::<D>(param.id) {
            self.grads.register(param.id, grad.to_device(self.device));
        }
    }
}

/// Gradients that were computed on several devices, each for a part of the parameters.
#[derive(Debug, Default)]
pub struct MultiGradientsParams {
    /// The gradients, and the device where the parameters are to be improved.
    pub grads: Vec<(GradientsParams, Device)>,
}

impl MultiGradientsParams {
    /// Takes the gradient of the parameter `id` out, with its device.
    pub fn remove<const D: usize>(&mut self, id: ParamId) -> Option<(Tensor<D>, Device)> {
        self.grads
            .iter_mut()
            .find_map(|(grads, device)| grads.remove(id).map(|grad| (grad, device.clone())))
    }
}

/// Gradients from one device or from several.
#[derive(Debug)]
pub enum GradAdaptor {
    /// From one device.
    Single(GradientsParams),
    /// From several devices.
    Multi(MultiGradientsParams),
}

impl GradAdaptor {
    /// Takes the gradient of the parameter `id` out, with the device where it is improved.
    pub fn remove<const D: usize>(&mut self, id: ParamId) -> Option<(Tensor<D>, Device)> {
        match self {
            Self::Single(grads) => grads.remove(id).map(|grad| {
                let device = Tensor::device(&grad);
                (grad, device)
            }),
            Self::Multi(grads) => grads.remove(id),
        }
    }
}

impl From<GradientsParams> for GradAdaptor {
    fn from(grads: GradientsParams) -> Self {
        Self::Single(grads)
    }
}

impl From<MultiGradientsParams> for GradAdaptor {
    fn from(grads: MultiGradientsParams) -> Self {
        Self::Multi(grads)
    }
}
