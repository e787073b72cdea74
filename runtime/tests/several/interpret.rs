//! The plain interpreter: every interleaving of all threads. It knows nothing of seqz's engine, logs or feasibility; what it
//! takes over are the definitions.
//!
//! T is one of the threads, and main goes on as T where it has joined T. Until then main goes on as the first thread that it
//! has joined. An interfering thread sees its own writes and what was there in the beginning; where it would see anything
//! else, it does not go on. Where main has joined a second one, it does nothing more before it joins T. k is the number of
//! T's reads that see a write of another thread which T has not seen before, and of its attempts to take a mutex that fail.

use std::collections::{BTreeMap, HashSet};

use crate::execute::{DEADLOCK, Found, K_MAX};
use crate::program::{ATOMICS, PROTECTED, Program, Stmt};

const BYTES: usize = ATOMICS + PROTECTED;

/// A step of a thread, or of main behind it.
#[derive(Clone, Copy, Debug)]
enum Step {
    Load(usize),
    Store(usize, u8),
    StoreLocal(usize, u8),
    Add(usize, u8),
    Lock(usize),
    /// If the mutex is not free, goes on there.
    Try(usize, usize),
    Unlock(usize),
    Get(usize),
    Put(usize, u8),
    /// Goes on there unless the local is this.
    If(u8, usize),
    Never(u32, u8),
    /// Another thread's code begins: its local is 0.
    Fresh,
    /// Waits for these threads, one bit each, to be over.
    Join(u32),
}

fn flatten(stmts: &[Stmt], into: &mut Vec<Step>) {
    let mut skipped: Option<usize> = None;
    for stmt in stmts {
        let skips = skipped.take();
        match *stmt {
            Stmt::Load(at) => into.push(Step::Load(at)),
            Stmt::Store(at, value) => into.push(Step::Store(at, value)),
            Stmt::StoreLocal(at, value) => into.push(Step::StoreLocal(at, value)),
            Stmt::Add(at, value) => into.push(Step::Add(at, value)),
            Stmt::Hold(lock, ref body) => {
                into.push(Step::Lock(lock));
                flatten(body, into);
                into.push(Step::Unlock(lock));
            }
            Stmt::Try(lock, ref body) => {
                let at = into.len();
                into.push(Step::Try(lock, 0));
                flatten(body, into);
                into.push(Step::Unlock(lock));
                into[at] = Step::Try(lock, into.len());
            }
            Stmt::Get(lock) => into.push(Step::Get(lock)),
            Stmt::Put(lock, value) => into.push(Step::Put(lock, value)),
            Stmt::If(value) => {
                skipped = Some(into.len());
                into.push(Step::If(value, 0));
            }
            Stmt::Never(id, value) => into.push(Step::Never(id, value)),
        }
        if let Some(at) = skips
            && let Step::If(value, _) = into[at]
        {
            into[at] = Step::If(value, into.len());
        }
    }
    if let Some(at) = skipped
        && let Step::If(value, _) = into[at]
    {
        into[at] = Step::If(value, into.len());
    }
}

/// What each thread does, with what main does behind it.
struct Code {
    lines: Vec<Vec<Step>>,
    is_cut: bool,
}

fn code(program: &Program, t: usize) -> Code {
    let mut lines: Vec<Vec<Step>> = program
        .threads
        .iter()
        .map(|stmts| {
            let mut line = Vec::new();
            flatten(stmts, &mut line);
            line
        })
        .collect();
    // The line that main is on, and those that it has joined on that line.
    let mut on = program.main_is_first.then_some(0);
    let mut behind = 0_u32;
    let mut is_cut = false;
    for (joined, after) in &program.joins {
        match on {
            None => on = Some(*joined),
            Some(line) if line == t => lines[t].push(Step::Join(1 << joined)),
            Some(line) if *joined == t => {
                lines[t].push(Step::Join(1 << line | behind));
                on = Some(t);
            }
            Some(_) => behind |= 1 << joined,
        }
        if after.is_empty() {
            continue;
        }
        if on != Some(t) && behind != 0 {
            is_cut = true;
            // Main does nothing more, and nobody waits for it.
            break;
        }
        let line = &mut lines[on.expect("it has joined one")];
        // Main has a local of its own, and each list begins with 0.
        line.push(Step::Fresh);
        flatten(after, line);
    }
    Code { lines, is_cut }
}

