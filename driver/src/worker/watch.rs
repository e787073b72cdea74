//! Listening to a worker, while the user and the clock may end it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use seqz_runtime::worker::wire::Wire as _;

use super::message::{Reply, Request};
use super::process::Work;
use super::{Death, Process, Received};
use crate::error::Error;
use crate::model::document::Cut;

/// How often a quiet worker's driver looks up.
const TICK: Duration = Duration::from_millis(50);

/// How many times as long as a worker may be silent is waited for one that other programs leave no time.
const PATIENCE: u32 = 10;

/// What may end a conversation.
#[derive(Clone, Copy, Debug)]
pub struct Watch<'a> {
    /// Set by Ctrl-C.
    pub stop: &'a AtomicBool,
    /// When the search is to end.
    pub deadline: Option<Instant>,
    /// How long a worker may be silent.
    pub hang_after: Duration,
}

/// What was heard.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // One is looked at and let go of before the next.
pub enum Heard {
    /// The worker said something.
    Reply(Reply),
    /// The user or the clock ended it.
    Cut(Cut),
    /// The worker is gone.
    Closed,
    /// The worker had no sign of life for too long.
    Hung,
}

impl Watch<'_> {
    /// The same for the next of `left` searches, so many at once, that share the time until the deadline.
    #[must_use]
    pub fn share(mut self, left: usize, at_once: usize) -> Self {
        if let Some(rest) = self.left() {
            let part = (at_once.max(1) as f64 / left.max(1) as f64).min(1.0);
            self.deadline = Some(Instant::now() + rest.mul_f64(part));
        }
        self
    }

    /// How much of the time is left, where there is a limit.
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

    /// Waits for the worker's next word. `last_sign` is when it last gave one.
    ///
    /// # Errors
    /// When what it says is no message.
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
                // A sign of life.
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
    /// Whether a worker that has been silent for so long is hung: it has worked, or slept, for as long as it may. Where other
    /// programs have the machine, it can't do either, and what it has not been given is not its own time. `since` is what it
    /// was doing when its silence was first of interest.
    fn is_over(&self, process: &Process, silent: Duration, since: &mut Option<Work>) -> bool {
        if silent < self.hang_after / 2 {
            return false;
        }
        let Some(now) = process.work() else {
            return silent > self.hang_after;
        };
        let before = *since.get_or_insert(now);
        // Half of the time is over by then.
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

/// How a worker that has closed its end ended.
///
/// # Errors
/// When the system can't tell.
pub fn bury(process: Process) -> Result<Death, Error> {
    process
        .end(true)
        .map_err(|e| failed("the worker's end can't be told", &e))
}

/// What is wrong with a reply that belongs to no conversation with a worker that does this.
pub(crate) fn out_of_place(does: &str, reply: &Reply) -> String {
    let reply = format!("{reply:?}");
    let name = reply.split(|it: char| !it.is_alphanumeric()).next();
    let name = name.unwrap_or_default();
    format!("a worker that {does} says what it is not asked: {name}")
}

/// What failed in dealing with a worker.
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
