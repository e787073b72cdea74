//! The plain interpreter: every interleaving of each round. It knows nothing of seqz's engine, logs or feasibility; what it
//! takes over are the definitions.
//!
//! T is the first thread of each round, or the second one; after a round, main goes on as T. T' sees nothing that T has
//! written in the same round. k is the number of T's reads that see a write which T' has made in the same round and which T
//! has not seen before. When the next round begins, T reads what T' has written last and T has not seen, one byte after the
//! other, those first that T' has used first; such a read counts if T's own value could have been last as well, with all
//! that T has seen until then.

use std::collections::{BTreeMap, BTreeSet};

use seqz_runtime::Role;

use crate::execute::K_MAX;
use crate::program::{BYTES, PROTECTED, Program, Stmt};

/// What the bytes are.
type Values = [u8; BYTES];

/// For each byte: the number of the write of T' that was last, or `None` if that of T or of an earlier round was.
type Last = [Option<u32>; BYTES];

/// All that can happen.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    /// The failures, by number, with the smallest k of each.
    pub(crate) smallest: BTreeMap<u32, usize>,
    /// The number of failures after the first round.
    pub(crate) late: usize,
    /// The number of times that a read between two rounds counted.
    pub(crate) by_choice: usize,
}

/// A thread in the middle of what it does.
#[derive(Clone, Copy)]
struct At<'p> {
    rest: &'p [Stmt],
    local: u8,
}

/// A round in the middle of an interleaving.
#[derive(Clone)]
struct State<'p> {
    t: At<'p>,
    /// What main does after the join, until it does.
    after: Option<&'p [Stmt]>,
    u: At<'p>,
    values: Values,
    /// Who wrote each byte last.
    last: Last,
    is_of_t: [bool; BYTES],
    seen: Last,
    writes: u32,
    reads: u32,
    pairs: Vec<(u32, u32)>,
    used: Vec<usize>,
}

/// How a round can end with the same non-local reads.
#[derive(Default)]
struct Ends {
    /// Who was last, as far as T has not seen it, with the values.
    all: BTreeSet<(Last, Values)>,
    used: Vec<usize>,
}

struct Search {
    before: usize,
    is_late: bool,
    ends: BTreeMap<Vec<(u32, u32)>, Ends>,
    found: Expected,
}

pub(crate) fn interpret(program: &Program, role: Role) -> Expected {
    let mut starts: BTreeMap<Values, usize> = BTreeMap::from([([0; BYTES], 0)]);
    let mut found = Expected::default();
    for (index, round) in program.rounds.iter().enumerate() {
        let (t, u) = if role == Role::FIRST {
            (&round.first, &round.second)
        } else {
            (&round.second, &round.first)
        };
        let mut next = BTreeMap::new();
        for (values, before) in starts {
            let mut search = Search {
                before,
                is_late: index > 0,
                ends: BTreeMap::new(),
                found,
            };
            let start = State {
                t: At { rest: t, local: 0 },
                after: Some(&round.after),
                u: At { rest: u, local: 0 },
                values,
                last: [None; BYTES],
                is_of_t: [false; BYTES],
                seen: [None; BYTES],
                writes: 0,
                reads: 0,
                pairs: Vec::new(),
                used: Vec::new(),
            };
            search.visit(start.with_end_of_u());
            found = search.found;
            for (pairs, ends) in &search.ends {
                for (last, values) in &ends.all {
                    let counted = ends.counted(last);
                    found.by_choice += usize::from(counted > 0);
                    let k = before + pairs.len() + counted;
                    let least = next.entry(*values).or_insert(k);
                    *least = k.min(*least);
                }
            }
        }
        starts = next;
    }
    found.smallest.retain(|_, k| *k <= K_MAX);
    found
}

impl Ends {
    /// The number of reads that count between this end of the round and the next one.
    fn counted(&self, last: &Last) -> usize {
        let mut like_this: Vec<&Last> = self.all.iter().map(|(last, _)| last).collect();
        let mut counted = 0;
        for &byte in &self.used {
            counted += usize::from(
                last[byte].is_some() && like_this.iter().any(|other| other[byte].is_none()),
            );
            like_this.retain(|other| other[byte] == last[byte]);
        }
        counted
    }
}

impl Search {
    fn visit(&mut self, state: State<'_>) {
        if let Some(next) = self.step_t(&state) {
            self.visit(next);
        }
        if let Some(next) = step_u(&state) {
            self.visit(next);
        }
    }

