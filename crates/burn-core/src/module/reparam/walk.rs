//! The mappers that attach reparameterizations and merge them.

use alloc::boxed::Box;
use alloc::string::ToString;

use burn_tensor::Tensor;

use super::{Attached, Erased, Reparameterizer};
use crate::module::{ModuleMapper, Param, Path};

/// Attaches what a reparameterizer makes, and counts it.
pub(in crate::module) struct Reparameterize<R> {
    reparameterizer: R,
    path: Path,
    pub attached: usize,
}

impl<R: Reparameterizer> Reparameterize<R> {
    pub fn new(reparameterizer: R) -> Self {
        Self {
            reparameterizer,
            path: Path::default(),
            attached: 0,
        }
    }
}

impl<R: Reparameterizer> ModuleMapper for Reparameterize<R> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let path = self.path.to_string();
        let (param, reparam) = self.reparameterizer.reparameterize(&path, param);
        match reparam {
            Some(reparam) => {
                self.attached += 1;
                param.attach(Attached::new(reparam))
            }
            None => param,
        }
    }

    /// A parameter has one reparameterization, whose own parameters get none.
    fn map_attached<const D: usize>(
        &mut self,
        param: Param<Tensor<D>>,
        before: Attached<Tensor<D>>,
    ) -> Param<Tensor<D>> {
        if let Some(new) = param.attached() {
            panic!(
                "`apply_reparameterization`: `{}` has `{}` already, and cannot have `{}`\n  legal: a group without it, or `merge_reparameterizations` before",
                self.path,
                before.module().name(),
                new.module().name()
            );
        }
        param.attach(before)
    }

    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.enter(name);
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.exit();
    }
}

/// Makes the values that parameters are computed to their new bases.
pub(in crate::module) struct Merge;

impl ModuleMapper for Merge {
    fn map_attached<const D: usize>(
        &mut self,
        param: Param<Tensor<D>>,
        attached: Attached<Tensor<D>>,
    ) -> Param<Tensor<D>> {
        let require_grad = param.require_grad;
        // The value is a result on the tape, and becomes a start of it.
        let param = param.map(|base| attached.apply(base).detach());
        param.set_require_grad(require_grad)
    }

    fn map_erased(&mut self, module: Box<dyn Erased>) -> Box<dyn Erased> {
        module
    }
}
