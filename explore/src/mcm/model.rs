//! The maximal causal model of one trace: the executions that every program which can produce the trace can produce, too.
//!
//! Source: Huang, *Stateless Model Checking Concurrent Programs with Maximal Causality Reduction* (PLDI 2015), sections
//! 3.1 and 3.2. An execution belongs to the model iff it is made of prefixes of the trace's threads (a [`Cut`]), in
//! an order that respects program order, fork and join, mutual exclusion and wait queues, and in which every event
//! **observes** what it observed in the trace. That is local determinism: what a thread does next is a function of what
//! it has observed. The paper says *reads the same value*; where the trace knows that a thread only compares
//! the value, the outcome of the comparison is what it observes.
//!
//! The formula itself is never written down here: a [`Query`](super::query::Query) asks for one execution of the model
//! with some property, and a [`Solver`](super::query::Solver) answers.

use super::clocks::{Clocks, Sent};
use super::sections::Sections;
use super::state::State;
pub use super::step::{Step, Terms};
use crate::event::{Class, Event, Kind, Object, Thread};
use crate::looks::{look, look_at};
use crate::observation::{Comparison, Test};
use crate::transition::Transition;

/// Per lane of a model: the number of its events that belong to an execution.
pub type Cut = Vec<u32>;

/// The number of writes up to which writes are looked at one by one.
pub(super) const FEW: usize = 32;

/// No dense number.
const NONE: u32 = u32::MAX;

/// One thread of the trace.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    /// Its name in the program.
    pub thread: Thread,
    /// Its events.
    pub steps: Vec<Step>,
    /// Whether the thread ended in the trace. If not, the thread waits forever.
    pub ended: bool,
    /// The operation that the thread waits for at the end of the trace, as a step that did not happen (`found` and `left`
    /// mean nothing).
    pub waits: Option<Step>,
    /// The number of events that the thread makes by itself before it comes to what it waits for: see [`Model::stop`].
    pub passed: u32,
    /// The event that forked the thread: lane and index.
    pub fork: Option<(u32, u32)>,
    /// The indices of the thread's events that observe a value and might observe another value, ascending.
    readers: Vec<u32>,
    /// The thread's blocks.
    sections: Sections,
}

impl Lane {
    /// The number of events of the thread.
    #[must_use]
    pub fn len(&self) -> u32 {
        u32::try_from(self.steps.len()).unwrap_or(u32::MAX)
    }

    /// Whether the thread has no event.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The thread's blocks, once the model is sealed.
    #[must_use]
    pub const fn sections(&self) -> &Sections {
        &self.sections
    }

    /// The indices of the thread's events that observe a value and might observe another value, ascending.
    #[must_use]
    pub fn readers(&self) -> &[u32] {
        &self.readers
    }
}

/// A block of a lock: the events of one thread from the taking of the lock to its release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The lane of the thread that holds the lock.
    pub lane: u32,
    /// The index of the event that takes the lock.
    pub start: u32,
    /// The index of the event that gives the lock back; `u32::MAX` if the trace has no such event.
    pub end: u32,
    /// Whether the thread holds the lock shared, so that others may hold the lock shared meanwhile.
    pub shared: bool,
}

/// One object of the trace.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// Its name in the program.
    pub object: Object,
    /// The hash of the object's value before the first event.
    pub initial: u64,
    /// The events that leave a value in the object, as lane and index, in the order of the trace.
    pub writes: Vec<(u32, u32)>,
    /// The events of `writes`, lane by lane. Empty if there are only a [few](FEW) writes.
    pub(super) by_lane: Vec<(u32, u32)>,
    /// All events on the object, as lane and index.
    pub uses: Vec<(u32, u32)>,
    /// Whether the object has the same value at all times.
    pub constant: bool,
    /// For a lock: whether some event observes whether the lock is held, or its value without taking the lock.
    pub watched: bool,
    /// Whether the object is plain data, accesses to which may race.
    pub plain: bool,
    /// The blocks of the object, if it is a lock.
    pub blocks: Vec<Block>,
    /// Per lane: 1 + the index of the lane's last event on the object; 0 if there is no such event.
    pub last: Vec<u32>,
    /// For a channel: the number of senders, if all of them are dropped in the trace.
    pub senders: Option<u64>,
    /// For a channel: the number of senders dropped so far.
    gone: u64,
}

