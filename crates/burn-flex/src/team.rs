//! Threads that share the parts of one job.
//!
//! The threads are rayon's, with whatever number a program gave its pool. Rayon's own way to split work puts the caller to
//! sleep and wakes threads for each call, some 30 µs where an instruction may take 50. Here the caller works too, and a
//! helper that runs out of work looks for more before it goes back to rayon: in a chain of instructions, handing over
//! takes less than a µs.
//!
//! One job is shared at a time. Who finds another there, be it from another thread or inside a part, works alone.

use alloc::boxed::Box;
use burn_std::sync::Mutex;
use core::any::Any;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// How long a helper without work looks for more: longer than the gaps between the instructions of a program, and short
/// for a core that others may want.
const PATIENCE: Duration = Duration::from_micros(200);

/// Parts to be run, each once.
struct Job {
    work: *const (dyn Fn(usize) + Sync),
    parts: usize,
    /// The next part that nobody took.
    next: AtomicUsize,
    /// Helpers that may still read this job.
    helpers: AtomicUsize,
    /// Helpers that the caller can use.
    wanted: usize,
    /// What a helper panicked with, for the caller to go on with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Job {
    /// Runs parts until all are taken.
    fn share(&self) {
        loop {
            let part = self.next.fetch_add(1, Ordering::Relaxed);
            if part >= self.parts {
                return;
            }
            // SAFETY: the caller of `run` keeps the function until no helper is left.
            unsafe { (*self.work)(part) };
        }
    }
}

struct Board(Option<*const Job>);

// SAFETY: the job is shared by design; `run` keeps it until its helpers are gone.
unsafe impl Send for Board {}

static BOARD: Mutex<Board> = Mutex::new(Board(None));
/// Changes with each job.
static TICKET: AtomicUsize = AtomicUsize::new(0);
/// Helpers that look for work or do it.
static AWAKE: AtomicUsize = AtomicUsize::new(0);

/// Runs `work` for each of `parts`, with up to `helpers` threads beside this one.
pub(crate) fn run(parts: usize, helpers: usize, work: &(dyn Fn(usize) + Sync)) {
    let alone = || (0..parts).for_each(work);
    let helpers = helpers.min(parts.saturating_sub(1));
    if helpers == 0 {
        return alone();
    }
    // SAFETY: only the lifetime changes. The function outlives the job, and this call does not return, nor unwind,
    // before everybody has let go of it.
    let work: &'static (dyn Fn(usize) + Sync) = unsafe { core::mem::transmute(work) };
    let job = Job {
        work,
        parts,
        next: AtomicUsize::new(0),
        helpers: AtomicUsize::new(0),
        wanted: helpers,
        panic: Mutex::new(None),
    };
    {
        let mut board = BOARD.lock();
        if board.0.is_some() {
            drop(board);
            return alone();
        }
        board.0 = Some(&raw const job);
        TICKET.fetch_add(1, Ordering::Release);
    }
    let taken_down = TakeDown(&job);
    for _ in AWAKE.load(Ordering::Relaxed)..helpers {
        AWAKE.fetch_add(1, Ordering::Relaxed);
        rayon::spawn(serve);
    }
    job.share();
    drop(taken_down);
    if let Some(panic) = job.panic.into_inner() {
        resume_unwind(panic);
    }
}

/// Ends a job when it is dropped, also by a panic.
struct TakeDown<'a>(&'a Job);

impl Drop for TakeDown<'_> {
    fn drop(&mut self) {
        // Whatever parts are left after a panic are not run.
        self.0.next.fetch_max(self.0.parts, Ordering::Relaxed);
        BOARD.lock().0 = None;
        let mut turns = 0u32;
        while self.0.helpers.load(Ordering::Acquire) != 0 {
            turns += 1;
            match turns % 1024 {
                0 => std::thread::yield_now(),
                _ => core::hint::spin_loop(),
            }
        }
    }
}

/// Helps with jobs while there are any.
fn serve() {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            AWAKE.fetch_sub(1, Ordering::Relaxed);
        }
    }
    let _leave = Leave;
    let mut seen = TICKET.load(Ordering::Acquire).wrapping_sub(1);
    let mut idle_since: Option<Instant> = None;
    let mut turns = 0u32;
    loop {
        let ticket = TICKET.load(Ordering::Acquire);
        if ticket != seen {
            seen = ticket;
            help();
            idle_since = None;
        }
        core::hint::spin_loop();
        turns = turns.wrapping_add(1);
        if turns.is_multiple_of(64) {
            match idle_since {
                None => idle_since = Some(Instant::now()),
                Some(since) if since.elapsed() > PATIENCE => return,
                Some(_) => {}
            }
        }
    }
}

/// Helps with the job on the board, if there is one.
fn help() {
    struct Done(*const Job);
    impl Drop for Done {
        fn drop(&mut self) {
            // SAFETY: the job is kept until this count is back to 0.
            unsafe { (*self.0).helpers.fetch_sub(1, Ordering::Release) };
        }
    }
    let job = {
        let board = BOARD.lock();
        let Some(job) = board.0 else { return };
        // SAFETY: a job on the board is alive, and stays so once it is counted, which happens under the lock.
        let counted = unsafe { &(*job).helpers };
        // SAFETY: as above.
        if counted.load(Ordering::Relaxed) >= unsafe { (*job).wanted } {
            return;
        }
        counted.fetch_add(1, Ordering::Relaxed);
        job
    };
    let done = Done(job);
    // SAFETY: counted above.
    let job = unsafe { &*job };
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| job.share())) {
        *job.panic.lock() = Some(panic);
        job.next.fetch_max(job.parts, Ordering::Relaxed);
    }
    drop(done);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn every_part_runs_once_with_callers_on_several_threads_and_jobs_inside_parts() {
        const JOBS: usize = if cfg!(miri) { 5 } else { 100 };
        let counts: Vec<AtomicUsize> = (0..64).map(|_| AtomicUsize::new(0)).collect();
        let count = |part: usize| {
            counts[part].fetch_add(1, Ordering::Relaxed);
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..JOBS {
                        run(8, 3, &|outer| run(8, 3, &|inner| count(8 * outer + inner)));
                    }
                });
            }
        });
        for count in counts {
            assert_eq!(count.into_inner(), 4 * JOBS);
        }
    }

    #[test]
    fn a_panic_in_a_part_reaches_the_caller_and_leaves_the_board_free() {
        let panics = || run(8, 1, &|part| assert_ne!(part, 0, "as wanted"));
        assert!(std::panic::catch_unwind(panics).is_err());
        let parts = AtomicUsize::new(0);
        run(8, 1, &|_| {
            parts.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(parts.into_inner(), 8);
    }
}
