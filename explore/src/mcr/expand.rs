//! What follows from one execution: the seeds of all classes that differ from it in one observation.
//!
//! Source: Huang (PLDI 2015), section 3.4 and Algorithm 2: force a read to return a value that it did not return, with
//! everything before it as it was. The paper leaves open which of the other reads a seed keeps. Here a seed keeps as many
//! reads as possible, and there is one seed for each maximal choice of reads that no known class covers. This rule makes
//! the search complete, and has no class executed twice:
//!
//! *Complete.* Let σ be an execution whose class is not among the executed ones, and σ' the longest prefix of σ
//! that is covered by an executed class C. The next event of σ observes something; its observation in C is another one, or
//! the event waits forever in C. So σ' and that event are an answer to one of the queries about C, and an executed class
//! covers the two, by construction. But then σ' was not the longest.
//!
//! *No query twice.* When C has been expanded, every beginning of C, with another observation in an event that can come
//! next, is covered. So a query about an event in another execution has to go beyond each expanded class: there are few
//! least beginnings that do, as the classes have most of their beginnings in common. It is enough that the expansion of C
//! has begun, since this expansion will end before the search does, as long as of any two expansions one leaves nothing to
//! the other: expansions begin one after another, and each looks only at the expansions before it.
//!
//! *No class twice.* A seed is executed only if no executed class covers it. The class of the seed's run covers the seed,
//! and so differs from all classes executed before.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::sync::RwLockWriteGuard;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::classes::{Among, ClassId, Classes, Node, Partial};
use super::deadlocks;
use super::frontier::Shared;
use super::next::Next;
use super::paths::Paths;
use super::settle::Settled;
use crate::event::{Class, Kind, Thread};
use crate::hash::Mixer;
use crate::mcm::model::{Cut, Model, Step};
use crate::mcm::query::{Goal, Query, Sight, Solver, Verdict};
use crate::mcm::sources::is_within;
use crate::mcm::state::State;

/// Counts of what expansions did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// The number of other observations that events could have had, judging by the writes alone.
    pub flips: u64,
    /// The number of these flips that a known class covers in any case, so that no query is needed.
    pub covered: u64,
    /// The number of queries given to the solver.
    pub queries: u64,
    /// The number of queries that the solver gave up.
    pub unknown: u64,
}

impl Effort {
    /// Adds up.
    pub const fn add(&mut self, other: Self) {
        self.flips += other.flips;
        self.covered += other.covered;
        self.queries += other.queries;
        self.unknown += other.unknown;
    }
}

/// What is to be asked about an execution. Several threads may share it out among them.
#[derive(Debug)]
pub struct Questions {
    /// The least beginnings of the execution that no class whose expansion began before has in common with it.
    novel: Vec<Cut>,
    /// The events that could have observed something else, or could go on: lanes and indices.
    events: Vec<(u32, u32)>,
    /// The number of events that threads have taken so far.
    taken: AtomicUsize,
}

impl Questions {
    /// The expansion of a run begins.
    #[must_use]
    pub fn begin(settled: &Settled, model: &Model, shared: &Shared) -> Self {
        let mut events = Vec::new();
        for (lane, of) in (0..).zip(model.lanes()) {
            let steps = (0..).zip(&of.steps);
            let observing = steps.filter(|(_, step)| step.observes());
            events.extend(observing.map(|(index, _)| (lane, index)));
            events.extend(of.waits.as_ref().map(|_| (lane, of.len())));
        }
        Self {
            novel: begin(settled, model, shared),
            events,
            taken: AtomicUsize::new(0),
        }
    }

    /// The number of events that no thread has taken.
    #[must_use]
    pub fn left(&self) -> usize {
        let taken = self.taken.load(Ordering::Relaxed);
        self.events.len().saturating_sub(taken)
    }
}

