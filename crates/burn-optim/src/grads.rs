//! Gradients by parameter.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;

use burn_core::module::{Erased, Module, ModuleVisitor, Param, ParamId};
use burn_core::tensor::{Device, Gradients, Tensor};

use crate::numeric;

/// The gradients of a module's parameters, by the id of the parameter.
#[derive(Default)]
pub struct GradientsParams {
    grads: BTreeMap<ParamId, Box<dyn Grad>>,
}

/// A `Tensor` of any rank.
trait Grad: Send {
    fn as_any(&self) -> &dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
    /// The elements in one dimension.
    fn flat(self: Box<Self>) -> Tensor<1>;
    fn sum_of_squares(&self) -> Tensor<1>;
    fn scaled(self: Box<Self>, factor: Tensor<1>) -> Box<dyn Grad>;
}

impl<const D: usize> Grad for Tensor<D> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }

    fn flat(self: Box<Self>) -> Tensor<1> {
        self.reshape([-1])
    }

    fn sum_of_squares(&self) -> Tensor<1> {
        numeric::sum_of_squares(self.clone())
    }

    fn scaled(self: Box<Self>, factor: Tensor<1>) -> Box<dyn Grad> {
        let device = Tensor::device(&self);
        Box::new(numeric::scale(*self, factor.to_device(&device)))
    }
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
            let grad = grad.as_any().downcast_ref::<Tensor<D>>();
            grad.unwrap_or_else(|| wrong_rank::<D>(id)).clone()
        })
    }

    /// Takes the gradient of the parameter `id` out.
    ///
    /// # Panics
    /// If the parameter does not have `D` dimensions.
    pub fn remove<const D: usize>(&mut self, id: ParamId) -> Option<Tensor<D>> {
        self.grads.remove(&id).map(|grad| {
            let grad = grad.into_any().downcast::<Tensor<D>>();
            *grad.unwrap_or_else(|_| wrong_rank::<D>(id))
        })
    }

    /// Whether the parameter `id` has a gradient.
    pub(crate) fn contains(&self, id: ParamId) -> bool {
        self.grads.contains_key(&id)
    }

    /// Takes the gradient of the parameter `id` out, in one dimension.
    pub(crate) fn remove_flat(&mut self, id: ParamId) -> Option<Tensor<1>> {
        self.grads.remove(&id).map(Grad::flat)
    }

    /// All gradients shortened by one factor, so that their norm together is at most `max_norm` (PyTorch's
    /// `clip_grad_norm_`). [`GradientClipping`](crate::grad_clipping::GradientClipping) looks at each parameter by
    /// itself.
    ///
    /// An infinite norm makes infinite gradients NaN and the others 0: it does not pass as a norm that was clipped.
    ///
    /// # Panics
    /// If `max_norm` is negative or NaN.
    #[track_caller]
    pub fn clip_global_norm(self, max_norm: f64) -> Self {
        assert!(
            max_norm >= 0.0,
            "gradients are clipped at 0 or more, not at {max_norm}"
        );
        let squares = self.grads.values().map(|grad| grad.sum_of_squares());
        let Some(sum) = squares.reduce(|sum, square| {
            let device = sum.device();
            sum + square.to_device(&device)
        }) else {
            return self;
        };
        let factor = numeric::shortening(sum.sqrt(), max_norm);
        let grads = self.grads.into_iter();
        Self {
            grads: grads
                .map(|(id, grad)| (id, grad.scaled(factor.clone())))
                .collect(),
        }
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
    fn visit_erased(&mut self, module: &dyn Erased) {
        module.visit(self);
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if self.ids.is_some_and(|ids| !ids.contains(&param.id)) {
            return;
        }
        if let Some(grad) = param.base().grad_remove(self.grads) {
            self.taken.register(param.id, grad);
        }
    }
}

struct Move<'a> {
    grads: &'a mut GradientsParams,
    device: &'a Device,
}

impl ModuleVisitor for Move<'_> {
    fn visit_erased(&mut self, module: &dyn Erased) {
        module.visit(self);
    }

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
