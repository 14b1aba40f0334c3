//! [`ModuleRecord`]: parameters by path, and how strictly they have to fit a module.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use burn_pack::{Reader, Writer};
use burn_std::Bytes;

use super::RecordError;
use super::apply::Apply;
use super::collect::Collect;
use crate::module::{Module, ParamGroup};

/// Which dtype a parameter has after loading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DTypePolicy {
    /// That of the record.
    #[default]
    FromRecord,
    /// That of the module: values are converted.
    CastToModule,
}

/// The values of a module's parameters under their paths, as `encoder.0.weight`.
///
/// By default a record has to fit a module exactly: the same paths, the same shapes.
pub struct ModuleRecord {
    pub(super) tensors: Vec<burn_pack::Tensor>,
    pub(super) allow_partial: bool,
    pub(super) allow_unused: bool,
    pub(super) validate: bool,
    pub(super) dtype_policy: DTypePolicy,
}

impl ModuleRecord {
    fn new(tensors: Vec<burn_pack::Tensor>) -> Self {
        Self {
            tensors,
            allow_partial: false,
            allow_unused: false,
            validate: true,
            dtype_policy: DTypePolicy::default(),
        }
    }

    pub(crate) fn from_module<M: Module>(module: &M, group: Option<ParamGroup>) -> Self {
        let mut collect = Collect::new(group);
        module.visit(&mut collect);
        Self::new(collect.tensors)
    }

    pub(crate) fn apply<M: Module>(self, module: M) -> Result<M, RecordError> {
        let mut apply = Apply::new(self)?;
        let module = module.map(&mut apply);
        apply.finish()?;
        Ok(module)
    }

    /// Lets parameters of the module be missing from the record: they keep their values.
    pub fn allow_partial(mut self, allow: bool) -> Self {
        self.allow_partial = allow;
        self
    }

    /// Lets the record hold values that the module has no parameter for.
    pub fn allow_unused(mut self, allow: bool) -> Self {
        self.allow_unused = allow;
        self
    }

    /// Whether a value of another shape or kind is an error. If not, the parameter keeps its own.
    pub fn validate(mut self, validate: bool) -> Self {
        self.validate = validate;
        self
    }

    /// Sets which dtype parameters have after loading.
    pub fn with_dtype_policy(mut self, policy: DTypePolicy) -> Self {
        self.dtype_policy = policy;
        self
    }

    /// Converts values to the dtypes of the module.
    pub fn cast_to_module_dtype(self) -> Self {
        self.with_dtype_policy(DTypePolicy::CastToModule)
    }

    /// The number of parameters.
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Whether there is no parameter.
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// Reads a record from the bytes of a burnpack file.
    ///
    /// # Errors
    /// [`RecordError::Validation`] if the bytes are no intact burnpack file.
    pub fn from_bytes(bytes: Bytes) -> Result<Self, RecordError> {
        Ok(Self::new(Reader::from_bytes(bytes)?.into_tensors()?))
    }

    /// The record as the bytes of a burnpack file.
    ///
    /// # Errors
    /// [`RecordError::Validation`] if the record exceeds what the format can hold.
    pub fn into_bytes(self) -> Result<Bytes, RecordError> {
        Ok(Writer::new(self.tensors).into_bytes()?)
    }

    /// Reads a record from `file`; a name without extension means `bpk`.
    ///
    /// # Errors
    /// [`RecordError::Io`] if the file cannot be read, [`RecordError::Validation`] if it is no
    /// intact burnpack file.
    #[cfg(feature = "std")]
    pub fn load<P: AsRef<std::path::Path>>(file: P) -> Result<Self, RecordError> {
        let file = file.as_ref();
        let tensors = Reader::from_file(file).and_then(Reader::into_tensors);
        tensors
            .map(Self::new)
            .map_err(|error| name_file(error, file))
    }

    /// Writes the record to `file`; a name without extension gets `bpk`.
    ///
    /// # Errors
    /// [`RecordError::Io`] if the file cannot be written.
    #[cfg(feature = "std")]
    pub fn save<P: AsRef<std::path::Path>>(self, file: P) -> Result<(), RecordError> {
        let file = file.as_ref();
        let writer = Writer::new(self.tensors).overwrite(true);
        writer
            .write_to_file(file)
            .map_err(|error| name_file(error, file))
    }
}

#[cfg(feature = "std")]
fn name_file(error: burn_pack::Error, file: &std::path::Path) -> RecordError {
    match RecordError::from(error) {
        RecordError::Validation(problem) => {
            RecordError::Validation(alloc::format!("{}: {problem}", file.display()))
        }
        // The format names the file, with its extension, in errors of the file system.
        RecordError::Io(problem) => RecordError::Io(problem),
    }
}

impl fmt::Debug for ModuleRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.tensors.iter().map(|tensor| &tensor.name).collect();
        f.debug_struct("ModuleRecord")
            .field("tensors", &names)
            .finish_non_exhaustive()
    }
}
