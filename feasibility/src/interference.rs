//! The log of T', the interfering thread, analysed once: all that the grid needs of the log, as bits over columns.
//!
//! Column j of the grid is "T' has done j events", step j is "T' does its event j", from column j to column j + 1.

use crate::bits::{self, by_width, index};
use crate::log::{LockMode, Object, Op, TEvent};

/// The number of bit rows of an object.
const KINDS: usize = 5;
/// Steps that write the object's value.
const WRITES: usize = 0;
/// Steps that read the object's value.
const READS: usize = 1;
/// Columns at which the next event of T' on the object is a read: T must not write here (an x-live block of T').
const LIVE: usize = 2;
/// Columns inside a block in which T' holds the lock exclusively.
const INSIDE_EXCLUSIVE: usize = 3;
/// Columns inside any block of the lock.
const INSIDE_ANY: usize = 4;

/// The number of bit rows for T' as a whole, which come before the objects' rows: as many as for an object, so that all
/// groups are equal.
const OVERALL: usize = KINDS;
/// Steps that read anything.
const ANY_READ: usize = 0;
/// Columns at which T' holds no lock.
const LOCK_FREE: usize = 1;
/// Columns right after a release.
const RELEASED: usize = 2;

/// The place of an object in the analysis; 0 for all objects that T' does not use.
pub(super) type Slot = u32;

/// The rows of an object, each of one word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word([u64; KINDS]);

impl Word {
    /// The row of [`Interference::writes`].
    #[inline(always)]
    pub(super) fn writes(self) -> u64 {
        self.0[WRITES]
    }

    /// The row of [`Interference::reads`].
    #[inline(always)]
    pub(super) fn reads(self) -> u64 {
        self.0[READS]
    }

    /// The row of [`Interference::live`].
    #[inline(always)]
    pub(super) fn live(self) -> u64 {
        self.0[LIVE]
    }

    /// The row of [`Interference::excluding`].
    #[inline(always)]
    pub(super) fn excluding(self, mode: LockMode) -> u64 {
        match mode {
            LockMode::Exclusive => self.0[INSIDE_ANY],
            LockMode::Shared => self.0[INSIDE_EXCLUSIVE],
        }
    }
}

/// The log of T', analysed. Made anew in place, so that no memory is allocated once the largest log has been seen.
#[derive(Clone, Debug, Default)]
pub struct Interference {
    ops: Vec<Op>,
    /// The number of 64-bit words in a row of n + 1 columns.
    words: usize,
    /// The number of slots in `masks`.
    slots: usize,
    /// The rows for T' as a whole, then `[slot][kind]`; `words` words each.
    masks: Vec<u64>,
    /// Per slot, while going through the log: the column right after the latest access.
    next: Vec<u32>,
    /// Per slot: whether T' uses its object.
    used: Vec<bool>,
    /// The acquires whose blocks are open, while going through the log.
    open: Vec<u32>,
}

impl Interference {
    /// Analyses the log of T'.
    #[must_use]
    pub fn new(ops: &[Op]) -> Self {
        let mut made = Self::default();
        made.rebuild(ops);
        made
    }

    /// Takes a log of T', and returns whether it differs from the log before. With an equal log nothing is done.
    #[inline]
    pub fn refill(&mut self, ops: &[Op]) -> bool {
        if self.words > 0 && *self.ops == *ops {
            return false;
        }
        self.rebuild(ops);
        true
    }

    /// The events of T'.
    #[inline]
    #[must_use]
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The number of events of T'.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether T' does nothing.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    fn rebuild(&mut self, ops: &[Op]) {
        by_width!(ops.len() / 64 + 1, |words| self.analyse(ops, words));
    }

