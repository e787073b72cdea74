//! The watch over a worker: the user and the clock may end the wait for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Process;
use super::process::Work;
use crate::model::document::Cut;

/// The time between two looks of the driver at the clock, while a worker is quiet.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// How many times `hang_after` the driver waits for a worker to which other programs leave no processor time.
const PATIENCE: u32 = 10;

/// What may end a conversation with a worker.
#[derive(Clone, Copy, Debug)]
pub struct Watch<'a> {
    /// Set by Ctrl-C, to end the search.
    pub stop: &'a AtomicBool,
    /// The time at which the search ends.
    pub deadline: Option<Instant>,
    /// The time for which a worker may be silent.
    pub hang_after: Duration,
}

impl Watch<'_> {
    /// Returns the watch over the next of `left` searches, of which `at_once` run at the same time, and which share the
    /// time until the deadline.
    #[must_use]
    pub fn share(mut self, left: usize, at_once: usize) -> Self {
        if let Some(rest) = self.left() {
            let part = (at_once.max(1) as f64 / left.max(1) as f64).min(1.0);
            self.deadline = Some(Instant::now() + rest.mul_f64(part));
        }
        self
    }

    /// Returns the time that is left, where there is a limit.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        let deadline = self.deadline?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }

    /// Whether the user or the clock has ended the search.
    #[must_use]
    pub fn cut(&self) -> Option<Cut> {
        if self.stop.load(Ordering::Relaxed) {
            Some(Cut::Interrupted)
        } else {
            let over = |deadline| Instant::now() >= deadline;
            self.deadline.is_some_and(over).then_some(Cut::TimeLimit)
        }
    }

    /// Whether a worker that has been silent for this time is hung: the worker has worked, or slept, for as long as it
    /// may. Where other programs use the processors, the worker can do neither, and time that it has not been given
    /// does not count. `since` is what the worker had done when half of the time was over.
    pub(super) fn is_over(
        &self,
        process: &Process,
        silent: Duration,
        since: &mut Option<Work>,
    ) -> bool {
        if silent < self.hang_after / 2 {
            return false;
        }
        let Some(now) = process.work() else {
            return silent > self.hang_after;
        };
        let before = *since.get_or_insert(now);
        // Half of the time is over at `since`.
        let worked = now.time.saturating_sub(before.time) >= self.hang_after / 2;
        silent > self.hang_after && (worked || now.waits || silent > PATIENCE * self.hang_after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_search_leaves_of_its_time_is_for_the_next_ones() {
        let stop = AtomicBool::new(false);
        let now = Instant::now();
        let watch = Watch {
            stop: &stop,
            deadline: Some(now + Duration::from_secs(100)),
            hang_after: Duration::from_secs(1),
        };
        let seconds = |left, at_once| {
            let deadline = watch.share(left, at_once).deadline.unwrap();
            (deadline - now).as_secs_f64().round()
        };
        assert_eq!(seconds(4, 1), 25.0);
        assert_eq!(seconds(4, 2), 50.0);
        assert_eq!(seconds(1, 1), 100.0);
        assert_eq!(seconds(1, 2), 100.0);
    }
}
