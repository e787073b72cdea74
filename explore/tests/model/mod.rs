//! A small language of threads over shared variables and locks, its machine, and an executor over it.

#![allow(dead_code)]

pub(crate) mod choosing;
pub(crate) mod generate;
pub(crate) mod interpreter;
mod queue;
pub(crate) mod racy;

use seqz_explore::{
    Event, Executor, Kind, Outcome, Pending, Pick, RunEnd, Scheduler, View, hash::mix,
    threads::ThreadSet,
};

use queue::Queue;

/// A value to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Expr {
    Const(u8),
    /// A register plus a constant.
    Plus(u8, u8),
}

impl Expr {
    fn value(self, registers: &[u8; 4]) -> u8 {
        match self {
            Self::Const(c) => c,
            Self::Plus(r, c) => registers[usize::from(r)].wrapping_add(c),
        }
    }
}

/// One instruction. Registers, variables, locks, threads and values are small numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Load(u8, u8),
    Store(u8, Expr),
    FetchAdd(u8, u8, u8),
    /// register of success, variable, expected, new
    Cas(u8, u8, u8, u8),
    /// Adds to a variable, a count, and learns nothing of it.
    Add(u8, u8),
    /// register of whether it was the last one, variable: takes one from a count
    Take(u8, u8),
    /// register of success, variable: adds one to a count that is not 0
    Upgrade(u8, u8),
    /// register of success, variable: takes one from a count that is not 0, and else learns that it is 0
    Draw(u8, u8),
    Lock(u8),
    /// register of success, lock
    TryLock(u8, u8),
    Unlock(u8),
    /// Takes a lock and reads what it protects: register, lock
    LockAndRead(u8, u8),
    /// Writes what a lock protects and gives it back.
    WriteAndUnlock(u8, Expr),
    LockShared(u8),
    TryLockShared(u8, u8),
    UnlockShared(u8),
    Fork(u8),
    Join(u8),
    /// Spins until the variable has the value.
    Await(u8, u8),
    /// Begins to wait on a condition variable.
    Wait(u8),
    /// Goes on, once it has been notified.
    Wake(u8),
    /// register of whether it was notified, condition variable: goes on, notified or not
    TimedWake(u8, u8),
    NotifyOne(u8),
    NotifyAll(u8),
    /// Fails if the register has the value.
    Refuse(u8, u8),
    /// Skips instructions unless the register has the value.
    Unless(u8, u8, u8),
}

impl Op {
    fn is_local(self) -> bool {
        matches!(self, Self::Refuse(..) | Self::Unless(..))
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) threads: Vec<Vec<Op>>,
    /// Threads that are there from the start.
    pub(crate) roots: usize,
    pub(crate) initial: [u8; 4],
}

impl Program {
    pub(crate) fn of(threads: Vec<Vec<Op>>) -> Self {
        let roots = threads.len();
        Self {
            threads,
            roots,
            initial: [0; 4],
        }
    }
}

pub(crate) const THREADS: usize = 8;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Task {
    pub(crate) exists: bool,
    pub(crate) failed: bool,
    /// Its next read is one of a spin loop, and can't see anything new.
    pub(crate) parked: bool,
    pub(crate) pc: u8,
    pub(crate) registers: [u8; 4],
}

/// State of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Machine {
    pub(crate) variables: [u8; 4],
    /// Exclusive holder + 1.
    pub(crate) owners: [u8; 3],
    pub(crate) shared: [u8; 3],
    /// What each lock protects.
    pub(crate) contents: [u8; 3],
    /// Per condition variable: who waits, and what is left for them.
    pub(crate) queues: [Queue; 2],
    pub(crate) tasks: [Task; THREADS],
    pub(crate) count: u8,
}

const LOCKS: u32 = 8;
const CONDITIONS: u32 = 16;

impl Machine {
    pub(crate) fn start(program: &Program) -> Self {
        let mut machine = Self {
            variables: program.initial,
            count: program.threads.len() as u8,
            ..Self::default()
        };
        for thread in 0..program.roots {
            machine.tasks[thread].exists = true;
        }
        for thread in 0..program.roots {
            machine.settle(program, thread);
        }
        machine
    }

    fn next(&self, program: &Program, thread: usize) -> Option<Op> {
        program.threads[thread]
            .get(usize::from(self.tasks[thread].pc))
            .copied()
    }

