//! Several interfering threads: the grid with one axis a thread against the progress grid of two, and against all interleavings.

use std::collections::{BTreeMap, BTreeSet};

use seqz_feasibility::log::{LockMode, Object, Op, TEvent};
use seqz_feasibility::{Grid, Interleaving, Many, Step, validate};

use crate::random::{Random, Shape, arbitrary, pairs};
use crate::{logs, small};

#[test]
fn it_agrees_with_the_progress_grid_on_two_threads() {
    let mut random = Random::new(31);
    let mut grid = Grid::new();
    for at in 0..logs(3_000) {
        let owned = small(&mut random);
        let mut many = Many::new(&[&owned.interfering]).unwrap();
        grid.begin(&owned.interfering);
        for (done, &event) in owned.under_test.iter().enumerate() {
            assert_eq!(
                many.would_be_feasible(event),
                grid.would_be_feasible(event),
                "log {at}, event {done}: {owned:?}"
            );
            many.push(event);
            grid.push(event);
            if random.percent(10) {
                let len = random.below(done + 1);
                many.truncate(len);
                grid.truncate(len);
                let feasible = grid.feasible();
                assert_eq!(many.feasible(), feasible, "log {at} after {len}: {owned:?}");
                for &event in &owned.under_test[len..=done] {
                    many.push(event);
                    grid.push(event);
                }
            }
        }
        for cut in 0..=owned.interfering.len() {
            let expected = grid.reachable_at(cut);
            assert_eq!(
                many.reachable_at(&[(0, cut)]),
                expected,
                "log {at}, cut {cut}: {owned:?}"
            );
            match many.witness_at(&[(0, cut)]) {
                Some(witness) => {
                    assert_eq!(witness.cut(), cut);
                    validate(&owned.log(), &witness).expect("a witness is an interleaving");
                }
                None => assert!(!expected),
            }
        }
    }
}

/// A log of T beside several threads, whose logs stand one behind the other.
#[derive(Debug)]
struct Log {
    under_test: Vec<TEvent>,
    interfering: Vec<Vec<Op>>,
}

impl Log {
    fn random(random: &mut Random) -> Self {
        let shape = Shape {
            events: (7, 3),
            values: 1 + random.below(2),
            locks: random.below(3),
        };
        let number = 2 + random.below(2);
        let interfering: Vec<Vec<Op>> = (0..number)
            .map(|_| arbitrary(random, shape).interfering)
            .collect();
        let all: Vec<Op> = interfering.concat();
        let mut under_test = arbitrary(random, shape).under_test;
        for event in &mut under_test {
            let sources: Vec<u32> = (0_u32..)
                .zip(&all)
                .filter(|&(_, &with)| pairs(event.op, with))
                .map(|(at, _)| at)
                .collect();
            event.source = match event.op {
                Op::Join => random.percent(70).then(|| random.below(number) as u32),
                _ if sources.is_empty() || random.percent(25) => None,
                _ => Some(sources[random.below(sources.len())]),
            };
        }
        Self {
            under_test,
            interfering,
        }
    }

    /// The thread of an event of the interfering threads, and its index there.
    fn locate(&self, event: u32) -> (usize, usize) {
        let mut left = event as usize;
        for (thread, ops) in self.interfering.iter().enumerate() {
            match left.checked_sub(ops.len()) {
                Some(rest) => left = rest,
                None => return (thread, left),
            }
        }
        unreachable!("the event is one of them")
    }
}

/// Who wrote a value last: T is thread 0, and the others follow.
type Writer = (usize, usize);

/// How far all are, what is in memory, what each expects there, and which locks each is in.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    done: Vec<usize>,
    memory: BTreeMap<Object, Writer>,
    expected: Vec<BTreeMap<Object, Writer>>,
    held: Vec<Vec<(Object, bool, usize)>>,
}

impl State {
    fn new(log: &Log) -> Self {
        let threads = log.interfering.len() + 1;
        Self {
            done: vec![0; threads],
            memory: BTreeMap::new(),
            expected: vec![BTreeMap::new(); threads],
            held: vec![Vec::new(); threads],
        }
    }

