//! The oracle: all interleavings, by state. A state is how far both threads have come and who wrote each value last.

use seqz_feasibility::log::{LockMode, Log, Object, Op, TEvent};
use std::collections::{BTreeMap, HashSet};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Writer {
    UnderTest(usize),
    Interfering(usize),
}

type Memory = BTreeMap<Object, Writer>;

/// Per prefix of T': whether T can be at its end when T' has done exactly that much.
pub(crate) fn reachable(log: &Log<'_>) -> Vec<bool> {
    let (m, n) = (log.under_test.len(), log.interfering.len());
    let t_expects = expected_by_t(log.under_test);
    let u_expects = expected_by_u(log.interfering);
    let t_ops: Vec<Op> = log.under_test.iter().map(|event| event.op).collect();
    let t_held: Vec<_> = (0..=m).map(|done| held(&t_ops[..done])).collect();
    let u_held: Vec<_> = (0..=n).map(|done| held(&log.interfering[..done])).collect();
    let mut reached = vec![false; n + 1];
    let mut seen = HashSet::new();
    let mut open = vec![(0, 0, Memory::new())];
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let (i, j, memory) = state;
        if i == m {
            reached[j] = true;
        }
        if i < m && t_may(log, i, j, &memory, t_expects[i], &u_held[j]) {
            let mut memory = memory.clone();
            if let Some(x) = t_ops[i].writes() {
                memory.insert(x, Writer::UnderTest(i));
            }
            open.push((i + 1, j, memory));
        }
        if j < n {
            let op = log.interfering[j];
            let may = match op {
                Op::Acquire(l, mode) => may_take(&t_held[i], l, mode),
                Op::Read(x) | Op::Update(x) => memory.get(&x).copied() == u_expects[j],
                _ => true,
            };
            if may {
                let mut memory = memory.clone();
                if let Some(x) = op.writes() {
                    memory.insert(x, Writer::Interfering(j));
                }
                open.push((i, j + 1, memory));
            }
        }
    }
    reached
}

/// Whether the log is feasible.
pub(crate) fn feasible(log: &Log<'_>) -> bool {
    reachable(log).contains(&true)
}

type Held = Vec<(Object, LockMode, usize)>;

fn t_may(
    log: &Log<'_>,
    i: usize,
    j: usize,
    memory: &Memory,
    expects: Option<Writer>,
    u_held: &Held,
) -> bool {
    let TEvent { op, source } = log.under_test[i];
    match op {
        Op::Read(x) | Op::Update(x) => memory.get(&x).copied() == expects,
        Op::Acquire(l, mode) => may_take(u_held, l, mode),
        Op::Join => j == log.interfering.len(),
        Op::TryFail(l, mode) => source.is_none_or(|source| {
            u_held
                .iter()
                .any(|&(h, m, a)| (h, a) == (l, source as usize) && m.excludes(mode))
        }),
        Op::Write(_) | Op::Release(..) => true,
    }
}

fn may_take(held: &Held, lock: Object, mode: LockMode) -> bool {
    held.iter().all(|&(l, m, _)| l != lock || !m.excludes(mode))
}

fn held(ops: &[Op]) -> Held {
    let mut held = Held::new();
    for (at, &op) in ops.iter().enumerate() {
        match op {
            Op::Acquire(l, mode) => held.push((l, mode, at)),
            Op::Release(l, mode) => {
                let open = held.iter().rposition(|h| (h.0, h.1) == (l, mode));
                held.remove(open.expect("released what is held"));
            }
            _ => {}
        }
    }
    held
}

fn expected_by_t(events: &[TEvent]) -> Vec<Option<Writer>> {
    let mut latest = Memory::new();
    let mut expected = Vec::new();
    for (at, event) in events.iter().enumerate() {
        if let (Op::Read(x) | Op::Update(x), Some(source)) = (event.op, event.source) {
            latest.insert(x, Writer::Interfering(source as usize));
        }
        expected.push(event.op.reads().and_then(|x| latest.get(&x).copied()));
        if let Some(x) = event.op.writes() {
            latest.insert(x, Writer::UnderTest(at));
        }
    }
    expected
}

fn expected_by_u(ops: &[Op]) -> Vec<Option<Writer>> {
    let mut latest = Memory::new();
    let mut expected = Vec::new();
    for (at, op) in ops.iter().enumerate() {
        expected.push(op.reads().and_then(|x| latest.get(&x).copied()));
        if let Some(x) = op.writes() {
            latest.insert(x, Writer::Interfering(at));
        }
    }
    expected
}
