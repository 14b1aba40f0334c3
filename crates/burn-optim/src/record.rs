//! [`OptimizerRecord`]: what an optimizer remembers, in memory and in burnpack files.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use burn_core::store::RecordError;
use burn_core::tensor::{Bytes, TensorData};
use burn_pack::{Reader, Scalar, Writer};

use crate::{StateSink, StateSource};

/// The states of parameters: tensors and scalars, named `<id of the parameter>.<part>`, and the
/// path of each parameter by its id.
pub struct OptimizerRecord {
    tensors: Vec<burn_pack::Tensor>,
    scalars: BTreeMap<String, Scalar>,
    paths: BTreeMap<String, String>,
}

impl OptimizerRecord {
    pub(crate) fn new(sink: StateSink, paths: BTreeMap<String, String>) -> Self {
        let tensors = sink.tensors.into_iter().map(|(name, data)| {
            let (bytes, shape, dtype) = data.into_parts();
            let id = name.split('.').next().and_then(|id| id.parse().ok());
            burn_pack::Tensor::new(name, dtype, shape, id, bytes)
        });
        Self {
            tensors: tensors.collect(),
            scalars: sink.scalars.into_iter().collect(),
            paths,
        }
    }

    /// What the states can be read from, and the paths of parameters by id.
    pub(crate) fn into_source(
        self,
    ) -> Result<(StateSource, BTreeMap<String, String>), RecordError> {
        let mut source = StateSource::new(self.scalars);
        for tensor in self.tensors {
            let (name, dtype, shape, _, bytes) = tensor.into_parts()?;
            let data = TensorData::try_from_bytes(bytes, shape, dtype);
            let data =
                data.map_err(|error| RecordError::Validation(alloc::format!("`{name}`: {error}")))?;
            source.insert_tensor(name, data);
        }
        Ok((source, self.paths))
    }

    /// The number of tensors.
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Whether there is no tensor.
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    fn from_reader(reader: Reader) -> Result<Self, RecordError> {
        let (scalars, paths) = (reader.scalars().clone(), reader.metadata().clone());
        Ok(Self {
            tensors: reader.into_tensors()?,
            scalars,
            paths,
        })
    }

    fn into_writer(self) -> Writer {
        let writer = Writer::new(self.tensors).overwrite(true);
        let with_path =
            |writer: Writer, (id, path): (&String, &String)| writer.with_metadata(id, path);
        let writer = self.paths.iter().fold(writer, with_path);
        let scalars = self.scalars.into_iter();
        scalars.fold(writer, |writer, (name, scalar)| {
            writer.with_scalar(&name, scalar)
        })
    }

    /// Reads a record from the bytes of a burnpack file.
    ///
    /// # Errors
    /// [`RecordError::Validation`] if the bytes are no intact burnpack file.
    pub fn from_bytes(bytes: Bytes) -> Result<Self, RecordError> {
        Self::from_reader(Reader::from_bytes(bytes)?)
    }

    /// The record as the bytes of a burnpack file.
    ///
    /// # Errors
    /// [`RecordError::Validation`] if the record exceeds what the format can hold.
    pub fn into_bytes(self) -> Result<Bytes, RecordError> {
        Ok(self.into_writer().into_bytes()?)
    }

    /// Reads a record from `file`; a name without extension means `bpk`.
    ///
    /// # Errors
    /// [`RecordError::Io`] if the file cannot be read, [`RecordError::Validation`] if it is no
    /// intact burnpack file.
    #[cfg(feature = "std")]
    pub fn load<P: AsRef<std::path::Path>>(file: P) -> Result<Self, RecordError> {
        Self::from_reader(Reader::from_file(file)?)
    }

    /// Writes the record to `file`; a name without extension gets `bpk`.
    ///
    /// # Errors
    /// [`RecordError::Io`] if the file cannot be written.
    #[cfg(feature = "std")]
    pub fn save<P: AsRef<std::path::Path>>(self, file: P) -> Result<(), RecordError> {
        Ok(self.into_writer().write_to_file(file)?)
    }
}

impl fmt::Debug for OptimizerRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.tensors.iter().map(|tensor| &tensor.name).collect();
        f.debug_struct("OptimizerRecord")
            .field("tensors", &names)
            .field("scalars", &self.scalars)
            .finish_non_exhaustive()
    }
}