/// The maximal causal model of a trace.
#[derive(Clone, Debug, Default)]
pub struct Model {
    lanes: Vec<Lane>,
    cells: Vec<Cell>,
    lane_of: Vec<u32>,
    cell_of: Vec<u32>,
    /// The lane and index of each event, in the order of the trace.
    order: Vec<(u32, u32)>,
    parks: bool,
    /// Whether there are steps that depend on refusals: see [`Step::refused_since`].
    refuses: bool,
    /// The number of events whose outcome depends on more than the model knows: see [`Self::is_open`].
    open: u32,
    /// The transitions of events, each with the event's position in the trace, ascending.
    transitions: Vec<(u32, Transition)>,
    /// Which event sends which message.
    sent: Sent,
    clocks: Clocks,
    /// Lanes of earlier traces, kept for their memory.
    spare_lanes: Vec<Lane>,
    spare_cells: Vec<Cell>,
}

impl Model {
    /// Forgets the trace and keeps the memory.
    pub fn clear(&mut self) {
        self.spare_lanes.append(&mut self.lanes);
        self.spare_cells.append(&mut self.cells);
        self.lane_of.clear();
        self.cell_of.clear();
        self.order.clear();
        self.parks = false;
        self.refuses = false;
        self.open = 0;
        self.transitions.clear();
        self.sent.clear();
    }

    /// Takes the next event of the trace.
    pub fn push(&mut self, event: &Event, terms: Terms) {
        let lane = self.lane(event.thread);
        let index = self.lanes[lane as usize].len();
        let object = match event.kind {
            Kind::Fork => {
                let child = self.lane(Thread::try_from(event.object).unwrap_or(Thread::MAX));
                self.lanes[child as usize].fork = Some((lane, index));
                child
            }
            Kind::Join => self.lane(Thread::try_from(event.object).unwrap_or(Thread::MAX)),
            _ if event.kind.class() == Class::None => NONE,
            _ => self.cell(event),
        };
        let step = Step {
            kind: event.kind,
            object,
            found: event.found,
            left: event.left,
            test: None,
            parked: terms.parked,
            timed: terms.timed,
            moves: false,
            refused_since: Step::ALWAYS,
            site: event.site,
            at: u32::try_from(self.order.len()).unwrap_or(u32::MAX),
        };
        self.order.push((lane, index));
        self.parks |= terms.parked;
        self.open += u32::from(matches!(event.kind, Kind::Wait | Kind::Notify) && event.found != 0);
        if event.kind.class() != Class::None {
            let cell = &mut self.cells[object as usize];
            cell.uses.push((lane, index));
            if step.leaves_value() {
                cell.writes.push((lane, index));
                cell.constant &= step.left == cell.initial;
            }
            cell.watched |= !matches!(
                step.kind,
                Kind::Lock
                    | Kind::LockShared
                    | Kind::TryLock
                    | Kind::TryLockShared
                    | Kind::Unlock
                    | Kind::UnlockShared
            );
        }
        self.lanes[lane as usize].steps.push(step);
    }

    /// Says that the thread learned less of what the event at this position of the trace found than its value.
    ///
    /// What an update leaves depends on all of what it found, so for an update that counts only where the test tells the
    /// value: a compare-exchange that succeeded. It had been a [`Kind::FailedUpdate`], with the same test, had it found another
    /// one. Of other updates no executor may tell a test for equality: found another value, they would have none. What it may
    /// tell of them, whatever they found, is a [`Test::ThisOrAll`].
    pub fn learn(&mut self, at: usize, test: Test) {
        let Some(&(lane, index)) = self.order.get(at) else {
            return;
        };
        let step = &mut self.lanes[lane as usize].steps[index as usize];
        let counts = match (step.kind, test) {
            (Kind::Read | Kind::FailedUpdate, _) | (Kind::Update, Test::ThisOrAll { .. }) => true,
            (
                Kind::Update,
                Test::Compared {
                    op: Comparison::Equal,
                    constant,
                    integer,
                },
            ) => integer.number(step.found) == constant,
            _ => false,
        };
        if counts {
            step.test = Some(test);
        }
    }

