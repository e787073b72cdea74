//! The threads of one execution.

use std::cell::UnsafeCell;

use seqz_explore::{Event, Kind, Object};

use super::coroutine::{self, Yielder};
use crate::engine::{Place, Site};
use crate::log::LockMode;

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
}

/// A panic on its way to the top of its thread.
pub(super) struct Panic {
    pub message: String,
    pub place: Place,
    /// How many events came before.
    pub events: usize,
}

/// A lock whose guard was dropped while its thread unwound.
#[derive(Clone, Copy)]
pub(super) struct ToGiveBack {
    pub object: Object,
    pub mode: LockMode,
    /// What the value was when the lock was taken, and what it is now.
    pub values: (u64, u64),
    pub site: Site,
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
    /// Its latest panic, until that reaches its top.
    pub panic: Option<Panic>,
    /// See [`Handle::unlock`](super::state::Handle::unlock).
    pub to_give_back: Vec<ToGiveBack>,
    /// How many threads it has created.
    pub children: u32,
    /// The latest read: object, site, value, and how often it has been repeated with nothing in between.
    pub idle: Idle,
}

/// A thread that looks at the same thing again and again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Idle {
    read: (u32, u32, u64),
    repeated: u32,
}

impl Idle {
    /// The thread did an event. The answer is how often it has now read the same thing in a row.
    pub(super) fn note(&mut self, event: &Event) -> u32 {
        match event.kind {
            Kind::Local => {}
            Kind::Read | Kind::FailedUpdate => self.repeat(event),
            _ => *self = Self::default(),
        }
        self.repeated
    }

    fn repeat(&mut self, event: &Event) {
        let read = (event.object, event.site, event.found);
        if self.read == read {
            self.repeated += 1;
        } else {
            *self = Self { read, repeated: 0 };
        }
    }
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
            panic: None,
            to_give_back: Vec::new(),
            children: 0,
            idle: Idle::default(),
        }
    }

    /// Makes ready for the next execution.
    pub(super) fn clear(&mut self) {
        self.stage = Stage::Absent;
        self.name = None;
        self.spawned_at = None;
        self.panic = None;
        self.to_give_back.clear();
        self.children = 0;
        self.idle = Idle::default();
    }
}
