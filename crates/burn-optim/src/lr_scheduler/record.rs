//! [`LrSchedulerRecord`]: where a schedule is, in memory and in burnpack files.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use burn_core::store::RecordError;
use burn_core::tensor::{Bytes, Device};
use burn_pack::{Reader, Scalar, Writer};

use crate::state::join;
use crate::{RecordState, StateSink, StateSource};

/// Named numbers; a name with dots is that of a number in a record within.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LrSchedulerRecord {
    scalars: BTreeMap<String, Scalar>,
}

impl LrSchedulerRecord {
    /// A record without numbers.
    pub fn new() -> Self {
        Self::default()
    }

    /// The numbers of a state.
    ///
    /// # Panics
    /// If the state has tensors.
    #[track_caller]
    pub fn from_state<S: RecordState>(state: &S) -> Self {
        let mut sink = StateSink::default();
        state.state_flatten("", &mut sink);
        assert!(
            sink.tensors.is_empty(),
            "the state of a schedule is made of numbers, and `{}` is a tensor",
            sink.tensors[0].0
        );
        Self {
            scalars: sink.scalars.into_iter().collect(),
        }
    }

    /// The state that the numbers are of; `None` if one is missing or of another type.
    pub fn into_state<S: RecordState>(&self) -> Option<S> {
        let mut source = StateSource::new(self.scalars.clone());
        S::state_unflatten("", &mut source, &Device::default())
    }

    /// Whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.scalars.is_empty()
    }

    /// Adds a number.
    pub fn with_scalar<V: Into<Scalar>>(mut self, name: &str, value: V) -> Self {
        self.scalars.insert(name.to_string(), value.into());
        self
    }

    /// A number; `None` if there is none of this name and type.
    pub fn scalar<V: TryFrom<Scalar>>(&self, name: &str) -> Option<V> {
        V::try_from(*self.scalars.get(name)?).ok()
    }

    /// Adds the numbers of another record under a name.
    pub fn with_record(mut self, name: &str, record: LrSchedulerRecord) -> Self {
        let scalars = record.scalars.into_iter();
        self.scalars
            .extend(scalars.map(|(inner, value)| (join(name, &inner), value)));
        self
    }

    /// The record under a name; empty if there is none.
    pub fn record(&self, name: &str) -> LrSchedulerRecord {
        let prefix = join(name, "");
        let scalars = self.scalars.iter();
        Self {
            scalars: scalars
                .filter_map(|(name, value)| Some((name.strip_prefix(&prefix)?.to_string(), *value)))
                .collect(),
        }
    }

    fn into_writer(self) -> Writer {
        let writer = Writer::new(Vec::new()).overwrite(true);
        let scalars = self.scalars.into_iter();
        scalars.fold(writer, |writer, (name, value)| {
            writer.with_scalar(&name, value)
        })
    }

    fn from_reader(reader: &Reader) -> Self {
        Self {
            scalars: reader.scalars().clone(),
        }
    }

    /// Reads a record from the bytes of a burnpack file.
    ///
    /// # Errors
    /// [`RecordError::Validation`] if the bytes are no intact burnpack file.
    pub fn from_bytes(bytes: Bytes) -> Result<Self, RecordError> {
        Ok(Self::from_reader(&Reader::from_bytes(bytes)?))
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
    /// [`RecordError::Io`] if the file cannot be read, [`RecordError::Validation`] if it is no intact burnpack file.
    #[cfg(feature = "std")]
    pub fn load<P: AsRef<std::path::Path>>(file: P) -> Result<Self, RecordError> {
        Ok(Self::from_reader(&Reader::from_file(file)?))
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

/// The methods of a schedule whose place is a state in the field `state`.
macro_rules! state_in_record {
    ($schedule:literal) => {
        fn to_record(&self) -> $crate::lr_scheduler::LrSchedulerRecord {
            $crate::lr_scheduler::LrSchedulerRecord::from_state(&self.state)
        }

        #[track_caller]
        fn load_record(&mut self, record: $crate::lr_scheduler::LrSchedulerRecord) {
            let state = record.into_state();
            self.state = state.unwrap_or_else(|| {
                panic!(
                    concat!(
                        "the record has no state of a `",
                        $schedule,
                        "` schedule: {:?}"
                    ),
                    record
                )
            });
        }
    };
}

pub(super) use state_in_record;
