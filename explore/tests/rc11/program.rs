//! Small programs, whose threads are functions that are run again from their start for each step.

use seqz_explore::event::Order;
use seqz_explore::threads::ThreadSet;
use seqz_explore::{
    Event, Executor, Kind, Object, Outcome, Pending, Pick, RunEnd, Scheduler, View,
};

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Load(Object, Order),
    Store(Object, u64, Order),
    /// Fetch-and-add.
    Add(Object, u64, Order),
    Swap(Object, u64, Order),
    Cas(Object, u64, u64, Order, Order),
    Fence(Order),
    Lock(Object),
    Unlock(Object),
}

impl Op {
    /// Whether it reads, and what is left if it reads this value.
    pub(crate) fn apply(self, read: u64) -> Option<u64> {
        match self {
            Self::Store(_, value, _) | Self::Swap(_, value, _) => Some(value),
            Self::Add(_, by, _) => Some(read.wrapping_add(by)),
            Self::Cas(_, old, new, ..) => (read == old).then_some(new),
            Self::Unlock(_) => Some(0),
            Self::Lock(_) => Some(1),
            Self::Load(..) | Self::Fence(_) => None,
        }
    }

    pub(crate) fn reads(self) -> bool {
        !matches!(self, Self::Store(..) | Self::Fence(_) | Self::Unlock(_))
    }

    pub(crate) fn object(self) -> Option<Object> {
        match self {
            Self::Load(x, _)
            | Self::Store(x, ..)
            | Self::Add(x, ..)
            | Self::Swap(x, ..)
            | Self::Cas(x, ..)
            | Self::Lock(x)
            | Self::Unlock(x) => Some(x),
            Self::Fence(_) => None,
        }
    }
}

/// A thread that runs.
pub(crate) struct Thread<'a> {
    results: &'a [u64],
    at: usize,
    next: Option<Op>,
    blocked: bool,
    wrong: bool,
}

impl Thread<'_> {
    fn act(&mut self, op: Op) -> Option<u64> {
        let result = self.results.get(self.at).copied();
        self.at += 1;
        if result.is_none() {
            self.next = Some(op);
        }
        result
    }
    pub(crate) fn load(&mut self, x: Object, order: Order) -> Option<u64> {
        self.act(Op::Load(x, order))
    }
    pub(crate) fn store(&mut self, x: Object, value: u64, order: Order) -> Option<()> {
        self.act(Op::Store(x, value, order)).map(|_| ())
    }
    pub(crate) fn add(&mut self, x: Object, by: u64, order: Order) -> Option<u64> {
        self.act(Op::Add(x, by, order))
    }
    pub(crate) fn swap(&mut self, x: Object, value: u64, order: Order) -> Option<u64> {
        self.act(Op::Swap(x, value, order))
    }
    pub(crate) fn cas(&mut self, x: Object, old: u64, new: u64, order: Order) -> Option<u64> {
        let failure = match order {
            Order::Release => Order::Relaxed,
            Order::AcqRel => Order::Acquire,
            order => order,
        };
        self.act(Op::Cas(x, old, new, order, failure))
    }
    pub(crate) fn fence(&mut self, order: Order) -> Option<()> {
        self.act(Op::Fence(order)).map(|_| ())
    }
    pub(crate) fn op(&mut self, op: Op) -> Option<u64> {
        self.act(op)
    }
    /// Goes no further unless this holds.
    pub(crate) fn assume(&mut self, holds: bool) -> Option<()> {
        self.blocked |= !holds;
        holds.then_some(())
    }
    pub(crate) fn assert(&mut self, holds: bool) -> Option<()> {
        self.wrong |= !holds;
        holds.then_some(())
    }
}

pub(crate) type Body = Box<dyn Fn(&mut Thread<'_>) -> Option<()>>;

/// What a thread does after it has seen these results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Op(Op),
    Done,
    Blocked,
    Wrong,
}

pub(crate) struct Program {
    pub(crate) threads: Vec<Body>,
    /// What objects begin with, where it is not 0.
    pub(crate) initial: Vec<(Object, u64)>,
}

impl Program {
    pub(crate) fn new(threads: Vec<Body>) -> Self {
        Self {
            threads,
            initial: Vec::new(),
        }
    }