    /// Says what the event at this position of the trace does to how its object stands. Positions ascend.
    pub fn change(&mut self, at: usize, transition: Transition) {
        let Some(&(lane, index)) = self.order.get(at) else {
            return;
        };
        let step = &mut self.lanes[lane as usize].steps[index as usize];
        if !step.kind.is_waiting() || step.moves {
            return;
        }
        step.moves = true;
        self.open -= u32::from(step.kind != Kind::Wake && step.found != 0);
        let cell = &mut self.cells[step.object as usize];
        if let Transition::DropSender { last } = transition {
            cell.gone += 1;
            if last {
                cell.senders = Some(cell.gone);
            }
        }
        self.transitions.push((step.at, transition));
    }

    /// Says which objects are plain data.
    pub fn set_plain(&mut self, objects: &[Object]) {
        for cell in &mut self.cells {
            cell.plain = objects.contains(&cell.object);
        }
    }

    /// Says how the thread stands at the end of the trace: at its end, or waiting to do this.
    pub fn finish(&mut self, thread: Thread, waits: Option<(Kind, Object)>) {
        let lane = self.lane(thread);
        let waits = waits.map(|(kind, object)| {
            let object = match kind {
                Kind::Join => self.lane(Thread::try_from(object).unwrap_or(Thread::MAX)),
                _ if kind.class() == Class::None => NONE,
                _ => self.cell(&Event {
                    kind,
                    object,
                    ..Event::default()
                }),
            };
            Step {
                kind,
                object,
                found: 0,
                left: 0,
                test: None,
                parked: matches!(kind, Kind::Read | Kind::CompareExchange),
                timed: false,
                moves: false,
                refused_since: Step::ALWAYS,
                site: 0,
                at: u32::MAX,
            }
        });
        self.parks |= waits.is_some_and(|step| step.parked);
        let lane = &mut self.lanes[lane as usize];
        lane.ended = waits.is_none();
        lane.waits = waits;
    }

    /// Says that the event at this position comes after an idle turn that began with the event at position `first`, and only if
    /// the turn has refused a lock to another thread.
    pub fn refuse(&mut self, at: usize, first: usize) {
        if let (Some(&(lane, index)), Some(&(_, since))) =
            (self.order.get(at), self.order.get(first))
        {
            self.lanes[lane as usize].steps[index as usize].refused_since = since;
            self.refuses = true;
        }
    }

    /// Says that the thread has gone no further after an idle turn that began with the event at position `first`, and would have
    /// gone on to make the same turn again if the turn had refused a lock to another thread.
    pub fn stop(&mut self, thread: Thread, first: usize) {
        let Some(&(lane, since)) = self.order.get(first) else {
            return;
        };
        let of = &mut self.lanes[lane as usize];
        let is_stopped = |step: &Step| step.kind == Kind::Join && step.object == lane;
        if of.thread != thread || !of.waits.as_ref().is_some_and(is_stopped) {
            return;
        }
        let turn = &of.steps[since as usize..];
        let passed = turn.iter().take_while(|step| step.kind == Kind::Local);
        let passed = passed.count();
        let next = turn.get(passed).and_then(|step| {
            let kind = match step.kind {
                Kind::Read | Kind::Update | Kind::Lock | Kind::LockShared => step.kind,
                Kind::FailedUpdate => Kind::CompareExchange,
                Kind::TryLock | Kind::TryLockFailed => Kind::TryLock,
                Kind::TryLockShared | Kind::TryLockSharedFailed => Kind::TryLockShared,
                _ => return None,
            };
            Some(Step {
                kind,
                parked: false,
                refused_since: since,
                at: u32::MAX,
                ..*step
            })
        });
        let Some(next) = next else {
            // What the thread would do next can't be asked about.
            self.open += 1;
            return;
        };
        of.waits = Some(next);
        of.passed = u32::try_from(passed).unwrap_or(u32::MAX);
        self.refuses = true;
    }

    /// Says that the trace ends before the thread does, and that it is not known what it would do next.
    pub fn cut(&mut self, thread: Thread) {
        let lane = self.lane(thread);
        self.lanes[lane as usize].ended = false;
    }

