//! A float that a device may compute with in less precision than it is stored in.

use core::cmp::Ordering;
use core::fmt;

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

/// An `f32` in memory, which a device may compute with in any precision down to that of `f16`. On the host, an `f32`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, PartialOrd, Pod, Zeroable, Serialize, Deserialize,
)]
#[allow(non_camel_case_types)]
#[repr(transparent)]
#[serde(transparent)]
pub struct flex32(f32);

impl flex32 {
    /// The smallest finite value.
    pub const MIN: Self = Self(f32::MIN);
    /// The largest finite value.
    pub const MAX: Self = Self(f32::MAX);

    /// The value of an `f32`.
    pub const fn from_f32(value: f32) -> Self {
        Self(value)
    }

    /// The value as `f32`.
    pub const fn to_f32(self) -> f32 {
        self.0
    }

    /// The order of IEEE 754 `totalOrder`.
    pub fn total_cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl From<f32> for flex32 {
    fn from(value: f32) -> Self {
        Self(value)
    }
}

impl From<flex32> for f32 {
    fn from(value: flex32) -> Self {
        value.0
    }
}

impl core::ops::Add for flex32 {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl fmt::Display for flex32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
