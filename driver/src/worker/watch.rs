//! Listens to a worker; the user and the clock may end the wait.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use seqz_runtime::worker::wire::Wire as _;

use super::message::{Reply, Request};
use super::process::Work;
use super::{Death, Process, Received};
use crate::error::Error;
use crate::model::document::Cut;

/// The time between two looks of the driver at the clock, while a worker is quiet.
const TICK: Duration = Duration::from_millis(50);

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

/// What was heard of a worker.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // One is looked at and let go of before the next.
pub enum Heard {
    /// The worker sent this reply.
    Reply(Reply),
    /// The user or the clock ended the conversation.
    Cut(Cut),
    /// The worker has closed the connection.
    Closed,
    /// The worker gave no sign of life for too long.
    Hung,
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

    /// Waits for the worker's next message. `last_sign` is the time of the worker's last sign of life.
    ///
    /// # Errors
    /// When a frame is no message.
    pub fn listen(&self, process: &mut Process, last_sign: &mut Instant) -> Result<Heard, Error> {
        let mut work = None;
        loop {
            if let Some(cut) = self.cut() {
                return Ok(Heard::Cut(cut));
            }
            let received = process
                .connection
                .receive(TICK)
                .map_err(|e| failed("the worker can't be heard", &e))?;
            match received {
                // An empty frame is a sign of life.
                Received::Frame(frame) if frame.is_empty() => {
                    *last_sign = Instant::now();
                    work = None;
                }
                Received::Frame(frame) => {
                    *last_sign = Instant::now();
                    let reply = Reply::decode(&frame).map_err(|e| {
                        Error::Worker(format!(
                            "the worker said something that can't be understood: {e}"
                        ))
                    })?;
                    return Ok(Heard::Reply(reply));
                }
                Received::Closed => return Ok(Heard::Closed),
                Received::Nothing if self.is_over(process, last_sign.elapsed(), &mut work) => {
                    return Ok(Heard::Hung);
                }
                Received::Nothing if process.is_blocked() => return Ok(Heard::Hung),
                Received::Nothing => {}
            }
        }
    }
}

impl Watch<'_> {
    /// Whether a worker that has been silent for this time is hung: the worker has worked, or slept, for as long as it
    /// may. Where other programs use the processors, the worker can do neither, and time that it has not been given
    /// does not count. `since` is what the worker had done when half of the time was over.
    fn is_over(&self, process: &Process, silent: Duration, since: &mut Option<Work>) -> bool {
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

/// Sends a request.
///
/// # Errors
/// When the worker is gone.
pub fn send(process: &mut Process, request: &Request) -> io::Result<()> {
    process.connection.send(&request.encode())
}

/// Waits for the end of a worker that has closed the connection, and returns how the worker ended.
///
/// # Errors
/// When the system can't tell.
pub fn bury(process: Process) -> Result<Death, Error> {
    process
        .end(true)
        .map_err(|e| failed("the worker's end can't be told", &e))
}

/// Describes the error of a reply that belongs to no conversation with a worker that does this.
pub(crate) fn out_of_place(does: &str, reply: &Reply) -> String {
    let reply = format!("{reply:?}");
    let name = reply.split(|it: char| !it.is_alphanumeric()).next();
    let name = name.unwrap_or_default();
    format!("a worker that {does} says what it is not asked: {name}")
}

/// Returns the error of a failed operation on a worker.
pub(crate) fn failed(what: &str, error: &io::Error) -> Error {
    Error::Worker(format!("{what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_that_are_out_of_place_are_named() {
        let seeds = Reply::Seeds {
            strings: vec![vec![1, 2]],
            longest: 2,
        };
        let names =
            [seeds, Reply::Done, Reply::Times(vec![1])].map(|it| out_of_place("checks", &it));
        let names = names.map(|it| it.rsplit_once(' ').unwrap().1.to_owned());
        assert_eq!(names, ["Seeds", "Done", "Times"]);
    }

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