    /// The trace is complete: makes all that solvers look up.
    pub fn seal(&mut self) {
        look_at(self.order.len());
        let width = self.lanes.len();
        for lane in &mut self.lanes {
            let observes = lane.steps.iter().enumerate().filter(|(_, step)| {
                step.observes_value() && !self.cells[step.object as usize].constant
            });
            lane.sections.clear();
            lane.readers.clear();
            lane.readers
                .extend(observes.map(|(index, _)| u32::try_from(index).unwrap_or(u32::MAX)));
        }
        for (object, cell) in (0..).zip(&mut self.cells) {
            cell.last.clear();
            cell.last.resize(width, 0);
            cell.blocks.clear();
            for &(lane, index) in &cell.uses {
                cell.last[lane as usize] = index + 1;
                let kind = self.lanes[lane as usize].steps[index as usize].kind;
                let shared = matches!(
                    kind,
                    Kind::LockShared | Kind::TryLockShared | Kind::UnlockShared
                );
                match kind {
                    Kind::Lock | Kind::TryLock | Kind::LockShared | Kind::TryLockShared => {
                        cell.blocks.push(Block {
                            lane,
                            start: index,
                            end: u32::MAX,
                            shared,
                        });
                    }
                    Kind::Unlock | Kind::UnlockShared => {
                        let open = cell.blocks.iter_mut().rev().find(|block| {
                            block.lane == lane && block.end == u32::MAX && block.shared == shared
                        });
                        if let Some(block) = open {
                            block.end = index;
                        }
                    }
                    _ => {}
                }
            }
            for &block in &cell.blocks {
                self.lanes[block.lane as usize].sections.push(object, block);
            }
            cell.by_lane.clear();
            if cell.writes.len() > FEW {
                cell.by_lane.extend_from_slice(&cell.writes);
                cell.by_lane.sort_unstable();
            }
        }
        for lane in &mut self.lanes {
            lane.sections.seal();
        }
        if !self.transitions.is_empty() {
            self.send();
        }
        self.clocks
            .compute(&self.lanes, &self.cells, &self.order, &self.sent);
        debug_assert!(
            self.is_execution(),
            "what comes of attempts is told otherwise"
        );
    }

    /// Finds out which events send which messages.
    fn send(&mut self) {
        for &(at, transition) in &self.transitions {
            let at = self.order[at as usize];
            if let Some(name) = transition.message(self.step(at).found) {
                self.sent.insert(name, at);
            }
        }
    }

    /// Whether the trace is one of its executions, if there are transitions in it.
    fn is_execution(&self) -> bool {
        let mut state = State::default();
        state.begin(self);
        self.transitions.is_empty()
            || self.order.iter().all(|&(lane, index)| {
                let step = self.lanes[lane as usize].steps[index as usize];
                let keeps = !step.attempts() || state.keeps(self, lane, &step);
                state.take(self, lane, &step);
                keeps
            })
    }

    /// Takes memory for what [`seal`](Self::seal) makes.
    pub fn use_memory(&mut self, clocks: Clocks) {
        self.clocks = clocks;
    }

    /// Gives that memory away: the model is of no more use to solvers.
    pub fn give_memory(&mut self) -> Clocks {
        std::mem::take(&mut self.clocks)
    }

    /// The clocks of must-happen-before: for each event, how many events of each thread must come before it.
    #[must_use]
    pub fn clocks(&self) -> &[u32] {
        self.clocks.must()
    }

    /// The clocks of happens-before in the trace: what is closed under it is an execution in the order of the trace.
    #[must_use]
    pub fn happened(&self) -> &[u32] {
        self.clocks.happened()
    }

    /// The clocks of what an event needs: the same, and the only writes that events can see.
    #[must_use]
    pub fn needs(&self) -> &[u32] {
        self.clocks.needs()
    }

    /// Whether one event must happen before another, whatever the order.
    #[must_use]
    pub fn must_be_before(&self, one: (u32, u32), other: (u32, u32)) -> bool {
        self.clocks()[self.row(other) * self.lanes.len() + one.0 as usize] > one.1
    }

    /// The row of an event in [`Self::clocks`] and [`Self::needs`].
    #[inline]
    #[must_use]
    pub fn row(&self, at: (u32, u32)) -> usize {
        look();
        self.clocks.row(at)
    }

