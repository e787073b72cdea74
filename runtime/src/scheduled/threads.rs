//! The threads of one execution.

use std::cell::UnsafeCell;

use super::coroutine::{self, Yielder};
use super::loops::Turning;
use super::parking::Unparks;
use super::resting::Rest;
use crate::executable::unwinding::Panics;
use crate::vocabulary::{Awaited, Site};

/// The stage of a thread in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has not been created in this execution.
    Absent,
    /// It runs up to its first announcement, on top of its creator.
    Starting,
    /// It has announced an operation, or is doing it.
    Live,
    /// It is over.
    Ended,
    /// It has ended the process, as the program sees it: no thread will ever have waited for it.
    Gone,
}

/// What is known of one thread.
pub(super) struct Slot {
    pub stage: Stage,
    /// The thread's coroutine. The box stays where it is when slots are added, so that the coroutine can run in it, and
    /// nothing else borrows its content meanwhile.
    pub coroutine: Box<UnsafeCell<Option<coroutine::Thread>>>,
    pub yielder: *const Yielder,
    /// The place of the operation that the thread has announced last.
    pub site: Option<Site>,
    pub name: Option<String>,
    /// The place at which the thread was spawned; `None` for the harness's own thread.
    pub spawned_at: Option<Site>,
    /// The panics that are under way in the thread, kept while the thread does not run.
    pub panics: Panics,
    /// The number of threads that the thread has created.
    pub children: u32,
    /// The number of messages that the thread has sent.
    pub messages: u32,
    /// Whether its thread-locals' destructors have made events.
    pub destroyed_with_events: bool,
    /// Whether the thread has been unparked while it was not parked: the next time that it parks, it goes on.
    pub is_unparked: bool,
    /// What the thread waits for, if it is in a wait queue.
    pub awaited: Awaited,
    /// What is known of the thread's unpark token where the thread waits for something else than to be unparked.
    pub unparks: Unparks,
    /// The numbers of the call sites that the thread is in, outermost first, where calls are followed.
    pub calls: Vec<u32>,
    /// What is known of the thread's turns of loops.
    pub turning: Turning,
    /// What is known of how the thread has let others go first.
    pub rest: Rest,
}

impl Slot {
    pub(super) fn absent() -> Self {
        Self {
            stage: Stage::Absent,
            coroutine: Box::default(),
            yielder: std::ptr::null(),
            site: None,
            name: None,
            spawned_at: None,
            panics: Panics::default(),
            children: 0,
            messages: 0,
            destroyed_with_events: false,
            is_unparked: false,
            awaited: Awaited::default(),
            unparks: Unparks::default(),
            calls: Vec::new(),
            turning: Turning::default(),
            rest: Rest::default(),
        }
    }

    /// Makes the slot ready for the next execution.
    pub(super) fn clear(&mut self) {
        self.stage = Stage::Absent;
        self.name = None;
        self.spawned_at = None;
        self.panics = Panics::default();
        self.children = 0;
        self.messages = 0;
        self.destroyed_with_events = false;
        self.is_unparked = false;
        self.unparks = Unparks::default();
        self.calls.clear();
        self.turning.clear();
        self.rest = Rest::default();
    }
}
