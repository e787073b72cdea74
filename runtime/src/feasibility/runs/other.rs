//! What T' does, object by object, as sorted lists of steps and of spans of columns.

use crate::log::{LockMode, Object, Op};

/// Columns `first..=last`.
pub(super) type Span = (u32, u32);

/// What T' does with one object.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    /// The steps that write it.
    pub(super) writes: Vec<u32>,
    /// The columns at which the next that T' does with it is a read, which is the step with the last one's number.
    pub(super) live: Vec<Span>,
    /// The columns inside of its blocks.
    any: Vec<Span>,
    /// Those inside of its exclusive blocks.
    exclusive: Vec<Span>,
    /// While going through the log: the column right after its latest access, and how many blocks are open of either kind,
    /// with the column that the first of them begins at.
    next: u32,
    open: [(u32, u32); 2],
}

impl Uses {
    /// The columns at which T must not hold it as a lock in this mode.
    pub(super) fn excluding(&self, mode: LockMode) -> &[Span] {
        match mode {
            LockMode::Exclusive => &self.any,
            LockMode::Shared => &self.exclusive,
        }
    }

    /// The first step from this one on that writes it.
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

    /// A block opens, or one is over, as far as the blocks of this kind go.
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

/// The log of T', by objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Other {
    objects: Vec<Uses>,
    /// What is known of an object that T' has nothing to do with.
    none: Uses,
    /// How many events there are: the last column.
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
