//! Waiting for a read without an async runtime.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll};

/// Runs `future` to its end on the calling thread.
///
/// Where threads cannot be parked (no `std`, or wasm) or must not be (see [`RuntimeKind`](crate::RuntimeKind)) the future
/// is polled once, and `None` says that it was not ready: await it there instead.
pub fn try_read_sync<F: Future>(future: F) -> Option<F::Output> {
    #[cfg(all(feature = "std", not(target_family = "wasm")))]
    if crate::runtime_kind::runtime_kind() == crate::RuntimeKind::Sync {
        return Some(park_until_ready(future));
    }
    poll_once(future)
}

/// Runs `future` to its end on the calling thread.
///
/// # Panics
/// If the future is not ready where threads cannot be parked; see [`try_read_sync`].
#[track_caller]
pub fn read_sync<F: Future>(future: F) -> F::Output {
    match try_read_sync(future) {
        Some(output) => output,
        None => panic!("the read is not ready and this target cannot wait for it: await it"),
    }
}

fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(core::task::Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

#[cfg(all(feature = "std", not(target_family = "wasm")))]
fn park_until_ready<F: Future>(future: F) -> F::Output {
    use alloc::sync::Arc;
    use std::task::Wake;
    use std::thread::{self, Thread};

    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let mut future = pin!(future);
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            // A wake between poll and park leaves a token, so that park returns at once.
            Poll::Pending => thread::park(),
        }
    }
}
