//! All interleavings of a program, by an interpreter that knows nothing of seqz: each step is one of the real semantics, and
//! tells whether it observes something of the other thread.
//!
//! Every interleaving is walked, or those alone in which T' observes nothing of T. Such an interleaving may leave T' where
//! it can't go on by itself; if it could go on with what T has done, nobody waits for ever.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use crate::program::{ATOMICS, EMPTY, GONE, LOCALS, Program, Stmt};

/// A way in which a program fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Failure {
    Assertion(u8),
    /// Threads wait for ever; with a role, T is one of them.
    Deadlock,
    /// With a role: T' alone waits for ever.
    Left,
}

/// What all interleavings show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Behaviours {
    pub(crate) failures: BTreeSet<Failure>,
    /// The smallest number of reads of T that see a write of T' for the first time, for each failure.
    pub(crate) smallest: BTreeMap<Failure, usize>,
    /// The locals of both threads and the atomics, at the ends that are reached.
    pub(crate) outcomes: BTreeSet<Vec<u8>>,
    /// An interleaving for each failure: thread and statement.
    pub(crate) ways: Vec<(Failure, Vec<(usize, usize)>)>,
}

/// Who has last written a variable; `None` is its initial value. What the other thread has seen has [`SEEN`] added.
type By = Option<usize>;

/// See [`By`].
const SEEN: usize = 2;

