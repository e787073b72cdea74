//! `odpor`: optimal partial-order reduction: every Mazurkiewicz trace is executed exactly once, in polynomial space.
//!
//! The approach is seqz's own, a *reverse search* (Avis and Fukuda, 1996) over Mazurkiewicz traces. The approach builds on
//! two ideas. TruSt reverses a race only from the one execution in which all events that the reversal deletes are as they
//! would be by default (*Truly Stateless, Optimal Dynamic Partial Order Reduction*, Kokologiannakis, Marmanis, Gladstein,
//! Vafeiadis, POPL 2022). Parsimonious optimal DPOR explores a reversal at once instead of storing the reversal
//! (*Parsimonious Optimal Dynamic Partial Order Reduction*, Abdulla, Atig, Das, Jonsson, Sagonas, CAV 2024).
//!
//! **The canonical execution.** For a trace prefix Q (a set of events closed under happens-before), let R(Q) be the
//! execution made of *steps*. Each step intends to run the pending event a of the thread whose turn it is (the lowest
//! enabled thread, unless this thread has run for long; the turn is a function of the events before). While an event of Q
//! that has not run conflicts with a (and is not ordered after a), the least such event and its causal past run first:
//! these events are the step's *delay* of a. Then a runs. If the delay disables a (a takes a lock that the delay has
//! taken), the step ends without a. When all of Q has run, all further delays are empty: only the thread whose turn it is
//! runs. R(Q) contains Q, and R(C) = R(Q) for C the trace of R(Q): a delay has only the events that must come before a. So
//! every maximal trace has one canonical execution.
//!
//! **The parent.** If R(C) has no delay, C is the root. Otherwise let i be the last step with a delay, and d the event of
//! that delay which is maximal in happens-before, by the highest thread if there are several such events. Most often the
//! parent of C is the trace of R(Q), where Q is all events before step i and the delay without d. But some events may be
//! in the delay only because they conflict with d and not with a (reads before a write that delays a read), and d may not
//! need them to be reached. If there are such events, the parent lacks not d but the highest maximal one of these events,
//! r: in the parent, r is not before d. In both cases the parent has the same steps before i, and its later delays are
//! made of events of the same delays without d or r. So the parent's delays have fewer events, and a chain of parents ends
//! at the root after at most as many traces as there are events. The traces form a tree.
//!
//! **Children** are all that the search ever computes. Take each step i of an execution E in which the intended event a
//! ran, and each later operation t of another thread on the same object whose program-order past does not contain a. Let Q
//! be all events before a, and that past. If t conflicts with a, the child runs Q, then t, then a, then by default; if t
//! does not conflict with a, but with d in the delay of a, the child runs Q without d, then t, then d and a. This
//! execution is a child of E iff t is the event that its parent lacks, and E = R(Q), that is: if every later step with a
//! delay has its own event in Q, or all of its delay. (An exclusive lock that delays a shared one may need releases by
//! other shared holders first: these releases are added to Q.) All of these conditions can be decided from E, without a
//! run of the program, without sleep sets, and without wake-up trees.
//!
//! The search stores the executions from the root to the current one, no more than an execution has events, each with
//! its clocks and the list of its children, which are pairs and triples of its events: space is polynomial. If these
//! executions have many events, the search keeps no more than an [outline] of those that are nearest to the root; when
//! the search comes back to such an execution, the execution is made again, which counts as no execution.
//!
//! The search is easy to divide: a part that has the parent of a subtree's root can walk this subtree by itself.
//!
//! The argument above is a sketch; its evidence are comparisons with `dfs` on tens of thousands of random programs.
//!
//! Where an execution is cut, the operations that its threads have announced count as operations at its end; where an
//! execution ends with waiting threads, so do the operations that they wait for: all of these may have to come earlier.
//!
//! Promise: exhausted; no execution is redundant, none is given up. The order of shared acquires of one lock is part of
//! the trace (see [`Class::Acquire`](crate::event::Class::Acquire)).

mod children;
mod execution;
mod holdings;
mod outline;
mod queues;

