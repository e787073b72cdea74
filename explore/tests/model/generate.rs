//! Random programs.

use seqz_explore::random_numbers::RandomNumbers;

use super::{Expr, Op, Program};

/// What kinds of operations a program has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flavour {
    Atomics,
    Locks,
    SharedLocks,
    Waiting,
    Conditions,
    Everything,
    /// Locks with something in them, and what else is of interest where their order is left open.
    Guards,
}

pub(crate) const FLAVOURS: [Flavour; 6] = [
    Flavour::Atomics,
    Flavour::Locks,
    Flavour::SharedLocks,
    Flavour::Waiting,
    Flavour::Conditions,
    Flavour::Everything,
];

struct Body<'a> {
    numbers: &'a mut RandomNumbers,
    flavour: Flavour,
    ops: Vec<Op>,
}

impl Body<'_> {
    fn below(&mut self, bound: u64) -> u8 {
        self.numbers.below(bound) as u8
    }

    fn atomic(&mut self) {
        let (register, variable) = (self.below(3), self.below(2));
        let op = match self.below(8) {
            0..=2 => Op::Load(register, variable),
            3 => Op::Store(variable, Expr::Const(self.below(3))),
            4 => Op::Store(variable, Expr::Plus(register, 1)),
            5 => Op::FetchAdd(register, variable, 1),
            _ => Op::Cas(register, variable, self.below(3), self.below(3)),
        };
        self.ops.push(op);
    }

    fn locked(&mut self) {
        let lock = self.below(2);
        let nested = self.below(4) == 0;
        match self.below(3) {
            0 => {
                self.ops.push(Op::TryLock(3, lock));
                self.ops.push(Op::Unless(3, 1, 2));
                self.atomic();
                self.ops.push(Op::Unlock(lock));
            }
            _ => {
                self.ops.push(Op::Lock(lock));
                if nested {
                    self.ops.push(Op::Lock(1 - lock));
                    self.atomic();
                    self.ops.push(Op::Unlock(1 - lock));
                } else if self.below(2) == 0 {
                    self.atomic();
                }
                self.ops.push(Op::Unlock(lock));
            }
        }
    }

    fn shared(&mut self) {
        let lock = self.below(2);
        match self.below(6) {
            0 | 1 => {
                self.ops.push(Op::LockShared(lock));
                if self.below(2) == 0 {
                    self.atomic();
                }
                self.ops.push(Op::UnlockShared(lock));
            }
            2 => {
                self.ops.push(Op::TryLockShared(3, lock));
                self.ops.push(Op::Unless(3, 1, 1));
                self.ops.push(Op::UnlockShared(lock));
            }
            3 => {
                self.ops.push(Op::LockShared(lock));
                self.ops.push(Op::LockShared(1 - lock));
                self.ops.push(Op::UnlockShared(lock));
                self.ops.push(Op::UnlockShared(1 - lock));
            }
            _ => self.locked(),
        }
    }

    fn waiting(&mut self) {
        let (variable, condition) = (self.below(2), self.below(2));
        let op = match self.below(8) {
            0 | 1 => Op::Await(variable, 1 + self.below(2)),
            2 | 3 => {
                self.ops.push(Op::Wait(condition));
                self.wake(condition)
            }
            4 => Op::NotifyAll(condition),
            5 => Op::NotifyOne(condition),
            _ => return self.atomic(),
        };
        self.ops.push(op);
    }

    /// A critical section, of the kind that mutexes with contents make.
    fn guarded(&mut self) {
        let lock = self.below(3);
        let register = self.below(3);
        if self.below(8) == 0 {
            self.ops.push(Op::TryLock(3, lock));
            self.ops.push(Op::Unless(3, 1, 1));
            self.ops.push(Op::Unlock(lock));
            return;
        }
        let reads = self.below(2) == 0;
        self.ops.push(if reads {
            Op::LockAndRead(register, lock)
        } else {
            Op::Lock(lock)
        });
        for _ in 0..self.below(3) {
            match self.below(8) {
                0 => {
                    let inner = (lock + 1 + self.below(2)) % 3;
                    self.ops.push(Op::Lock(inner));
                    if self.below(2) == 0 {
                        self.atomic();
                    }
                    self.ops.push(Op::Unlock(inner));
                }
                1 => {
                    let (variable, value) = (self.below(2), 1 + self.below(2));
                    self.ops.push(Op::Await(variable, value));
                }
                _ => self.atomic(),
            }
        }
        if self.below(16) == 0 {
            return;
        }
        let last = if reads && self.below(2) == 0 {
            let by = self.below(3);
            Op::WriteAndUnlock(lock, Expr::Plus(register, by))
        } else {
            Op::Unlock(lock)
        };
        self.ops.push(last);
    }

    fn wake(&mut self, condition: u8) -> Op {
        match self.below(3) {
            0 => Op::TimedWake(self.below(3), condition),
            _ => Op::Wake(condition),
        }
    }

    fn condition(&mut self) {
        if self.below(2) == 0 {
            self.wait_for_condition();
        } else {
            self.notify();
        }
    }

    /// lock; if x == 0 { wait }; unlock, in which wait gives the lock back meanwhile.
    fn wait_for_condition(&mut self) {
        let (variable, condition) = (self.below(2), self.below(4) / 3);
        let lock = self.below(4) / 3;
        let wake = self.wake(condition);
        self.ops.push(Op::Lock(lock));
        if self.below(2) == 0 {
            self.ops.push(Op::Load(0, variable));
            self.ops.push(Op::Unless(0, 0, 4));
        }
        let wait = [
            Op::Wait(condition),
            Op::Unlock(lock),
            wake,
            Op::Lock(lock),
            Op::Unlock(lock),
        ];
        self.ops.extend(wait);
    }

    fn notify(&mut self) {
        let (variable, condition) = (self.below(2), self.below(4) / 3);
        let one = self.below(3) != 0;
        let op = if one {
            Op::NotifyOne(condition)
        } else {
            Op::NotifyAll(condition)
        };
        if self.below(2) == 0 {
            let store = Op::Store(variable, Expr::Const(1));
            self.ops.extend([Op::Lock(0), store, Op::Unlock(0)]);
        }
        self.ops.push(op);
    }

    fn push(&mut self) {
        let special = self.below(3) != 0;
        match self.flavour {
            Flavour::Atomics => self.atomic(),
            Flavour::Locks if special => self.locked(),
            Flavour::SharedLocks if special => self.shared(),
            Flavour::Waiting => self.waiting(),
            Flavour::Guards => match self.below(8) {
                0 => self.shared(),
                1 | 2 => self.atomic(),
                _ => self.guarded(),
            },
            Flavour::Conditions => self.condition(),
            Flavour::Everything => match self.below(5) {
                0 => self.locked(),
                1 => self.shared(),
                2 => self.waiting(),
                3 => self.condition(),
                _ => self.atomic(),
            },
            _ => self.atomic(),
        }
    }
}

