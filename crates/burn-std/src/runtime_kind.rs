//! Whether threads of this process may wait.

use core::sync::atomic::{AtomicU8, Ordering};

/// What runs the program's futures.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuntimeKind {
    /// Threads that may wait until a future is ready.
    Sync = 0,
    /// An executor whose threads must not wait, as in a browser.
    Async = 1,
    /// Nothing: there are no threads to wait.
    NoStd = 2,
}

const SYNC: u8 = RuntimeKind::Sync as u8;
const ASYNC: u8 = RuntimeKind::Async as u8;
const NO_STD: u8 = RuntimeKind::NoStd as u8;

static KIND: AtomicU8 = AtomicU8::new(if cfg!(not(feature = "std")) {
    NO_STD
} else if cfg!(target_family = "wasm") {
    ASYNC
} else {
    SYNC
});

/// What runs the program's futures: by default what the target allows.
pub fn runtime_kind() -> RuntimeKind {
    match KIND.load(Ordering::Relaxed) {
        SYNC => RuntimeKind::Sync,
        ASYNC => RuntimeKind::Async,
        _ => RuntimeKind::NoStd,
    }
}

/// Says what runs the program's futures. Where nothing may wait, [`try_read_sync`](crate::try_read_sync) takes only what is
/// ready; on targets without threads it does so whatever is said here.
pub fn set_runtime_kind(kind: RuntimeKind) {
    KIND.store(kind as u8, Ordering::Relaxed);
}