    /// T's next step, if T has one.
    fn step_t<'p>(&mut self, state: &State<'p>) -> Option<State<'p>> {
        let mut next = state.clone();
        loop {
            let Some((&stmt, rest)) = next.t.rest.split_first() else {
                if !next.u.rest.is_empty() {
                    return None;
                }
                let Some(after) = next.after.take() else {
                    let mut last = next.last;
                    for (byte, last) in last.iter_mut().enumerate() {
                        if *last == next.seen[byte] || next.is_of_t[byte] {
                            *last = None;
                        }
                    }
                    let ends = self.ends.entry(next.pairs).or_default();
                    ends.all.insert((last, next.values));
                    ends.used = next.used;
                    return None;
                };
                next.t = At {
                    rest: after,
                    local: 0,
                };
                continue;
            };
            next.t.rest = rest;
            match stmt {
                Stmt::If(value) => {
                    if next.t.local != value {
                        next.t.rest = rest.get(1..).unwrap_or_default();
                    }
                }
                Stmt::Never(id, value) if next.t.local == value => {
                    let k = self.before + next.pairs.len();
                    if !self.found.smallest.contains_key(&id) {
                        self.found.late += usize::from(self.is_late);
                    }
                    let least = self.found.smallest.entry(id).or_insert(k);
                    *least = k.min(*least);
                    return None;
                }
                Stmt::Never(..) => {}
                Stmt::Load(byte) => {
                    next.t.local = next.observe(byte);
                    return Some(next);
                }
                Stmt::Store(byte, value) => {
                    next.store_t(byte, value);
                    return Some(next);
                }
                Stmt::StoreLocal(byte, value) => {
                    next.store_t(byte, next.t.local.wrapping_add(value));
                    return Some(next);
                }
                Stmt::Add(byte, value) => {
                    next.t.local = next.observe(byte);
                    next.write_t(byte, next.t.local.wrapping_add(value));
                    return Some(next);
                }
            }
        }
    }
}

/// The next step of T', if it has one in which it sees nothing of T.
fn step_u<'p>(state: &State<'p>) -> Option<State<'p>> {
    let mut next = state.clone();
    loop {
        let (&stmt, rest) = next.u.rest.split_first()?;
        next.u.rest = rest;
        match stmt {
            Stmt::If(value) => {
                if next.u.local != value {
                    next.u.rest = rest.get(1..).unwrap_or_default();
                }
            }
            Stmt::Never(..) => {}
            Stmt::Load(byte) => {
                next.u.local = next.observe_u(byte)?;
                return Some(next.with_end_of_u());
            }
            Stmt::Store(byte, value) => {
                next.store_u(byte, value)?;
                return Some(next.with_end_of_u());
            }
            Stmt::StoreLocal(byte, value) => {
                next.store_u(byte, next.u.local.wrapping_add(value))?;
                return Some(next.with_end_of_u());
            }
            Stmt::Add(byte, value) => {
                next.u.local = next.observe_u(byte)?;
                next.write_u(byte, next.u.local.wrapping_add(value));
                return Some(next.with_end_of_u());
            }
        }
    }
}

impl State<'_> {
    fn uses(&mut self, byte: usize) {
        if !self.used.contains(&byte) {
            self.used.push(byte);
        }
    }

    fn observe(&mut self, byte: usize) -> u8 {
        if let Some(write) = self.last[byte].filter(|_| !self.is_of_t[byte])
            && self.seen[byte].replace(write) != Some(write)
        {
            self.pairs.push((self.reads, write));
        }
        self.reads += 1;
        self.values[byte]
    }

    /// The lock is taken to write what it protects: its value is read first, and is not written if it stays what it is.
    fn store_t(&mut self, byte: usize, value: u8) {
        if byte != PROTECTED || self.observe(byte) != value {
            self.write_t(byte, value);
        }
    }

    fn write_t(&mut self, byte: usize, value: u8) {
        self.values[byte] = value;
        self.is_of_t[byte] = true;
        self.seen[byte] = None;
    }

    fn observe_u(&mut self, byte: usize) -> Option<u8> {
        self.uses(byte);
        (!self.is_of_t[byte]).then_some(self.values[byte])
    }

    fn store_u(&mut self, byte: usize, value: u8) -> Option<()> {
        if byte != PROTECTED || self.observe_u(byte)? != value {
            self.write_u(byte, value);
        }
        Some(())
    }

    fn write_u(&mut self, byte: usize, value: u8) {
        self.uses(byte);
        self.values[byte] = value;
        self.is_of_t[byte] = false;
        self.last[byte] = Some(self.writes);
        self.writes += 1;
    }

    /// What T' does after its last access, nobody sees.
    fn with_end_of_u(mut self) -> Self {
        let mut rest = self.u.rest;
        while let Some((stmt, after)) = rest.split_first() {
            match stmt {
                Stmt::If(value) if self.u.local != *value => {
                    rest = after.get(1..).unwrap_or_default();
                }
                Stmt::If(_) | Stmt::Never(..) => rest = after,
                _ => return self,
            }
        }
        self.u.rest = rest;
        self
    }
}
