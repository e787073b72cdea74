//! A conversation with a worker: what each side may say is a matter of types.

use std::io;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use seqz_runtime::vocabulary::Wire as _;
use seqz_runtime::worker::message::Conversation;

use super::message::{Reply, Request};
use super::watch::TICK;
use super::{Death, Process, Received, Watch};
use crate::error::Error;
use crate::model::document::Cut;

/// A worker that has been sent a request of this kind.
pub struct Session<C> {
    process: Process,
    /// The time of the worker's last sign of life.
    last_sign: Instant,
    conversation: PhantomData<fn() -> C>,
}

/// What was heard of a worker.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // One is looked at and let go of before the next.
pub enum Heard<R> {
    /// The worker sent this reply.
    Reply(Reply<R>),
    /// The user or the clock ended the conversation.
    Cut(Cut),
    /// The worker has closed the connection.
    Closed,
    /// The worker gave no sign of life for too long.
    Hung,
}

impl<C: Conversation> Session<C> {
    /// Begins a conversation.
    ///
    /// # Errors
    /// When the worker is gone: returns the worker, so that its end can be told.
    pub fn begin(mut process: Process, request: C) -> Result<Self, Box<Process>> {
        let request: Request = request.into();
        if process.connection.send(&request.encode()).is_err() {
            return Err(Box::new(process));
        }
        Ok(Self {
            process,
            last_sign: Instant::now(),
            conversation: PhantomData,
        })
    }

    /// The worker.
    pub const fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// The time since the worker's last sign of life.
    #[must_use]
    pub fn silence(&self) -> Duration {
        self.last_sign.elapsed()
    }

    /// Ends the conversation, and returns the worker.
    #[must_use]
    pub fn into_process(self) -> Process {
        self.process
    }

    /// Answers what the worker has asked. The worker was silent because it waited for the answer.
    ///
    /// # Errors
    /// When the worker is gone.
    pub fn answer(&mut self, answer: &C::Answer) -> io::Result<()> {
        self.last_sign = Instant::now();
        self.process.connection.send(&answer.encode())
    }

    /// Waits for the worker's next message.
    ///
    /// # Errors
    /// When a frame is no message.
    pub fn listen(&mut self, watch: &Watch<'_>) -> Result<Heard<C::Reply>, Error> {
        let mut work = None;
        loop {
            if let Some(cut) = watch.cut() {
                return Ok(Heard::Cut(cut));
            }
            let received = self
                .process
                .connection
                .receive(TICK)
                .map_err(|e| failed("the worker can't be heard", &e))?;
            match received {
                // An empty frame is a sign of life.
                Received::Frame(frame) if frame.is_empty() => {
                    self.last_sign = Instant::now();
                    work = None;
                }
                Received::Frame(frame) => {
                    self.last_sign = Instant::now();
                    let reply = Reply::decode(&frame).map_err(|e| {
                        Error::Worker(format!(
                            "the worker said something that can't be understood: {e}"
                        ))
                    })?;
                    return Ok(Heard::Reply(reply));
                }
                Received::Closed => return Ok(Heard::Closed),
                Received::Nothing if watch.is_over(&self.process, self.silence(), &mut work) => {
                    return Ok(Heard::Hung);
                }
                Received::Nothing if self.process.is_blocked() => return Ok(Heard::Hung),
                Received::Nothing => {}
            }
        }
    }
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

/// Returns the error of a failed operation on a worker.
pub(crate) fn failed(what: &str, error: &io::Error) -> Error {
    Error::Worker(format!("{what}: {error}"))
}