/// Where a thread is inside of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Phase {
    #[default]
    Begin,
    /// On the condition variable, and whether by now it has been notified.
    Waits {
        notified: bool,
    },
    /// Has been on the condition variable, and needs the lock.
    Relock {
        notified: bool,
    },
    /// Has come to the barrier.
    Arrived {
        passes: bool,
    },
    /// In an initialization, before its store, and after it.
    Init,
    InitDone,
    /// With a bound of 0: has offered a message.
    Offered {
        taken: bool,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Thread {
    pc: usize,
    phase: Phase,
    locals: [u8; LOCALS],
    /// The value of the mutex when it was taken.
    found: u8,
    token: (bool, By),
    panicked: bool,
    /// The handles it still has.
    tx: bool,
    rx: bool,
    over: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stage {
    Incomplete,
    Running,
    Complete,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    threads: [Thread; 2],
    atomics: [(u8, By); ATOMICS],
    owner: Option<usize>,
    value: (u8, By),
    once: (Stage, By),
    cell: (Stage, By),
    cell_value: u8,
    /// Messages and their senders.
    queue: Vec<(u8, usize)>,
    /// How many sends and ends of senders of each thread there were.
    sends: [bool; 2],
    /// Who has taken the latest message.
    taken_by: By,
    gone_by: Option<By>,
    /// How many messages of each thread are in the queue, or have been taken by the other thread.
    full_for: [u8; 2],
}

/// Where interleavings go on, how they came there, and the number of times that T has seen something of T': the fewest first.
type Open = VecDeque<(State, Vec<(usize, usize)>, usize)>;

/// What becomes of a step.
enum Step {
    /// Goes on; whether the step observes something of the other thread.
    To(Box<State>, bool),
    Waits,
    Fails(u8, Box<State>),
}

impl Program {
    fn start(&self) -> State {
        let mut threads = [Thread::default(), Thread::default()];
        if let Some(channel) = self.channel {
            for (thread, has) in threads.iter_mut().zip(channel.senders) {
                thread.tx = has;
            }
            threads[channel.receiver].rx = true;
        }
        State {
            threads,
            atomics: [(0, None); ATOMICS],
            owner: None,
            value: (0, None),
            once: (Stage::Incomplete, None),
            cell: (Stage::Incomplete, None),
            cell_value: 0,
            queue: Vec::new(),
            sends: [false; 2],
            taken_by: None,
            gone_by: None,
            full_for: [0; 2],
        }
    }

    /// All interleavings; with `role`, those in which the other thread observes nothing of this one.
    pub(crate) fn interpret(&self, role: Option<usize>) -> Behaviours {
        let mut found = Behaviours::default();
        let mut seen = HashSet::new();
        let mut open = Open::from([(self.start(), Vec::new(), 0)]);
        while let Some((state, way, k)) = open.pop_front() {
            if !seen.insert(state.clone()) {
                continue;
            }
            self.visit(role, &state, (&way, k), &mut open, &mut found);
        }
        found
    }

    fn visit(
        &self,
        role: Option<usize>,
        state: &State,
        (way, k): (&[(usize, usize)], usize),
        open: &mut Open,
        found: &mut Behaviours,
    ) {
        let fail = |found: &mut Behaviours, failure: Failure, way: &[(usize, usize)], k: usize| {
            let least = found.smallest.entry(failure).or_insert(k);
            *least = k.min(*least);
            if found.failures.insert(failure) {
                found.ways.push((failure, way.to_vec()));
            }
        };
        let [first, second] = &state.threads;
        // A panic of main, or one that main is sure to see, ends the process.
        if first.over && first.panicked {
            return;
        }
        if first.over && second.over {
            if !second.panicked {
                let mut outcome = first.locals.to_vec();
                outcome.extend(second.locals);
                outcome.extend(state.atomics.map(|(value, _)| value));
                let mut after = self.after.iter();
                if let Some(assert) = after.find(|assert| assert.fails(&outcome)) {
                    let unseen =
                        |(_, by): &&(u8, By)| role.is_some_and(|role| *by == Some(1 - role));
                    let looks = state.atomics.iter().filter(unseen).count();
                    fail(found, Failure::Assertion(assert.id), way, k + looks);
                }
                found.outcomes.insert(outcome);
            }
            return;
        }
        let mut nobody = true;
        for thread in 0..2 {
            if state.threads[thread].over {
                continue;
            }
            let here = (thread, state.threads[thread].pc);
            let way: Vec<_> = way.iter().copied().chain([here]).collect();
            match self.step(state, thread) {
                Step::Waits => {}
                Step::To(_, true) if role.is_some_and(|role| role != thread) => nobody = false,
                Step::To(next, true) => {
                    nobody = false;
                    open.push_back((*next, way, k + 1));
                }
                Step::To(next, false) => {
                    nobody = false;
                    open.push_front((*next, way, k));
                }
                Step::Fails(id, next) => {
                    nobody = false;
                    // With a role, what T' does by itself is the other role's.
                    if role.is_none_or(|role| role == thread) {
                        fail(found, Failure::Assertion(id), &way, k);
                    }
                    if role != Some(thread) {
                        open.push_front((*next, way, k));
                    }
                }
            }
        }
        if nobody {
            let left = role.is_some_and(|role| state.threads[role].over);
            let failure = if left {
                Failure::Left
            } else {
                Failure::Deadlock
            };
            fail(found, failure, way, k);
        }
    }

    fn step(&self, before: &State, me: usize) -> Step {
        let other = 1 - me;
        let mut state = Box::new(before.clone());
        let thread = &before.threads[me];
        let sees = |by: By| by == Some(other);
        let seen = |by: By| {
            if by == Some(other) {
                Some(other + SEEN)
            } else {
                by
            }
        };
        if let Some(&Stmt::Unless { local, value }) = self.threads[me].get(thread.pc)
            && !thread.panicked
        {
            let skips = usize::from(thread.locals[local] == value);
            state.threads[me].pc += 1 + skips;
            return Step::To(state, false);
        }
        let Some(&stmt) = self.threads[me].get(thread.pc).filter(|_| !thread.panicked) else {
            // The end: what the thread has is dropped.
            if thread.tx {
                state.drop_sender(me);
            } else if thread.rx {
                state.drop_receiver(me);
            } else {
                state.threads[me].over = true;
            }
            return Step::To(state, false);
        };
        macro_rules! next {
            ($observes:expr) => {{
                let observes = $observes;
                state.threads[me].pc += 1;
                state.threads[me].phase = Phase::Begin;
                return Step::To(state, observes);
            }};
        }
        macro_rules! phase {
            ($phase:expr, $observes:expr) => {{
                state.threads[me].phase = $phase;
                return Step::To(state, $observes);
            }};
        }
        match stmt {
            Stmt::Load { x, into } => {
                let (value, by) = before.atomics[x];
                state.threads[me].locals[into] = value;
                state.atomics[x].1 = seen(by);
                next!(sees(by))
            }
            Stmt::Store { x, value } => {
                state.atomics[x] = (value, Some(me));
                next!(false)
            }
            Stmt::Add { x, into } => {
                let (value, by) = before.atomics[x];
                state.threads[me].locals[into] = value;
                state.atomics[x] = (value + 1, Some(me));
                next!(sees(by))
            }
            Stmt::Lock => {
                if before.owner.is_some() {
                    return Step::Waits;
                }
                state.take(me);
                state.value.1 = seen(before.value.1);
                next!(sees(before.value.1))
            }
            Stmt::Unlock => {
                state.give(me);
                next!(false)
            }
            Stmt::Get { into } => {
                state.threads[me].locals[into] = before.value.0;
                next!(false)
            }
            Stmt::Put { value } => {
                // Who has written is noted where the lock is given back.
                state.value.0 = value;
                next!(false)
            }
            Stmt::Wait | Stmt::WaitWhile | Stmt::WaitTimeout { .. } => {
                let limited = matches!(stmt, Stmt::WaitTimeout { .. });
                match thread.phase {
                    Phase::Waits { notified } if notified || limited => {
                        phase!(Phase::Relock { notified }, notified)
                    }
                    Phase::Waits { .. } => Step::Waits,
                    Phase::Relock { .. } if before.owner.is_some() => Step::Waits,
                    Phase::Relock { notified } => {
                        state.take(me);
                        let observes = sees(before.value.1);
                        state.value.1 = seen(before.value.1);
                        if stmt == Stmt::WaitWhile {
                            phase!(Phase::Begin, observes)
                        }
                        if let Stmt::WaitTimeout { into } = stmt {
                            state.threads[me].locals[into] = u8::from(!notified);
                        }
                        next!(observes)
                    }
                    _ if stmt == Stmt::WaitWhile && before.value.0 != 0 => next!(false),
                    _ => {
                        state.give(me);
                        phase!(Phase::Waits { notified: false }, false)
                    }
                }
            }
            Stmt::NotifyOne | Stmt::NotifyAll => {
                if let Phase::Waits { notified } = &mut state.threads[other].phase {
                    *notified = true;
                }
                next!(false)
            }
            Stmt::Park | Stmt::ParkTimeout => {
                let (token, by) = thread.token;
                if !token {
                    if stmt == Stmt::Park {
                        return Step::Waits;
                    }
                    next!(false)
                }
                state.threads[me].token = (false, Some(me));
                next!(sees(by))
            }
            Stmt::UnparkOther => {
                state.threads[other].token = (true, Some(me));
                next!(false)
            }
            Stmt::UnparkSelf => {
                state.threads[me].token = (true, Some(me));
                next!(false)
            }
            Stmt::Barrier { into } => match thread.phase {
                Phase::Arrived { passes: false } => Step::Waits,
                Phase::Arrived { passes: true } => next!(true),
                _ => {
                    if let Phase::Arrived { passes } = &mut state.threads[other].phase
                        && !*passes
                    {
                        *passes = true;
                        state.threads[me].locals[into] = 1;
                        next!(true)
                    }
                    state.threads[me].locals[into] = 0;
                    phase!(Phase::Arrived { passes: false }, false)
                }
            },
            Stmt::CallOnce { x, value } => match (thread.phase, before.once.0) {
                (Phase::Init, _) => {
                    state.atomics[x] = (value, Some(me));
                    phase!(Phase::InitDone, false)
                }
                (Phase::InitDone, _) => {
                    state.once = (Stage::Complete, Some(me));
                    next!(false)
                }
                (_, Stage::Running) => Step::Waits,
                (_, Stage::Complete) => {
                    state.once.1 = seen(before.once.1);
                    next!(sees(before.once.1))
                }
                (_, Stage::Incomplete) => {
                    state.once = (Stage::Running, Some(me));
                    phase!(Phase::Init, false)
                }
            },
            Stmt::IsCompleted { into } => {
                state.threads[me].locals[into] = u8::from(before.once.0 == Stage::Complete);
                state.once.1 = seen(before.once.1);
                next!(sees(before.once.1))
            }
            Stmt::AwaitOnce => {
                if before.once.0 != Stage::Complete {
                    return Step::Waits;
                }
                state.once.1 = seen(before.once.1);
                next!(sees(before.once.1))
            }
            Stmt::AwaitCell { into } => {
                if before.cell.0 != Stage::Complete {
                    return Step::Waits;
                }
                state.threads[me].locals[into] = before.cell_value;
                state.cell.1 = seen(before.cell.1);
                next!(sees(before.cell.1))
            }
            Stmt::Set { value, into } | Stmt::GetOrInit { value, into, .. } => {
                let gives = matches!(stmt, Stmt::GetOrInit { .. });
                match (thread.phase, before.cell.0) {
                    (Phase::Init, _) => {
                        if let Stmt::GetOrInit { x, .. } = stmt {
                            state.atomics[x] = (value, Some(me));
                        }
                        phase!(Phase::InitDone, false)
                    }
                    (Phase::InitDone, _) => {
                        state.cell = (Stage::Complete, Some(me));
                        state.cell_value = value;
                        state.threads[me].locals[into] = if gives { value } else { 1 };
                        next!(false)
                    }
                    (_, Stage::Running) => Step::Waits,
                    (_, Stage::Complete) => {
                        state.threads[me].locals[into] = if gives { before.cell_value } else { 0 };
                        state.cell.1 = seen(before.cell.1);
                        next!(sees(before.cell.1))
                    }
                    (_, Stage::Incomplete) => {
                        state.cell = (Stage::Running, Some(me));
                        phase!(Phase::Init, false)
                    }
                }
            }
            Stmt::GetCell { into } => {
                let is_there = before.cell.0 == Stage::Complete;
                state.threads[me].locals[into] = if is_there { before.cell_value } else { EMPTY };
                state.cell.1 = seen(before.cell.1);
                next!(sees(before.cell.1))
            }
            Stmt::Send { value, into } | Stmt::TrySend { value, into } => {
                if !thread.tx {
                    next!(false)
                }
                let bound = self.channel.and_then(|channel| channel.bound);
                if let Phase::Offered { taken } = thread.phase {
                    if taken {
                        state.threads[me].locals[into] = 1;
                        next!(sees(before.taken_by))
                    }
                    if let Some(by) = before.gone_by {
                        state.queue.retain(|&(_, of)| of != me);
                        state.threads[me].locals[into] = GONE;
                        next!(sees(by))
                    }
                    return Step::Waits;
                }
                if let Some(by) = before.gone_by {
                    state.threads[me].locals[into] = GONE;
                    next!(sees(by))
                }
                let mut observes = false;
                if let Some(bound) = bound.filter(|&bound| bound > 0) {
                    let is_full_for_me = usize::from(before.full_for[me]) >= bound;
                    if before.queue.len() >= bound {
                        if matches!(stmt, Stmt::Send { .. }) {
                            return Step::Waits;
                        }
                        state.threads[me].locals[into] = EMPTY;
                        next!(!is_full_for_me || sees(before.taken_by))
                    }
                    observes = is_full_for_me;
                }
                state.queue.push((value, me));
                state.full_for[me] += 1;
                state.sends[me] = true;
                if bound == Some(0) {
                    phase!(Phase::Offered { taken: false }, false)
                }
                state.threads[me].locals[into] = 1;
                next!(observes)
            }
            Stmt::Recv { into } | Stmt::TryRecv { into } | Stmt::RecvTimeout { into } => {
                if !thread.rx {
                    next!(false)
                }
                if before.queue.is_empty() {
                    let is_over = before.threads.iter().all(|thread| !thread.tx);
                    if !is_over && matches!(stmt, Stmt::Recv { .. }) {
                        return Step::Waits;
                    }
                    state.threads[me].locals[into] = if is_over { GONE } else { EMPTY };
                    next!(before.sends[other])
                }
                let (value, of) = state.queue.remove(0);
                if let Phase::Offered { taken } = &mut state.threads[of].phase {
                    *taken = true;
                }
                if of == me {
                    state.full_for[me] -= 1;
                }
                state.taken_by = Some(me);
                state.threads[me].locals[into] = value;
                // The order of messages depends on all that have been sent.
                next!(before.sends[other])
            }
            Stmt::DropSender => {
                if thread.tx {
                    state.drop_sender(me);
                }
                next!(false)
            }
            Stmt::DropReceiver => {
                if thread.rx {
                    state.drop_receiver(me);
                }
                next!(false)
            }
            Stmt::Unless { .. } => Step::Waits,
            Stmt::Assert(assert) => {
                if assert.fails(&thread.locals) {
                    state.threads[me].panicked = true;
                    return Step::Fails(assert.id, state);
                }
                next!(false)
            }
        }
    }
}

impl State {
    fn take(&mut self, me: usize) {
        self.owner = Some(me);
        self.threads[me].found = self.value.0;
    }

    fn give(&mut self, me: usize) {
        self.owner = None;
        // A lock that is given back with the value that it had has only been read.
        if self.threads[me].found != self.value.0 {
            self.value.1 = Some(me);
        }
    }

    fn drop_sender(&mut self, me: usize) {
        self.threads[me].tx = false;
        self.sends[me] = true;
    }

    fn drop_receiver(&mut self, me: usize) {
        self.threads[me].rx = false;
        self.gone_by = Some(Some(me));
    }
}