/// Expands an execution.
#[derive(Debug)]
pub(crate) struct Expansion<'a, S> {
    model: &'a Model,
    paths: &'a Paths,
    /// The class of the execution.
    member: Option<ClassId>,
    /// The knowledge of the whole search. Other threads may add to it at the same time: two threads may plant two seeds of
    /// one class. Only one of the two is executed, since the run of the first covers the second.
    shared: &'a Shared,
    solver: &'a mut S,
    state: &'a mut State,
    questions: &'a Questions,
    effort: Effort,
}

impl<'a, S: Solver> Expansion<'a, S> {
    /// Of this run, as far as these questions have not been asked.
    pub(crate) fn new(
        settled: &'a Settled,
        model: &'a Model,
        shared: &'a Shared,
        solver: &'a mut S,
        state: &'a mut State,
        questions: &'a Questions,
    ) -> Self {
        Self {
            model,
            paths: &settled.paths,
            member: settled.member,
            shared,
            solver,
            state,
            questions,
            effort: Effort::default(),
        }
    }

    /// Counts.
    #[must_use]
    pub(crate) const fn effort(&self) -> Effort {
        self.effort
    }

    /// Finds the seeds of classes that differ in one observation, and pauses after `queries` queries, or once `stop`
    /// returns true. Returns whether all events have been taken; other threads may still work on the events that they
    /// took.
    pub(crate) fn flip_all(&mut self, queries: u64, stop: impl Fn() -> bool) -> bool {
        while self.effort.queries < queries && !stop() {
            let next = self.questions.taken.fetch_add(1, Ordering::Relaxed);
            let Some(&(lane, index)) = self.questions.events.get(next) else {
                return true;
            };
            let of = self.model.lane_at(lane);
            if let Some(step) = of.steps.get(index as usize).or(of.waits.as_ref()) {
                self.flip(lane, index, step);
            }
        }
        false
    }

    fn flip(&mut self, lane: u32, index: u32, step: &Step) {
        // They have in them what is needed, so the event isn't if this one is as far as that.
        let mut novel = self.questions.novel.iter();
        if novel.all(|novel| novel[lane as usize] > index) {
            return;
        }
        let next = Next::new(self.model, lane, index, step);
        let contexts = self.contexts(&next);
        let (sights, is_all) = next.sights();
        self.effort.unknown += u64::from(!is_all);
        for sight in sights {
            self.effort.flips += 1;
            let queries = self.effort.queries;
            self.see(&next, sight, &contexts);
            self.effort.covered += u64::from(self.effort.queries == queries);
        }
    }

    /// The same for beginnings after which an event can be next: what else it can observe after others is known.
    fn contexts(&self, next: &Next<'_>) -> Vec<Cut> {
        let (lane, index) = next.at();
        let mut contexts: Vec<Cut> = Vec::new();
        let novel = self.questions.novel.iter();
        for novel in novel.filter(|novel| novel[lane as usize] <= index) {
            let mut context = novel.clone();
            self.model.raise(&mut context, lane, index);
            if next.finish(&mut context) && !is_beyond(&context, &contexts) {
                contexts.retain(|other| !is_within(&context, other));
                contexts.push(context);
            }
        }
        contexts
    }

