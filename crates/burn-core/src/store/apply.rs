//! From a record to a module.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use burn_pack::Tensor as PackTensor;
use burn_tensor::kind::Autodiff;
use burn_tensor::{Bool, DType, Float, Int, Shape, Tensor, TensorData};

use super::{DTypePolicy, ModuleRecord, RecordError};
use crate::module::{Erased, ModuleMapper, Param, ParamId, Parameter, Path};

/// At most so many paths are listed in one error.
const MAX_LISTED: usize = 20;

/// Replaces the values of parameters, and notes what does not fit.
pub(super) struct Apply {
    tensors: BTreeMap<String, PackTensor>,
    path: Path,
    missing: Vec<String>,
    problems: Vec<String>,
    allow_partial: bool,
    allow_unused: bool,
    validate: bool,
    dtype_policy: DTypePolicy,
}

impl Apply {
    pub fn new(record: ModuleRecord) -> Result<Self, RecordError> {
        let mut tensors = BTreeMap::new();
        for tensor in record.tensors {
            let path = tensor.name.clone();
            if tensors.insert(path.clone(), tensor).is_some() {
                return Err(RecordError::Validation(format!("`{path}` occurs twice")));
            }
        }
        Ok(Self {
            tensors,
            path: Path::default(),
            missing: Vec::new(),
            problems: Vec::new(),
            allow_partial: record.allow_partial,
            allow_unused: record.allow_unused,
            validate: record.validate,
            dtype_policy: record.dtype_policy,
        })
    }

    /// Says what did not fit, all at once.
    pub fn finish(self) -> Result<(), RecordError> {
        let mut problems = self.problems;
        if !self.allow_partial {
            problems.extend(list("missing from the record", self.missing));
        }
        if !self.allow_unused {
            let unused = self.tensors.into_keys().collect();
            problems.extend(list("without a parameter in the module", unused));
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(RecordError::Validation(problems.join("; "))),
        }
    }

    fn apply<const D: usize, K: Autodiff>(
        &mut self,
        param: Param<Tensor<D, K>>,
        fits: fn(DType) -> bool,
    ) -> Param<Tensor<D, K>>
    where
        Tensor<D, K>: Parameter,
    {
        let path = self.path.to_string();
        let Some(tensor) = self.tensors.remove(&path) else {
            self.missing.push(path);
            return param;
        };
        match self.load(&param, tensor, fits) {
            Ok((id, value)) => param.replace_loaded(value, id),
            Err(problem) => {
                if self.validate {
                    self.problems.push(format!("`{path}`: {problem}"));
                }
                param
            }
        }
    }

    /// The id and the value that `param` gets, or why it cannot.
    fn load<const D: usize, K: Autodiff>(
        &self,
        param: &Param<Tensor<D, K>>,
        tensor: PackTensor,
        fits: fn(DType) -> bool,
    ) -> Result<(ParamId, Tensor<D, K>), String>
    where
        Tensor<D, K>: Parameter,
    {
        let expected = param.lazy_shape();
        // A parameter that is stored in another form has its shape after the conversion only.
        let comparable = match param.has_load_mapper() {
            true => tensor.shape.rank() == D,
            false => tensor.shape == expected,
        };
        if !comparable {
            return Err(mismatch(&expected, &tensor.shape));
        }
        if !fits(tensor.dtype) {
            return Err(format!(
                "the record has dtype {:?}, which is of another kind",
                tensor.dtype
            ));
        }
        let (id, data) = read(tensor).map_err(|error| error.to_string())?;
        let dtype = match self.dtype_policy {
            DTypePolicy::FromRecord => data.dtype(),
            DTypePolicy::CastToModule => param.dtype(),
        };
        let device = param.lazy_device().without_autodiff();
        let value = param.mapped_for_load(Tensor::from_data(data, (&device, dtype)));
        match value.shape() == expected {
            true => Ok((id.unwrap_or(param.id), value)),
            false => Err(mismatch(&expected, &value.shape())),
        }
    }
}

fn mismatch(expected: &Shape, found: &Shape) -> String {
    let (expected, found) = (expected.as_slice(), found.as_slice());
    format!("the module has shape {expected:?}, the record {found:?}")
}

fn read(tensor: PackTensor) -> Result<(Option<ParamId>, TensorData), RecordError> {
    let (_, dtype, shape, id, bytes) = tensor.into_parts()?;
    let data = TensorData::try_from_bytes(bytes, shape, dtype);
    let data = data.map_err(|error| RecordError::Validation(error.to_string()))?;
    Ok((id.map(ParamId::from), data))
}

fn list(what: &str, mut paths: Vec<String>) -> Option<String> {
    let more = paths.len().saturating_sub(MAX_LISTED);
    paths.truncate(MAX_LISTED);
    let paths = paths
        .iter()
        .map(|path| format!("`{path}`"))
        .collect::<Vec<_>>()
        .join(", ");
    match (paths.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(format!("{what}: {paths}")),
        (false, more) => Some(format!("{what}: {paths} and {more} more")),
    }
}

impl ModuleMapper for Apply {
    fn map_erased(&mut self, module: Box<dyn Erased>) -> Box<dyn Erased> {
        module.map(self)
    }

    fn map_float<const D: usize>(
        &mut self,
        param: Param<Tensor<D, Float>>,
    ) -> Param<Tensor<D, Float>> {
        self.apply(param, |dtype| dtype.is_float() || dtype.is_quantized())
    }

    fn map_int<const D: usize>(&mut self, param: Param<Tensor<D, Int>>) -> Param<Tensor<D, Int>> {
        self.apply(param, |dtype| dtype.is_int() || dtype.is_uint())
    }

    fn map_bool<const D: usize>(
        &mut self,
        param: Param<Tensor<D, Bool>>,
    ) -> Param<Tensor<D, Bool>> {
        self.apply(param, |dtype| dtype.is_bool())
    }

    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.enter(name);
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.exit();
    }
}