/// Who has written a byte last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Last {
    Nobody,
    T,
    /// This interfering thread, in its write with this number.
    Other(usize, u32),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Line {
    at: usize,
    local: u8,
    writes: u32,
    /// Whether the thread goes on only in a way that is not followed: it would see what another one has written.
    is_stopped: bool,
    /// What the guards that the thread has were taken with, by mutex.
    taken: [Option<u8>; PROTECTED],
    /// What they hold now.
    guarded: [u8; PROTECTED],
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    lines: Vec<Line>,
    values: [u8; BYTES],
    last: [Last; BYTES],
    /// The write that T has seen last of each byte, if T has not written it since.
    seen: [Last; BYTES],
    k: usize,
}

struct Search<'c> {
    code: &'c Code,
    t: usize,
    visited: HashSet<State>,
    found: BTreeMap<u32, usize>,
}

/// All failures of this thread with the smallest k of each.
pub(crate) fn interpret(program: &Program, t: usize) -> Found {
    let code = code(program, t);
    let line = Line {
        at: 0,
        local: 0,
        writes: 0,
        is_stopped: false,
        taken: [None; PROTECTED],
        guarded: [0; PROTECTED],
    };
    let mut search = Search {
        t,
        visited: HashSet::new(),
        found: BTreeMap::new(),
        code: &code,
    };
    let mut open = vec![State {
        lines: vec![line; code.lines.len()],
        values: [0; BYTES],
        last: [Last::Nobody; BYTES],
        seen: [Last::Nobody; BYTES],
        k: 0,
    }];
    while let Some(state) = open.pop() {
        if state.k > K_MAX || !search.visited.insert(state.clone()) {
            continue;
        }
        search.look_for_deadlock(&state);
        for line in 0..code.lines.len() {
            open.extend(search.step(&state, line));
        }
    }
    Found {
        smallest: search.found,
        is_cut: code.is_cut,
    }
}

