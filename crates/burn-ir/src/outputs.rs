//! What an instruction yields.

use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The outputs of an instruction. Nearly every instruction has one, which takes no allocation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outputs<T> {
    /// The only output.
    One(T),
    /// Any other number of outputs, in the order the instruction documents.
    Many(Vec<T>),
}

impl<T> Outputs<T> {
    /// The only output.
    ///
    /// # Panics
    /// If there is not exactly one: the caller knows its instruction.
    #[inline]
    pub fn one(self) -> T {
        match self {
            Self::One(output) => output,
            Self::Many(outputs) => panic!("one output was expected, not {}", outputs.len()),
        }
    }

    /// The outputs in order.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(output) => core::slice::from_ref(output),
            Self::Many(outputs) => outputs,
        }
    }

    /// Replaces each output.
    #[inline]
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> Outputs<U> {
        match self {
            Self::One(output) => Outputs::One(f(output)),
            Self::Many(outputs) => Outputs::Many(outputs.into_iter().map(f).collect()),
        }
    }

    /// Replaces each output, from a reference.
    pub fn map_ref<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> Outputs<U> {
        match self {
            Self::One(output) => Outputs::One(f(output)),
            Self::Many(outputs) => Outputs::Many(outputs.iter().map(f).collect()),
        }
    }

    /// The outputs in order, owned.
    pub fn into_vec(self) -> Vec<T> {
        match self {
            Self::One(output) => alloc::vec![output],
            Self::Many(outputs) => outputs,
        }
    }
}
