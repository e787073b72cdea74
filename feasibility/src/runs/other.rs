//! What T' does, object by object, as sorted lists of steps and of spans of columns.

use crate::log::{LockMode, Object, Op};

/// Columns `first..=last`.
pub(super) type Span = (u32, u32);

/// What T' does with one object.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    /// The steps that write the object.
    pub(super) writes: Vec<u32>,
    /// The columns at which the next operation of T' on the object is a read. That read is the step with the number of
    /// the span's last column.
    pub(super) live: Vec<Span>,
    /// The columns inside of the blocks of T' on the object as a lock.
    any: Vec<Span>,
    /// The columns inside of exclusive blocks of T' on the object as a lock.
    exclusive: Vec<Span>,
    /// While going through the log: the column right after the latest access. `open` holds, for both kinds of blocks,
    /// the number of open ones and the column at which the first of them begins.
    next: u32,
    open: [(u32, u32); 2],
}

impl Uses {
    /// The columns at which T must not hold the object as a lock in this mode.
    pub(super) fn excluding(&self, mode: LockMode) -> &[Span] {
        match mode {
            LockMode::Exclusive => &self.any,
            LockMode::Shared => &self.exclusive,
        }
    }

    /// The first step from this one on that writes the object.
    pub(super) fn next_write(&self, from: u32) -> Option<u32> {
        let at = self.writes.partition_point(|&step| step < from);
        self.writes.get(at).copied()
    }

    fn read(&mut self, step: u32) {
        self.live.push((self.next, step));
        self.next = step + 1;
    }

    fn write(&mut self, step: u32) {
        self.writes.push(step);
        self.next = step + 1;
    }

    /// Notes that a block of this kind opens, or ends.
    fn turn(&mut self, kind: usize, step: u32, opens: bool) {
        let (count, first) = &mut self.open[kind];
        if opens {
            if *count == 0 {
                *first = step + 1;
            }
            *count += 1;
            return;
        }
        *count = count.saturating_sub(1);
        if *count == 0 {
            let span = (*first, step);
            [&mut self.any, &mut self.exclusive][kind].push(span);
        }
    }

    fn lock(&mut self, mode: LockMode, step: u32, opens: bool) {
        self.turn(0, step, opens);
        if mode == LockMode::Exclusive {
            self.turn(1, step, opens);
        }
    }
}

/// The log of T', by object.
#[derive(Clone, Debug, Default)]
pub(super) struct Other {
    objects: Vec<Uses>,
    /// The entry of objects that T' does not use.
    none: Uses,
    /// The number of events of T', which is the last column.
    pub(super) last: u32,
}

impl Other {
    pub(super) fn new(ops: &[Op]) -> Self {
        let mut made = Self {
            last: super::index(ops.len()),
            ..Self::default()
        };
        for (step, &op) in (0..).zip(ops) {
            match op {
                Op::Read(x) => made.at(x).read(step),
                Op::Write(x) => made.at(x).write(step),
                Op::Update(x) => {
                    made.at(x).read(step);
                    made.at(x).write(step);
                }
                Op::Acquire(x, mode) => made.at(x).lock(mode, step, true),
                Op::Release(x, mode) => made.at(x).lock(mode, step, false),
                Op::TryFail(..) | Op::Join => {}
            }
        }
        let last = made.last;
        for uses in &mut made.objects {
            for kind in 0..2 {
                while uses.open[kind].0 > 0 {
                    uses.turn(kind, last, false);
                }
            }
        }
        made
    }

    fn at(&mut self, x: Object) -> &mut Uses {
        let x = x as usize;
        if x >= self.objects.len() {
            self.objects.resize_with(x + 1, Uses::default);
        }
        &mut self.objects[x]
    }

    /// What T' does with an object.
    pub(super) fn of(&self, x: Object) -> &Uses {
        self.objects.get(x as usize).unwrap_or(&self.none)
    }
}