    fn lane(&mut self, thread: Thread) -> u32 {
        let at = usize::from(thread);
        if at >= self.lane_of.len() {
            self.lane_of.resize(at + 1, NONE);
        }
        if self.lane_of[at] == NONE {
            self.lane_of[at] = u32::try_from(self.lanes.len()).unwrap_or(NONE);
            let Lane {
                mut steps,
                mut readers,
                sections,
                ..
            } = self.spare_lanes.pop().unwrap_or_default();
            steps.clear();
            readers.clear();
            self.lanes.push(Lane {
                thread,
                ended: true,
                steps,
                readers,
                sections,
                waits: None,
                passed: 0,
                fork: None,
            });
        }
        self.lane_of[at]
    }

    fn cell(&mut self, event: &Event) -> u32 {
        let at = event.object as usize;
        if at >= self.cell_of.len() {
            self.cell_of.resize(at + 1, NONE);
        }
        if self.cell_of[at] == NONE {
            self.cell_of[at] = u32::try_from(self.cells.len()).unwrap_or(NONE);
            let Cell {
                mut writes,
                mut uses,
                mut blocks,
                last,
                by_lane,
                ..
            } = self.spare_cells.pop().unwrap_or_default();
            writes.clear();
            uses.clear();
            blocks.clear();
            self.cells.push(Cell {
                object: event.object,
                initial: event.found,
                constant: true,
                writes,
                uses,
                blocks,
                last,
                by_lane,
                ..Cell::default()
            });
        }
        self.cell_of[at]
    }

    /// The thread has a lane, be it that nothing is ever pushed of it.
    pub(super) fn enter(&mut self, thread: Thread) {
        self.lane(thread);
    }

    /// Lane and index of each event, in the order of the trace.
    #[must_use]
    pub fn order(&self) -> &[(u32, u32)] {
        &self.order
    }

    /// The threads.
    #[must_use]
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// One thread.
    #[must_use]
    pub fn lane_at(&self, lane: u32) -> &Lane {
        &self.lanes[lane as usize]
    }

    /// The objects.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// One event.
    #[inline]
    #[must_use]
    pub fn step(&self, (lane, index): (u32, u32)) -> &Step {
        look();
        &self.lanes[lane as usize].steps[index as usize]
    }

    /// What an event does to how its object stands.
    #[must_use]
    pub fn transition(&self, step: &Step) -> Option<Transition> {
        if !step.moves {
            return None;
        }
        let place = self
            .transitions
            .binary_search_by_key(&step.at, |&(at, _)| at);
        place.ok().map(|place| self.transitions[place].1)
    }

    /// All of them, by the positions of the events.
    #[must_use]
    pub fn transitions(&self) -> &[(u32, Transition)] {
        &self.transitions
    }

    /// The event that sends a message.
    #[must_use]
    pub fn sender(&self, message: u64) -> Option<(u32, u32)> {
        self.sent.get(&message).copied()
    }

    /// Whether a read has to wait for a modification: see [`Step::parked`].
    #[must_use]
    pub const fn parks(&self) -> bool {
        self.parks
    }

    /// Whether there are steps that depend on whether a turn has refused a lock: see [`Step::refused_since`].
    #[must_use]
    pub const fn refuses(&self) -> bool {
        self.refuses
    }

    /// Whether there are events whose outcome depends on more than values, locks, queues and what transitions tell. What
    /// the model says is right, but it does not say all.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open > 0
    }

    /// How many events there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The lane of a thread that has one.
    #[must_use]
    pub fn lane_of(&self, thread: Thread) -> Option<u32> {
        self.lane_of
            .get(usize::from(thread))
            .copied()
            .filter(|&lane| lane != NONE)
    }

    /// All of every thread.
    #[must_use]
    pub fn whole(&self) -> Cut {
        self.lanes.iter().map(Lane::len).collect()
    }

    /// Takes out of a cut what must come after an event that is not in it.
    pub fn close(&self, cut: &mut [u32]) {
        let mut changed = true;
        while changed {
            changed = false;
            for at in 0..self.lanes.len() {
                let one = &self.lanes[at];
                if let Some((parent, fork)) = one.fork
                    && cut[parent as usize] <= fork
                    && cut[at] != 0
                {
                    cut[at] = 0;
                    changed = true;
                }
                let joins = one.steps[..cut[at] as usize].iter().position(|step| {
                    step.kind == Kind::Join
                        && cut[step.object as usize] < self.lanes[step.object as usize].len()
                });
                if let Some(join) = joins {
                    cut[at] = u32::try_from(join).unwrap_or(u32::MAX);
                    changed = true;
                }
            }
        }
    }
}