/// A program of 2 to 4 threads, the same for the same seed.
pub(crate) fn program(seed: u64, flavour: Flavour) -> Program {
    let mut numbers = RandomNumbers::new(seed);
    let threads = 2 + numbers.below(3) as usize;
    let length = 1 + numbers.below(6 - threads as u64) as usize;
    let forks = numbers.below(3) == 0;
    let mut bodies = Vec::new();
    for _ in 0..threads {
        let mut body = Body {
            numbers: &mut numbers,
            flavour,
            ops: Vec::new(),
        };
        for _ in 0..length {
            body.push();
            if body.below(6) == 0 {
                let (register, value) = (body.below(3), body.below(3));
                body.ops.push(Op::Unless(register, value, 1));
                body.atomic();
            }
        }
        if body.below(4) == 0 {
            let refused = Op::Refuse(body.below(3), 1 + body.below(2));
            body.ops.push(refused);
        }
        bodies.push(body.ops);
    }
    let roots = if forks {
        // The first thread forks the last one, and perhaps joins it.
        let last = threads - 1;
        bodies[0].insert(0, Op::Fork(last as u8));
        if numbers.below(2) == 0 {
            bodies[0].push(Op::Join(last as u8));
            bodies[0].push(Op::Load(0, 0));
        }
        last
    } else {
        threads
    };
    Program {
        threads: bodies,
        roots,
        initial: [0; 4],
    }
}

/// A program of two threads that wait, and one or two that notify them, who first look how many have come to wait.
pub(crate) fn waiters(seed: u64) -> Program {
    let mut numbers = RandomNumbers::new(seed);
    let threads = 3 + numbers.below(2) as usize;
    let mut bodies = Vec::new();
    for thread in 0..threads {
        let mut body = Body {
            numbers: &mut numbers,
            flavour: Flavour::Conditions,
            ops: Vec::new(),
        };
        if thread < 2 {
            body.wait_for_condition();
            body.ops.insert(1, Op::FetchAdd(2, 3, 1));
        } else {
            body.ops.push(Op::Load(2, 3));
            body.notify();
        }
        match body.below(4) {
            0 => body.condition(),
            1 => body.atomic(),
            _ => {}
        }
        bodies.push(body.ops);
    }
    Program::of(bodies)
}

