//! From a module to a record.

use alloc::string::ToString;
use alloc::vec::Vec;

use burn_pack::Tensor as PackTensor;
use burn_tensor::{Bool, Int, Tensor, TensorData};

use crate::module::{Erased, ModuleVisitor, Param, ParamGroup, ParamId, Path};

/// Collects the values of parameters under their paths. Switches are not values.
pub(super) struct Collect {
    pub tensors: Vec<PackTensor>,
    group: Option<ParamGroup>,
    path: Path,
}

impl Collect {
    pub fn new(group: Option<ParamGroup>) -> Self {
        Self {
            tensors: Vec::new(),
            group,
            path: Path::default(),
        }
    }

    fn add(&mut self, id: ParamId, data: impl FnOnce() -> TensorData) {
        let path = self.path.to_string();
        if self
            .group
            .as_ref()
            .is_none_or(|group| group.matches(&id, Some(&path)))
        {
            let (bytes, shape, dtype) = data().into_parts();
            self.tensors
                .push(PackTensor::new(path, dtype, shape, Some(id.val()), bytes));
        }
    }
}

impl ModuleVisitor for Collect {
    fn visit_erased(&mut self, module: &dyn Erased) {
        module.visit(self);
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.add(param.id, || {
            param.transform_for_save().into_value().into_data()
        });
    }

    fn visit_int<const D: usize>(&mut self, param: &Param<Tensor<D, Int>>) {
        self.add(param.id, || {
            param.transform_for_save().into_value().into_data()
        });
    }

    fn visit_bool<const D: usize>(&mut self, param: &Param<Tensor<D, Bool>>) {
        self.add(param.id, || {
            param.transform_for_save().into_value().into_data()
        });
    }

    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.enter(name);
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.exit();
    }
}
