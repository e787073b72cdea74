//! What decides feasibility, as an execution asks it: the progress grid for two threads, and a grid with an axis for each
//! thread where there are more.

use crate::feasibility::{self, Interleaving, Many};
use crate::log::{Object, Op, TEvent};
use crate::memory::outside;

/// The grid of an engine. It is asked while the program runs, and it keeps its memory from execution to execution: so it is
/// asked outside of the program's regions of memory. Only what takes no new memory is asked in them.
#[derive(Debug)]
pub(super) struct Grid {
    two: feasibility::Grid,
    /// Whether more than two threads run side by side in this execution.
    pub(super) is_of_several: bool,
    several: Option<Several>,
}

/// The grid of T and several interfering threads.
#[derive(Debug)]
struct Several {
    many: Many,
    /// The log of the interfering threads, one behind the other.
    log: Vec<Op>,
    /// The index in the log after the last event of each.
    ends: Vec<usize>,
}

impl Several {
    /// The interfering threads that have to be somewhere if T' is there, and how many events each has done by then. T' is at
    /// its end, if all of them are, and otherwise about to do the event with this index.
    fn cuts(&self, cut: usize) -> Vec<(usize, usize)> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let mut ranges = starts.zip(&self.ends).enumerate();
        if cut >= self.log.len() {
            let at_end = |(number, (start, &end)): (usize, (usize, &usize))| (number, end - start);
            return ranges.map(at_end).collect();
        }
        let at = ranges.find(|(_, (start, end))| *start <= cut && cut < **end);
        at.map(|(number, (start, _))| (number, cut - start))
            .into_iter()
            .collect()
    }
}

impl Grid {
    pub(super) fn new() -> Self {
        outside(|| Self::with(feasibility::Grid::new()))
    }

    /// See [`feasibility::Grid::in_runs`].
    pub(super) fn in_runs() -> Self {
        outside(|| Self::with(feasibility::Grid::in_runs()))
    }

    const fn with(two: feasibility::Grid) -> Self {
        Self {
            two,
            is_of_several: false,
            several: None,
        }
    }

    /// Starts a new execution with this log of T'. Returns whether it is another log than before.
    #[inline]
    pub(super) fn begin(&mut self, interfering: &[Op]) -> bool {
        outside(|| self.two.begin(interfering))
    }

    /// Starts a new execution with these logs of interfering threads, which stand one behind the other and have these ends.
    /// Returns whether these are other logs than before; `None` if they are too long.
    pub(super) fn begin_several(&mut self, interfering: &[Op], ends: &[usize]) -> Option<bool> {
        outside(|| {
            self.is_of_several = true;
            if let Some(several) = &mut self.several
                && several.log == interfering
                && several.ends == ends
            {
                several.many.truncate(0);
                return Some(false);
            }
            let starts = [0].into_iter().chain(ends.iter().copied());
            let logs: Vec<&[Op]> = starts
                .zip(ends)
                .map(|(start, &end)| &interfering[start..end])
                .collect();
            self.several = Some(Several {
                many: Many::new(&logs)?,
                log: interfering.to_vec(),
                ends: ends.to_vec(),
            });
            Some(true)
        })
    }

    /// The grid of several interfering threads, if this execution has them.
    #[inline(always)]
    fn several(&mut self) -> Option<&mut Several> {
        if self.is_of_several {
            self.several.as_mut()
        } else {
            None
        }
    }

    /// Starts a new execution with the same log of T'. Takes no memory.
    #[inline]
    pub(super) fn reset(&mut self) {
        self.is_of_several = false;
        self.two.reset();
    }

    /// Whether there was too much to decide: then no answer is to be trusted.
    pub(super) fn has_given_up(&mut self) -> bool {
        self.several().is_some_and(|it| it.many.has_given_up())
    }

    /// T does one more event. The memory that this takes stays where it is when it grows.
    #[inline(always)]
    pub(super) fn push(&mut self, event: TEvent) {
        if self.is_of_several {
            self.push_of_several(event);
        } else {
            self.two.push(event);
        }
    }

    #[cold]
    fn push_of_several(&mut self, event: TEvent) {
        if let Some(several) = self.several() {
            outside(|| several.many.push(event));
        }
    }

    /// Takes T's last event back.
    #[inline]
    pub(super) fn pop(&mut self) {
        match self.several() {
            None => outside(|| self.two.pop()),
            Some(it) => outside(|| it.many.truncate(it.many.events().len().saturating_sub(1))),
        }
    }

