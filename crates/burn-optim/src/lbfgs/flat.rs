//! The parameters of a module as one vector, and back.

use alloc::vec::Vec;

use burn_core::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn_core::tensor::{Device, Shape, Tensor};

use crate::GradientsParams;
use crate::module_optimizer::Tape;

/// Which parameters are part of the vector, in the order of the module.
pub(super) struct Layout {
    parts: Vec<(ParamId, Shape)>,
    device: Option<Device>,
}

impl Layout {
    /// The parameters of `module` that have a gradient.
    pub fn new<M: Module>(module: &M, grads: &GradientsParams) -> Self {
        struct Find<'a>(&'a GradientsParams, Layout);

        impl ModuleVisitor for Find<'_> {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                if self.0.contains(param.id) {
                    let device = param.lazy_device().without_autodiff();
                    self.1.device.get_or_insert(device);
                    self.1.parts.push((param.id, param.lazy_shape()));
                }
            }
        }

        let mut find = Find(
            grads,
            Self {
                parts: Vec::new(),
                device: None,
            },
        );
        module.visit(&mut find);
        find.1
    }

    /// Where the vector is: with the first parameter. `None` if there is no parameter.
    pub fn device(&self) -> Option<Device> {
        self.device.clone()
    }

    fn has(&self, id: ParamId) -> bool {
        self.parts.iter().any(|(part, _)| *part == id)
    }

    fn join(&self, parts: Vec<Tensor<1>>) -> Tensor<1> {
        let device = self.device.as_ref().expect("a vector has a part");
        let parts = parts.into_iter().map(|part| part.to_device(device));
        Tensor::cat(parts.collect(), 0)
    }

    /// The parameters as a vector.
    pub fn parameters<M: Module>(&self, module: &M) -> Tensor<1> {
        struct Read<'a>(&'a Layout, Vec<Tensor<1>>);

        impl ModuleVisitor for Read<'_> {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                if self.0.has(param.id) {
                    self.1.push(param.base().without_autodiff().reshape([-1]));
                }
            }
        }

        let mut read = Read(self, Vec::new());
        module.visit(&mut read);
        self.join(read.1)
    }

    /// The gradients as a vector; 0 where there is none this time.
    pub fn gradient(&self, mut grads: GradientsParams) -> Tensor<1> {
        let part = |(id, shape): &(ParamId, Shape)| match grads.remove_flat(*id) {
            Some(grad) => grad.without_autodiff(),
            None => {
                let device = self.device.as_ref().expect("a vector has a part");
                Tensor::zeros([shape.num_elements()], device)
            }
        };
        let parts = self.parts.iter().map(part).collect();
        self.join(parts)
    }

    /// The module with the parameters that a vector holds.
    pub fn with_parameters<M: Module>(&self, module: M, x: Tensor<1>) -> M {
        struct Write<'a> {
            layout: &'a Layout,
            x: Tensor<1>,
            start: usize,
        }

        impl ModuleMapper for Write<'_> {
            fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
                if !self.layout.has(param.id) {
                    return param;
                }
                let shape = param.lazy_shape();
                let end = self.start + shape.num_elements();
                let part = self.x.clone().slice(self.start..end);
                self.start = end;
                param.map(|old| {
                    let device = old.device().without_autodiff();
                    Tape::of(&old).on(part.reshape(shape).to_device(&device))
                })
            }
        }

        module.map(&mut Write {
            layout: self,
            x,
            start: 0,
        })
    }
}