use crate::divergence::Divergence;
use crate::event::Event;
use crate::executor::{Pick, RunEnd, View};
use crate::fair::Turns;
use crate::parts::{Part, Standing, Units};
use crate::strategy::{Promise, Stats, Strategy};
use crate::trace::Position;

use children::{Child, Listing};
use execution::{Execution, Scripted};
use outline::{Outline, Progress};

/// The number of units into which the search is divided. The units' sizes differ much, and a subtree's weight says little
/// about its size; with this number of units, two parts differ by a percent or two. All parts make the thousands of
/// executions of the top, which takes a moment.
const UNITS: u32 = 16_384;

/// An execution whose children are being visited.
#[derive(Clone, Debug, Default)]
struct Frame {
    execution: Execution,
    /// The children listed latest; children listed before have been visited.
    children: Vec<Child>,
    /// The children from here on are still to visit.
    next: usize,
    /// Whether there may be further children that have not been listed.
    more: bool,
    /// The first target whose children have not been listed.
    target: u32,
    /// The target at which the listing of `children` began.
    listed_from: u32,
    /// The outline of the execution, if the execution and its children have been let go.
    outline: Option<Box<Outline>>,
    /// Whether the execution of the outline has to be made again, since some of its children are still to be visited or
    /// to be looked for.
    is_open: bool,
    /// The share of the whole tree that is left here: when children are first listed, the execution itself included.
    weight: f64,
    /// The share of the whole tree that each child has.
    share: f64,
}

impl Frame {
    /// Lists children, the first of them if the execution is `new`. What can't be listed now weighs as much as a child.
    fn list(&mut self, new: bool, listing: &mut Listing, few: usize) {
        self.next = 0;
        self.listed_from = self.target;
        let (target, children) = (&mut self.target, &mut self.children);
        self.more = self.execution.children(target, children, listing, few);
        let shares = self.children.len() + usize::from(new) + usize::from(self.more);
        self.share = self.weight / shares.max(1) as f64;
    }
}

impl Frame {
    /// The number of events that are kept of the execution.
    fn events(&self) -> usize {
        if self.outline.is_some() {
            0
        } else {
            self.execution.trace.len()
        }
    }

    /// Lets go of the execution and its children, and returns their memory.
    fn let_go(&mut self) -> (Execution, Vec<Child>) {
        self.outline = Some(Box::new(Outline::of(&self.execution)));
        self.is_open = self.more || self.next < self.children.len();
        let execution = std::mem::take(&mut self.execution);
        (execution, std::mem::take(&mut self.children))
    }

    /// The execution has been made again: lists the children that were listed.
    fn restore(&mut self, listing: &mut Listing, few: usize) {
        let Some(outline) = self.outline.take() else {
            return;
        };
        self.execution.divide(&outline);
        self.execution.look_at_locks(few);
        let mut target = self.listed_from;
        let children = &mut self.children;
        self.execution.children(&mut target, children, listing, few);
    }
}

/// Optimal dynamic partial-order reduction.
#[derive(Clone, Debug)]
pub struct Odpor {
    /// The first `length` are the executions from the root to the current one; the others keep their memory.
    frames: Vec<Frame>,
    length: usize,
    /// What the current execution has to start with: after the prefix that it shares with its parent, the delay, then
    /// the delayed event.
    script: Vec<Scripted>,
    /// Where the delay begins.
    shared: usize,
    /// The number of events of the current execution so far.
    position: usize,
    turns: Turns,
    started: bool,
    done: bool,
    explored: f64,
    units: Units,
    /// Where the current execution stands.
    standing: Standing,
    /// The number of places to look at for children: see [`Self::looking_at`].
    few: usize,
    listing: Listing,
    /// The number of events that may be kept in all: see [`Self::keeping`].
    most: usize,
    /// The number of events that are kept.
    kept: usize,
    /// The index of the first frame of which more than an outline is kept.
    oldest: usize,
    /// How far the execution that is being made again has come. `None`: the execution is a new one.
    again: Option<Progress>,
    /// Whether an execution has gone another way than it did before, so that not all can be known.
    lost: bool,
}

/// The number of events that a search keeps of the executions from the root to the current one. An event takes some 150
/// bytes.
const MOST: usize = 1 << 20;

