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

    /// The processor time of this process's main thread, where the system tells; else the time on the wall.
    pub(crate) fn elapsed(&self) -> Duration {
        match (self.processor, processor()) {
            (Some(before), Some(now)) => now - before,
            _ => self.wall.elapsed(),
        }
    }

    /// The time on the wall, which costs little to ask for.
    pub(crate) fn wall(&self) -> Duration {
        self.wall.elapsed()
    }
}

/// The first number in `schedstat` is how many nanoseconds the thread has run.
fn processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}
