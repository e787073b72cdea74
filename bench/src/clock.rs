//! Processor time, so that what else the machine does changes no ratio.

use std::time::{Duration, Instant};

/// Measures from its making on.
pub(crate) struct Clock {
    processor: Option<Duration>,
    wall: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self {
            processor: processor(),
            wall: Instant::now(),
        }
    }

    /// The processor time of the thread that asks, where the system tells; else the time on the wall.
    pub(crate) fn elapsed(&self) -> Duration {
        match (self.processor, processor()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.wall.elapsed(),
        }
    }

    /// The time on the wall, which costs little to ask for.
    pub(crate) fn wall(&self) -> Duration {
        self.wall.elapsed()
    }
}

/// How long the thread has run. What `/proc` has of it is as of the last tick of the system, which is milliseconds ago.
fn processor() -> Option<Duration> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: it writes to a place that is there for it.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanoseconds = u32::try_from(time.tv_nsec).ok()?;
    (failed == 0).then(|| Duration::new(seconds, nanoseconds))
}