    /// The state after this thread's next event, if that can come here.
    fn step(&self, log: &Log, thread: usize) -> Option<Self> {
        let at = self.done[thread];
        let TEvent { op, source } = match thread {
            0 => *log.under_test.get(at)?,
            _ => TEvent::local(*log.interfering[thread - 1].get(at)?),
        };
        let mut next = self.clone();
        next.done[thread] += 1;
        if let Op::Read(x) | Op::Update(x) = op {
            if let Some(source) = source {
                let (by, write) = log.locate(source);
                next.expected[thread].insert(x, (by + 1, write));
            }
            if next.memory.get(&x) != next.expected[thread].get(&x) {
                return None;
            }
        }
        if let Op::Write(x) | Op::Update(x) = op {
            next.memory.insert(x, (thread, at));
            next.expected[thread].insert(x, (thread, at));
        }
        let is_at_end = |other: usize| self.done[other + 1] == log.interfering[other].len();
        match (op, source) {
            (Op::Acquire(lock, mode), _) => {
                let wanted = mode == LockMode::Exclusive;
                let mut others = (0..self.done.len()).filter(|&other| other != thread);
                let is_kept_out = others.any(|other| {
                    let mut held = self.held[other].iter();
                    held.any(|&(of, exclusive, _)| of == lock && (exclusive || wanted))
                });
                if is_kept_out {
                    return None;
                }
                next.held[thread].push((lock, wanted, at));
            }
            (Op::Release(lock, mode), _) => {
                let of = (lock, mode == LockMode::Exclusive);
                let held = &mut next.held[thread];
                let at = held.iter().rposition(|it| (it.0, it.1) == of)?;
                held.remove(at);
            }
            (Op::TryFail(lock, mode), Some(source)) => {
                let (by, acquire) = log.locate(source);
                let wanted = mode == LockMode::Exclusive;
                let mut held = self.held[by + 1].iter();
                if !held.any(|it| it.0 == lock && it.2 == acquire && (it.1 || wanted)) {
                    return None;
                }
            }
            (Op::Join, Some(of)) if !is_at_end(of as usize) => return None,
            (Op::Join, None) if !(0..log.interfering.len()).all(is_at_end) => return None,
            _ => {}
        }
        Some(next)
    }
}

/// How far the interfering threads can be when T is at its end.
fn reachable(log: &Log) -> BTreeSet<Vec<usize>> {
    let mut seen = BTreeSet::new();
    let mut open = vec![State::new(log)];
    let mut ends = BTreeSet::new();
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if state.done[0] == log.under_test.len() {
            ends.insert(state.done[1..].to_vec());
        }
        let threads = 0..state.done.len();
        open.extend(threads.filter_map(|thread| state.step(log, thread)));
    }
    ends
}

/// Runs the interleaving. Returns how far the interfering threads are at its end.
fn run(log: &Log, interleaving: &Interleaving) -> Vec<usize> {
    let mut state = State::new(log);
    for step in &interleaving.0 {
        let thread = match *step {
            Step::UnderTest(at) => {
                assert_eq!(state.done[0], at as usize);
                0
            }
            Step::Interfering(event) => {
                let (thread, at) = log.locate(event);
                assert_eq!(state.done[thread + 1], at);
                thread + 1
            }
        };
        let next = state.step(log, thread);
        state = next.unwrap_or_else(|| panic!("{step:?} of {interleaving:?}: {log:?}"));
    }
    assert_eq!(state.done[0], log.under_test.len());
    state.done.split_off(1)
}

#[test]
fn it_agrees_with_all_interleavings_of_three_and_four_threads() {
    let mut random = Random::new(32);
    let mut count = [0; 2];
    for at in 0..logs(2_000) {
        let log = Log::random(&mut random);
        let expected = reachable(&log);
        count[usize::from(!expected.is_empty())] += 1;
        let ops: Vec<&[Op]> = log.interfering.iter().map(Vec::as_slice).collect();
        let mut many = Many::new(&ops).unwrap();
        let mut asked = Log {
            under_test: Vec::new(),
            interfering: log.interfering.clone(),
        };
        for &event in &log.under_test {
            asked.under_test.push(event);
            if random.percent(10) {
                assert_eq!(
                    many.would_be_feasible(event),
                    !reachable(&asked).is_empty(),
                    "log {at}: {asked:?}"
                );
            }
            many.push(event);
            // Some rows are computed before later events change them.
            if random.percent(30) {
                many.feasible();
            }
        }
        assert_eq!(many.feasible(), !expected.is_empty(), "log {at}: {log:?}");
        for (thread, ops) in log.interfering.iter().enumerate() {
            for cut in 0..=ops.len() {
                let is_there = expected.iter().any(|done| done[thread] == cut);
                assert_eq!(
                    many.reachable_at(&[(thread, cut)]),
                    is_there,
                    "log {at}, {thread} at {cut}: {log:?}"
                );
                if let Some(witness) = many.witness_at(&[(thread, cut)]) {
                    assert_eq!(run(&log, &witness)[thread], cut);
                }
            }
        }
        // Of two threads at once.
        let cuts = [0, 1].map(|thread| random.below(log.interfering[thread].len() + 1));
        let are_there = expected.iter().any(|done| done[..2] == cuts);
        let cuts = [(0, cuts[0]), (1, cuts[1])];
        assert_eq!(
            many.reachable_at(&cuts),
            are_there,
            "log {at}, {cuts:?}: {log:?}"
        );
    }
    println!("{} infeasible, {} feasible", count[0], count[1]);
    assert!(count.iter().all(|&n| n > logs(400)), "{count:?}");
}
