//! Reparameterizations without their type, so that a parameter can keep any.
//!
//! Visitors are generic over ranks and modules over visitors, so that neither makes a trait object by itself. Here a
//! visitor is made one by passing ranks as values.

use alloc::boxed::Box;
use core::any::Any;

use burn_tensor::kind::{Autodiff, Kind};
use burn_tensor::{Bool, Float, Int, Tensor};

use super::Reparameterization;
use crate::module::{Flag, Module, ModuleMapper, ModuleVisitor, Param, ParameterValue};

/// The level of paths that a reparameterization is.
pub(crate) const CONTAINER: &str = "Reparameterization";

/// A [`Reparameterization`] of any type.
pub trait Erased: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// Itself, to be asked for its type.
    fn as_any(&self) -> &dyn Any;
    /// A copy.
    fn clone_box(&self) -> Box<dyn Erased>;
    /// [`Module::visit`](crate::module::Module::visit).
    fn visit(&self, visitor: &mut dyn ErasedVisitor);
    /// [`Module::map`](crate::module::Module::map).
    fn map(self: Box<Self>, mapper: &mut dyn ErasedMapper) -> Box<dyn Erased>;
}

impl<R: Reparameterization> Erased for R {
    fn name(&self) -> &'static str {
        R::NAME
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn clone_box(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }

    fn visit(&self, visitor: &mut dyn ErasedVisitor) {
        Module::visit(self, &mut Walk(visitor));
    }

    fn map(self: Box<Self>, mapper: &mut dyn ErasedMapper) -> Box<dyn Erased> {
        Box::new(Module::map(*self, &mut Walk(mapper)))
    }
}

/// What a parameter of type `T` is computed with.
pub struct Attached<T> {
    module: Box<dyn Erased>,
    apply: fn(&dyn Erased, T) -> T,
}

impl<const D: usize> Attached<Tensor<D>> {
    pub(crate) fn new<R: Reparameterization>(module: R) -> Self {
        Self {
            module: Box::new(module),
            apply: |module, base| {
                let module = module.as_any().downcast_ref::<R>();
                module
                    .expect("the module and the function were paired here")
                    .apply(base)
            },
        }
    }
}

impl<T> Attached<T> {
    pub(crate) fn module(&self) -> &dyn Erased {
        &*self.module
    }

    pub(crate) fn apply(&self, base: T) -> T {
        (self.apply)(&*self.module, base)
    }

    /// The same computation with the module that `func` returns, which has the same type.
    pub(crate) fn map(self, func: impl FnOnce(Box<dyn Erased>) -> Box<dyn Erased>) -> Self {
        Self {
            module: func(self.module),
            apply: self.apply,
        }
    }
}

impl<T> Clone for Attached<T> {
    fn clone(&self) -> Self {
        Self {
            module: self.module.clone_box(),
            apply: self.apply,
        }
    }
}

/// A [`ModuleVisitor`] as a trait object: ranks and kinds are values, and what is visited is of that rank and kind.
pub trait ErasedVisitor {
    /// A `Param<Tensor<rank, kind>>`.
    fn param(&mut self, rank: usize, kind: Kind, param: &dyn Any);
    /// A `Tensor<rank, kind>`.
    fn tensor(&mut self, rank: usize, kind: Kind, tensor: &dyn Any);
    /// A switch.
    fn flag(&mut self, param: &Param<Flag>);
    /// Enters a level.
    fn enter(&mut self, name: &str, container_type: &str);
    /// Leaves a level.
    fn exit(&mut self, name: &str, container_type: &str);
}

/// A [`ModuleMapper`] as a trait object: as [`ErasedVisitor`].
pub trait ErasedMapper {
    /// A `Param<Tensor<rank, kind>>`.
    fn param(&mut self, rank: usize, kind: Kind, param: Box<dyn Any>) -> Box<dyn Any>;
    /// A `Tensor<rank, kind>`.
    fn tensor(&mut self, rank: usize, kind: Kind, tensor: Box<dyn Any>) -> Box<dyn Any>;
    /// A switch.
    fn flag(&mut self, param: Param<Flag>) -> Param<Flag>;
    /// Enters a level.
    fn enter(&mut self, name: &str, container_type: &str);
    /// Leaves a level.
    fn exit(&mut self, name: &str, container_type: &str);
}

/// Calls a macro with the rank and the kind as types.
macro_rules! with_types {
    ($rank:expr, $kind:expr, $go:ident) => {
        match $rank {
            1 => with_types!(@ $kind, $go, 1),
            2 => with_types!(@ $kind, $go, 2),
            3 => with_types!(@ $kind, $go, 3),
            4 => with_types!(@ $kind, $go, 4),
            5 => with_types!(@ $kind, $go, 5),
            6 => with_types!(@ $kind, $go, 6),
            7 => with_types!(@ $kind, $go, 7),
            8 => with_types!(@ $kind, $go, 8),
            rank => panic!("a reparameterization has tensors of 1 to 8 dimensions, not {rank}"),
        }
    };
    (@ $kind:expr, $go:ident, $rank:literal) => {
        match $kind {
            Kind::Float => $go!($rank, Float, visit_float, map_float),
            Kind::Int => $go!($rank, Int, visit_int, map_int),
            Kind::Bool => $go!($rank, Bool, visit_bool, map_bool),
        }
    };
}

const OF_THIS_TYPE: &str = "what is visited has the rank and the kind passed along";

