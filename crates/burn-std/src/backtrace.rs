//! A call stack that errors can carry; empty without `std`.

use core::fmt;

/// Where an error came from. Cheap to clone; captured only if `RUST_BACKTRACE` asks for it.
#[derive(Clone)]
pub struct BackTrace {
    #[cfg(feature = "std")]
    stack: alloc::sync::Arc<std::backtrace::Backtrace>,
}

impl BackTrace {
    /// Captures the stack of the caller.
    pub fn capture() -> Self {
        Self {
            #[cfg(feature = "std")]
            stack: alloc::sync::Arc::new(std::backtrace::Backtrace::capture()),
        }
    }
}

impl fmt::Display for BackTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[cfg(feature = "std")]
        return self.stack.fmt(f);
        #[cfg(not(feature = "std"))]
        f.write_str("no backtrace without std")
    }
}

impl fmt::Debug for BackTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
