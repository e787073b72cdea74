//! The threads of one execution.

use std::cell::UnsafeCell;

use super::coroutine::{self, Yielder};
use super::loops::Turning;
use super::parking::Unparks;
use super::resting::Rest;
use crate::executable::unwinding::Panics;
use crate::vocabulary::Site;

/// How a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has not been created in this execution.
    Absent,
    /// It runs up to its first announcement, on top of its creator.
    Starting,
    /// It has announced something, or is doing it.
    Live,
    /// It is over.
    Ended,
    /// It has ended the process, as the program sees it: nobody will ever have waited for it.
    Gone,
}

/// One thread.
pub(super) struct Slot {
    pub stage: Stage,
    /// Its place stays where it is when slots are added, so that the coroutine can run in it. Nothing else borrows it
    /// meanwhile.
    pub coroutine: Box<UnsafeCell<Option<coroutine::Thread>>>,
    pub yielder: *const Yielder,
    pub site: Option<Site>,
    pub name: Option<String>,
    pub spawned_at: Option<Site>,
    /// Those that are under way in it, while it does not run.
    pub panics: Panics,
    /// How many threads it has created.
    pub children: u32,
    /// How many messages it has sent.
    pub messages: u32,
    /// What its thread-locals' destructors did were events.
    pub destroyed_with_events: bool,
    /// It has been unparked, and was not parked: the next time it parks, it goes on.
    pub is_unparked: bool,
    /// What comes of its having been unparked where it waits for something else.
    pub unparks: Unparks,
    /// The places of the calls that it is in, where they are followed.
    pub calls: Vec<u32>,
    /// Its turns of loops.
    pub turning: Turning,
    /// How it has let others go first.
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
            unparks: Unparks::default(),
            calls: Vec::new(),
            turning: Turning::default(),
            rest: Rest::default(),
        }
    }

    /// Makes ready for the next execution.
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