impl<V: ModuleVisitor> ErasedVisitor for V {
    fn param(&mut self, rank: usize, kind: Kind, param: &dyn Any) {
        macro_rules! go {
            ($rank:literal, $kind:ident, $visit:ident, $map:ident) => {{
                let param = param.downcast_ref::<Param<Tensor<$rank, $kind>>>();
                self.$visit(param.expect(OF_THIS_TYPE));
            }};
        }
        with_types!(rank, kind, go);
    }

    fn tensor(&mut self, rank: usize, kind: Kind, tensor: &dyn Any) {
        macro_rules! go {
            ($rank:literal, $kind:ident, $visit:ident, $map:ident) => {{
                let tensor = tensor.downcast_ref::<Tensor<$rank, $kind>>();
                self.visit_tensor(tensor.expect(OF_THIS_TYPE));
            }};
        }
        with_types!(rank, kind, go);
    }

    fn flag(&mut self, param: &Param<Flag>) {
        self.visit_flag(param);
    }

    fn enter(&mut self, name: &str, container_type: &str) {
        self.enter_module(name, container_type);
    }

    fn exit(&mut self, name: &str, container_type: &str) {
        self.exit_module(name, container_type);
    }
}

impl<M: ModuleMapper> ErasedMapper for M {
    fn param(&mut self, rank: usize, kind: Kind, param: Box<dyn Any>) -> Box<dyn Any> {
        macro_rules! go {
            ($rank:literal, $kind:ident, $visit:ident, $map:ident) => {{
                let param = param.downcast::<Param<Tensor<$rank, $kind>>>();
                Box::new(self.$map(*param.expect(OF_THIS_TYPE)))
            }};
        }
        with_types!(rank, kind, go)
    }

    fn tensor(&mut self, rank: usize, kind: Kind, tensor: Box<dyn Any>) -> Box<dyn Any> {
        macro_rules! go {
            ($rank:literal, $kind:ident, $visit:ident, $map:ident) => {{
                let tensor = tensor.downcast::<Tensor<$rank, $kind>>();
                Box::new(self.map_tensor(*tensor.expect(OF_THIS_TYPE)))
            }};
        }
        with_types!(rank, kind, go)
    }

    fn flag(&mut self, param: Param<Flag>) -> Param<Flag> {
        self.map_flag(param)
    }

    fn enter(&mut self, name: &str, container_type: &str) {
        self.enter_module(name, container_type);
    }

    fn exit(&mut self, name: &str, container_type: &str) {
        self.exit_module(name, container_type);
    }
}

/// The visitor or mapper that a trait object is, with ranks in types again.
struct Walk<'a, W: ?Sized>(&'a mut W);

impl Walk<'_, dyn ErasedVisitor + '_> {
    fn param<const D: usize, K: Autodiff>(&mut self, param: &Param<Tensor<D, K>>)
    where
        Tensor<D, K>: ParameterValue,
    {
        self.0.param(D, K::KIND, param);
    }
}

impl ModuleVisitor for Walk<'_, dyn ErasedVisitor + '_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.param(param);
    }

    fn visit_int<const D: usize>(&mut self, param: &Param<Tensor<D, Int>>) {
        self.param(param);
    }

    fn visit_bool<const D: usize>(&mut self, param: &Param<Tensor<D, Bool>>) {
        self.param(param);
    }

    fn visit_flag(&mut self, param: &Param<Flag>) {
        self.0.flag(param);
    }

    fn enter_module(&mut self, name: &str, container_type: &str) {
        self.0.enter(name, container_type);
    }

    fn exit_module(&mut self, name: &str, container_type: &str) {
        self.0.exit(name, container_type);
    }

    fn visit_tensor<const D: usize, K: Autodiff>(&mut self, tensor: &Tensor<D, K>) {
        self.0.tensor(D, K::KIND, tensor);
    }
}

impl Walk<'_, dyn ErasedMapper + '_> {
    fn param<const D: usize, K: Autodiff>(
        &mut self,
        param: Param<Tensor<D, K>>,
    ) -> Param<Tensor<D, K>>
    where
        Tensor<D, K>: ParameterValue,
    {
        let param = self.0.param(D, K::KIND, Box::new(param));
        *param.downcast().expect(OF_THIS_TYPE)
    }
}

impl ModuleMapper for Walk<'_, dyn ErasedMapper + '_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        self.param(param)
    }

    fn map_int<const D: usize>(&mut self, param: Param<Tensor<D, Int>>) -> Param<Tensor<D, Int>> {
        self.param(param)
    }

    fn map_bool<const D: usize>(
        &mut self,
        param: Param<Tensor<D, Bool>>,
    ) -> Param<Tensor<D, Bool>> {
        self.param(param)
    }

    fn map_flag(&mut self, param: Param<Flag>) -> Param<Flag> {
        self.0.flag(param)
    }

    fn enter_module(&mut self, name: &str, container_type: &str) {
        self.0.enter(name, container_type);
    }

    fn exit_module(&mut self, name: &str, container_type: &str) {
        self.0.exit(name, container_type);
    }

    fn map_tensor<const D: usize, K: Autodiff>(&mut self, tensor: Tensor<D, K>) -> Tensor<D, K> {
        let tensor = self.0.tensor(D, K::KIND, Box::new(tensor));
        *tensor.downcast().expect(OF_THIS_TYPE)
    }
}