    /// Takes back all events of T but the first `len`.
    #[inline]
    pub(super) fn truncate(&mut self, len: usize) {
        match self.several() {
            None => outside(|| self.two.truncate(len)),
            Some(it) => outside(|| it.many.truncate(len)),
        }
    }

    /// The events of T so far.
    #[inline]
    pub(super) fn events(&self) -> &[TEvent] {
        match &self.several {
            Some(several) if self.is_of_several => several.many.events(),
            _ => self.two.events(),
        }
    }

    /// Whether the log is known to be feasible without a check.
    #[inline]
    pub(super) fn goes_on(&self) -> bool {
        !self.is_of_several && self.two.goes_on()
    }

    /// Whether the log is feasible.
    #[inline]
    pub(super) fn feasible(&mut self) -> bool {
        match self.several() {
            None => self.two.goes_on() || outside(|| self.two.feasible()),
            Some(it) => outside(|| it.many.feasible()),
        }
    }

    /// Whether the log would be feasible if T's next event were this one.
    #[inline]
    pub(super) fn would_be_feasible(&mut self, event: TEvent) -> bool {
        match self.several() {
            None => outside(|| self.two.would_be_feasible(event)),
            Some(it) => outside(|| it.many.would_be_feasible(event)),
        }
    }

    /// See [`feasibility::Grid::lets_other_end`].
    pub(super) fn lets_other_end(&mut self) -> bool {
        match self.several() {
            None => outside(|| self.two.lets_other_end()),
            Some(_) => false,
        }
    }

    /// Whether T can be at its end when T' has done exactly its first `cut` events. Among several interfering threads, that is
    /// the one whose event is the next one, or all of them.
    #[inline]
    pub(super) fn reachable_at(&mut self, cut: usize) -> bool {
        match self.several() {
            None => outside(|| self.two.reachable_at(cut)),
            Some(it) => outside(|| it.many.reachable_at(&it.cuts(cut))),
        }
    }

    /// Whether T can be at its end when each of these interfering threads has done exactly so many of its events.
    pub(super) fn reachable_at_all(&mut self, cuts: &[(usize, usize)]) -> bool {
        let several = self.several();
        several.is_some_and(|it| outside(|| it.many.reachable_at(cuts)))
    }

    /// See [`feasibility::Grid::reachable_on_the_way`].
    pub(super) fn reachable_on_the_way(&mut self, cut: usize) -> bool {
        match self.several() {
            None => outside(|| self.two.reachable_on_the_way(cut)),
            Some(_) => true,
        }
    }

    /// An interleaving, if the log is feasible.
    pub(super) fn witness(&mut self) -> Option<Interleaving> {
        match self.several() {
            None => outside(|| self.two.witness()),
            Some(it) => outside(|| it.many.witness()),
        }
    }

    /// An interleaving at whose end T' is as [`Self::reachable_at`] says, if there is one.
    pub(super) fn witness_at(&mut self, cut: usize) -> Option<Interleaving> {
        match self.several() {
            None => outside(|| self.two.witness_at(cut)),
            Some(it) => outside(|| it.many.witness_at(&it.cuts(cut))),
        }
    }

    /// An interleaving at whose end the interfering threads are as [`Self::reachable_at_all`] says, if there is one.
    pub(super) fn witness_at_all(&mut self, cuts: &[(usize, usize)]) -> Option<Interleaving> {
        outside(|| self.several()?.many.witness_at(cuts))
    }

    /// Tells the writes of T' to the object that T's next event could read. Of two threads alone.
    #[inline]
    pub(super) fn reader(&mut self, x: Object) -> Reader<'_> {
        Reader(self.two.reader(x))
    }

    /// See [`feasibility::Grid::foreign`].
    #[inline]
    pub(super) fn foreign(&mut self, x: Object) -> Option<u32> {
        outside(|| self.two.foreign(x))
    }

    /// See [`feasibility::Grid::latest_seen`].
    #[inline]
    pub(super) fn latest_seen(&self, foreign: u32, x: Object, before: u32) -> Option<u32> {
        self.two.latest_seen(foreign, x, before)
    }

    /// See [`feasibility::Grid::writes_of`].
    #[inline]
    pub(super) fn writes_of(&self, x: Object) -> &[u32] {
        self.two.writes_of(x)
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