    #[inline(always)]
    fn analyse(&mut self, ops: &[Op], words: usize) {
        self.ops.clear();
        self.ops.extend_from_slice(ops);
        self.words = words;
        self.slots = 0;
        self.masks.clear();
        self.next.clear();
        self.used.clear();
        self.open.clear();
        self.admit(0, words);
        for (step, &op) in ops.iter().enumerate() {
            let (Op::Read(x)
            | Op::Write(x)
            | Op::Update(x)
            | Op::Acquire(x, _)
            | Op::Release(x, _)
            | Op::TryFail(x, _)) = op
            else {
                continue;
            };
            let slot = self.admit(x as usize + 1, words);
            self.used[slot] = true;
            let free = u64::from(self.open.is_empty());
            self.masks[LOCK_FREE * words + step / 64] |= free << (step % 64);
            match op {
                Op::Read(_) => {
                    self.read(slot, step, words);
                    self.next[slot] = index(step + 1);
                }
                Op::Write(_) => {
                    self.mark(row(slot, WRITES), step, words);
                    self.next[slot] = index(step + 1);
                }
                Op::Update(_) => {
                    self.read(slot, step, words);
                    self.mark(row(slot, WRITES), step, words);
                    self.next[slot] = index(step + 1);
                }
                Op::Acquire(..) => {
                    self.open.push(index(step));
                }
                Op::Release(l, mode) => {
                    self.mark(RELEASED, step + 1, words);
                    let opening = Op::Acquire(l, mode);
                    let open = self
                        .open
                        .iter()
                        .rposition(|&open| ops[open as usize] == opening);
                    debug_assert!(open.is_some(), "T' releases what it does not hold: {op:?}");
                    if let Some(open) = open {
                        let acquire = self.open.remove(open) as usize;
                        self.block(l, mode, acquire + 1, step, words);
                    }
                }
                Op::TryFail(..) | Op::Join => {
                    debug_assert!(false, "an event that T' cannot have: {op:?}");
                }
            }
        }
        if self.open.is_empty() {
            self.mark(LOCK_FREE, ops.len(), words);
        }
        for open in 0..self.open.len() {
            let acquire = self.open[open] as usize;
            if let Op::Acquire(l, mode) = ops[acquire] {
                self.block(l, mode, acquire + 1, ops.len(), words);
            }
        }
    }

    /// Makes room for a slot.
    #[inline(always)]
    fn admit(&mut self, slot: usize, words: usize) -> usize {
        if slot >= self.slots {
            self.slots = (slot + 1).next_multiple_of(8);
            let rows = OVERALL + self.slots * KINDS;
            self.masks.resize(rows * words, 0);
            self.next.resize(self.slots, 0);
            self.used.resize(self.slots, false);
        }
        slot
    }

    #[inline(always)]
    fn read(&mut self, slot: usize, step: usize, words: usize) {
        self.mark(ANY_READ, step, words);
        self.mark(row(slot, READS), step, words);
        // From the latest access on, T' waits for this read.
        self.fill(row(slot, LIVE), self.next[slot] as usize, step, words);
    }

    #[inline(always)]
    fn block(&mut self, lock: Object, mode: LockMode, first: usize, last: usize, words: usize) {
        let slot = lock as usize + 1;
        self.fill(row(slot, INSIDE_ANY), first, last, words);
        if mode == LockMode::Exclusive {
            self.fill(row(slot, INSIDE_EXCLUSIVE), first, last, words);
        }
    }

    #[inline(always)]
    fn mark(&mut self, row: usize, bit: usize, words: usize) {
        self.masks[row * words + bit / 64] |= 1 << (bit % 64);
    }

    /// Sets the bits `first..=last` of a row.
    #[inline(always)]
    fn fill(&mut self, row: usize, first: usize, last: usize, words: usize) {
        if words == 1 {
            self.masks[row] |= u64::MAX << (first % 64) & u64::MAX >> (63 - last % 64);
            return;
        }
        for word in first / 64..=last / 64 {
            self.masks[row * words + word] |= bits::span(first, last, word);
        }
    }

    #[inline(always)]
    fn row(&self, row: usize) -> &[u64] {
        &self.masks[row * self.words..(row + 1) * self.words]
    }

    /// The number of 64-bit words in a row.
    #[inline(always)]
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// The number of slots.
    #[inline(always)]
    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    /// The object's slot.
    #[inline(always)]
    pub(super) fn slot(&self, x: Object) -> Slot {
        match x + 1 {
            slot if (slot as usize) < self.slots => slot,
            _ => 0,
        }
    }

    /// Whether T' uses the object.
    #[inline(always)]
    pub(super) fn uses(&self, x: Object) -> bool {
        self.used[self.slot(x) as usize]
    }

