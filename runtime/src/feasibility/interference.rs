//! The log of T', the interfering thread, analysed once: everything that the grid asks of it, as bits over columns.
//!
//! Column j of the grid is "T' has done j events", step j is "T' does its event j", from column j to column j + 1.

use crate::log::{LockMode, Object, Op};

/// How many bit rows an object has.
const KINDS: usize = 5;
/// Steps that write the object's value.
const WRITES: usize = 0;
/// Steps that read it.
const READS: usize = 1;
/// Columns at which the next event of T' on the object is a read: T must not write here (an x-live block of T').
const LIVE: usize = 2;
/// Columns inside a block in which T' holds the lock exclusively.
const INSIDE_EXCLUSIVE: usize = 3;
/// Columns inside any block of the lock.
const INSIDE_ANY: usize = 4;

/// "None" among indices.
pub(super) const NONE: u32 = u32::MAX;

/// The log of T', analysed. Made anew in place, so that no memory is allocated once the largest log has been seen.
#[derive(Clone, Debug, Default)]
pub struct Interference {
    ops: Vec<Op>,
    /// 64-bit words in a row of n + 1 columns.
    words: usize,
    /// Objects below this number have rows in `masks`.
    objects: usize,
    /// `[object][kind][word]`.
    masks: Vec<u64>,
    /// Per step: the last column at which what it did still holds. For a write that is the step of the next write of
    /// the object, for an acquire that of its release, n if there is none.
    until: Vec<u32>,
    /// Per column: how many reads T' has done. Columns with the same number share their lane.
    lane_of: Vec<u32>,
    /// Per number of reads: the last column with that many.
    lane_high: Vec<u32>,
    /// Per column: the first column from here on at which T' holds no lock, n if there is none.
    lock_free: Vec<u32>,
    /// Per column: the first column from here on that a release leads to, `NONE` if there is none.
    released: Vec<u32>,
    /// Locks held while going through the log: the step of the acquire.
    held: Vec<u32>,
    /// Per object, while going through the log.
    latest: Vec<Latest>,
}

/// What T' did last with an object.
#[derive(Clone, Copy, Debug, Default)]
struct Latest {
    /// The column right after its latest access.
    next: u32,
    /// The step of its latest write.
    write: Option<u32>,
}

impl Interference {
    /// Analyses the log of T'.
    #[must_use]
    pub fn new(ops: &[Op]) -> Self {
        let mut made = Self::default();
        made.rebuild(ops);
        made
    }

    /// Takes another log of T', and says whether it is another: with an equal log nothing is done.
    pub fn refill(&mut self, ops: &[Op]) -> bool {
        if self.words > 0 && self.ops == ops {
            return false;
        }
        self.rebuild(ops);
        true
    }

    /// The events of T'.
    #[must_use]
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The number of events of T'.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether T' does nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    fn rebuild(&mut self, ops: &[Op]) {
        self.ops.clear();
        self.ops.extend_from_slice(ops);
        let columns = ops.len() + 1;
        self.words = columns.div_ceil(64);
        self.objects = ops
            .iter()
            .filter_map(|op| object(*op))
            .map(|x| x as usize + 1)
            .max()
            .unwrap_or(0);
        self.masks.clear();
        self.masks.resize(self.objects * KINDS * self.words, 0);
        self.mark_accesses();
        self.mark_blocks();
        self.count_reads();
    }

    /// Writes, reads, live columns, and how long each write stays the latest one.
    fn mark_accesses(&mut self) {
        let n = self.ops.len();
        self.until.clear();
        self.until.resize(n, index(n));
        self.latest.clear();
        self.latest.resize(self.objects, Latest::default());
        for step in 0..n {
            let op = self.ops[step];
            let (Op::Read(x) | Op::Write(x) | Op::Update(x)) = op else {
                continue;
            };
            let before = self.latest[x as usize];
            if !matches!(op, Op::Write(_)) {
                self.set(x, READS, step);
                // From the latest access on, T' waits for this read.
                self.fill(x, LIVE, before.next as usize, step);
            }
            if !matches!(op, Op::Read(_)) {
                self.set(x, WRITES, step);
                if let Some(write) = before.write {
                    self.until[write as usize] = index(step);
                }
                self.latest[x as usize].write = Some(index(step));
            }
            self.latest[x as usize].next = index(step + 1);
        }
    }

    /// Lock blocks, and where T' holds nothing.
    fn mark_blocks(&mut self) {
        let n = self.ops.len();
        self.held.clear();
        self.lock_free.clear();
        self.lock_free.resize(n + 1, index(n));
        self.released.clear();
        self.released.resize(n + 1, NONE);
        for step in 0..=n {
            if self.held.is_empty() {
                self.lock_free[step] = index(step);
            }
            match self.ops.get(step).copied() {
                Some(Op::Acquire(..)) => self.held.push(index(step)),
                Some(op @ Op::Release(x, mode)) => {
                    self.released[step + 1] = index(step + 1);
                    let opened = self
                        .held
                        .iter()
                        .rposition(|&open| self.ops[open as usize] == Op::Acquire(x, mode));
                    debug_assert!(
                        opened.is_some(),
                        "T' releases what it does not hold: {op:?}"
                    );
                    if let Some(at) = opened {
                        let open = self.held.remove(at) as usize;
                        self.until[open] = index(step);
                        self.mark_block(x, mode, open + 1, step);
                    }
                }
                _ => {}
            }
        }
        for at in 0..self.held.len() {
            let open = self.held[at] as usize;
            if let Op::Acquire(x, mode) = self.ops[open] {
                self.mark_block(x, mode, open + 1, n);
            }
        }
        for column in (0..n).rev() {
            if self.lock_free[column] == index(n) {
                self.lock_free[column] = self.lock_free[column + 1];
            }
            if self.released[column] == NONE {
                self.released[column] = self.released[column + 1];
            }
        }
    }