    pub(crate) fn next(&self, thread: usize, results: &[u64]) -> Next {
        let mut running = Thread {
            results,
            at: 0,
            next: None,
            blocked: false,
            wrong: false,
        };
        let done = (self.threads[thread])(&mut running).is_some();
        match running.next {
            _ if running.wrong => Next::Wrong,
            Some(op) => Next::Op(op),
            None if done => Next::Done,
            None => {
                assert!(running.blocked);
                Next::Blocked
            }
        }
    }

    pub(crate) fn begins_with(&self, object: Object) -> u64 {
        let known = self.initial.iter().find(|(it, _)| *it == object);
        known.map_or(0, |&(_, value)| value)
    }
}

/// Runs a program under a strategy. An execution in which a thread goes no further ends as a cut one.
pub(crate) struct Runner<'a> {
    pub(crate) program: &'a Program,
    /// What each thread read in the latest execution.
    pub(crate) results: Vec<Vec<u64>>,
    pub(crate) failed: bool,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(program: &'a Program) -> Self {
        Self {
            program,
            results: Vec::new(),
            failed: false,
        }
    }
}

fn pending(op: Op) -> Pending {
    let mut it = Pending {
        object: op.object().unwrap_or(0),
        ..Pending::default()
    };
    (it.kind, it.order) = match op {
        Op::Load(_, order) => (Kind::Read, order),
        Op::Store(_, _, order) => (Kind::Write, order),
        Op::Add(_, _, order) | Op::Swap(_, _, order) => (Kind::Update, order),
        Op::Cas(_, old, _, order, failure) => {
            it.expected = old;
            it.failure = failure;
            (Kind::CompareExchange, order)
        }
        Op::Fence(order) => (Kind::Fence, order),
        Op::Lock(_) => (Kind::Lock, Order::Plain),
        Op::Unlock(_) => (Kind::Unlock, Order::Plain),
    };
    it
}

impl Executor for Runner<'_> {
    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
        let count = self.program.threads.len();
        self.results = vec![Vec::new(); count];
        self.failed = false;
        let mut values: Vec<u64> = (0..64).map(|x| self.program.begins_with(x)).collect();
        let mut next: Vec<Next> = (0..count).map(|t| self.program.next(t, &[])).collect();
        let mut last = None;
        let end = |outcome| RunEnd {
            outcome,
            state: 0,
            failures: Vec::new(),
        };
        loop {
            self.failed |= next.contains(&Next::Wrong);
            let mut live = ThreadSet::EMPTY;
            let mut enabled = ThreadSet::EMPTY;
            let mut all = Vec::new();
            for (thread, next) in next.iter().enumerate() {
                all.push(match next {
                    Next::Op(op) => pending(*op),
                    _ => Pending::default(),
                });
                if let Next::Op(op) = next {
                    live.insert(thread as u8);
                    if !matches!(op, Op::Lock(x) if values[*x as usize] != 0) {
                        enabled.insert(thread as u8);
                    }
                }
            }
            let view = View {
                pending: &all,
                live,
                enabled,
                last,
                resting: ThreadSet::EMPTY,
            };
            if enabled.is_empty() {
                if !live.is_empty() {
                    scheduler.blocked(&view);
                    return end(Outcome::Blocked);
                }
                let cut = next.contains(&Next::Blocked);
                return end(if cut {
                    Outcome::Waiting
                } else {
                    Outcome::Completed
                });
            }
            let Pick::Run(thread) = scheduler.pick(&view) else {
                return end(Outcome::Abandoned);
            };
            let at = usize::from(thread);
            let Next::Op(op) = next[at] else {
                panic!("thread {thread} can't run")
            };
            let announced = all[at];
            let object = op.object().unwrap_or(0) as usize;
            let held = values[object];
            let is_atomic = op.reads() && !matches!(op, Op::Lock(_));
            let found = if is_atomic {
                scheduler.source(held)
            } else {
                held
            };
            let left = op.apply(found);
            let kind = match (announced.kind, left) {
                (Kind::CompareExchange, None) => Kind::FailedUpdate,
                (Kind::CompareExchange, Some(_)) => Kind::Update,
                (kind, _) => kind,
            };
            if let Some(left) = left {
                values[object] = left;
            }
            scheduler.ran(&Event {
                thread,
                kind,
                object: object as Object,
                found,
                left: left.unwrap_or(found),
                order: announced.order,
                ..Event::default()
            });
            if scheduler.is_void() {
                return end(Outcome::Abandoned);
            }
            self.results[at].push(if op.reads() { found } else { 0 });
            next[at] = self.program.next(at, &self.results[at]);
            last = Some(thread);
        }
    }
}