    /// Runs thread-local instructions.
    fn settle(&mut self, program: &Program, thread: usize) {
        while let Some(op) = self.next(program, thread).filter(|op| op.is_local()) {
            let task = &mut self.tasks[thread];
            task.pc += 1;
            match op {
                Op::Refuse(r, value) if task.registers[usize::from(r)] == value => {
                    task.failed = true;
                    task.pc = u8::MAX;
                }
                Op::Unless(r, value, skip) if task.registers[usize::from(r)] != value => {
                    task.pc += skip;
                }
                _ => {}
            }
        }
    }

    /// The thread's next operation has been done, with this result.
    fn pass(&mut self, program: &Program, thread: usize, result: Option<(u8, u8)>) {
        let task = &mut self.tasks[thread];
        if let Some((register, value)) = result {
            task.registers[usize::from(register)] = value;
        }
        task.pc += 1;
        self.settle(program, thread);
    }

    pub(crate) fn is_live(&self, program: &Program, thread: usize) -> bool {
        self.tasks[thread].exists && self.next(program, thread).is_some()
    }

    pub(crate) fn is_enabled(&self, program: &Program, thread: usize) -> bool {
        if !self.tasks[thread].exists || self.tasks[thread].parked {
            return false;
        }
        match self.next(program, thread) {
            None => false,
            Some(Op::Lock(l) | Op::LockAndRead(_, l)) => {
                self.owners[usize::from(l)] == 0 && self.shared[usize::from(l)] == 0
            }
            Some(Op::LockShared(l)) => self.owners[usize::from(l)] == 0,
            Some(Op::Join(t)) => {
                self.tasks[usize::from(t)].exists && !self.is_live(program, usize::from(t))
            }
            Some(Op::Wake(c)) => self.queues[usize::from(c)].covers(thread),
            Some(_) => true,
        }
    }

    pub(crate) fn enabled(&self, program: &Program) -> ThreadSet {
        (0..self.count)
            .filter(|&t| self.is_enabled(program, usize::from(t)))
            .collect()
    }

    pub(crate) fn live(&self, program: &Program) -> ThreadSet {
        (0..self.count)
            .filter(|&t| self.is_live(program, usize::from(t)))
            .collect()
    }

    pub(crate) fn pending(&self, program: &Program, thread: usize) -> Pending {
        let Some(op) = self.next(program, thread) else {
            return Pending::default();
        };
        let (kind, object, expected) = match op {
            Op::Load(_, x) | Op::Await(x, _) => (Kind::Read, u32::from(x), 0),
            Op::Store(x, _) => (Kind::Write, u32::from(x), 0),
            Op::FetchAdd(_, x, _) => (Kind::Update, u32::from(x), 0),
            Op::Add(x, _) => (Kind::Add, u32::from(x), 0),
            Op::Take(_, x) => (Kind::Take, u32::from(x), 0),
            Op::Upgrade(_, x) => (Kind::Upgrade, u32::from(x), 0),
            Op::Draw(_, x) => (Kind::Update, u32::from(x), Pending::UNLESS_ZERO),
            Op::Cas(_, x, e, _) => (Kind::CompareExchange, u32::from(x), u64::from(e)),
            Op::Lock(l) | Op::LockAndRead(_, l) => (Kind::Lock, LOCKS + u32::from(l), 0),
            Op::TryLock(_, l) => (Kind::TryLock, LOCKS + u32::from(l), 0),
            Op::Unlock(l) | Op::WriteAndUnlock(l, _) => (Kind::Unlock, LOCKS + u32::from(l), 0),
            Op::LockShared(l) => (Kind::LockShared, LOCKS + u32::from(l), 0),
            Op::TryLockShared(_, l) => (Kind::TryLockShared, LOCKS + u32::from(l), 0),
            Op::UnlockShared(l) => (Kind::UnlockShared, LOCKS + u32::from(l), 0),
            Op::Fork(t) => (Kind::Fork, u32::from(t), 0),
            Op::Join(t) => (Kind::Join, u32::from(t), 0),
            Op::Wait(c) => (Kind::Wait, CONDITIONS + u32::from(c), 0),
            Op::Wake(c) => (Kind::Wake, CONDITIONS + u32::from(c), 0),
            Op::TimedWake(_, c) => (Kind::Wake, CONDITIONS + u32::from(c), 1),
            Op::NotifyOne(c) | Op::NotifyAll(c) => (Kind::Notify, CONDITIONS + u32::from(c), 0),
            Op::Refuse(..) | Op::Unless(..) => (Kind::Local, 0, 0),
        };
        Pending {
            kind,
            object,
            expected,
            site: self.site(program, thread),
            context: 0,
            ..Pending::default()
        }
    }

