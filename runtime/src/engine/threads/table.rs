//! The threads of one execution, and what is known of each.

use std::sync::Arc;

use super::super::Line;
use super::super::body::Body;
use crate::executable::unwinding::{Counter, Panics};
use crate::memory::Buffer;
use crate::vocabulary::{Lineage, Site};

/// A thread of the program under test, numbered by creation; the harness's own is 0.
pub(crate) type ThreadNo = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Unstarted,
    /// Not started, and one of several interfering threads, whose turn comes.
    Chosen,
    Running,
    Finished,
    /// Ended early: no thread can join this thread.
    Dead,
}

pub(crate) struct Thread {
    pub name: Option<Arc<str>>,
    /// The place where the thread was spawned; `None` for the harness's own thread.
    pub spawned_at: Option<Site>,
    pub(super) body: Option<Body>,
    pub(super) state: State,
    pub(in crate::engine) line: Line,
    creator: ThreadNo,
    /// Whether the destructors of the thread's thread-locals made events, and no thread has joined this thread.
    pub(super) destroyed_with_events: bool,
    /// std's count of the thread's panics, while another thread runs.
    panics: Panics,
}

impl Thread {
    /// Whether the thread has come to its end.
    pub(in crate::engine) fn is_over(&self) -> bool {
        self.state == State::Finished
    }

    /// A new thread, as yet without a name and a body.
    #[inline(always)]
    pub(super) fn fill(&mut self, name: Option<Arc<str>>, body: Body) {
        debug_assert!(self.name.is_none() && self.body.is_none());
        let before = (
            std::mem::replace(&mut self.name, name),
            self.body.replace(body),
        );
        std::mem::forget(before);
    }
}

/// The threads of one execution.
#[derive(Default)]
pub(crate) struct Threads {
    /// The first `count` are threads. The rest is room for others: each thread is made in place, part by part.
    list: Buffer<Thread>,
    count: usize,
    /// The number of threads whose code has not been taken.
    pub(super) bodies: usize,
    /// Whether a thread has a name.
    pub(super) has_names: bool,
    /// Whether a waiting thread may be panicking.
    any_panics: bool,
    /// The number of threads that have not been started, [`Self::waiting_under_test`] among them.
    pub(super) unstarted: usize,
    pub(crate) current: ThreadNo,
    pub(in crate::engine) parties: Option<(ThreadNo, ThreadNo)>,
    /// T, while T has not been started because T' runs on the stack that will start T.
    pub(super) waiting_under_test: Option<ThreadNo>,
}

impl Threads {
    /// Whether there are threads that have not run.
    #[inline]
    pub(crate) const fn has_bodies(&self) -> bool {
        self.bodies != 0
    }

    /// The bodies of threads that have not run. The caller drops them, outside of any engine borrow.
    #[cold]
    pub(crate) fn take_bodies(&mut self) -> Vec<Body> {
        self.bodies = 0;
        self.list
            .iter_mut()
            .filter_map(|thread| thread.body.take())
            .collect()
    }

    /// Forgets all threads but the harness's own.
    pub(crate) fn reset(&mut self) {
        if self.has_names {
            self.has_names = false;
            for thread in &mut self.list[..self.count] {
                thread.name = None;
            }
        }
        if self.list.is_empty() {
            self.make_room();
        }
        self.count = 1;
        self.bodies = 0;
        self.any_panics = false;
        self.unstarted = 0;
        self.current = 0;
        self.parties = None;
        self.waiting_under_test = None;
        self.list[0].state = State::Running;
        self.list[0].line = Line::Init;
    }

    /// A new thread, as yet without a name and a body; with `quiet` it never runs.
    #[inline]
    pub(super) fn add(&mut self, quiet: bool, line: Line, site: Site) -> ThreadNo {
        let creator = self.current;
        if self.count == self.list.len() {
            self.make_room();
        }
        let no = ThreadNo::try_from(self.count).unwrap_or(ThreadNo::MAX);
        let thread = &mut self.list[self.count];
        self.count += 1;
        thread.spawned_at = Some(site);
        thread.line = line;
        thread.creator = creator;
        thread.destroyed_with_events = false;
        thread.panics = Panics::default();
        if quiet {
            thread.state = State::Dead;
        } else {
            thread.state = State::Unstarted;
            self.unstarted += 1;
        }
        no
    }