/// The default of [`Odpor::looking_at`], in places.
const FEW: usize = 1 << 12;

impl Default for Odpor {
    fn default() -> Self {
        Self::new()
    }
}

impl Odpor {
    /// A search before its first execution.
    #[must_use]
    pub fn new() -> Self {
        Self::part(Part::WHOLE)
    }

    /// One part of a search, before its first execution.
    #[must_use]
    pub fn part(part: Part) -> Self {
        Self {
            frames: Vec::new(),
            length: 0,
            script: Vec::new(),
            shared: 0,
            position: 0,
            turns: Turns::default(),
            started: false,
            done: false,
            explored: 0.0,
            units: Units::new(part, UNITS),
            standing: Standing::WHOLE,
            few: FEW,
            listing: Listing::default(),
            most: MOST,
            kept: 0,
            oldest: 0,
            again: None,
            lost: false,
        }
    }

    /// Has the search look at `places` places of an execution for children, or at as many places as the execution has
    /// events if that is more, before it visits the children that it has found. All parts must have the same number.
    #[must_use]
    pub const fn looking_at(mut self, places: usize) -> Self {
        self.few = places;
        self
    }

    /// Has the search keep up to `events` events of executions, beside the events of the last two executions.
    #[must_use]
    pub const fn keeping(mut self, events: usize) -> Self {
        self.most = events;
        self
    }

    /// Has a thread let the other threads run after `events` events. All parts must have the same number.
    #[must_use]
    pub fn taking_turns_of(mut self, events: u32) -> Self {
        self.turns = Turns::of(events);
        self
    }

    /// Notes where the execution of this weight, which is about to begin, stands.
    fn stand(&mut self, weight: f64) {
        self.standing = if self.units.is_top(weight) {
            self.units.outside()
        } else {
            self.units.within()
        };
    }

    fn push_frame(&mut self) {
        if self.length == self.frames.len() {
            self.frames.push(Frame::default());
        }
        self.length += 1;
        // The parent is needed for what comes now.
        while self.kept > self.most && self.oldest + 2 < self.length {
            let oldest = &mut self.frames[self.oldest];
            self.kept -= oldest.events();
            let (execution, children) = oldest.let_go();
            self.oldest += 1;
            // What had no memory before has that of the one that is let go.
            let new = &mut self.frames[self.length - 1];
            if new.execution.announced.capacity() == 0 {
                (new.execution, new.children) = (execution, children);
            }
        }
    }

    /// Leaves the last frame.
    fn pop_frame(&mut self) {
        self.length -= 1;
        let last = &mut self.frames[self.length];
        self.kept -= last.events();
        last.outline = None;
        self.oldest = self.oldest.min(self.length);
    }

    /// Makes the execution of the last frame again, in the memory of the one that was left before.
    fn make_again(&mut self) {
        self.oldest = self.length - 1;
        let (frames, left) = self.frames.split_at_mut(self.length);
        let frame = &mut frames[self.oldest];
        if let Some(left) = left.first_mut() {
            frame.execution = std::mem::take(&mut left.execution);
            frame.children = std::mem::take(&mut left.children);
        }
        frame.execution.clear();
        self.again = Some(Progress::default());
        self.standing.own = false;
    }
}

