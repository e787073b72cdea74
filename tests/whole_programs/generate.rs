//! Random programs.

use super::judge::{Right, judge};
use super::program::{
    Channel, Cond, Ending, Form, Home, How, Joining, LockKind, LockedForm, Operand, Parking, Pause,
    Program, RETURNED, Receiving, Start, Stmt, Taking, Value, Waiting,
};

/// Programs with more states are not taken.
const STATES: usize = 6000;

/// Nor are those with more ways to end.
const SEEN: usize = 12;

/// Random numbers: SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).expect("below a usize")
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// The program with this number, and what is right of it.
pub(crate) fn generate(seed: u64, number: usize) -> (Program, Right) {
    let mut random = Random::new(seed ^ (number as u64).wrapping_mul(0x2545_f491_4f6c_dd1d));
    loop {
        let mut generator = Generator {
            random: &mut random,
            cells: 0,
            locks: Vec::new(),
            held: Vec::new(),
            sites: 0,
            thread: 0,
            token: None,
            channel: None,
            local: None,
            condvar: false,
            weak: false,
            barrier: false,
            once: false,
            parks: false,
            closed: false,
            threads: 0,
            running: Vec::new(),
        };
        let mut program = generator.program(number);
        let Some(right) = judge(&program, STATES) else {
            continue;
        };
        if right.seen.len() > SEEN {
            continue;
        }
        let all: Vec<_> = right.seen.into_iter().collect();
        program.ending = match random.below(4) {
            _ if program.should_panic || all.is_empty() => Ending::Quiet,
            0 => Ending::Quiet,
            1 => Ending::TellAll(all),
            _ => {
                let told = random.below(all.len());
                Ending::TellOne(all, told)
            }
        };
        let right = judge(&program, STATES * 2).expect("no more states than before");
        // Programs in which nothing can be told from anything are of no use.
        if right.states > 8 {
            return (program, right);
        }
    }
}

struct Generator<'a> {
    random: &'a mut Random,
    cells: usize,
    locks: Vec<LockKind>,
    /// The locks that are held where the next statement goes, and whether what they protect can be written.
    held: Vec<(usize, bool)>,
    sites: u16,
    thread: usize,
    threads: usize,
    token: Option<usize>,
    channel: Option<Channel>,
    local: Option<usize>,
    condvar: bool,
    weak: bool,
    barrier: bool,
    once: bool,
    parks: bool,
    /// The next statement is in a closure, out of which the thread can't return.
    closed: bool,
    /// The threads of which the test has a handle.
    running: Vec<usize>,
}