    /// The place of a thread's next instruction: the same for threads that run the same code.
    fn site(&self, program: &Program, thread: usize) -> u32 {
        let body = &program.threads[thread];
        let same = program.threads.iter().position(|other| other == body);
        let body = same.map_or(0, |same| same as u32);
        body << 8 | u32::from(self.tasks[thread].pc)
    }

    fn value(&self, object: u32) -> u64 {
        let lock = object.wrapping_sub(LOCKS) as usize;
        self.variables
            .get(object as usize)
            .or(self.contents.get(lock))
            .map_or(0, |&value| u64::from(value))
    }

    fn write(&mut self, program: &Program, x: u8, value: u8) {
        self.variables[usize::from(x)] = value;
        for thread in 0..usize::from(self.count) {
            if self.tasks[thread].parked && self.pending(program, thread).object == u32::from(x) {
                self.tasks[thread].parked = false;
            }
        }
    }

    /// Runs the thread's next operation and what follows it locally.
    pub(crate) fn step(&mut self, program: &Program, thread: usize) -> Event {
        let op = self.next(program, thread).expect("picked threads are live");
        let Pending {
            mut kind, object, ..
        } = self.pending(program, thread);
        let registers = self.tasks[thread].registers;
        let mut result = None;
        let mut found = self.value(object);
        let site = self.site(program, thread);
        let mut left = None;
        let mut again = false;
        if let Op::Unlock(l) | Op::WriteAndUnlock(l, _) = op {
            let owner = usize::from(self.owners[usize::from(l)]);
            assert_eq!(
                owner,
                thread + 1,
                "a thread gives back what it does not hold"
            );
        }
        match op {
            Op::Load(r, x) => {
                result = Some((r, self.variables[usize::from(x)]));
            }
            Op::Store(x, expr) => {
                self.write(program, x, expr.value(&registers));
            }
            Op::FetchAdd(r, x, by) => {
                let value = self.variables[usize::from(x)];
                self.write(program, x, value.wrapping_add(by));
                result = Some((r, value));
            }
            Op::Add(x, by) => {
                let value = self.variables[usize::from(x)];
                self.write(program, x, value.wrapping_add(by));
            }
            Op::Take(r, x) => {
                let value = self.variables[usize::from(x)];
                self.write(program, x, value.wrapping_sub(1));
                result = Some((r, u8::from(value == 1)));
            }
            Op::Upgrade(r, x) => {
                let value = self.variables[usize::from(x)];
                let there = u8::from(value > 0);
                if there == 0 {
                    kind = Kind::FailedUpdate;
                }
                self.write(program, x, value + there);
                result = Some((r, there));
            }
            Op::Draw(r, x) => {
                let value = self.variables[usize::from(x)];
                let there = u8::from(value > 0);
                if there == 0 {
                    kind = Kind::FailedUpdate;
                } else {
                    self.write(program, x, value - there);
                }
                result = Some((r, there));
            }
            Op::Cas(r, x, expected, new) => {
                let value = self.variables[usize::from(x)];
                if value == expected {
                    kind = Kind::Update;
                    self.write(program, x, new);
                } else {
                    kind = Kind::FailedUpdate;
                }
                result = Some((r, u8::from(value == expected)));
            }
            Op::Lock(l) => self.owners[usize::from(l)] = thread as u8 + 1,
            Op::LockAndRead(r, l) => {
                self.owners[usize::from(l)] = thread as u8 + 1;
                result = Some((r, self.contents[usize::from(l)]));
            }
            Op::WriteAndUnlock(l, expr) => {
                self.owners[usize::from(l)] = 0;
                self.contents[usize::from(l)] = expr.value(&registers);
            }
            Op::TryLock(r, l) => {
                let l = usize::from(l);
                let free = self.owners[l] == 0 && self.shared[l] == 0;
                if free {
                    self.owners[l] = thread as u8 + 1;
                } else {
                    kind = Kind::TryLockFailed;
                }
                result = Some((r, u8::from(free)));
            }
            Op::Unlock(l) => self.owners[usize::from(l)] = 0,
            Op::LockShared(l) => self.shared[usize::from(l)] += 1,
            Op::TryLockShared(r, l) => {
                let free = self.owners[usize::from(l)] == 0;
                if free {
                    self.shared[usize::from(l)] += 1;
                } else {
                    kind = Kind::TryLockSharedFailed;
                }
                result = Some((r, u8::from(free)));
            }
            Op::UnlockShared(l) => self.shared[usize::from(l)] -= 1,
            Op::Fork(t) => {
                self.tasks[usize::from(t)].exists = true;
                self.settle(program, usize::from(t));
            }
            Op::Join(_) => {}
            Op::Await(x, wanted) => {
                let value = self.variables[usize::from(x)];
                again = value != wanted;
            }
            Op::Wait(c) => self.queues[usize::from(c)].wait(thread),
            Op::Wake(c) => found = u64::from(self.queues[usize::from(c)].wake(thread)),
            Op::TimedWake(r, c) => {
                let notified = self.queues[usize::from(c)].wake(thread);
                found = u64::from(notified);
                result = Some((r, u8::from(notified)));
            }
            Op::NotifyOne(c) => self.queues[usize::from(c)].notify_one(),
            Op::NotifyAll(c) => {
                self.queues[usize::from(c)].notify_all();
                left = Some(1);
            }
            Op::Refuse(..) | Op::Unless(..) => unreachable!("local"),
        }
        if again {
            self.tasks[thread].parked = true;
        } else {
            self.pass(program, thread, result);
        }
        Event {
            thread: thread as u8,
            kind,
            object,
            found,
            left: left.unwrap_or_else(|| self.value(object)),
            site,
            context: 0,
            ..Event::default()
        }
    }

