//! What an optimizer remembers about a parameter, and how it is written to a record.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;

use burn_core::tensor::{Device, TensorData};
use burn_pack::Scalar;

/// The state of one parameter, of any optimizer.
#[derive(Clone)]
pub struct DynState {
    state: Arc<dyn Any + Send + Sync>,
    rank: usize,
}

impl DynState {
    /// The `state` of a parameter of `rank` dimensions.
    pub fn create<T: Send + Sync + 'static>(state: T, rank: usize) -> Self {
        Self {
            state: Arc::new(state),
            rank,
        }
    }

    /// The number of dimensions of the parameter.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The state; moved out if nobody else has it.
    ///
    /// # Panics
    /// If it is of another type.
    #[track_caller]
    pub fn downcast<T: Clone + Send + Sync + 'static>(self) -> T {
        let state = self.state.downcast::<T>().ok();
        let state = state.unwrap_or_else(|| panic!("{}", wrong_type::<T>()));
        Arc::unwrap_or_clone(state)
    }

    /// The state.
    ///
    /// # Panics
    /// If it is of another type.
    #[track_caller]
    pub fn downcast_ref<T: 'static>(&self) -> &T {
        self.state
            .downcast_ref()
            .unwrap_or_else(|| panic!("{}", wrong_type::<T>()))
    }
}

fn wrong_type<T>() -> String {
    format!(
        "the state of the optimizer is not a `{}`",
        core::any::type_name::<T>()
    )
}

impl fmt::Debug for DynState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynState")
            .field("rank", &self.rank)
            .finish_non_exhaustive()
    }
}

/// A state that can be written to a record and read back.
pub trait RecordState: Sized + Send + Sync + 'static {
    /// Writes the state under `prefix`.
    fn state_flatten(&self, prefix: &str, sink: &mut StateSink);

    /// Reads the state from under `prefix`; `None` if a part is missing.
    fn state_unflatten(prefix: &str, source: &mut StateSource, device: &Device) -> Option<Self>;
}

impl RecordState for () {
    fn state_flatten(&self, _prefix: &str, _sink: &mut StateSink) {}

    fn state_unflatten(_prefix: &str, _source: &mut StateSource, _device: &Device) -> Option<Self> {
        Some(())
    }
}

/// Takes the parts of states, under names like `prefix.name`.
#[derive(Debug, Default)]
pub struct StateSink {
    /// The tensors.
    pub tensors: Vec<(String, TensorData)>,
    /// The scalars.
    pub scalars: Vec<(String, Scalar)>,
}

impl StateSink {
    /// Takes a tensor.
    pub fn push_tensor(&mut self, prefix: &str, name: &str, data: TensorData) {
        self.tensors.push((join(prefix, name), data));
    }

    /// Takes a scalar.
    pub fn push_scalar(&mut self, prefix: &str, name: &str, value: Scalar) {
        self.scalars.push((join(prefix, name), value));
    }
}

/// Gives the parts of states back, each once.
#[derive(Debug, Default)]
pub struct StateSource {
    tensors: BTreeMap<String, TensorData>,
    scalars: BTreeMap<String, Scalar>,
}

impl StateSource {
    /// A source of these scalars, and no tensors yet.
    pub fn new(scalars: BTreeMap<String, Scalar>) -> Self {
        Self {
            tensors: BTreeMap::new(),
            scalars,
        }
    }

    /// Adds a tensor under its full name.
    pub fn insert_tensor(&mut self, name: String, data: TensorData) {
        self.tensors.insert(name, data);
    }

    /// Takes a tensor out.
    pub fn take_tensor(&mut self, prefix: &str, name: &str) -> Option<TensorData> {
        self.tensors.remove(&join(prefix, name))
    }

    /// Takes a scalar out.
    pub fn take_scalar(&mut self, prefix: &str, name: &str) -> Option<Scalar> {
        self.scalars.remove(&join(prefix, name))
    }

    /// Whether anything is left under `prefix`.
    pub fn has_under(&self, prefix: &str) -> bool {
        let prefix = format!("{prefix}.");
        let under = |name: &&String| name.starts_with(&prefix);
        let tensor = self
            .tensors
            .range(prefix.clone()..)
            .next()
            .map(|(name, _)| name);
        let scalar = self
            .scalars
            .range(prefix.clone()..)
            .next()
            .map(|(name, _)| name);
        tensor.filter(under).or(scalar.filter(under)).is_some()
    }

    /// Whether anything is left under this name, or below it.
    pub(crate) fn has(&self, prefix: &str, name: &str) -> bool {
        let name = join(prefix, name);
        self.tensors.contains_key(&name)
            || self.scalars.contains_key(&name)
            || self.has_under(&name)
    }
}

/// The full name of a part; at the root there is no prefix.
pub(crate) fn join(prefix: &str, name: &str) -> String {
    match prefix.is_empty() {
        true => name.into(),
        false => format!("{prefix}.{name}"),
    }
}