impl Generator<'_> {
    fn program(&mut self, number: usize) -> Program {
        self.cells = 1 + self.random.below(3);
        let cells =
            (0..self.cells).map(|_| self.random.of(&[Home::Field, Home::Field, Home::Static]));
        let cells: Vec<_> = cells.collect();
        let fixed = cells.iter().position(|home| *home == Home::Static);
        let locks = self.random.below(3);
        self.locks = (0..locks)
            .map(|_| {
                self.random
                    .of(&[LockKind::Mutex, LockKind::Mutex, LockKind::RwLock])
            })
            .collect();
        let threads = self.random.of(&[2, 2, 3, 3, 4]);
        let start = self
            .random
            .of(&[Start::Spawn, Start::Spawn, Start::Builder, Start::Scope]);
        let should_panic = self.random.one_in(12);
        let expected = should_panic && self.random.one_in(2);
        let returns = !should_panic && self.random.one_in(6);
        self.threads = threads;
        self.token = fixed.filter(|_| self.random.one_in(3));
        self.local = fixed.filter(|_| start != Start::Scope && self.random.one_in(3));
        self.weak = self.token.is_some() && self.random.one_in(2);
        let barrier = self.random.one_in(8);
        let barrier = barrier.then(|| self.random.of(&[2, 2, threads]));
        self.barrier = barrier.is_some();
        self.once = self.random.one_in(6);
        let parent = (threads > 2 && self.random.one_in(5)).then(|| {
            let others = threads - 2;
            1 + self.random.below(others)
        });
        let last = threads - 1;
        let parent = parent.filter(|it| *it != last);
        self.condvar = self.locks.first() == Some(&LockKind::Mutex) && self.random.one_in(2);
        self.channel = self.random.one_in(4).then(|| {
            // Whoever starts the last thread has nothing of this to give to it.
            let known = threads - usize::from(parent.is_some());
            let receiver = self.random.below(known);
            let senders = (0..known).filter(|it| *it == 0 || *it != receiver);
            let senders = senders.filter(|it| *it == 0 || !self.random.one_in(3));
            Channel {
                receiver,
                senders: senders.collect(),
                bound: self.random.of(&[None, None, None, Some(0), Some(1)]),
            }
        });
        // Whoever waits for a message may park for it, and be unparked by others.
        self.parks = self.channel.is_none() && self.random.one_in(6);
        let mut bodies = vec![Vec::new()];
        for thread in 1..threads {
            self.thread = thread;
            let most = if threads == 4 { 2 } else { 4 };
            let length = 1 + self.random.below(most);
            let mut body = Vec::new();
            let starts = parent == Some(thread);
            if starts {
                body.push(Stmt::Spawn { thread: last });
            }
            body.extend(self.body(length, 2));
            if starts {
                body.push(self.join(last, start, false));
            }
            self.give_back(&mut body);
            bodies.push(body);
        }
        self.thread = 0;
        let mut test = Vec::new();
        let threads = if parent.is_some() { last } else { threads };
        for thread in 1..threads {
            test.push(Stmt::Spawn { thread });
            self.running.push(thread);
            if self.random.one_in(4) {
                test.push(self.stmt(1));
            }
        }
        // Who forgets its own sender may wait for ever.
        let drops = self.channel.is_some() && !self.random.one_in(5);
        if drops {
            test.push(Stmt::DropSender);
            if let Some(channel) = &mut self.channel {
                channel.senders.retain(|it| *it != 0);
            }
        }
        if threads == 2 || self.random.one_in(3) {
            let length = 1 + self.random.below(2);
            test.extend(self.body(length, 2));
        }
        let token = self.token;
        self.give_back(&mut test);
        self.token = None;
        for thread in 1..threads {
            self.running.retain(|it| *it != thread);
            test.push(self.join(thread, start, true));
            if self.random.one_in(6) {
                test.push(self.stmt(0));
            }
        }
        bodies[0] = test;
        if drops && let Some(channel) = &mut self.channel {
            channel.senders.push(0);
        }
        Program {
            number,
            cells,
            locks: self.locks.clone(),
            bodies,
            start,
            should_panic,
            expected,
            returns,
            ending: Ending::Quiet,
            weak: self.weak,
            barrier,
            once: self.once,
            parks: self.parks,
            parent,
            token,
            channel: self.channel.clone(),
            local: self.local,
            condvar: self.condvar,
        }
    }

    /// What becomes of a thread's handle. What only the test knows of, it tells.
    fn join(&mut self, thread: usize, start: Start, of_test: bool) -> Stmt {
        let most = if of_test { 12 } else { 4 };
        if start != Start::Scope && self.random.one_in(most) {
            return Stmt::Detach { thread };
        }
        let how = self
            .random
            .of(&[Joining::Unwrap, Joining::Unwrap, Joining::Handle]);
        Stmt::Join { thread, how }
    }

    fn body(&mut self, length: usize, depth: usize) -> Vec<Stmt> {
        (0..length).map(|_| self.stmt(depth)).collect()
    }

    /// Perhaps the body is done with what it was given before it ends.
    fn give_back(&mut self, body: &mut Vec<Stmt>) {
        let thread = self.thread;
        if self.token.is_some() {
            let to = self.local();
            match self.random.below(4) {
                0 => body.push(Stmt::DropToken),
                1 => body.push(Stmt::UnwrapToken { to, tries: false }),
                2 => body.push(Stmt::UnwrapToken { to, tries: true }),
                _ => {}
            }
        }
        let sends = self.channel.as_ref().is_some_and(|it| it.sends(thread));
        if sends && thread > 0 && self.random.one_in(3) {
            body.push(Stmt::DropSender);
        }
    }

    /// A statement about what only some programs have.
    fn special(&mut self) -> Option<Stmt> {
        let thread = self.thread;
        let (to, value) = (self.local(), self.operand());
        let pause = self.pause();
        let free = self.held.iter().all(|(lock, _)| *lock != 0);
        match self.random.below(11) {
            6 if self.weak && self.token.is_some() => {
                let length = self.random.below(2);
                let body = self.body(length, 0);
                Some(Stmt::Upgrade { to, body })
            }
            7 if self.barrier => Some(Stmt::Meet { to }),
            8 if self.once => {
                if self.random.one_in(3) {
                    return Some(Stmt::Peek { to });
                }
                let closed = std::mem::replace(&mut self.closed, true);
                self.once = false;
                let length = self.random.below(2);
                let body = self.body(length, 1);
                self.once = true;
                self.closed = closed;
                Some(Stmt::Init { to, value, body })
            }
            9 if self.parks && thread == 0 => {
                let cell = self.random.below(self.cells);
                let how =
                    self.random
                        .of(&[Parking::Once, Parking::Timeout, Parking::Until(cell, 1)]);
                Some(Stmt::Park(how))
            }
            9 if self.parks => Some(Stmt::Unpark { thread: 0 }),
            10 if self.parks && thread == 0 && !self.running.is_empty() => {
                let thread = self.random.below(self.running.len());
                let thread = self.running[thread];
                Some(Stmt::Unpark { thread })
            }
            10 if self.parks => Some(Stmt::Park(Parking::Once)),
            0 if self.token.is_some() => Some(Stmt::CountTokens { to }),
            1 if self.local.is_some() && thread > 0 => Some(Stmt::Touch { by: 1 }),
            2 if self.condvar => Some(Stmt::Notify {
                all: self.random.one_in(2),
            }),
            3 if self.condvar && free => {
                let how = self.random.of(&[
                    Waiting::While,
                    Waiting::Loop,
                    Waiting::Once,
                    Waiting::Timeout,
                ]);
                self.held.push((0, true));
                let length = self.random.below(2);
                let body = self.body(length, 0);
                self.held.pop();
                Some(Stmt::Wait { is: 1, how, body })
            }
            4 if thread == 0 && !self.running.is_empty() => {
                let thread = self.random.below(self.running.len());
                let thread = self.running[thread];
                if self.random.one_in(3) {
                    Some(Stmt::AwaitFinished { thread, pause })
                } else {
                    Some(Stmt::Finished { to, thread })
                }
            }
            5 => {
                let channel = self.channel.as_ref()?;
                if channel.receiver == thread {
                    let how = self.random.of(&[
                        Receiving::Recv,
                        Receiving::Recv,
                        Receiving::Try,
                        Receiving::Timeout,
                        Receiving::Polls(pause),
                    ]);
                    Some(Stmt::Receive { to, how })
                } else if channel.sends(thread) {
                    Some(Stmt::Send { to, value })
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    fn pause(&mut self) -> Pause {
        self.random
            .of(&[Pause::Nothing, Pause::Hint, Pause::Yield, Pause::Sleep])
    }

    fn local(&mut self) -> u8 {
        u8::try_from(self.random.below(RETURNED)).expect("few variables")
    }

    fn small(&mut self) -> Value {
        self.random.of(&[0, 1, 1, 2])
    }

    fn operand(&mut self) -> Operand {
        let local = self.local();
        match self.random.below(4) {
            0 => Operand::Of(local),
            1 => Operand::Plus(local, 1),
            _ => Operand::Const(self.small()),
        }
    }

    fn cond(&mut self) -> Cond {
        let (local, value) = (self.local(), self.small());
        match self.random.below(4) {
            0 => Cond::Not(local, value),
            1 => Cond::AtLeast(local, 1),
            _ => Cond::Is(local, value),
        }
    }

    fn how(&mut self) -> How {
        self.random.of(&[
            How::Plain,
            How::Plain,
            How::Plain,
            How::Method,
            How::Function,
            How::Pointer,
            How::Closure,
        ])
    }

    fn site(&mut self) -> u16 {
        self.sites += 1;
        self.sites - 1
    }

    fn stmt(&mut self, depth: usize) -> Stmt {
        // Under a lock, something is done with what it protects.
        if let Some(&(lock, writes)) = self.held.last()
            && self.random.one_in(2)
        {
            return match self.random.below(3) {
                1 if writes => Stmt::Put {
                    lock,
                    value: self.operand(),
                },
                2 if writes => Stmt::Grow { lock, by: 1 },
                _ => Stmt::Get {
                    to: self.local(),
                    lock,
                },
            };
        }
        if self.random.one_in(2)
            && let Some(stmt) = self.special()
        {
            return stmt;
        }
        let cell = self.random.below(self.cells);
        let how = self.how();
        let choices = if depth == 0 { 11 } else { 23 };
        match self.random.below(choices) {
            0 | 1 => Stmt::Load {
                to: self.local(),
                cell,
                how,
            },
            2 | 3 => Stmt::Store {
                cell,
                value: self.operand(),
                how,
            },
            4 | 5 => {
                let to = self.random.one_in(2).then(|| self.local());
                Stmt::Add {
                    to,
                    cell,
                    by: 1,
                    how,
                }
            }
            6 => Stmt::Swap {
                to: self.local(),
                cell,
                value: self.operand(),
            },
            7 => {
                let (from, new) = (self.random.of(&[0, 0, 1]), self.random.of(&[1, 2]));
                Stmt::Exchange {
                    to: self.local(),
                    cell,
                    from,
                    new,
                }
            }
            8 => Stmt::Assert {
                cond: self.cond(),
                site: self.site(),
            },
            9 => {
                let (to, is) = (self.local(), self.random.of(&[1, 2]));
                let tries = self.random.of(&[2, 3]);
                Stmt::Poll {
                    to,
                    cell,
                    is,
                    tries,
                    how,
                }
            }
            10 => Stmt::Load {
                to: self.local(),
                cell,
                how,
            },
            11..=13 => match self.free_lock() {
                Some(lock) => self.locked(lock, depth),
                None => self.load(),
            },
            14 => {
                let cond = self.cond();
                let length = 1 + self.random.below(2);
                let then = self.body(length, depth - 1);
                let otherwise = self.random.below(2);
                let otherwise = self.body(otherwise, depth - 1);
                Stmt::If {
                    cond,
                    then,
                    otherwise,
                }
            }
            15 => {
                let cond = self.cond();
                let site = self.site();
                Stmt::If {
                    cond,
                    then: vec![Stmt::Panic { site }],
                    otherwise: Vec::new(),
                }
            }
            16 => {
                let length = 1 + self.random.below(2);
                Stmt::Repeat {
                    times: 2,
                    body: self.body(length, depth - 1),
                }
            }
            17 => {
                let length = 1 + self.random.below(2);
                let closed = std::mem::replace(&mut self.closed, true);
                let body = self.body(length, depth - 1);
                self.closed = closed;
                Stmt::Catch {
                    to: self.local(),
                    resumes: self.random.one_in(3),
                    body,
                }
            }
            19 => match self.free_lock() {
                Some(lock) if self.locks[lock] == LockKind::Mutex => {
                    let pause = self.pause();
                    let form =
                        self.random
                            .of(&[LockedForm::While, LockedForm::Loop, LockedForm::Try]);
                    Stmt::AwaitLocked {
                        lock,
                        is: self.random.of(&[1, 1, 2]),
                        pause,
                        form,
                    }
                }
                _ => self.load(),
            },
            20 => match self.free_lock() {
                Some(lock) if self.locks[lock] == LockKind::Mutex => {
                    let length = 1 + self.random.below(2);
                    Stmt::Growing {
                        lock,
                        by: 1,
                        body: self.body(length, depth - 1),
                    }
                }
                _ => self.load(),
            },
            21 if self.thread > 0 && !self.closed => Stmt::Return {
                cond: self.cond(),
                tries: self.random.one_in(2),
            },
            21 => self.load(),
            18 => {
                let length = 1 + self.random.below(2);
                Stmt::Scoped {
                    cell,
                    by: 1,
                    body: self.body(length, depth - 1),
                }
            }
            _ => {
                let pause =
                    self.random
                        .of(&[Pause::Nothing, Pause::Hint, Pause::Yield, Pause::Sleep]);
                let is = self.random.of(&[1, 1, 2]);
                let form = self.random.of(&[
                    Form::While,
                    Form::While,
                    Form::Loop,
                    Form::Closure,
                    Form::Function,
                    Form::Find,
                ]);
                Stmt::Await {
                    cell,
                    is,
                    pause,
                    how,
                    form,
                }
            }
        }
    }

    fn load(&mut self) -> Stmt {
        Stmt::Load {
            to: self.local(),
            cell: self.random.below(self.cells),
            how: self.how(),
        }
    }

    /// A lock that isn't held.
    fn free_lock(&mut self) -> Option<usize> {
        if self.locks.is_empty() {
            return None;
        }
        let lock = self.random.below(self.locks.len());
        let is_held = self.held.iter().any(|(held, _)| *held == lock);
        (!is_held).then_some(lock)
    }

    fn locked(&mut self, lock: usize, depth: usize) -> Stmt {
        let writes = self.locks[lock] == LockKind::Mutex || self.random.one_in(2);
        let taking = self.random.of(&[
            Taking::Unwrap,
            Taking::Unwrap,
            Taking::Unwrap,
            Taking::Ignore,
            Taking::IfOk,
            Taking::Try,
        ]);
        self.held.push((lock, writes));
        let length = 1 + self.random.below(2);
        let body = self.body(length, depth - 1);
        self.held.pop();
        let otherwise = match taking {
            Taking::IfOk | Taking::Try if self.random.one_in(2) => self.body(1, depth - 1),
            _ => Vec::new(),
        };
        Stmt::Locked {
            lock,
            writes,
            taking,
            wrapped: taking == Taking::Unwrap
                && self.locks[lock] == LockKind::Mutex
                && self.random.one_in(4),
            body,
            otherwise,
        }
    }
}
