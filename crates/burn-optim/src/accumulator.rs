//! [`GradientsAccumulator`]: the sum of gradients of several batches.

use core::marker::PhantomData;

use burn_core::module::{Erased, Module, ModuleVisitor, Param};
use burn_core::tensor::Tensor;

use crate::GradientsParams;

/// Adds up gradients until they are used for one step.
#[derive(Debug)]
pub struct GradientsAccumulator<M> {
    sum: GradientsParams,
    module: PhantomData<fn(M)>,
}

impl<M> GradientsAccumulator<M> {
    /// No gradients yet.
    pub fn new() -> Self {
        Self {
            sum: GradientsParams::new(),
            module: PhantomData,
        }
    }

    /// Adds the gradients of the parameters of `module`.
    pub fn accumulate(&mut self, module: &M, grads: GradientsParams)
    where
        M: Module,
    {
        let mut grads = grads;
        module.visit(&mut Add {
            sum: &mut self.sum,
            grads: &mut grads,
        });
    }

    /// The sums; the next sum starts anew.
    pub fn grads(&mut self) -> GradientsParams {
        core::mem::take(&mut self.sum)
    }
}

impl<M> Default for GradientsAccumulator<M> {
    fn default() -> Self {
        Self::new()
    }
}

struct Add<'a> {
    sum: &'a mut GradientsParams,
    grads: &'a mut GradientsParams,
}

impl ModuleVisitor for Add<'_> {
    fn visit_erased(&mut self, module: &dyn Erased) {
        module.visit(self);
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let Some(grad) = self.grads.remove::<D>(param.id) else {
            return;
        };
        let sum = match self.sum.remove::<D>(param.id) {
            Some(sum) => sum + grad,
            None => grad,
        };
        self.sum.register(param.id, sum);
    }
}
