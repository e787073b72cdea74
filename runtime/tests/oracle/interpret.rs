//! The plain interpreter: every interleaving of a program's two lines, by state, without any reduction.
//!
//! It knows nothing of seqz's engine, log or feasibility. What it takes over are the definitions, which are these.
//!
//! # Events
//! Interleaving points are the events: an atomic access, an acquire, the read of the protected value right after it,
//! the write of it right before the release if the guard was written through, the release, the join. A
//! read-modify-write is one event that reads and writes; a failed compare-exchange is a read. Whatever else a thread
//! does is local and happens with the event before it, but for a failure, which is a step of its own: a thread that is
//! about to fail has not failed yet, and the other one may still go on.
//!
//! # Traces that count for a role
//! T' is T'-sequential: each of its reads sees T's writes never, only its own and the initial values (what main's
//! stores before the spawns left is initial). No `try_lock` of its fails because T is in the block, either: that would be
//! an observation of T as well.
//!
//! k is the number of T's observations of T': reads (of atomics, of protected values when a guard is taken, the read
//! half of updates, those after the join too) that see a write of T' which T hasn't seen in its previous access to the
//! variable, and failed `try_lock`s because T' was in the block. In the terms of P̂ₖ: the injected writes. A read that
//! sees the injected write again is local to it, as in the x-live blocks of the paper's section 4.2. (Its section 5
//! counts such a read once more, which no P̂ₖ does.) A `try_lock` that fails because the thread itself holds the lock is
//! no event at all. That a lock could be taken is no observation.
//!
//! # Failures
//! A failing trace ends at the failure; T' may be anywhere then, also inside a block. Found are, for a role,
//! - an assertion that fails in T. One that fails in T' doesn't count for this role: T' being T'-sequential, it is the
//!   other role's with k = 0. T' then gives its guards back, which poisons the locks that it could have written, and
//!   that is a write. T goes on; but where it joins T', or takes such a lock, it unwraps, which is its end and no failure
//!   of its own. Where it only tries to take one, it gives it back and goes on as if it had not got it;
//! - [`Failure::Relock`] in T: it takes a lock in a mode that excludes what it holds itself. In T', as before;
//! - [`Failure::Deadlock`]: neither can go on, and both wait for each other: T for a lock that T' holds, or in the join
//!   for T'; T' for a lock that T holds, or, being main with a guard in hand, in its join for T. The k is that of the
//!   trace up to there.
//!
//! T' waiting for itself (a relock) is no deadlock with T: that T' has failed.
//!
//! Beside failures, the interpreter keeps how T can end for EVERY choice of non-local reads, with the pairs (n-th
//! observation of T, m-th write or acquire of T'), so that more can be compared than failures: see [`Behaviours`].

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::compile::{Lines, Role, compile};
use crate::program::Program;
use crate::state::{State, Step, T, U};

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Failure {
    /// The assertion with this id failed in T.
    Assertion(u32),
    /// T took a lock that it held.
    Relock,
    /// T and T' wait for each other.
    Deadlock,
}

/// How T ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum End {
    /// At the end of its code, the join and what follows included.
    Passed,
    /// In a failure.
    Failed(Failure),
}

/// T's non-local reads: its n-th observation (a read, an update or an attempted `try_lock`, from 0) and the m-th
/// write, update or acquire of T' (from 0) that it saw.
pub(crate) type Pairs = Vec<(u32, u32)>;

/// All that can happen in a role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Behaviours {
    /// How T can end, by its non-local reads.
    pub(crate) ends: BTreeMap<Pairs, BTreeSet<End>>,
    /// An interleaving for each failure at its smallest k.
    pub(crate) traces: BTreeMap<Failure, (usize, Vec<String>)>,
    /// How many states were visited.
    pub(crate) states: usize,
}

impl Behaviours {
    /// Each failure with its smallest k.
    pub(crate) fn findings(&self) -> BTreeMap<Failure, usize> {
        self.traces
            .iter()
            .map(|(failure, (k, _))| (*failure, *k))
            .collect()
    }
}

/// Explores the program in the role.
pub(crate) fn interpret(program: &Program, role: Role) -> Behaviours {
    let lines = compile(program, role);
    let mut search = Search {
        lines: &lines,
        seen: HashSet::new(),
        path: Vec::new(),
        found: Behaviours::default(),
    };
    let start = State::new(&lines);
    search.visit(start);
    search.found.states = search.seen.len();
    search.found
}

struct Search<'a> {
    lines: &'a Lines,
    seen: HashSet<State>,
    path: Vec<String>,
    found: Behaviours,
}

impl Search<'_> {
    fn visit(&mut self, state: State) {
        if !self.seen.insert(state.clone()) {
            return;
        }
        let (t, u) = (state.step(self.lines, T), state.step(self.lines, U));
        if state.ended(self.lines, T) {
            self.end(&state, End::Passed);
        }
        if let Step::Fails(failure) = t {
            self.end(&state, End::Failed(failure));
            return;
        }
        if matches!((&t, &u), (Step::Waits, Step::Waits)) && state.wait_for_each_other(self.lines) {
            self.end(&state, End::Failed(Failure::Deadlock));
        }
        for (line, step) in [(T, t), (U, u)] {
            if let Step::To(next) = step {
                let name = ["T ", "T'"][line];
                self.path.push(format!(
                    "{name} {:?}",
                    self.lines.code[line][state.at[line]]
                ));
                self.visit(*next);
                self.path.pop();
            }
        }
    }

    fn end(&mut self, state: &State, end: End) {
        self.found
            .ends
            .entry(state.pairs.clone())
            .or_default()
            .insert(end);
        if let End::Failed(failure) = end {
            let k = state.pairs.len();
            if self
                .found
                .traces
                .get(&failure)
                .is_none_or(|(least, _)| k < *least)
            {
                self.found.traces.insert(failure, (k, self.path.clone()));
            }
        }
    }
}
