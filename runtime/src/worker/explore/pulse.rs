//! Signs of life while a strategy thinks.
//!
//! The driver takes a worker that says nothing for long to be in an execution that goes on for ever. Strategies that ask a
//! solver may think for longer than that between two executions, so a thread of its own says meanwhile that all is
//! well: by frames with nothing in them. While an execution runs, each of its events is a sign of life, and so is that the
//! strategy thinks about one. What is left is the program's own time between two events.

use std::io::{self, Write};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use seqz_explore::search::Watcher;

use super::super::connection::Connection;
use super::super::message::ExploreRequest;

/// The time between two signs of life.
const BEAT: Duration = Duration::from_secs(1);

/// The number of events of all executions together after which there is such a thread: what follows from fewer never
/// takes long to find, and a search that ends before takes no longer than a thread does to start.
const ENOUGH: u64 = 1 << 10;

#[derive(Default)]
struct Shared {
    thinks: AtomicBool,
    /// The number of events so far.
    events: AtomicU64,
    over: AtomicBool,
}

/// The thread that gives signs of life, until this is dropped.
struct Pulse {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Pulse {
    /// Begins to send signs of life over this connection.
    fn new(connection: &Connection<ExploreRequest>) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (mut stream, writing) = connection.try_clone()?.into_parts();
        let seen = Arc::clone(&shared);
        let thread = thread::Builder::new().spawn(move || {
            let mut known = seen.events.load(Ordering::Relaxed);
            while !seen.over.load(Ordering::Acquire) {
                thread::park_timeout(BEAT);
                let events = seen.events.load(Ordering::Relaxed);
                let goes_on = std::mem::replace(&mut known, events) != events;
                if goes_on || seen.thinks.load(Ordering::Acquire) {
                    let _alone = writing.lock().unwrap_or_else(PoisonError::into_inner);
                    // The driver is gone, and thinking may take for ever.
                    if stream.write_all(&0_u32.to_le_bytes()).is_err() {
                        process::exit(1);
                    }
                }
            }
        })?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// Gives signs of life while a strategy thinks.
pub(super) struct Thinking {
    connection: Connection<ExploreRequest>,
    pulse: Option<Pulse>,
}

impl Thinking {
    /// Signs of life over this connection.
    pub(super) fn new(connection: &Connection<ExploreRequest>) -> io::Result<Self> {
        Ok(Self {
            connection: connection.try_clone()?,
            pulse: None,
        })
    }
}

impl Watcher for Thinking {
    fn begins(&mut self, events: u64) {
        if self.pulse.is_none() && events >= ENOUGH {
            // A system that has no thread left now may have one the next time.
            self.pulse = Pulse::new(&self.connection).ok();
        }
        if let Some(pulse) = &self.pulse {
            pulse.shared.thinks.store(true, Ordering::Release);
        }
    }

    fn sees(&mut self, events: u64) {
        if let Some(pulse) = &self.pulse {
            pulse.shared.events.store(events, Ordering::Relaxed);
            pulse.shared.thinks.store(true, Ordering::Relaxed);
        }
    }

    fn ends(&mut self) {
        if let Some(pulse) = &self.pulse {
            pulse.shared.thinks.store(false, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn says_so_while_a_strategy_thinks_and_only_then() -> io::Result<()> {
        let (own, mut other) = UnixStream::pair()?;
        let pulse = Pulse::new(&Connection::new(own))?;
        let mut frame = [1; 4];
        other.set_read_timeout(Some(2 * BEAT))?;
        assert!(other.read_exact(&mut frame).is_err(), "it does not think");
        pulse.shared.thinks.store(true, Ordering::Release);
        other.set_read_timeout(Some(10 * BEAT))?;
        other.read_exact(&mut frame)?;
        assert_eq!(frame, [0; 4]);
        Ok(())
    }
}