/// A program of threads of which one waits for a notification that may not come, beside one that joins it, or another one,
/// and starts a third one afterwards. That one may do the same.
pub(crate) fn started_late(seed: u64) -> Program {
    let mut numbers = RandomNumbers::new(seed);
    let mut body = |what: &dyn Fn(&mut Body<'_>)| {
        let mut body = Body {
            numbers: &mut numbers,
            flavour: Flavour::Conditions,
            ops: Vec::new(),
        };
        what(&mut body);
        body.ops
    };
    let waiter = body(&|body| {
        body.wait_for_condition();
        if body.below(2) == 0 {
            body.atomic();
        }
    });
    let other = body(&|body| {
        body.notify();
        body.wait_for_condition();
    });
    let starter = body(&|body| {
        body.notify();
        let joined = u8::from(body.below(4) != 0);
        body.ops.extend([Op::Join(joined), Op::Fork(3)]);
        match body.below(3) {
            0 => body.ops.push(Op::Join(3)),
            1 => body.atomic(),
            _ => {}
        }
    });
    let late = body(&|body| match body.below(3) {
        0 => body.wait_for_condition(),
        1 => body.notify(),
        _ => body.atomic(),
    });
    Program {
        threads: vec![waiter, other, starter, late],
        roots: 3,
        initial: [0; 4],
    }
}

/// A program in which threads draw from what one thread gives, and what they have drawn decides what they do.
pub(crate) fn drawing(seed: u64) -> Program {
    const GIVEN: u8 = 2;
    let mut numbers = RandomNumbers::new(seed);
    let threads = 1 + numbers.below(3) as usize;
    let given = 1 + numbers.below(2) as usize;
    let mut bodies = vec![vec![Op::FetchAdd(3, GIVEN, 1); given]];
    for _ in 0..threads {
        let mut body = Body {
            numbers: &mut numbers,
            flavour: Flavour::Atomics,
            ops: Vec::new(),
        };
        for _ in 0..1 + body.below(3) {
            let register = body.below(3);
            body.ops.push(Op::Draw(register, GIVEN));
            if body.below(2) == 0 {
                body.ops.push(Op::Unless(register, 1, 1));
                body.atomic();
            }
        }
        bodies.push(body.ops);
    }
    Program::of(bodies)
}

/// A program of threads that share a value through handles that are counted, which is variable 2: each has one at first.
/// They make more, drop them, ask how many there are, unwrap the value and get it back from weak handles.
pub(crate) fn counting(seed: u64) -> Program {
    const COUNT: u8 = 2;
    let mut numbers = RandomNumbers::new(seed);
    let threads = 2 + numbers.below(3) as usize;
    let length = 1 + numbers.below(6 - threads as u64) as usize;
    let notices_end = numbers.below(2) == 0;
    let mut bodies = Vec::new();
    for _ in 0..threads {
        let mut body = Body {
            numbers: &mut numbers,
            flavour: Flavour::Atomics,
            ops: Vec::new(),
        };
        let drop = |body: &mut Body<'_>| {
            if notices_end {
                // The last one runs a destructor.
                body.ops.extend([
                    Op::Take(3, COUNT),
                    Op::Unless(3, 1, 1),
                    Op::FetchAdd(3, 0, 1),
                ]);
            } else {
                body.ops.push(Op::Add(COUNT, u8::MAX));
            }
        };
        let mut held = 1;
        for _ in 0..length {
            match body.below(8) {
                0 if held > 0 => {
                    held += 1;
                    body.ops.push(Op::Add(COUNT, 1));
                }
                1 | 2 if held > 0 => {
                    held -= 1;
                    drop(&mut body);
                }
                3 if held > 0 => {
                    let register = body.below(3);
                    body.ops.push(Op::Load(register, COUNT));
                }
                4 if held > 0 => {
                    // Unwraps it, or gives it up.
                    held -= 1;
                    let (register, skip) = (body.below(3), if notices_end { 3 } else { 1 });
                    body.ops.push(Op::Cas(register, COUNT, 1, 0));
                    body.ops.push(Op::Unless(register, 0, skip));
                    drop(&mut body);
                }
                5 => {
                    let (register, skip) = (body.below(3), if notices_end { 3 } else { 1 });
                    body.ops.push(Op::Upgrade(register, COUNT));
                    body.ops.push(Op::Unless(register, 1, skip));
                    drop(&mut body);
                }
                _ => body.atomic(),
            }
        }
        if body.below(2) == 0 && held > 0 {
            drop(&mut body);
        }
        bodies.push(body.ops);
    }
    let mut program = Program::of(bodies);
    program.initial[usize::from(COUNT)] = threads as u8;
    program
}

/// A program of longer threads: the bodies of two programs one after the other.
pub(crate) fn longer_program(seed: u64, flavour: Flavour) -> Program {
    let mut first = program(seed, flavour);
    let second = program(seed + (1 << 40), flavour);
    let no_forks = first.roots == first.threads.len() && second.roots == second.threads.len();
    if no_forks {
        for (body, more) in first.threads.iter_mut().zip(second.threads) {
            body.extend(more);
        }
    }
    first
}