    #[cold]
    fn make_room(&mut self) {
        self.list.push(Thread {
            name: None,
            spawned_at: None,
            body: None,
            state: State::Running,
            line: Line::Init,
            creator: 0,
            destroyed_with_events: false,
            panics: Panics::default(),
        });
    }

    /// Notes that the next code to run is the thread `to`'s, and no longer `from`'s: std counts the panics of `to` now.
    #[inline]
    pub(super) fn switch_panics(&mut self, counter: Counter, to: ThreadNo, from: ThreadNo) {
        if self.any_panics || counter.is_raised() {
            self.exchange_panics(counter, to, from);
        }
    }

    /// Does what [`Self::switch_panics`] does, where the thread `from` has ended: no panic is under way in `from`, and
    /// only the counts of waiting threads are kept.
    #[inline]
    pub(super) fn leave_panics(&mut self, counter: Counter, to: ThreadNo, from: ThreadNo) {
        if self.any_panics {
            self.exchange_panics(counter, to, from);
        }
    }

    #[cold]
    fn exchange_panics(&mut self, counter: Counter, to: ThreadNo, from: ThreadNo) {
        self.any_panics = true;
        let mut panics = std::mem::take(&mut self.at(to).panics);
        counter.swap(&mut panics);
        self.at(from).panics = panics;
    }

    /// The thread that runs is left where it is, and so are those that wait for it on the stack: all of them, or those of
    /// this line.
    #[cold]
    pub(crate) fn forget_panics(&mut self, counter: Counter, line: Option<Line>) {
        let mut panics = Panics::default();
        counter.swap(&mut panics);
        counter.forget(&mut panics);
        let all = &mut self.list[..self.count];
        for thread in all
            .iter_mut()
            .filter(|it| line.is_none_or(|line| it.line == line))
        {
            counter.forget(&mut thread.panics);
        }
    }

    /// The execution's memory is given back with all that is in it.
    pub(crate) fn leave(&mut self) {
        if !self.has_bodies() && !self.has_names {
            return;
        }
        self.bodies = 0;
        self.has_names = false;
        for thread in &mut self.list[..self.count] {
            std::mem::forget((thread.name.take(), thread.body.take()));
        }
    }

    pub(in crate::engine) fn all_mut(&mut self) -> &mut [Thread] {
        &mut self.list[..self.count]
    }

    fn all(&self) -> &[Thread] {
        &self.list[..self.count]
    }

    pub(crate) fn get(&self, thread: ThreadNo) -> &Thread {
        &self.all()[thread as usize]
    }

    #[inline]
    pub(super) fn at(&mut self, thread: ThreadNo) -> &mut Thread {
        &mut self.list[thread as usize]
    }

    /// How the threads 1, 2, … came to be.
    pub(crate) fn lineage(&self) -> Vec<Lineage> {
        let all = self.all();
        (1..all.len())
            .map(|at| {
                let creator = all[at].creator;
                let before = all[1..at]
                    .iter()
                    .filter(|thread| thread.creator == creator)
                    .count();
                (creator, u32::try_from(before).unwrap_or(u32::MAX))
            })
            .collect()
    }

    /// The number of threads, the harness's own among them.
    pub(in crate::engine) fn number(&self) -> u32 {
        u32::try_from(self.count).unwrap_or(u32::MAX)
    }

    pub(super) fn unstarted(&self) -> impl Iterator<Item = ThreadNo> + '_ {
        (0..).zip(self.all()).filter_map(move |(no, thread)| {
            (thread.state == State::Unstarted && self.waiting_under_test != Some(no)).then_some(no)
        })
    }
}
