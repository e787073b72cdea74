//! The classes of observations of random programs in which attempts to take a lock meet loops that take it and look: those that
//! `mcr` and `rv-causal` execute are held against those of all interleavings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use seqz_explore::random_numbers::RandomNumbers;
use seqz_explore::{
    Dfs, Event, Executor, Kind, Learned, Mcr, Outcome, Pick, RunEnd, RvCausal, Scheduler, Search,
    Strategy, View,
};
use seqz_runtime::scheduled::{Idle, Machine, Settings};

use super::compile;
use super::program::{Op, Program};

/// What each thread observed, and who waits for ever.
type Class = (BTreeMap<u8, Vec<(u8, u64)>>, Vec<u8>);

/// Notes the class of each execution.
struct Noted<'m> {
    inner: Machine<'m>,
    executed: Vec<Class>,
    cut: u64,
}

struct Noting<'s, S> {
    inner: &'s mut S,
    events: Vec<Event>,
    live: Vec<u8>,
}

impl<S: Scheduler> Scheduler for Noting<'_, S> {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        self.inner.pick(view)
    }

    fn ran(&mut self, event: &Event) {
        self.events.push(*event);
        self.inner.ran(event);
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.live = view.live.iter().collect();
        self.inner.blocked(view);
    }

    fn cut(&mut self, view: &View<'_>) {
        self.inner.cut(view);
    }
}

impl Executor for Noted<'_> {
    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
        let mut noting = Noting {
            inner: scheduler,
            events: Vec::new(),
            live: Vec::new(),
        };
        let end = self.inner.run(&mut noting);
        self.cut += u64::from(end.outcome == Outcome::Truncated);
        let tests: BTreeMap<_, _> = self.inner.tests().iter().copied().collect();
        let mut seen: BTreeMap<u8, Vec<(u8, u64)>> = BTreeMap::new();
        for (number, event) in noting.events.iter().enumerate() {
            let observed = match event.kind {
                Kind::Read | Kind::Update | Kind::FailedUpdate => {
                    // One observation, whether an exchange fails or not: the test tells which.
                    let test = tests.get(&number);
                    test.map_or((0, event.found), |test| (1, test.observe(event.found)))
                }
                Kind::Lock => (2, event.found),
                Kind::TryLock => (3, event.found),
                Kind::TryLockFailed => (4, 0),
                _ => continue,
            };
            seen.entry(event.thread).or_default().push(observed);
        }
        self.executed.push((seen, noting.live));
        end
    }

    fn learned(&self) -> Learned<'_> {
        self.inner.learned()
    }
}

/// The classes in the order of their executions, if there are not too many executions and none was cut.
fn executed<S: Strategy>(
    program: &Program,
    strategy: S,
    most: u64,
) -> Option<(Vec<Class>, Search<S>)> {
    let outcomes = Mutex::new(BTreeSet::new());
    let run = || compile::run(program, &outcomes);
    let settings = Settings {
        idle: Idle::EndsByValues,
        values: true,
        steps: 120,
        ..Settings::default()
    };
    let mut noted = Noted {
        inner: Machine::new(&run, settings),
        executed: Vec::new(),
        cut: 0,
    };
    let mut search = Search::new(strategy);
    while search.step(&mut noted).unwrap().is_some() {
        if search.counts().executions > most || noted.cut > 0 {
            return None;
        }
    }
    Some((noted.executed, search))
}

/// Whether each thread has observed in one class what it has in the other, and perhaps more.
fn is_within(one: &Class, other: &Class) -> bool {
    one.0.iter().all(|(thread, seen)| {
        let more = other.0.get(thread);
        more.is_some_and(|more| more.starts_with(seen))
    })
}

fn program(random: &mut RandomNumbers) -> Program {
    let mut below = |n: u64| random.below(n) as usize;
    let threads = 2 + usize::from(below(3) == 0);
    let mut op = || match below(8) {
        0 | 1 => Op::Try(0),
        2 | 3 => Op::WaitLocked(0, 1),
        4 => Op::WaitTrying(0, 1),
        5 => Op::PutTrying(0, 1),
        6 => Op::Store(0, 1),
        _ => Op::Put(0, 1),
    };
    let both = |op: &mut dyn FnMut() -> Op, most: usize, n: usize| -> Vec<Op> {
        (0..1 + n % most).map(|_| op()).collect()
    };
    (0..threads)
        .map(|thread| both(&mut op, if threads == 2 { 3 } else { 2 }, thread + 1))
        .collect()
}

#[test]
fn attempts_that_meet_looking_loops_make_the_classes_of_all_interleavings() {
    let mut random = RandomNumbers::new(7);
    let (mut compared, mut refused) = (0, 0);
    for _ in 0..400 {
        let program = program(&mut random);
        let Some((all, _)) = executed(&program, Dfs::default(), 20_000) else {
            continue;
        };
        let all: BTreeSet<Class> = all.into_iter().collect();
        refused += u32::from(
            all.iter()
                .any(|class| class.0.values().flatten().any(|&(kind, _)| kind == 4)),
        );
        let check = |name: &str, classes: &BTreeSet<Class>| {
            assert!(
                classes.is_subset(&all),
                "{name} makes classes up: {program:?}"
            );
            for class in &all {
                // Idle turns that nobody could see are left out, and with them executions that others go on from.
                let is_covered = classes.iter().any(|other| is_within(class, other));
                assert!(is_covered, "{name} misses {class:?} of {program:?}");
            }
        };
        let (mcr, search) = executed(&program, Mcr::default(), u64::MAX).expect("none is cut");
        let classes: BTreeSet<Class> = mcr.iter().cloned().collect();
        assert_eq!(
            classes.len(),
            mcr.len(),
            "mcr executes a class twice: {program:?}"
        );
        let causality = search.strategy().report().causality.unwrap();
        assert_eq!(
            (causality.lost, causality.unknown, causality.open),
            (0, 0, 0),
            "{program:?}"
        );
        check("mcr", &classes);
        let (pairs, _) = executed(&program, RvCausal::default(), u64::MAX).expect("none is cut");
        check("rv-causal", &pairs.into_iter().collect());
        compared += 1;
    }
    println!("{compared} programs, {refused} of them with refused attempts");
    assert!(compared > 100 && refused > 50, "{compared} {refused}");
}
