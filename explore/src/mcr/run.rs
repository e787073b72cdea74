//! One execution of a search by maximal causality: following a seed, and noting what happens.

use super::frontier::Seed;
use super::schedule::Follower;
use crate::event::{Event, Kind, Thread};
use crate::executor::{Learned, Outcome, RunEnd, View};
use crate::fair::Turns;
use crate::mcm::model::{Model, Terms};
use crate::threads::ThreadSet;

/// The current execution, or the last one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    seed: Option<Seed>,
    /// How far the seed has been followed.
    at: Follower,
    followed: bool,
    model: Box<Model>,
    /// The threads whose next event repeats a read and waits for a change.
    parked: ThreadSet,
    live: ThreadSet,
    /// The threads whose next event is a wake that may time out.
    timed: ThreadSet,
    last: Option<Thread>,
    turns: Turns,
}

impl Run {
    /// Begins an execution that follows this seed, or none.
    pub(crate) fn begin(&mut self, seed: Option<Seed>) {
        self.seed = seed;
        self.at = Follower::default();
        self.followed = true;
        self.model.clear();
        self.parked = ThreadSet::EMPTY;
        self.live = ThreadSet::EMPTY;
        self.timed = ThreadSet::EMPTY;
        self.last = None;
        self.turns.clear();
    }

    /// Picks the thread to run: the seed's, as far as the seed goes, and then with as few switches as possible.
    pub(crate) fn pick(&mut self, view: &View<'_>) -> Thread {
        self.live = view.live;
        if let Some(last) = self.last.take()
            && view.live.contains(last)
            && !view.enabled.contains(last)
            && matches!(view.of(last).kind, Kind::Read | Kind::CompareExchange)
        {
            self.parked.insert(last);
        }
        let thread = self.follow(view);
        let pending = view.of(thread);
        if pending.kind == Kind::Wake && pending.expected != 0 {
            self.timed.insert(thread);
        }
        thread
    }

    fn follow(&mut self, view: &View<'_>) -> Thread {
        let model = &self.model;
        let ran = |at: usize| model.lane_at(model.order()[at].0).thread;
        let turn = self.turns.among(view.willing(), model.len(), ran);
        let seed = self.seed.as_ref().filter(|_| self.followed);
        let Some(thread) = seed.and_then(|seed| self.at.next(&seed.schedule)) else {
            return view.preferred(turn);
        };
        self.followed = view.enabled.contains(thread);
        if self.followed {
            thread
        } else {
            view.preferred(turn)
        }
    }

    /// Takes the next event.
    pub(crate) fn ran(&mut self, event: &Event) {
        let terms = Terms {
            parked: self.parked.contains(event.thread),
            timed: self.timed.contains(event.thread),
        };
        self.parked.remove(event.thread);
        self.timed.remove(event.thread);
        self.last = Some(event.thread);
        self.model.push(event, terms);
    }

    /// The execution ends with threads that wait forever.
    pub(crate) fn blocked(&mut self, view: &View<'_>) {
        self.live = view.live;
        for thread in view.live.iter() {
            let pending = view.of(thread);
            self.model
                .finish(thread, Some((pending.kind, pending.object)));
        }
    }

    /// Takes what the executor knows of the execution beside the events.
    pub(crate) fn learned(&mut self, learned: &Learned<'_>) {
        for &(at, test) in learned.tests {
            self.model.learn(at, test);
        }
        for &(at, transition) in learned.transitions {
            self.model.change(at, transition);
        }
        for &(at, first) in learned.refusing {
            self.model.refuse(at, first);
        }
        for &(thread, first) in learned.stopped {
            self.model.stop(thread, first);
        }
        self.model.set_plain(learned.plain);
    }

    /// Ends the execution. Returns its seed, and whether the program could follow the seed.
    pub(crate) fn end(&mut self, end: &RunEnd) -> (Option<Seed>, bool) {
        if end.outcome == Outcome::Truncated {
            for thread in self.live.iter() {
                self.model.cut(thread);
            }
        }
        (self.seed.take(), self.followed)
    }

    /// Gives the trace of the execution that is over away, and takes another model for its memory.
    pub(crate) fn exchange_model(&mut self, memory: Box<Model>) -> Box<Model> {
        std::mem::replace(&mut self.model, memory)
    }

    /// The trace of the execution that is over, as a model that is not [sealed](Model::seal).
    #[must_use]
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }
}
