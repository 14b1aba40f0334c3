//! Threads that wait for something to do.

use alloc::boxed::Box;
use alloc::vec::Vec;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Something to do. It does not panic.
type Job = Box<dyn FnOnce() + Send>;

/// The threads of a loader that have nothing to do.
pub(super) struct Threads {
    idle: Mutex<Vec<Thread>>,
    /// As many as may be idle.
    most: usize,
}

/// A thread that does what it is told, one thing after the other.
pub(super) struct Thread {
    /// `None` tells the thread to end.
    jobs: Option<Sender<Job>>,
    handle: Option<JoinHandle<()>>,
}

impl Threads {
    pub fn new(most: usize) -> Self {
        let idle = Mutex::default();
        Self { idle, most }
    }

    /// Lets an idle thread do something, or a new one if there is none.
    pub fn run(&self, job: Job) -> Thread {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let thread = idle.unwrap_or_else(Thread::start);
        let jobs = thread.jobs.as_ref().expect("it ends with its value only");
        jobs.send(job)
            .expect("a thread listens until it is told to end");
        thread
    }

    /// Takes a thread that has nothing to do, or not for long.
    pub fn give_back(&self, thread: Thread) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < self.most {
            idle.push(thread);
        }
    }
}

impl Thread {
    fn start() -> Self {
        let (jobs, todo) = channel::<Job>();
        let work = move || todo.into_iter().for_each(|job| job());
        let thread = thread::Builder::new()
            .name("burn-dataloader".into())
            .spawn(work);
        let handle = thread.expect("the system lets the process start a thread");
        Self {
            jobs: Some(jobs),
            handle: Some(handle),
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(handle) = self.handle.take() {
            // What is done there does not panic.
            let _ = handle.join();
        }
    }
}
