//! One step of a program: what each thread can do next, and what comes of it.
//!
//! Sequential consistency, std's semantics and nothing of seqz's. A thread that panics leaves its scopes one by one, and each
//! of them is a step.

use super::ops::{Op, Place, SCRATCH, Site, Take};
use super::program::{
    Cond, Ending, HUNG_UP, Joining, LOCALS, Local, Operand, PANICKED, Program, RETURNED, Start,
    UNSET, Value,
};

/// What a thread has to do when it leaves a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Scope {
    Guard {
        lock: u8,
        exclusive: bool,
    },
    Token,
    Sender,
    Receiver,
    Adds {
        cell: u8,
        by: Value,
    },
    /// Takes the lock, and becomes [`Scope::Grown`].
    Grows {
        lock: u8,
        by: Value,
    },
    Grown {
        lock: u8,
        by: Value,
    },
    /// The `OnceLock` gets its value.
    Init,
    Catch {
        to: Local,
        at: Place,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stage {
    Absent,
    Runs,
    Panics(Site),
    /// It has finished, and has thread-locals to destroy.
    Ends(Result<[Value; RETURNED], Site>),
    Over(Result<[Value; RETURNED], Site>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Thread {
    stage: Stage,
    at: Place,
    locals: [Value; LOCALS + 1],
    scopes: Vec<Scope>,
    is_joined: bool,
    is_detached: bool,
    /// Its thread-local, once it has been used.
    local: Option<Value>,
    sleep: Sleep,
    /// It has been unparked, and has not parked since.
    is_unparked: bool,
    /// The panic that was caught last.
    caught: Option<Site>,
    /// The test returns this `Err`.
    fails: Option<Site>,
}

/// What a thread waits for in two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Sleep {
    Awake,
    /// For a notification.
    Asleep,
    Notified,
    TimedOut,
    /// For others to come to the barrier.
    AtBarrier,
    /// For its message to be taken.
    Offers,
    Taken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Once {
    Fresh,
    Busy,
    Done(Value),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Lock {
    value: Value,
    is_poisoned: bool,
    is_taken: bool,
    readers: u8,
}

/// Where an execution is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    threads: Vec<Thread>,
    cells: Vec<Value>,
    locks: Vec<Lock>,
    tokens: Value,
    senders: Value,
    has_receiver: bool,
    queue: Vec<Value>,
    /// Who waits for each of them to be taken, where messages are handed over.
    offers: Vec<usize>,
    once: Once,
    /// How many wait at the barrier.
    come: usize,
    /// What the test has seen so far.
    seen: Vec<Value>,
}

/// How a thread stands at the end of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    /// `None` if it waits for ever.
    pub(crate) end: Option<Result<(), Site>>,
    /// A panic that has not come to the top of the thread.
    pub(crate) held: Option<Site>,
    pub(crate) is_joined: bool,
    pub(crate) is_detached: bool,
}

/// The threads' operations, and what decides at the end.
pub(crate) struct Machine<'a> {
    pub(crate) ops: &'a [Vec<Op>],
    pub(crate) program: &'a Program,
}

impl Machine<'_> {
    pub(crate) fn start(&self) -> State {
        let absent = Thread {
            stage: Stage::Absent,
            at: 0,
            locals: [0; LOCALS + 1],
            scopes: Vec::new(),
            is_joined: false,
            is_detached: false,
            local: None,
            sleep: Sleep::Awake,
            is_unparked: false,
            caught: None,
            fails: None,
        };
        let mut state = State {
            threads: vec![absent; self.ops.len()],
            cells: vec![0; self.program.cells.len()],
            locks: vec![Lock::default(); self.program.locks.len()],
            tokens: 0,
            senders: 0,
            has_receiver: true,
            queue: Vec::new(),
            offers: Vec::new(),
            once: Once::Fresh,
            come: 0,
            seen: Vec::new(),
        };
        self.equip(&mut state, 0);
        state.threads[0].stage = Stage::Runs;
        self.go_on(&mut state, 0);
        state
    }

    /// All that can come of the next step, of any thread.
    pub(crate) fn after(&self, state: &State) -> Vec<State> {
        let mut all = Vec::new();
        for thread in 0..state.threads.len() {
            for choice in 0.. {
                let mut next = state.clone();
                if !self.step(&mut next, thread, choice) {
                    break;
                }
                self.go_on(&mut next, thread);
                all.push(next);
            }
        }
        all
    }

    /// How the threads stand that have been started.
    pub(crate) fn fates(&self, state: &State) -> Vec<Option<Fate>> {
        let fate = |thread: &Thread| {
            let end = match thread.stage {
                Stage::Absent => return None,
                Stage::Runs | Stage::Panics(_) | Stage::Ends(_) => None,
                Stage::Over(end) => Some(end.map(|_| ())),
            };
            let held = match thread.stage {
                Stage::Panics(site) => Some(site),
                _ => None,
            };
            Some(Fate {
                end,
                held,
                is_joined: thread.is_joined,
                is_detached: thread.is_detached,
            })
        };
        state.threads.iter().map(fate).collect()
    }

    /// What the test has seen.
    pub(crate) fn seen<'a>(&self, state: &'a State) -> &'a [Value] {
        &state.seen
    }

    /// A thread has returned, perhaps early, by a `?`: it drops the handles that it has not joined. What becomes of the test's
    /// own is decided at the end of the execution.
    fn let_go(&self, state: &mut State, thread: usize) {
        if thread == 0 {
            return;
        }
        for op in &self.ops[thread] {
            if let Op::Spawn(child) = *op
                && state.threads[child].stage != Stage::Absent
                && !state.threads[child].is_joined
            {
                state.threads[child].is_detached = true;
            }
        }
    }

    /// What the thread has from its start.
    fn equip(&self, state: &mut State, thread: usize) {
        let scopes = &mut state.threads[thread].scopes;
        if self.program.token.is_some() {
            scopes.push(Scope::Token);
            state.tokens += 1;
        }
        if let Some(channel) = &self.program.channel {
            if channel.receiver == thread {
                scopes.push(Scope::Receiver);
            }
            if channel.sends(thread) {
                scopes.push(Scope::Sender);
                state.senders += 1;
            }
        }
    }

    /// The thread's next step, or one of several. The answer is whether there is one of that number.
    fn step(&self, state: &mut State, thread: usize, choice: usize) -> bool {
        let op = match state.threads[thread].stage {
            Stage::Runs => self.ops[thread][usize::from(state.threads[thread].at)],
            _ => Op::End,
        };
        if let Op::Notify { all: false } = op {
            let asleep = |it: &&mut Thread| it.sleep == Sleep::Asleep;
            match state.threads.iter_mut().filter(asleep).nth(choice) {
                Some(woken) => woken.sleep = Sleep::Notified,
                None if choice > 0 => return false,
                None => {}
            }
            state.threads[thread].at += 1;
            return true;
        }
        if choice > 0 {
            return false;
        }
        match state.threads[thread].stage {
            Stage::Absent | Stage::Over(_) => return false,
            Stage::Ends(end) => {
                let by = state.threads[thread].local.expect("a thread-local");
                state.cells[self.program.local.expect("a thread-local")] += by;
                state.threads[thread].stage = Stage::Over(end);
                return true;
            }
            Stage::Panics(site) => {
                if let Some(done) = grow(state, thread) {
                    return done;
                }
                match state.threads[thread].scopes.pop() {
                    Some(scope) => self.leave(state, thread, scope, true),
                    None if thread == 0 && self.waits_for_scope(state) => return false,
                    None => state.threads[thread].finish(Err(site)),
                }
                return true;
            }
            Stage::Runs => {}
        }
        let at = state.threads[thread].at;
        let op = self.ops[thread][usize::from(at)];
        state.threads[thread].at += 1;
        let this = &mut state.threads[thread];
        match op {
            Op::Load { to, cell } => this.set(to, state.cells[cell]),
            Op::Store { cell, value } => state.cells[cell] = this.value(value),
            Op::Add { to, cell, by } => {
                if let Some(to) = to {
                    this.set(to, state.cells[cell]);
                }
                state.cells[cell] += by;
            }
            Op::Swap { to, cell, value } => {
                let old = state.cells[cell];
                state.cells[cell] = this.value(value);
                this.set(to, old);
            }
            Op::Exchange {
                to,
                cell,
                from,
                new,
            } => {
                if state.cells[cell] == from {
                    state.cells[cell] = new;
                    this.set(to, 7);
                } else {
                    this.set(to, state.cells[cell]);
                }
            }
            Op::Take(take) => return self.take(state, thread, take),
            Op::Leave => {
                if let Some(done) = grow(state, thread) {
                    state.threads[thread].at -= 1;
                    return done;
                }
                let this = &mut state.threads[thread];
                let scope = this.scopes.pop().expect("a scope");
                self.leave(state, thread, scope, false);
            }
            Op::Spawn(child) => {
                state.threads[child].stage = Stage::Runs;
                self.equip(state, child);
                self.go_on(state, child);
            }
            Op::Join(child, how) => {
                let Stage::Over(end) = state.threads[child].stage else {
                    return false;
                };
                state.threads[child].is_joined = true;
                let values = match (end, how) {
                    (Ok(values), _) => values,
                    (Err(_), Joining::Handle) => [PANICKED; RETURNED],
                    (Err(_), Joining::Unwrap) => {
                        let child = u8::try_from(child).expect("few threads");
                        state.threads[thread].stage = Stage::Panics(Site::Result(child));
                        return true;
                    }
                };
                if thread == 0 {
                    state.seen.extend(values);
                } else {
                    state.threads[thread].set(1, values[0]);
                }
            }
            Op::ScopeEnd => {
                if self.waits_for_scope(state) {
                    return false;
                }
                let mut all = state.threads.iter().skip(1);
                if all.any(|it| !it.is_joined && matches!(it.stage, Stage::Over(Err(_)))) {
                    state.threads[0].stage = Stage::Panics(Site::Scope);
                }
            }
            Op::CountTokens { to } => this.set(to, state.tokens),
            Op::DropToken => {
                this.forget(Scope::Token);
                self.end_token(state, thread);
            }
            Op::TakeToken => {
                if state.tokens == 1 {
                    this.forget(Scope::Token);
                    self.end_token(state, thread);
                } else {
                    this.set(SCRATCH, 0);
                }
            }
            Op::Send { to, value } => {
                let channel = self.program.channel.as_ref();
                let bound = channel.and_then(|it| it.bound);
                this.set(to, Value::from(state.has_receiver));
                if state.has_receiver {
                    match bound {
                        Some(0) => {
                            this.sleep = Sleep::Offers;
                            state.offers.push(thread);
                        }
                        Some(bound) if state.queue.len() >= bound => return false,
                        _ => {}
                    }
                    state.queue.push(this.value(value));
                }
            }
            Op::Taken { to } => match this.sleep {
                Sleep::Offers if state.has_receiver => return false,
                Sleep::Offers => {
                    this.sleep = Sleep::Awake;
                    this.set(to, 0);
                }
                _ => this.sleep = Sleep::Awake,
            },
            Op::Receive { to, empty } => {
                if !state.queue.is_empty() {
                    this.set(to, state.queue.remove(0));
                    if !state.offers.is_empty() {
                        let offers = state.offers.remove(0);
                        state.threads[offers].sleep = Sleep::Taken;
                    }
                } else if state.senders == 0 {
                    this.set(to, HUNG_UP);
                } else if let Some(empty) = empty {
                    this.set(to, empty);
                } else {
                    return false;
                }
            }
            Op::DropSender => {
                this.forget(Scope::Sender);
                state.senders -= 1;
            }
            Op::DropReceiver => {
                this.forget(Scope::Receiver);
                hang_up(state);
            }
            Op::Sleep => {
                let guard = this.scopes.pop();
                this.sleep = Sleep::Asleep;
                self.leave(state, thread, guard.expect("a guard"), false);
            }
            Op::Wake { timed } => match this.sleep {
                Sleep::Asleep if timed => {
                    this.sleep = Sleep::TimedOut;
                    this.at -= 1;
                }
                Sleep::Asleep => return false,
                _ => {
                    let take = Take {
                        lock: 0,
                        exclusive: true,
                        busy: None,
                        poisoned: None,
                    };
                    this.sleep = Sleep::Awake;
                    return self.take(state, thread, take);
                }
            },
            Op::Notify { .. } => {
                for other in &mut state.threads {
                    if other.sleep == Sleep::Asleep {
                        other.sleep = Sleep::Notified;
                    }
                }
            }
            Op::Finished { to, thread: other } => {
                let stage = state.threads[other].stage;
                let finished = matches!(stage, Stage::Ends(_) | Stage::Over(_));
                state.threads[thread].set(to, Value::from(finished));
            }
            Op::Upgrade(none) => {
                if state.tokens == 0 {
                    this.at = none;
                } else {
                    state.tokens += 1;
                    this.scopes.push(Scope::Token);
                }
            }
            Op::Arrive { to } => {
                let is_last = Some(state.come + 1) == self.program.barrier;
                this.set(to, Value::from(is_last));
                if is_last {
                    state.come = 0;
                    for other in &mut state.threads {
                        if other.sleep == Sleep::AtBarrier {
                            other.sleep = Sleep::Awake;
                        }
                    }
                } else {
                    state.come += 1;
                    this.sleep = Sleep::AtBarrier;
                }
            }
            Op::Pass => return this.sleep == Sleep::Awake,
            Op::Begin { to, over } => match state.once {
                Once::Fresh => {
                    state.once = Once::Busy;
                    this.scopes.push(Scope::Init);
                }
                Once::Busy => return false,
                Once::Done(value) => {
                    this.set(to, value);
                    this.at = over;
                }
            },
            Op::Finish { to, value } => {
                let value = this.value(value);
                this.forget(Scope::Init);
                this.set(to, value);
                state.once = Once::Done(value);
            }
            Op::Peek { to } => match state.once {
                Once::Done(value) => this.set(to, value),
                Once::Fresh | Once::Busy => this.set(to, UNSET),
            },
            Op::Park { timed } => {
                return std::mem::take(&mut this.is_unparked) || timed;
            }
            Op::Unpark(other) => state.threads[other].is_unparked = true,
            Op::Look(cell) => state.seen.push(state.cells[cell]),
            Op::End => {
                let returned = std::array::from_fn(|at| this.locals[at]);
                this.finish(this.fails.map_or(Ok(returned), Err));
                self.let_go(state, thread);
            }
            op => unreachable!("{op:?} is no step"),
        }
        true
    }

    /// Whether there are threads which the test may not leave behind.
    fn waits_for_scope(&self, state: &State) -> bool {
        let mut all = state.threads.iter().skip(1);
        self.program.start == Start::Scope
            && all.any(|it| !matches!(it.stage, Stage::Absent | Stage::Over(_)))
    }

    /// What becomes of what the scope holds.
    fn leave(&self, state: &mut State, thread: usize, scope: Scope, panics: bool) {
        match scope {
            Scope::Guard { lock, exclusive } => {
                let lock = &mut state.locks[usize::from(lock)];
                if exclusive {
                    lock.is_taken = false;
                    lock.is_poisoned |= panics;
                } else {
                    lock.readers -= 1;
                }
            }
            Scope::Adds { cell, by } => state.cells[usize::from(cell)] += by,
            Scope::Token => self.end_token(state, thread),
            Scope::Sender => state.senders -= 1,
            Scope::Receiver => hang_up(state),
            Scope::Grown { lock, by } => {
                let lock = &mut state.locks[usize::from(lock)];
                lock.value += by;
                lock.is_taken = false;
            }
            Scope::Init => state.once = Once::Fresh,
            Scope::Grows { .. } | Scope::Catch { .. } => {}
        }
    }

    /// One handle less; the last one enters the scope of the destructor.
    fn end_token(&self, state: &mut State, thread: usize) {
        state.tokens -= 1;
        let this = &mut state.threads[thread];
        this.set(SCRATCH, Value::from(state.tokens == 0));
        if state.tokens == 0 {
            let cell = self.program.token.expect("a token");
            let cell = u8::try_from(cell).expect("few atomics");
            this.scopes.push(Scope::Adds { cell, by: 1 });
        }
    }

    fn take(&self, state: &mut State, thread: usize, take: Take) -> bool {
        let lock = &mut state.locks[take.lock];
        let this = &mut state.threads[thread];
        if lock.is_taken || (take.exclusive && lock.readers > 0) {
            let Some(busy) = take.busy else { return false };
            this.at = busy;
            return true;
        }
        if take.exclusive {
            lock.is_taken = true;
        } else {
            lock.readers += 1;
        }
        this.scopes.push(Scope::Guard {
            lock: u8::try_from(take.lock).expect("few locks"),
            exclusive: take.exclusive,
        });
        if lock.is_poisoned {
            match take.poisoned {
                Some(at) => this.at = at,
                None => this.stage = Stage::Panics(Site::Poison),
            }
        }
        true
    }

    /// What the thread does up to its next step.
    fn go_on(&self, state: &mut State, thread: usize) {
        loop {
            let this = &mut state.threads[thread];
            if let Stage::Panics(_) = this.stage {
                let Some(Scope::Catch { to, at }) = this.scopes.last().copied() else {
                    return;
                };
                if let Stage::Panics(site) = this.stage {
                    this.caught = Some(site);
                }
                this.scopes.pop();
                this.set(to, 1);
                this.at = at;
                this.stage = Stage::Runs;
            }
            if this.stage != Stage::Runs {
                return;
            }
            let op = self.ops[thread][usize::from(this.at)];
            if op.is_seen() {
                return;
            }
            this.at += 1;
            match op {
                Op::Get { to, lock } => this.set(to, state.locks[lock].value),
                Op::Put { lock, value } => state.locks[lock].value = this.value(value),
                Op::Grow { lock, by } => state.locks[lock].value += by,
                Op::Enter { cell, by } => {
                    let cell = u8::try_from(cell).expect("few atomics");
                    this.scopes.push(Scope::Adds { cell, by });
                }
                Op::Catch { to, at } => this.scopes.push(Scope::Catch { to, at }),
                Op::Caught { to } => {
                    this.set(to, 0);
                    this.scopes.pop();
                }
                Op::EnterGrowing { lock, by } => {
                    let lock = u8::try_from(lock).expect("few locks");
                    this.scopes.push(Scope::Grows { lock, by });
                }
                Op::Resume { of } => {
                    if this.local(of) == 1 {
                        this.stage = Stage::Panics(this.caught.expect("a panic"));
                    }
                }
                Op::Touch { by } => *this.local.get_or_insert(0) += by,
                Op::Set { to, value } => this.set(to, value),
                Op::Jump(to) => this.at = to,
                Op::Unless(cond, to) => {
                    if !this.holds(cond) {
                        this.at = to;
                    }
                }
                Op::Panic(site) => this.stage = Stage::Panics(Site::Own(site)),
                Op::Detach(child) => state.threads[child].is_detached = true,
                Op::Tell => {
                    let locals = this.locals;
                    state.seen.extend(&locals[..RETURNED]);
                    if let Some(site) = tells(&self.program.ending, &state.seen) {
                        if self.program.returns && site != Site::Unknown {
                            state.threads[thread].fails = Some(site);
                        } else {
                            state.threads[thread].stage = Stage::Panics(site);
                        }
                    }
                }
                op => unreachable!("{op:?} is a step"),
            }
        }
    }
}

