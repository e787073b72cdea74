//! The progress grid as an execution asks it.

use crate::feasibility::{self, Interleaving};
use crate::log::{Object, Op, TEvent};
use crate::memory::outside;

/// The progress grid of an engine. It is asked while the program runs, and it keeps its memory from execution to execution:
/// so it is asked outside of the program's regions of memory. Only what takes no new memory is asked in them.
#[derive(Debug)]
pub(super) struct Grid(feasibility::Grid);

impl Grid {
    pub(super) fn new() -> Self {
        outside(|| Self(feasibility::Grid::new()))
    }

    /// See [`feasibility::Grid::in_runs`].
    pub(super) fn in_runs() -> Self {
        outside(|| Self(feasibility::Grid::in_runs()))
    }

    /// Starts a new execution with this log of T'. Returns whether it is another log than before.
    #[inline]
    pub(super) fn begin(&mut self, interfering: &[Op]) -> bool {
        outside(|| self.0.begin(interfering))
    }

    /// Starts a new execution with the same log of T'. Takes no memory.
    #[inline]
    pub(super) fn reset(&mut self) {
        self.0.reset();
    }

    /// T does one more event. The memory that this takes stays where it is when it grows.
    #[inline(always)]
    pub(super) fn push(&mut self, event: TEvent) {
        self.0.push(event);
    }

    /// Takes T's last event back.
    #[inline]
    pub(super) fn pop(&mut self) {
        outside(|| self.0.pop());
    }

    /// Takes back all events of T but the first `len`.
    #[inline]
    pub(super) fn truncate(&mut self, len: usize) {
        outside(|| self.0.truncate(len));
    }

    /// The events of T so far.
    #[inline]
    pub(super) fn events(&self) -> &[TEvent] {
        self.0.events()
    }

    /// Whether the log is known to be feasible without a check.
    #[inline]
    pub(super) fn goes_on(&self) -> bool {
        self.0.goes_on()
    }

    /// Whether the log is feasible.
    #[inline]
    pub(super) fn feasible(&mut self) -> bool {
        self.0.goes_on() || outside(|| self.0.feasible())
    }

    /// Whether the log would be feasible if T's next event were this one.
    #[inline]
    pub(super) fn would_be_feasible(&mut self, event: TEvent) -> bool {
        outside(|| self.0.would_be_feasible(event))
    }

    /// See [`feasibility::Grid::lets_other_end`].
    pub(super) fn lets_other_end(&mut self) -> bool {
        outside(|| self.0.lets_other_end())
    }

    /// Whether T can be at its end when T' has done exactly its first `cut` events.
    #[inline]
    pub(super) fn reachable_at(&mut self, cut: usize) -> bool {
        outside(|| self.0.reachable_at(cut))
    }

    /// See [`feasibility::Grid::reachable_on_the_way`].
    pub(super) fn reachable_on_the_way(&mut self, cut: usize) -> bool {
        outside(|| self.0.reachable_on_the_way(cut))
    }

    /// An interleaving, if the log is feasible.
    pub(super) fn witness(&mut self) -> Option<Interleaving> {
        outside(|| self.0.witness())
    }

    /// An interleaving at whose end T' has done exactly its first `cut` events, if there is one.
    pub(super) fn witness_at(&mut self, cut: usize) -> Option<Interleaving> {
        outside(|| self.0.witness_at(cut))
    }

    /// Tells the writes of T' to the object that T's next event could read.
    #[inline]
    pub(super) fn reader(&mut self, x: Object) -> Reader<'_> {
        Reader(self.0.reader(x))
    }

    /// See [`feasibility::Grid::foreign`].
    #[inline]
    pub(super) fn foreign(&mut self, x: Object) -> Option<u32> {
        outside(|| self.0.foreign(x))
    }

    /// See [`feasibility::Grid::latest_seen`].
    #[inline]
    pub(super) fn latest_seen(&self, foreign: u32, x: Object, before: u32) -> Option<u32> {
        self.0.latest_seen(foreign, x, before)
    }

    /// See [`feasibility::Grid::writes_of`].
    #[inline]
    pub(super) fn writes_of(&self, x: Object) -> &[u32] {
        self.0.writes_of(x)
    }
}

/// See [`feasibility::Reader`].
pub(super) struct Reader<'g>(feasibility::Reader<'g>);

impl Reader<'_> {
    /// Whether a read, or an update, could see this write of T'.
    #[inline]
    pub(super) fn could_see(&mut self, step: u32, update: bool) -> bool {
        match self.0.sees_by_path(step, update) {
            Some(told) => told,
            None => outside(|| self.0.sees_by_rows(step, update)),
        }
    }
}
