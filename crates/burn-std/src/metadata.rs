//! Sizes together with strides.

use crate::{Shape, Strides};

/// The sizes of a tensor, and where its elements lie in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Metadata {
    /// The size of each dim.
    pub shape: Shape,
    /// Elements from one index of each dim to the next.
    pub strides: Strides,
}

impl Metadata {
    /// The two together.
    ///
    /// # Panics
    /// If they are of different ranks.
    #[track_caller]
    pub fn new(shape: impl Into<Shape>, strides: impl Into<Strides>) -> Self {
        let (shape, strides) = (shape.into(), strides.into());
        assert!(
            shape.len() == strides.len(),
            "shape {shape} and strides {:?} are of different ranks",
            &strides[..]
        );
        Self { shape, strides }
    }

    /// The size of each dim.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Elements from one index of each dim to the next.
    pub fn strides(&self) -> &Strides {
        &self.strides
    }

    /// The number of dims.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }
}