impl Thread {
    fn finish(&mut self, end: Result<[Value; RETURNED], Site>) {
        self.stage = match self.local {
            Some(_) => Stage::Ends(end),
            None => Stage::Over(end),
        };
    }

    /// What the scope holds has been given back by hand.
    fn forget(&mut self, scope: Scope) {
        let at = self.scopes.iter().rposition(|it| *it == scope);
        self.scopes.remove(at.expect("the scope"));
    }

    fn set(&mut self, to: Local, value: Value) {
        self.locals[usize::from(to)] = value;
    }

    fn local(&self, local: Local) -> Value {
        self.locals[usize::from(local)]
    }

    fn value(&self, operand: Operand) -> Value {
        match operand {
            Operand::Const(value) => value,
            Operand::Of(local) => self.local(local),
            Operand::Plus(local, by) => self.local(local) + by,
        }
    }

    fn holds(&self, cond: Cond) -> bool {
        match cond {
            Cond::Is(local, value) => self.local(local) == value,
            Cond::Not(local, value) => self.local(local) != value,
            Cond::AtLeast(local, value) => self.local(local) >= value,
        }
    }
}

/// What the innermost scope is left with, if that is to take a lock: whether it can be had.
fn grow(state: &mut State, thread: usize) -> Option<bool> {
    let scope = state.threads[thread].scopes.last_mut()?;
    let Scope::Grows { lock, by } = *scope else {
        return None;
    };
    let taken = &mut state.locks[usize::from(lock)];
    let free = !taken.is_taken && taken.readers == 0;
    if free {
        taken.is_taken = true;
        *scope = Scope::Grown { lock, by };
    }
    Some(free)
}

/// There is no receiver any more: what was sent is gone.
fn hang_up(state: &mut State) {
    state.has_receiver = false;
    state.queue.clear();
    state.offers.clear();
}

fn tells(ending: &Ending, seen: &[Value]) -> Option<Site> {
    let (all, told) = match ending {
        Ending::Quiet => return None,
        Ending::TellAll(all) => (all, None),
        Ending::TellOne(all, told) => (all, Some(*told)),
    };
    let Some(at) = all.iter().position(|one| one == seen) else {
        return Some(Site::Unknown);
    };
    let is_told = told.is_none_or(|told| told == at);
    is_told.then(|| Site::Outcome(u16::try_from(at).expect("few outcomes")))
}
