//! Tensors as parameters, and as plain fields of modules.

use alloc::format;

use burn_tensor::kind::{Autodiff, Basic, TensorKind};
use burn_tensor::{Bool, DType, Device, Float, Int, Shape, Tensor, TensorData};

use super::sealed::Sealed;
use super::{Param, Parameter, ParameterValue};
use crate::module::reparam::erased::CONTAINER;
use crate::module::{
    Content, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor, ParamId,
};

impl<const D: usize> Param<Tensor<D>> {
    /// A parameter with a new id, to be trained.
    pub fn from_tensor(value: Tensor<D>) -> Self {
        Self::initialized(ParamId::new(), value.detach()).set_require_grad(true)
    }

    /// A parameter with a new id, to be trained.
    pub fn from_data<T: Into<TensorData>>(data: T, device: &Device) -> Self {
        Self::from_tensor(Tensor::from_data(data, device))
    }
}

/// What the value and its base have in common: asked of the base, so that no value is computed for it.
impl<const D: usize, K: Basic> Param<Tensor<D, K>>
where
    Tensor<D, K>: Parameter,
{
    /// The sizes of the dimensions.
    pub fn shape(&self) -> Shape {
        self.lazy_shape()
    }

    /// The sizes of the dimensions.
    pub fn dims(&self) -> [usize; D] {
        self.lazy_shape().dims()
    }

    /// Where the value is.
    pub fn device(&self) -> Device {
        self.lazy_device()
    }

    /// The dtype of what is stored.
    pub fn dtype(&self) -> DType {
        self.borrow_base().dtype()
    }

    /// Whether a backward pass computes a gradient for what is stored.
    pub fn is_require_grad(&self) -> bool {
        self.borrow_base().is_require_grad()
    }
}

impl<const D: usize> Parameter for Tensor<D, Float> {
    fn device(&self) -> Device {
        Tensor::device(self)
    }

    fn is_require_grad(&self) -> bool {
        Tensor::is_require_grad(self)
    }

    fn set_require_grad(self, require_grad: bool) -> Self {
        match Tensor::device(&self).is_autodiff() {
            true => Tensor::set_require_grad(self, require_grad),
            false => self,
        }
    }

    fn is_on_tape(&self) -> bool {
        Tensor::is_tracked(self)
    }

    fn shape(&self) -> Shape {
        Tensor::shape(self)
    }

    fn load_to_device(self, device: &Device) -> Self {
        Tensor::set_require_grad(self, false).to_device(device)
    }
}

impl<const D: usize> Sealed for Tensor<D, Float> {
    fn wants_grad(&self) -> bool {
        Tensor::is_require_grad(self)
    }
}

macro_rules! without_gradient {
    ($kind:ident) => {
        impl<const D: usize> Parameter for Tensor<D, $kind> {
            fn device(&self) -> Device {
                Tensor::device(self)
            }

            fn is_require_grad(&self) -> bool {
                false
            }

            fn set_require_grad(self, _require_grad: bool) -> Self {
                self
            }

            fn is_on_tape(&self) -> bool {
                false
            }

            fn shape(&self) -> Shape {
                Tensor::shape(self)
            }

            fn load_to_device(self, device: &Device) -> Self {
                self.to_device(device)
            }
        }

        impl<const D: usize> Sealed for Tensor<D, $kind> {
            fn wants_grad(&self) -> bool {
                false
            }
        }
    };
}

without_gradient!(Int);
without_gradient!(Bool);

macro_rules! parameter {
    ($kind:ident, $name:literal) => {
        impl<const D: usize> ParameterValue for Tensor<D, $kind> {}

        impl<const D: usize> ModuleDisplayDefault for Param<Tensor<D, $kind>> {
            fn content(&self, content: Content) -> Option<Content> {
                let id = match content.display_settings.show_param_id() {
                    true => format!(", id: {}", self.id),
                    false => Default::default(),
                };
                let shape = self.lazy_shape();
                let shape = shape.as_slice();
                content
                    .add_formatted(&format!(
                        "ParamTensor {{rank: {D}, shape: {shape:?}, kind: {}{id}}}",
                        $name
                    ))
                    .optional()
            }
        }

        impl<const D: usize> ModuleDisplay for Param<Tensor<D, $kind>> {}
    };
}

parameter!(Float, "float");
parameter!(Int, "int");
parameter!(Bool, "bool");

/// The base, and below it what the value is computed with.
impl<const D: usize> Module for Param<Tensor<D>> {
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        visitor.visit_float(self);
        if let Some(attached) = self.attached() {
            let module = attached.module();
            visitor.enter_module(module.name(), CONTAINER);
            visitor.visit_erased(module);
            visitor.exit_module(module.name(), CONTAINER);
        }
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        match self.take_apart() {
            (param, None) => mapper.map_float(param),
            (param, Some(attached)) => {
                let param = mapper.map_float(param);
                mapper.map_attached(param, attached)
            }
        }
    }
}

macro_rules! without_reparameterization {
    ($kind:ident, $visit:ident, $map:ident) => {
        impl<const D: usize> Module for Param<Tensor<D, $kind>> {
            fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
                visitor.$visit(self);
            }

            fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
                mapper.$map(self)
            }
        }
    };
}

without_reparameterization!(Int, visit_int, map_int);
without_reparameterization!(Bool, visit_bool, map_bool);

/// A tensor that is a field by itself moves with the module, and is neither trained nor saved.
impl<const D: usize, K: Autodiff + TensorKind> Module for Tensor<D, K> {
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        visitor.visit_tensor(self);
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        mapper.map_tensor(self)
    }
}

impl<const D: usize, K: Autodiff + TensorKind> ModuleDisplayDefault for Tensor<D, K> {
    fn content(&self, content: Content) -> Option<Content> {
        let shape = self.shape();
        let shape = shape.as_slice();
        content
            .add_formatted(&format!("Tensor {{rank: {D}, shape: {shape:?}}}"))
            .optional()
    }
}

impl<const D: usize, K: Autodiff + TensorKind> ModuleDisplay for Tensor<D, K> {}
