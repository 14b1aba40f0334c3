//! How long a device works.

use super::Device;
use burn_std::{DynFut, ExecutionError};
use core::fmt;
use core::time::Duration;
#[cfg(feature = "std")]
use std::time::Instant;

/// Who measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimingMethod {
    /// The clock of the system, from outside the device.
    System,
    /// The device itself.
    Device,
}

impl fmt::Display for TimingMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "system",
            Self::Device => "device",
        })
    }
}

/// When work began and ended, counted from the moment that the measurement began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileTicks {
    start: Duration,
    end: Duration,
}

impl ProfileTicks {
    /// From the two moments.
    pub fn from_start_end(start: Duration, end: Duration) -> Self {
        Self { start, end }
    }

    /// The time between them.
    pub fn duration(&self) -> Duration {
        self.end.saturating_sub(self.start)
    }
}

/// A measurement, which may not be complete yet.
pub struct ProfileDuration {
    ticks: DynFut<Option<ProfileTicks>>,
    method: TimingMethod,
}

impl ProfileDuration {
    /// A measurement that `ticks` will give, or nothing where it failed.
    pub fn new(ticks: DynFut<Option<ProfileTicks>>, method: TimingMethod) -> Self {
        Self { ticks, method }
    }

    /// Who measured.
    pub fn timing_method(&self) -> TimingMethod {
        self.method
    }

    /// The measurement, when it is complete.
    pub async fn resolve(self) -> Option<ProfileTicks> {
        self.ticks.await
    }
}

impl fmt::Debug for ProfileDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProfileDuration({})", self.method)
    }
}

/// How to measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProfileOptions {
    flush: bool,
}

impl ProfileOptions {
    /// Starts what the measured function leaves waiting before it returns to the clock, rather than with the wait for all
    /// of it.
    pub fn flush(self) -> Self {
        Self { flush: true }
    }

    /// Whether [`ProfileOptions::flush`] was asked for.
    pub fn flushes(&self) -> bool {
        self.flush
    }
}

impl Device {
    /// What `f` gives, and how long the device took for it: it is idle before, and done with everything after.
    ///
    /// # Errors
    /// What went wrong on the device, and where there is no clock (without `std`).
    pub fn profile<O: Send + 'static>(
        &self,
        f: impl FnOnce() -> O + Send,
    ) -> Result<(O, ProfileDuration), ExecutionError> {
        self.profile_with(ProfileOptions::default(), f)
    }

    /// [`Device::profile`] with options.
    ///
    /// # Errors
    /// What went wrong on the device, and where there is no clock (without `std`).
    pub fn profile_with<O: Send + 'static>(
        &self,
        options: ProfileOptions,
        f: impl FnOnce() -> O + Send,
    ) -> Result<(O, ProfileDuration), ExecutionError> {
        self.measured(|| {
            let output = f();
            match options.flushes() {
                true => self.flush().map(|()| output),
                false => Ok(output),
            }
        })
    }

    #[cfg(feature = "std")]
    fn measured<O>(
        &self,
        f: impl FnOnce() -> Result<O, ExecutionError>,
    ) -> Result<(O, ProfileDuration), ExecutionError> {
        self.sync()?;
        let start = Instant::now();
        let output = f()?;
        self.sync()?;
        let ticks = ProfileTicks::from_start_end(Duration::ZERO, start.elapsed());
        let ticks = alloc::boxed::Box::pin(async move { Some(ticks) });
        Ok((output, ProfileDuration::new(ticks, TimingMethod::System)))
    }

    #[cfg(not(feature = "std"))]
    fn measured<O>(
        &self,
        _f: impl FnOnce() -> Result<O, ExecutionError>,
    ) -> Result<(O, ProfileDuration), ExecutionError> {
        Err(ExecutionError::with_context(
            "`profile`: there is no clock without the standard library",
        ))
    }
}
