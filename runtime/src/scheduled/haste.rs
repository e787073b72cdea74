//! Threads that are held up while a time passes.
//!
//! A search tries all orders of events, whatever time a thread sleeps: a machine may hold the other threads up for as long. A
//! failure that needs that is a true one, but says of the program that it counts on a time, and not that it is wrong
//! on an idle machine. So failures that were met only where a thread was held up say so.
//!
//! A thread is **held up** if it could go on when a sleep or a time limit of another thread was over, by whose clock the
//! thread is late (see [`crate::clock`]). It makes a difference
//! - if the thread then does something that comes after what the other thread has done since, so that the late thread's
//!   clock is moved on, or
//! - if the thread still stands there when the execution fails.
//!
//! A thread that catches up without that is not noted, nor one that then comes to wait: it might have waited all the time.
//! A sleep is over with the next event of its thread, a time limit where it runs out.

use std::time::Duration;

use seqz_explore::{Kind, Thread};

use super::events::{site_number, site_of};
use super::state::State;
use crate::vocabulary::{HeldUp, Place, Site};

/// What passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passing {
    /// A sleep.
    Sleep,
    /// The time limit of a wait.
    Limit,
}

/// A time that has passed for a thread.
#[derive(Clone, Copy, Debug)]
struct Passed {
    thread: Thread,
    passing: Passing,
    /// How long it was.
    took: u64,
    /// The thread's clock after it.
    until: u64,
    site: Site,
}

/// A thread that could go on when a time was over that had passed for another thread.
#[derive(Clone, Copy, Debug)]
struct Behind {
    thread: Thread,
    passed: Passed,
    /// By how much the thread was late.
    late: u64,
    /// The number of the place where the thread stands.
    site: u32,
    /// The number of events before that.
    events: usize,
}

impl Behind {
    fn told(&self) -> HeldUp {
        HeldUp {
            thread: u32::from(self.thread),
            place: site_of(self.site).map(Place::from),
            nanoseconds: self.late,
            by: u32::from(self.passed.thread),
            passing: Place::from(self.passed.site),
            is_limit: self.passed.passing == Passing::Limit,
            took: self.passed.took,
        }
    }
}

/// Who is held up in an execution.
#[derive(Debug, Default)]
pub(super) struct Haste {
    /// The sleeps that are over with the next events of their threads.
    asleep: Vec<Passed>,
    /// The threads that are held up.
    behind: Vec<Behind>,
    /// The threads that were held up, and have come after what they were held up for.
    noted: Vec<Behind>,
}

impl Haste {
    pub(super) fn clear(&mut self) {
        self.asleep.clear();
        self.behind.clear();
        self.noted.clear();
    }

    #[inline]
    pub(super) fn is_quiet(&self) -> bool {
        self.asleep.is_empty() && self.behind.is_empty()
    }

    /// The thread is not held up any more, or not by anything that makes a difference.
    pub(super) fn forget(&mut self, thread: Thread) {
        self.behind.retain(|it| it.thread != thread);
    }
}

impl State {
    /// A time has passed for a thread, whose clock has moved on.
    pub(super) fn note_passing(
        &mut self,
        thread: u32,
        duration: Duration,
        passing: Passing,
        site: Site,
    ) {
        let Ok(name) = Thread::try_from(thread) else {
            return;
        };
        if self.ending || duration.is_zero() {
            return;
        }
        let until = self.clocks.now(thread);
        let behind = &mut self.haste.behind;
        behind.retain(|it| it.thread != name || it.passed.until > until);
        let passed = Passed {
            thread: name,
            passing,
            took: u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX),
            until,
            site,
        };
        match passing {
            Passing::Limit => self.hold_up(passed),
            Passing::Sleep => self.haste.asleep.push(passed),
        }
    }

    /// The threads that could go on, and are late by the clock for which a time has passed, are held up.
    fn hold_up(&mut self, passed: Passed) {
        let gives = self.gives_tokens();
        for thread in self.live.iter().filter(|it| Some(*it) != gives) {
            let now = self.clocks.now(u32::from(thread));
            let is_known = self.haste.behind.iter().any(|it| it.thread == thread);
            if thread == passed.thread || now >= passed.until || is_known || self.waits(thread) {
                continue;
            }
            self.haste.behind.push(Behind {
                thread,
                passed,
                late: passed.until - now,
                site: self.slots[usize::from(thread)].site.map_or(0, site_number),
                events: self.events(),
            });
        }
    }

    /// Whether a live thread waits for others, if only for some time.
    fn waits(&mut self, thread: Thread) -> bool {
        let pending = self.pending[usize::from(thread)];
        match pending.kind {
            Kind::Wake => !self.objects.queue(pending.object).covers(thread),
            _ => !self.could_go_on(thread),
        }
    }

    /// A thread has announced what it does next.
    #[cold]
    pub(super) fn note_wait(&mut self, thread: Thread) {
        if self.haste.behind.iter().any(|it| it.thread == thread) && self.waits(thread) {
            self.haste.forget(thread);
        }
    }

    /// A thread has made an event of this kind.
    #[cold]
    pub(super) fn note_haste(&mut self, thread: Thread, kind: Kind) {
        let mut asleep = self.haste.asleep.iter();
        if let Some(at) = asleep.position(|it| it.thread == thread) {
            // Sleeps without an event in between are over together.
            let passed = self.haste.asleep.remove(at);
            self.haste.asleep.retain(|it| it.thread != thread);
            crate::memory::outside(|| self.hold_up(passed));
        }
        let now = self.clocks.now(u32::from(thread));
        let haste = &mut self.haste;
        let mut behind = haste.behind.iter();
        if let Some(&behind) = behind.find(|it| it.thread == thread && it.passed.until <= now) {
            crate::memory::outside(|| haste.noted.push(behind));
            haste.forget(thread);
        }
        if kind == Kind::End {
            haste.forget(thread);
        }
    }

    /// Who was held up when this number of events had been made, in a way that makes a difference: the one who was held up
    /// for the shortest time.
    pub(super) fn held_up(&self, events: usize) -> Option<HeldUp> {
        let all = self.haste.noted.iter().chain(&self.haste.behind);
        let all = all.filter(|it| it.events <= events);
        all.min_by_key(|it| it.late).map(Behind::told)
    }
}
