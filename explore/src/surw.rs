//! `surw`: selectively uniform random walk: uniform over the orders of the events that are looked at.
//!
//! Source: *Selectively Uniform Concurrency Testing* (Zhao, Yuan and others, ASPLOS 2025), section 3. A random walk is
//! biased towards schedules in which threads with few events left run early. Weighing each thread by the number of
//! events that it has left makes every interleaving of the *interesting* events equally probable, given true counts: the
//! thread of the next interesting event is drawn first, by those weights, and until it has come to that event, the other
//! threads run up to their own next interesting one, as a plain random walk has it. Here the interesting events are those
//! on one object that more than one thread uses, drawn anew for each execution; counts come from the mean of earlier
//! executions. A thread that has not been forked yet is drawn for its own events, and until it is there, the one that
//! forks it runs in its place: it must not be taken for having been drawn itself, or its next interesting event would
//! come before all of theirs. Promise: sampled.

use crate::divergence::Divergence;
use crate::event::{Event, Kind, Object, Thread};
use crate::executor::{Pick, RunEnd, View};
use crate::random_numbers::RandomNumbers;
use crate::strategy::{Promise, Stats, Strategy};
use crate::threads::ThreadSet;

/// What has been seen of an object: events by thread, over all executions, and who used it.
#[derive(Clone, Debug, Default)]
struct Profile {
    events: Vec<u64>,
    users: ThreadSet,
}

/// Selectively uniform random walk.
#[derive(Clone, Debug)]
pub struct Surw {
    numbers: RandomNumbers,
    executions: u64,
    objects: Vec<Profile>,
    /// Per thread: the thread that forked it, or the thread itself if no thread did.
    parents: Vec<Thread>,
    shared: Vec<Object>,
    interesting: Option<Object>,
    /// Per thread: the number of interesting events that it is expected to have left, summed over earlier executions.
    left: Vec<u64>,
    /// The threads that this execution has forked.
    forked: ThreadSet,
    /// The thread whose interesting event is to be the next one. The thread may not be forked yet.
    intended: Option<Thread>,
}

impl Surw {
    /// A search with this seed: the same seed gives the same schedules.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            numbers: RandomNumbers::new(seed),
            executions: 0,
            objects: Vec::new(),
            parents: Vec::new(),
            shared: Vec::new(),
            interesting: None,
            left: Vec::new(),
            forked: ThreadSet::default(),
            intended: None,
        }
    }

    fn is_interesting(&self, kind: Kind, object: Object) -> bool {
        !matches!(kind.class(), crate::event::Class::None) && self.interesting == Some(object)
    }

    /// Draws the thread of the next interesting event, by what each has left, among those that are live or can still be
    /// forked. Any live one while all counts are used up.
    fn intend(&mut self, live: ThreadSet) -> Option<Thread> {
        let mut total = 0;
        for (thread, &left) in self.left.iter().enumerate() {
            if self.bearer(thread as Thread, live).is_some() {
                total += left;
            }
        }
        if total == 0 {
            let n = self.numbers.below(u64::from(live.len().max(1)));
            return live.nth(n as u32);
        }
        let mut drawn = self.numbers.below(total);
        for (thread, &left) in self.left.iter().enumerate() {
            if self.bearer(thread as Thread, live).is_some() {
                if drawn < left {
                    return Some(thread as Thread);
                }
                drawn -= left;
            }
        }
        None
    }

    /// The thread itself if live, else its nearest live ancestor if that can still fork it.
    fn bearer(&self, thread: Thread, live: ThreadSet) -> Option<Thread> {
        let mut bearer = thread;
        loop {
            if live.contains(bearer) {
                return Some(bearer);
            }
            if self.forked.contains(bearer) {
                return None;
            }
            let parent = self.parents.get(usize::from(bearer)).copied()?;
            if parent == bearer {
                return None;
            }
            bearer = parent;
        }
    }
}

impl Strategy for Surw {
    fn begin(&mut self) -> bool {
        self.intended = None;
        self.forked = ThreadSet::default();
        self.interesting = None;
        self.left.fill(0);
        if !self.shared.is_empty() {
            let n = self.numbers.below(self.shared.len() as u64);
            let object = self.shared[n as usize];
            self.interesting = Some(object);
            let profile = &self.objects[object as usize];
            self.left
                .resize(profile.events.len().max(self.left.len()), 0);
            self.left[..profile.events.len()].copy_from_slice(&profile.events);
        }
        true
    }

    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        let mut open = view.enabled;
        if self.interesting.is_some() {
            let mut runs = self
                .intended
                .and_then(|thread| self.bearer(thread, view.live));
            if runs.is_none() {
                self.intended = self.intend(view.live);
                runs = self
                    .intended
                    .and_then(|thread| self.bearer(thread, view.live));
            }
            for thread in view.enabled.iter() {
                let next = view.of(thread);
                if Some(thread) != runs && self.is_interesting(next.kind, next.object) {
                    open.remove(thread);
                }
            }
            if open.is_empty() {
                // The intended thread waits for one of those held back: let the draw be made among them.
                self.intended = self.intend(view.enabled);
                open = self
                    .intended
                    .and_then(|thread| self.bearer(thread, view.enabled))
                    .map_or(view.enabled, ThreadSet::only);
            }
        }
        let n = self.numbers.below(u64::from(open.len().max(1)));
        Ok(open.nth(n as u32).map_or(Pick::Abandon, Pick::Run))
    }

    #[inline]
    fn ran(&mut self, event: &Event) -> Result<(), Divergence> {
        let thread = usize::from(event.thread);
        if event.kind == Kind::Fork {
            let child = event.object as usize;
            let known = self.parents.len();
            if child >= known {
                self.parents
                    .extend((known..=child).map(|own| own as Thread));
            }
            self.parents[child] = event.thread;
            self.forked.insert(child as Thread);
        }
        if matches!(event.kind.class(), crate::event::Class::None) {
            return Ok(());
        }
        if self.interesting == Some(event.object) {
            self.intended = None;
            if let Some(left) = self.left.get_mut(thread) {
                *left = left.saturating_sub(self.executions);
            }
        }
        let object = event.object as usize;
        if object >= self.objects.len() {
            self.objects.resize_with(object + 1, Profile::default);
        }
        let profile = &mut self.objects[object];
        if thread >= profile.events.len() {
            profile.events.resize(thread + 1, 0);
        }
        profile.events[thread] += 1;
        profile.users.insert(event.thread);
        if profile.users.len() == 2 && !self.shared.contains(&event.object) {
            self.shared.push(event.object);
        }
        Ok(())
    }

    fn end(&mut self, _end: &RunEnd) {
        self.executions += 1;
    }

    fn report(&self) -> Stats {
        Stats::new(Promise::Sampled)
    }
}
