//! Feasibility of a log by trying every interleaving: [`seqz_runtime::log`]'s definition and nothing else.

use std::collections::HashSet;

use seqz_runtime::feasibility::{Feasibility, Interleaving, Step, Verdict};
use seqz_runtime::log::{LockMode, Log, Object, Op};

/// The engine that tries everything.
#[derive(Debug, Default)]
pub(crate) struct Exhaustive;

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    Initial,
    UnderTest(usize),
    Interfering(usize),
}

struct Search<'a> {
    log: &'a Log<'a>,
    /// What each event reads from, if it reads.
    expected: [Vec<Source>; 2],
    seen: HashSet<(usize, usize, Vec<Source>)>,
    order: Vec<Step>,
}

impl Feasibility for Exhaustive {
    fn check(&mut self, log: &Log<'_>) -> Verdict {
        let under_test = log.under_test.iter().enumerate();
        let under_test = under_test.map(|(at, event)| {
            (
                event.op,
                Source::UnderTest(at),
                event
                    .source
                    .map(|source| Source::Interfering(source as usize)),
            )
        });
        let interfering = log.interfering.iter().enumerate();
        let interfering = interfering.map(|(at, &op)| (op, Source::Interfering(at), None));
        let expected = [expected(under_test), expected(interfering)];
        let mut search = Search {
            log,
            expected,
            seen: HashSet::new(),
            order: Vec::new(),
        };
        if search.visit(0, 0, vec![Source::Initial; objects(log)]) {
            Verdict::Feasible(Interleaving(search.order))
        } else {
            Verdict::Infeasible
        }
    }
}

/// What each event of a thread has to read from: its non-local source, else its own latest write or the latest write
/// that was injected, else the initial value.
fn expected(events: impl Iterator<Item = (Op, Source, Option<Source>)>) -> Vec<Source> {
    let mut latest: Vec<(Object, Source)> = Vec::new();
    let mut all = Vec::new();
    for (op, itself, non_local) in events {
        let mut set = |object, source| {
            latest.retain(|&(other, _)| other != object);
            latest.push((object, source));
        };
        if let (Op::Read(object) | Op::Update(object), Some(source)) = (op, non_local) {
            set(object, source);
        }
        let object = op.reads().or(op.writes());
        let found = latest.iter().find(|&&(other, _)| Some(other) == object);
        all.push(found.map_or(Source::Initial, |&(_, source)| source));
        if let Some(object) = op.writes() {
            latest.retain(|&(other, _)| other != object);
            latest.push((object, itself));
        }
    }
    all
}

fn objects(log: &Log<'_>) -> usize {
    let ops = log
        .under_test
        .iter()
        .map(|event| event.op)
        .chain(log.interfering.iter().copied());
    let touched = ops.filter_map(|op| op.reads().or(op.writes()));
    touched.max().map_or(0, |object| object as usize + 1)
}

/// Whether a thread that has done these events holds the lock so that it can't be taken in that mode.
fn holds(events: impl Iterator<Item = Op>, lock: Object, mode: LockMode) -> bool {
    let (mut shared, mut exclusive) = (0, 0);
    for op in events {
        match op {
            Op::Acquire(l, LockMode::Shared) if l == lock => shared += 1,
            Op::Acquire(l, LockMode::Exclusive) if l == lock => exclusive += 1,
            Op::Release(l, LockMode::Shared) if l == lock => shared -= 1,
            Op::Release(l, LockMode::Exclusive) if l == lock => exclusive -= 1,
            _ => {}
        }
    }
    exclusive > 0 || (shared > 0 && mode == LockMode::Exclusive)
}

impl Search<'_> {
    fn visit(&mut self, t: usize, u: usize, latest: Vec<Source>) -> bool {
        if t == self.log.under_test.len() {
            return true;
        }
        if !self.seen.insert((t, u, latest.clone())) {
            return false;
        }
        if self.under_test_can(t, u, &latest) {
            let mut next = latest.clone();
            if let Some(object) = self.log.under_test[t].op.writes() {
                next[object as usize] = Source::UnderTest(t);
            }
            self.order
                .push(Step::UnderTest(u32::try_from(t).expect("logs are short")));
            if self.visit(t + 1, u, next) {
                return true;
            }
            self.order.pop();
        }
        if u < self.log.interfering.len() && self.interfering_can(t, u, &latest) {
            let mut next = latest;
            if let Some(object) = self.log.interfering[u].writes() {
                next[object as usize] = Source::Interfering(u);
            }
            self.order
                .push(Step::Interfering(u32::try_from(u).expect("logs are short")));
            if self.visit(t, u + 1, next) {
                return true;
            }
            self.order.pop();
        }
        false
    }

    fn under_test_can(&self, t: usize, u: usize, latest: &[Source]) -> bool {
        let event = self.log.under_test[t];
        let done = || self.log.interfering[..u].iter().copied();
        match event.op {
            Op::Read(object) | Op::Update(object) => latest[object as usize] == self.expected[0][t],
            Op::Acquire(lock, mode) => !holds(done(), lock, mode),
            Op::TryFail(lock, _) => {
                let Some(acquire) = event.source else {
                    return false;
                };
                let acquire = acquire as usize;
                let Op::Acquire(taken, mode) = self.log.interfering[acquire] else {
                    return false;
                };
                // The block is open: the acquire has happened, and its release hasn't.
                let later = || {
                    self.log
                        .interfering
                        .iter()
                        .copied()
                        .enumerate()
                        .skip(acquire + 1)
                };
                let release = later().find(|&(_, op)| op == Op::Release(taken, mode));
                taken == lock && acquire < u && release.is_none_or(|(at, _)| at >= u)
            }
            Op::Join => u == self.log.interfering.len(),
            Op::Write(_) | Op::Release(..) => true,
        }
    }

    fn interfering_can(&self, t: usize, u: usize, latest: &[Source]) -> bool {
        match self.log.interfering[u] {
            Op::Read(object) | Op::Update(object) => latest[object as usize] == self.expected[1][u],
            Op::Acquire(lock, mode) => !holds(
                self.log.under_test[..t].iter().map(|event| event.op),
                lock,
                mode,
            ),
            _ => true,
        }
    }
}