    /// Whether T' uses the object of T's event, or T joins T'.
    #[inline]
    pub(super) fn concerns(&self, event: TEvent) -> bool {
        match event.op {
            _ if event.source.is_some() => true,
            Op::Read(x) | Op::Write(x) | Op::Update(x) | Op::Acquire(x, _) | Op::Release(x, _) => {
                self.uses(x)
            }
            Op::TryFail(..) | Op::Join => true,
        }
    }

    /// The steps at which T' writes the object.
    #[inline(always)]
    pub(super) fn writes(&self, slot: Slot) -> &[u64] {
        self.row(row(slot as usize, WRITES))
    }

    /// The steps at which T' reads the object.
    #[inline(always)]
    pub(super) fn reads(&self, slot: Slot) -> &[u64] {
        self.row(row(slot as usize, READS))
    }

    /// The columns at which T must not write the object if T' goes on to all of its reads.
    #[inline(always)]
    pub(super) fn live(&self, slot: Slot) -> &[u64] {
        self.row(row(slot as usize, LIVE))
    }

    /// The columns at which T must not hold the lock in this mode.
    #[inline(always)]
    pub(super) fn excluding(&self, slot: Slot, mode: LockMode) -> &[u64] {
        let kind = match mode {
            LockMode::Exclusive => INSIDE_ANY,
            LockMode::Shared => INSIDE_EXCLUSIVE,
        };
        self.row(row(slot as usize, kind))
    }

    /// When a row is one word: the steps that read the object, and the columns of [`Self::live`].
    #[inline(always)]
    pub(super) fn reads_and_live(&self, slot: Slot) -> (u64, u64) {
        let group = &self.masks.as_chunks::<KINDS>().0[slot as usize + OVERALL / KINDS];
        (group[READS], group[LIVE])
    }

    /// When a row is one word: the rows of the objects, by number, as far as there are slots.
    pub(super) fn objects(&self) -> impl Iterator<Item = Word> {
        let groups = self.masks.as_chunks::<KINDS>().0.iter();
        groups.skip(OVERALL / KINDS + 1).map(|&rows| Word(rows))
    }

    /// The last column at which the value that T' writes at this step is still there: the step of its next write to
    /// the object.
    #[inline]
    pub(super) fn overwritten(&self, slot: Slot, step: u32) -> u32 {
        bits::first(self.writes(slot), step + 1).unwrap_or(index(self.len()))
    }

    /// The last column of the block that this step opens.
    pub(super) fn closed(&self, acquire: u32) -> u32 {
        let Op::Acquire(lock, mode) = self.ops[acquire as usize] else {
            return 0;
        };
        let mut inner = 0;
        for step in acquire + 1..index(self.len()) {
            let op = self.ops[step as usize];
            if op == Op::Acquire(lock, mode) {
                inner += 1;
            } else if op == Op::Release(lock, mode) {
                if inner == 0 {
                    return step;
                }
                inner -= 1;
            }
        }
        index(self.len())
    }

    /// The number of reads that T' has done at a column.
    #[inline]
    pub(super) fn reads_done(&self, column: u32) -> u32 {
        if self.words == 1 {
            return (self.masks[ANY_READ] & bits::below(column as usize, 0)).count_ones();
        }
        bits::count_below(self.row(ANY_READ), column)
    }

    /// The last column at which T' has done as many reads as at this one.
    #[inline]
    pub(super) fn before_next_read(&self, column: u32) -> u32 {
        bits::first(self.row(ANY_READ), column).unwrap_or(index(self.len()))
    }

    /// The first column from here on at which T' holds no lock, n if there is none.
    #[inline]
    pub(super) fn lock_free(&self, column: u32) -> u32 {
        bits::first(self.row(LOCK_FREE), column).unwrap_or(index(self.len()))
    }

    /// The first column from here on that a release leads to.
    #[inline]
    pub(super) fn released(&self, column: u32) -> Option<u32> {
        bits::first(self.row(RELEASED), column)
    }
}

#[inline(always)]
fn row(slot: usize, kind: usize) -> usize {
    OVERALL + slot * KINDS + kind
}