    /// Finds the seeds in which an event observes this after one of these contexts.
    fn see(&mut self, next: &Next<'_>, sight: Sight, contexts: &[Cut]) {
        let ((lane, index), step, upper) = (next.at(), next.step, &next.upper);
        let thread = self.model.lane_at(lane).thread;
        let before = self.paths.before(lane, index);
        let observation = observation(step, sight);
        let beyond = Beyond {
            model: self.model,
            paths: self.paths,
            next: Some(next),
            upper,
        };
        let mut open = contexts.to_vec();
        let mut closed: Vec<Cut> = Vec::new();
        let mut looked = Looked::default();
        while let Some(lower) = open.pop() {
            // Several ways lead to the same bounds.
            if is_beyond(&lower, &closed) || looked.contains(&lower) {
                continue;
            }
            if let Sight::Value(view) = sight
                && !self.model.may_see((lane, index), step, view, &lower, upper)
            {
                closed.push(lower);
                continue;
            }
            let frontier = self.shared.read();
            let classes = &frontier.classes;
            let node = classes.known_child(thread, before, observation);
            let known = node.and_then(|node| {
                // With the event after it that observes this.
                classes.covering(&self.nodes(&lower, lane, node), Among::All)
            });
            if let Some(member) = known.filter(|_| looked.len() < LOOKS) {
                // What is not known has an observation in which it differs from this member.
                beyond.list(classes, member, &lower, &mut open);
                drop(frontier);
                looked.insert(lower);
                continue;
            }
            drop(frontier);
            self.effort.queries += 1;
            let query = Query {
                lower: &lower,
                upper,
                goal: Goal::Next(lane, sight),
            };
            let witness = match self.solver.solve(self.model, &query) {
                Verdict::Feasible(witness) => witness,
                Verdict::Infeasible => {
                    closed.push(lower);
                    continue;
                }
                Verdict::Unknown => {
                    self.effort.unknown += 1;
                    continue;
                }
            };
            let (cut, schedule) = self.grow(&witness, next, sight);
            let schedule = schedule.into_iter().collect();
            let mut frontier = self.shared.write();
            let node = frontier.child(thread, before, observation);
            let nodes = self.nodes(&cut, lane, node);
            // Another thread may have been faster.
            let known = frontier.classes.covering(&nodes, Among::All);
            let member =
                known.unwrap_or_else(|| frontier.plant_class(nodes, schedule, self.member));
            let frontier = RwLockWriteGuard::downgrade(frontier);
            beyond.list(&frontier.classes, member, &lower, &mut open);
            drop(frontier);
            looked.insert(lower);
        }
    }

    /// The nodes of a cut, except for one thread.
    fn nodes(&self, cut: &[u32], lane: u32, node: Node) -> Partial {
        let mut nodes = self.paths.at(self.model, cut);
        nodes[lane as usize].1 = node;
        nodes
    }

    /// Adds the event to an answer, and as much of the rest of the trace as still observes what it did.
    fn grow(&mut self, witness: &[u32], next: &Next<'_>, sight: Sight) -> (Cut, Vec<Thread>) {
        let (model, state) = (self.model, &mut *self.state);
        let (lane, step) = (next.lane, next.step);
        state.begin(model);
        let thread = |lane: u32| model.lane_at(lane).thread;
        let mut schedule = Vec::with_capacity(model.len() + 1);
        schedule.extend(witness.iter().map(|&lane| thread(lane)));
        for &lane in witness {
            let step = *model.step((lane, state.cut()[lane as usize]));
            state.take(model, lane, &step);
        }
        // A compare-exchange that failed may succeed now, and the trace does not say what it writes then.
        let pure = step.kind == Kind::Read || sight == Sight::Refused;
        for late in [false, true] {
            let mut more = true;
            while more {
                more = false;
                for &(other, index) in model.order() {
                    let at = other as usize;
                    if other == lane || index != state.cut()[at] || index >= next.upper[at] {
                        continue;
                    }
                    let rest = model.step((other, index));
                    let same = rest.kind.class() != Class::None && rest.object == step.object;
                    let harmless = !same
                        || (late && pure)
                        || (!late && matches!(rest.kind, Kind::Read | Kind::FailedUpdate));
                    if harmless && state.keeps(model, other, rest) {
                        state.take(model, other, rest);
                        schedule.push(thread(other));
                        more = true;
                    }
                }
            }
            if !late {
                let passed = if step.at == u32::MAX {
                    model.lane_at(lane).passed
                } else {
                    0
                };
                schedule.extend((0..=passed).map(|_| thread(lane)));
            }
        }
        (state.cut().to_vec(), schedule)
    }

    /// Finds the seeds of all executions that end with threads that wait forever.
    pub(crate) fn block_all(&mut self) {
        let mut cores = Vec::new();
        let complete = deadlocks::cores(self.model, &mut cores);
        self.effort.unknown += u64::from(!complete);
        for core in &cores {
            let (model, paths, shared) = (self.model, self.paths, self.shared);
            self.effort.unknown += deadlocks::endings(model, core, self.solver, |ending| {
                let key = paths.key(model, &ending.cut);
                let nodes = paths.at(model, &ending.cut);
                shared.write().plant_ending(key, nodes, ending.schedule);
            });
        }
    }
}