    /// What can be seen when nothing can run any more. Who waits is in the places that the threads are at.
    pub(crate) fn hash(&self) -> u64 {
        let mut hash = 0;
        let mut word = |bytes: &[u8]| {
            for part in bytes.chunks(8) {
                let mut wide = [0; 8];
                wide[..part.len()].copy_from_slice(part);
                hash = mix(hash, u64::from_le_bytes(wide));
            }
        };
        word(&self.variables);
        word(&self.owners);
        word(&self.shared);
        word(&self.contents);
        for task in &self.tasks[..usize::from(self.count)] {
            word(&task.registers);
            word(&[
                u8::from(task.exists),
                u8::from(task.failed),
                u8::from(task.parked),
                task.pc,
            ]);
        }
        hash
    }

    /// A number for each thread that has failed.
    pub(crate) fn failures(&self) -> Vec<u64> {
        let failed = (1_u64..).zip(&self.tasks).filter(|(_, task)| task.failed);
        failed.map(|(number, _)| number).collect()
    }
}

/// Runs a program.
pub(crate) struct Model<'a> {
    pub(crate) program: &'a Program,
    pending: [Pending; THREADS],
}

impl<'a> Model<'a> {
    pub(crate) fn new(program: &'a Program) -> Self {
        Self {
            program,
            pending: [Pending::default(); THREADS],
        }
    }
}

impl Executor for Model<'_> {
    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
        let program = self.program;
        let mut machine = Machine::start(program);
        for thread in 0..usize::from(machine.count) {
            self.pending[thread] = machine.pending(program, thread);
        }
        let mut last = None;
        let outcome = loop {
            let live = machine.live(program);
            let enabled = machine.enabled(program);
            let view = View {
                pending: &self.pending,
                live,
                enabled,
                last,
                resting: ThreadSet::EMPTY,
            };
            if live.is_empty() {
                break Outcome::Completed;
            }
            if enabled.is_empty() {
                scheduler.blocked(&view);
                break Outcome::Blocked;
            }
            let Pick::Run(thread) = scheduler.pick(&view) else {
                break Outcome::Abandoned;
            };
            assert!(
                enabled.contains(thread),
                "a thread was picked that can't run"
            );
            let event = machine.step(program, usize::from(thread));
            self.pending[usize::from(thread)] = machine.pending(program, usize::from(thread));
            if event.kind == Kind::Fork {
                let child = event.object as usize;
                self.pending[child] = machine.pending(program, child);
            }
            last = Some(thread);
            scheduler.ran(&event);
        };
        RunEnd {
            outcome,
            state: machine.hash(),
            failures: machine.failures(),
        }
    }
}