impl Strategy for Odpor {
    fn begin(&mut self) -> bool {
        self.position = 0;
        self.turns.clear();
        self.script.clear();
        self.shared = 0;
        if !std::mem::replace(&mut self.started, true) {
            self.push_frame();
            self.frames[0].weight = 1.0;
            self.frames[0].execution.clear();
            self.stand(1.0);
            return true;
        }
        while self.length > 0 {
            let parent = &mut self.frames[self.length - 1];
            if parent.outline.is_some() {
                if !parent.is_open {
                    self.pop_frame();
                    continue;
                }
                self.make_again();
                return true;
            }
            let weight = parent.share;
            let child = parent.children.get(parent.next).copied();
            if child.is_none() && !parent.more {
                self.pop_frame();
                continue;
            }
            let is_unit = self.units.is_top(parent.weight) && !self.units.is_top(weight);
            let is_own = !is_unit || self.units.meet();
            let Some(child) = child else {
                if is_own {
                    parent.weight = weight;
                    parent.list(false, &mut self.listing, self.few);
                    let counts = !self.units.is_top(weight) || self.units.counts_top();
                    if parent.children.is_empty() && !parent.more && counts {
                        self.explored += weight;
                    }
                } else {
                    parent.more = false;
                }
                continue;
            };
            parent.next += 1;
            if !is_own {
                continue;
            }
            self.stand(weight);
            self.push_frame();
            let (before, rest) = self.frames.split_at_mut(self.length - 1);
            let (parent, frame) = (&before[self.length - 2], &mut rest[0]);
            frame.weight = weight;
            self.shared =
                frame
                    .execution
                    .start_as_child(&parent.execution, child, &mut self.script);
            return true;
        }
        self.done = !self.lost;
        false
    }

    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        let frame = &mut self.frames[self.length - 1];
        let position = self.position;
        if let Some((outline, again)) = frame.outline.as_ref().zip(self.again.as_mut()) {
            let thread = outline.pick(again, position, view)?;
            frame.execution.announce(view, thread);
            return Ok(Pick::Run(thread));
        }
        let trace = &frame.execution.trace;
        let ran = |at: usize| trace.event(at as Position).thread;
        if position < self.script.len() {
            if self.turns.are_counted(position) {
                self.turns.among(view.willing(), position, ran);
            }
            let Scripted {
                thread, pending, ..
            } = self.script[position];
            Divergence::check_announced(position, thread, &pending, view)?;
            if position >= self.shared {
                frame.execution.announce(view, thread);
            } else {
                frame.execution.follow(view, position, thread);
            }
            return Ok(Pick::Run(thread));
        }
        let turn = self.turns.among(view.willing(), position, ran);
        frame.execution.intend(view, turn).map(Pick::Run)
    }

    #[inline]
    fn ran(&mut self, event: &Event) -> Result<(), Divergence> {
        let position = self.position;
        self.position += 1;
        let Frame {
            execution, outline, ..
        } = &mut self.frames[self.length - 1];
        if let Some((outline, again)) = outline.as_ref().zip(self.again.as_mut()) {
            execution.push(event);
            return outline.ran(again, position, event);
        }
        if position >= self.shared {
            execution.push(event);
        }
        match self.script.get(position) {
            Some(Scripted {
                event: Some(expected),
                ..
            }) => Divergence::check(position, expected, event),
            _ => Ok(()),
        }
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.frames[self.length - 1].execution.wait_forever(view);
    }

    fn cut(&mut self, view: &View<'_>) {
        self.frames[self.length - 1].execution.be_cut(view);
    }

    fn end(&mut self, _end: &RunEnd) {
        let frame = &mut self.frames[self.length - 1];
        self.kept += frame.execution.trace.len();
        if self.again.take().is_some() {
            let events = frame.outline.as_ref().map(|outline| outline.length);
            if events != Some(frame.execution.trace.len()) {
                // The program is another one than it was: nothing can be said of what is left.
                self.lost = true;
                self.length = 0;
                return;
            }
            frame.restore(&mut self.listing, self.few);
            return;
        }
        frame.target = 0;
        frame.list(true, &mut self.listing, self.few);
        if self.standing.own {
            self.explored += frame.share;
        }
    }

    /// Leaves the execution, with all that would have come of it.
    fn diverged(&mut self) -> bool {
        self.lost = true;
        self.again = None;
        if self.length == 0 {
            return false;
        }
        let frame = &mut self.frames[self.length - 1];
        if frame.outline.is_none() {
            // Its events have not been counted yet.
            frame.execution.clear();
            if self.standing.own {
                self.explored += frame.weight;
            }
        }
        self.pop_frame();
        self.length > 0
    }

    fn report(&self) -> Stats {
        let promise = if self.done {
            Promise::Exhausted
        } else {
            Promise::Unfinished
        };
        Stats {
            turns: self.units.turns(),
            ..Stats::of_tree(promise, self.explored)
        }
    }

    fn standing(&self) -> Standing {
        self.standing
    }
}