    fn mark_block(&mut self, x: Object, mode: LockMode, first: usize, last: usize) {
        self.fill(x, INSIDE_ANY, first, last);
        if mode == LockMode::Exclusive {
            self.fill(x, INSIDE_EXCLUSIVE, first, last);
        }
    }

    fn count_reads(&mut self) {
        self.lane_of.clear();
        self.lane_high.clear();
        for column in 0..=self.ops.len() {
            self.lane_of.push(index(self.lane_high.len()));
            let read = matches!(self.ops.get(column), Some(Op::Read(_) | Op::Update(_)));
            if read || column == self.ops.len() {
                self.lane_high.push(index(column));
            }
        }
    }

    fn at(&self, x: Object, kind: usize) -> usize {
        (x as usize * KINDS + kind) * self.words
    }

    fn set(&mut self, x: Object, kind: usize, bit: usize) {
        let at = self.at(x, kind) + bit / 64;
        self.masks[at] |= 1 << (bit % 64);
    }

    /// Sets the bits `first..=last`.
    fn fill(&mut self, x: Object, kind: usize, first: usize, last: usize) {
        let at = self.at(x, kind);
        for word in first / 64..=last / 64 {
            self.masks[at + word] |= span(first, last, word);
        }
    }

    fn row(&self, x: Object, kind: usize) -> Option<&[u64]> {
        let at = self.at(x, kind);
        ((x as usize) < self.objects).then(|| &self.masks[at..at + self.words])
    }

    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// The steps at which T' writes x.
    pub(super) fn writes(&self, x: Object) -> Option<&[u64]> {
        self.row(x, WRITES)
    }

    /// The steps at which T' reads x.
    pub(super) fn reads(&self, x: Object) -> Option<&[u64]> {
        self.row(x, READS)
    }

    /// The columns at which T must not write x if T' goes on to all of its reads.
    pub(super) fn live(&self, x: Object) -> Option<&[u64]> {
        self.row(x, LIVE)
    }

    /// The columns at which T must not hold the lock in this mode.
    pub(super) fn excluding(&self, lock: Object, mode: LockMode) -> Option<&[u64]> {
        self.row(
            lock,
            match mode {
                LockMode::Exclusive => INSIDE_ANY,
                LockMode::Shared => INSIDE_EXCLUSIVE,
            },
        )
    }

    /// The last column at which what this step did still holds.
    pub(super) fn until(&self, step: u32) -> u32 {
        self.until[step as usize]
    }

    /// How many reads T' has done at a column.
    pub(super) fn lane_of(&self, column: u32) -> u32 {
        self.lane_of[column as usize]
    }

    /// The last column with this many reads done.
    pub(super) fn lane_high(&self, lane: u32) -> u32 {
        self.lane_high[lane as usize]
    }

    /// How many lanes there are.
    pub(super) fn lanes(&self) -> usize {
        self.lane_high.len()
    }

    /// The first column from here on at which T' holds no lock, n if there is none.
    pub(super) fn lock_free(&self, column: u32) -> u32 {
        self.lock_free[column as usize]
    }

    /// The first column from here on that a release leads to.
    pub(super) fn released(&self, column: u32) -> Option<u32> {
        match self.released.get(column as usize) {
            Some(&at) if at != NONE => Some(at),
            _ => None,
        }
    }
}

/// Logs are indexed by `u32`: the step bound of a run is far below.
pub(super) fn index(at: usize) -> u32 {
    debug_assert!(at < NONE as usize);
    at as u32
}

/// The bits of columns `first..=last` that fall into word `word` of a row.
pub(super) fn span(first: usize, last: usize, word: usize) -> u64 {
    from(first, word) & up_to(last, word)
}

fn from(first: usize, word: usize) -> u64 {
    match first.checked_sub(word * 64) {
        None => u64::MAX,
        Some(bit) if bit < 64 => u64::MAX << bit,
        Some(_) => 0,
    }
}

/// The bits of columns up to `last` in word `word` of a row.
pub(super) fn up_to(last: usize, word: usize) -> u64 {
    match last.checked_sub(word * 64) {
        None => 0,
        Some(bit) if bit < 64 => u64::MAX >> (63 - bit),
        Some(_) => u64::MAX,
    }
}

fn object(op: Op) -> Option<Object> {
    match op {
        Op::Read(x)
        | Op::Write(x)
        | Op::Update(x)
        | Op::Acquire(x, _)
        | Op::Release(x, _)
        | Op::TryFail(x, _) => Some(x),
        Op::Join => None,
    }
}