/// Begins an expansion: the least beginnings of the execution that no class whose expansion began before has in common
/// with it.
fn begin(settled: &Settled, model: &Model, shared: &Shared) -> Vec<Cut> {
    let upper = model.whole();
    let beyond = Beyond {
        model,
        paths: &settled.paths,
        next: None,
        upper: &upper,
    };
    let nothing = vec![0; upper.len()];
    if settled.relied_on {
        shared.write().begun(settled.run);
        return vec![nothing];
    }
    let mut novel = Vec::new();
    match settled.near {
        Some(near) => beyond.list(&shared.read().classes, near, &nothing, &mut novel),
        None => novel.push(nothing),
    }
    loop {
        let before = shared.read().classes.begun_so_far();
        novel = beyond.all_begun(novel, shared);
        let mut frontier = shared.write();
        // Otherwise others have begun meanwhile.
        if frontier.classes.begun_so_far() == before {
            frontier.begun(settled.run);
            return novel;
        }
    }
}

/// Where what a member covers ends.
struct Beyond<'a> {
    model: &'a Model,
    paths: &'a Paths,
    /// The member covers what is asked about, and this lane up to that.
    next: Option<&'a Next<'a>>,
    upper: &'a [u32],
}

impl Beyond<'_> {
    /// The least cuts that have one of these in them and that no member whose expansion has begun covers.
    fn all_begun(&self, mut open: Vec<Cut>, shared: &Shared) -> Vec<Cut> {
        let mut least: Vec<Cut> = Vec::new();
        let mut looked = Looked::default();
        while let Some(lower) = open.pop() {
            if is_beyond(&lower, &least) || looked.contains(&lower) {
                continue;
            }
            let nodes = self.paths.at(self.model, &lower);
            // Others want to change things meanwhile.
            let frontier = shared.read();
            match frontier.classes.covering(&nodes, Among::Begun) {
                Some(member) if looked.len() < LOOKS => {
                    self.list(&frontier.classes, member, &lower, &mut open);
                    looked.insert(lower);
                }
                _ => {
                    least.retain(|other| !is_within(&lower, other));
                    least.push(lower);
                }
            }
        }
        least
    }

    /// Lists the least cuts above this one, and within the bounds, that a member does not cover.
    fn list(&self, classes: &Classes, member: ClassId, lower: &[u32], open: &mut Vec<Cut>) {
        for other in 0..self.upper.len() {
            if self.next.is_some_and(|next| next.lane as usize == other) {
                continue;
            }
            let (path, places) = self.paths.steps(other);
            let common = classes.common(member, self.model.lanes()[other].thread, path);
            if let Some(&at) = places.get(common).filter(|&&at| at <= self.upper[other]) {
                let mut more = lower.to_vec();
                self.model
                    .raise(&mut more, u32::try_from(other).unwrap_or(u32::MAX), at);
                // Otherwise it needs the event.
                if self.next.is_none_or(|next| next.finish(&mut more)) {
                    open.push(more);
                }
            }
        }
    }
}

/// How many bounds are looked up for an event at most, before the solver is asked about what is left.
const LOOKS: usize = 4096;

/// Cuts that have been looked at.
type Looked = HashSet<Cut, BuildHasherDefault<Mixer>>;

/// Whether a cut has all of one of these in it.
fn is_beyond(cut: &[u32], least: &[Cut]) -> bool {
    least.iter().any(|least| is_within(least, cut))
}

/// The hash of an observation that is not the trace's: see [`Step::observation`].
const fn observation(step: &Step, sight: Sight) -> u64 {
    match sight {
        Sight::Value(view) => step.seen(view),
        Sight::Refused => Step::REFUSED,
        Sight::Notified(notified) => Step::notified(notified),
        Sight::Outcome(outcome) => Step::came(outcome),
    }
}
