//! Which stream of instructions a thread writes to.

use core::fmt;

use serde::{Deserialize, Serialize};

/// Names a stream of instructions. Each thread has its own; without `std` there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StreamId {
    /// The number of the stream, unique in the process.
    pub value: u64,
}

impl StreamId {
    /// The stream of the calling thread.
    pub fn current() -> Self {
        Self { value: current() }
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stream {}", self.value)
    }
}

#[cfg(feature = "std")]
fn current() -> u64 {
    static NEXT: crate::sync::Mutex<u64> = crate::sync::Mutex::new(0);
    std::thread_local! {
        static CURRENT: u64 = {
            let mut next = NEXT.lock();
            *next += 1;
            *next - 1
        };
    }
    CURRENT.with(|value| *value)
}

#[cfg(not(feature = "std"))]
fn current() -> u64 {
    0
}