impl Search<'_> {
    fn note(&mut self, id: u32, k: usize) {
        let least = self.found.entry(id).or_insert(k);
        *least = k.min(*least);
    }

    fn next(&self, state: &State, line: usize) -> Option<Step> {
        self.code.lines[line].get(state.lines[line].at).copied()
    }

    /// T waits for a mutex, and it is a circle in which it does.
    fn look_for_deadlock(&mut self, state: &State) {
        let mut waits = self.t;
        for _ in 0..=state.lines.len() {
            let Some(Step::Lock(lock)) = self.pending(state, waits) else {
                return;
            };
            let Some(holder) = holder(state, lock) else {
                return;
            };
            if holder == self.t {
                self.note(DEADLOCK, state.k);
                return;
            }
            waits = holder;
            if state.lines[waits].is_stopped {
                return;
            }
        }
    }

    /// What comes of the next step of this line, if it can be made.
    fn step(&mut self, state: &State, number: usize) -> Option<State> {
        let mut next = state.clone();
        let is_t = number == self.t;
        if next.lines[number].is_stopped {
            return None;
        }
        loop {
            let step = self.next(&next, number)?;
            next.lines[number].at += 1;
            let local = next.lines[number].local;
            match step {
                // What nobody else can see is done together with what comes after it.
                Step::Fresh => next.lines[number].local = 0,
                Step::If(value, to) => {
                    if local != value {
                        next.lines[number].at = to;
                    }
                }
                Step::Never(id, value) => {
                    if is_t && local == value {
                        self.note(id, next.k);
                        return None;
                    }
                }
                Step::Get(lock) => next.lines[number].local = next.lines[number].guarded[lock],
                Step::Put(lock, value) => next.lines[number].guarded[lock] = value,
                Step::Load(byte) => {
                    let value = self.read(&mut next, number, byte)?;
                    next.lines[number].local = value;
                    break;
                }
                Step::Store(byte, value) => {
                    self.write(&mut next, number, byte, value);
                    break;
                }
                Step::StoreLocal(byte, value) => {
                    self.write(&mut next, number, byte, local.wrapping_add(value));
                    break;
                }
                Step::Add(byte, value) => {
                    let old = self.read(&mut next, number, byte)?;
                    self.write(&mut next, number, byte, old.wrapping_add(value));
                    next.lines[number].local = old;
                    break;
                }
                Step::Lock(lock) => {
                    if holder(&next, lock).is_some() {
                        return None;
                    }
                    self.take(&mut next, number, lock);
                    break;
                }
                Step::Try(lock, to) => {
                    match holder(&next, lock) {
                        None => self.take(&mut next, number, lock),
                        Some(_) if is_t => {
                            next.k += 1;
                            next.lines[number].local = 7;
                            next.lines[number].at = to;
                        }
                        Some(_) => return None,
                    }
                    break;
                }
                Step::Unlock(lock) => {
                    let now = next.lines[number].guarded[lock];
                    if next.lines[number].taken[lock].take() != Some(now) {
                        self.write(&mut next, number, ATOMICS + lock, now);
                    }
                    break;
                }
                Step::Join(lines) => {
                    let mut all = (0..next.lines.len()).filter(|line| lines & 1 << line != 0);
                    if !all.all(|line| self.is_over(&next, line)) {
                        return None;
                    }
                    break;
                }
            }
        }
        Some(next)
    }

    /// The next step of this line that others can see; `None` if the thread is over or fails before that.
    fn pending(&self, state: &State, line: usize) -> Option<Step> {
        let Line {
            mut at,
            mut local,
            mut guarded,
            ..
        } = state.lines[line];
        while let Some(&step) = self.code.lines[line].get(at) {
            at += 1;
            match step {
                Step::Fresh => local = 0,
                Step::If(value, to) if local != value => at = to,
                Step::Never(_, value) if line == self.t && local == value => return None,
                Step::If(..) | Step::Never(..) => {}
                Step::Get(lock) => local = guarded[lock],
                Step::Put(lock, value) => guarded[lock] = value,
                _ => return Some(step),
            }
        }
        None
    }

    fn is_over(&self, state: &State, line: usize) -> bool {
        !state.lines[line].is_stopped && self.pending(state, line).is_none()
    }

    /// Takes a mutex. A thread that has it may not have looked at what it protects yet.
    fn take(&self, state: &mut State, number: usize, lock: usize) {
        let value = self.read(state, number, ATOMICS + lock);
        let line = &mut state.lines[number];
        line.is_stopped = value.is_none();
        line.taken[lock] = Some(value.unwrap_or_default());
        line.guarded[lock] = value.unwrap_or_default();
    }

    /// A read. `None` if an interfering thread would see what another thread has written.
    fn read(&self, state: &mut State, number: usize, byte: usize) -> Option<u8> {
        let last = state.last[byte];
        match last {
            Last::Other(other, _) if number == self.t => {
                if state.seen[byte] != last {
                    state.seen[byte] = last;
                    state.k += 1;
                }
                debug_assert_ne!(other, number);
            }
            Last::Other(other, _) if other != number => return None,
            Last::T if number != self.t => return None,
            _ => {}
        }
        Some(state.values[byte])
    }

    fn write(&self, state: &mut State, number: usize, byte: usize, value: u8) {
        state.values[byte] = value;
        if number == self.t {
            state.last[byte] = Last::T;
            state.seen[byte] = Last::Nobody;
        } else {
            let line = &mut state.lines[number];
            line.writes += 1;
            state.last[byte] = Last::Other(number, line.writes);
        }
    }
}

/// The thread that holds this mutex.
fn holder(state: &State, lock: usize) -> Option<usize> {
    state
        .lines
        .iter()
        .position(|line| line.taken[lock].is_some())
}
