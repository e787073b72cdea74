//! `mcr` with several threads on one search, and going on from a journal that is cut anywhere.

mod model;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use model::generate::{Flavour, longer_program, program};
use model::{Model, Program};
use seqz_explore::mcm::OrderSolver;
use seqz_explore::mcr::frontier::Frontier;
use seqz_explore::mcr::journal::{Change, Journal};
use seqz_explore::strategy::Promise;
use seqz_explore::{Event, Executor, Mcr, Pick, RunEnd, Scheduler, Search, View};

/// What each thread found, and who waits forever.
type Vector = (Vec<Vec<(u8, u64)>>, Vec<u8>);

/// Notes what threads find.
struct Noted<'p> {
    inner: Model<'p>,
    threads: usize,
    vectors: Vec<Vector>,
}

struct Noting<'s, S> {
    inner: &'s mut S,
    vector: Vector,
}

impl<S: Scheduler> Scheduler for Noting<'_, S> {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        self.inner.pick(view)
    }

    fn ran(&mut self, event: &Event) {
        let step = (event.kind as u8, event.found);
        self.vector.0[usize::from(event.thread)].push(step);
        self.inner.ran(event);
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.vector.1 = view.live.iter().collect();
        self.inner.blocked(view);
    }
}

impl Executor for Noted<'_> {
    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
        let mut noting = Noting {
            inner: scheduler,
            vector: (vec![Vec::new(); self.threads], Vec::new()),
        };
        let end = self.inner.run(&mut noting);
        self.vectors.push(noting.vector);
        end
    }
}

/// Runs a search to its end. What was executed, in order.
fn run(program: &Program, strategy: Mcr) -> Vec<Vector> {
    let mut executor = Noted {
        inner: Model::new(program),
        threads: program.threads.len(),
        vectors: Vec::new(),
    };
    let mut search = Search::new(strategy);
    search
        .run(&mut executor, u64::MAX)
        .expect("programs are deterministic");
    let end = Promise::ExhaustedByValues { truncated: false };
    assert_eq!(search.promise(), end, "{program:?}");
    let causality = search.strategy().causality().unwrap();
    assert_eq!(causality.redundant, 0, "{program:?}");
    executor.vectors
}

use seqz_explore::Strategy as _;

/// The parts of vectors that tell classes apart: writes find what they find by chance.
fn classes(vectors: impl IntoIterator<Item = Vector>) -> BTreeMap<Vector, u32> {
    use seqz_explore::Kind;
    let silent = [
        Kind::Write,
        Kind::Unlock,
        Kind::UnlockShared,
        Kind::Notify,
        Kind::Wait,
        Kind::Local,
        Kind::Fork,
    ];
    let mut all = BTreeMap::new();
    for (mut threads, live) in vectors {
        for step in threads.iter_mut().flatten() {
            if silent.iter().any(|&kind| kind as u8 == step.0) {
                step.1 = 0;
            }
        }
        *all.entry((threads, live)).or_default() += 1;
    }
    all
}

const FLAVOURS: [Flavour; 5] = [
    Flavour::Atomics,
    Flavour::Locks,
    Flavour::Waiting,
    Flavour::Conditions,
    Flavour::Everything,
];

/// Programs with a number of classes that is worth the trouble.
fn programs() -> impl Iterator<Item = (Program, BTreeMap<Vector, u32>)> {
    let all = FLAVOURS.into_iter().flat_map(|flavour| {
        (2000..2010).flat_map(move |seed| [program(seed, flavour), longer_program(seed, flavour)])
    });
    all.filter_map(|program| {
        let alone = classes(run(&program, Mcr::new()));
        (2..400).contains(&alone.len()).then_some((program, alone))
    })
}

#[test]
fn helpers_change_nothing_but_the_order() {
    let (mut compared, mut executed) = (0, 0);
    for (program, alone) in programs() {
        assert!(alone.values().all(|&times| times == 1), "{program:?}");
        for helpers in [1, 3] {
            let strategy = Mcr::new().with_helpers(helpers).unwrap();
            let together = classes(run(&program, strategy));
            assert_eq!(together, alone, "{helpers} helpers\n{program:?}");
        }
        compared += 1;
        executed += alone.len();
    }
    assert!(compared > 40, "{compared} programs, {executed} classes");
}

/// Keeps what it is told.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Change>>>);

impl Journal for Kept {
    fn note(&mut self, change: &Change) {
        self.0.lock().unwrap().push(change.clone());
    }

    fn flush(&mut self) {}
}

#[test]
fn a_search_goes_on_from_wherever_its_journal_ends() {
    let mut resumed = 0;
    for (program, all) in programs() {
        let kept = Kept::default();
        let mut strategy = Mcr::new();
        strategy.keep(Box::new(kept.clone()));
        let executed = run(&program, strategy);
        let journal = kept.0.lock().unwrap().clone();
        for part in 0..4 {
            // Of the last part nothing is missing.
            let cut = journal.len() * (part + 1) / 4 - usize::from(part == 1);
            let (frontier, runs) = Frontier::restore(journal[..cut].to_vec()).unwrap();
            let before = executed.iter().zip(&runs);
            let before = before.filter(|(_, whole)| **whole);
            let before: Vec<_> = before.map(|(vector, _)| vector.clone()).collect();
            // The rest of it goes to a journal of its own, and both together are one of the whole.
            let rest = Kept::default();
            let mut strategy = Mcr::from(frontier, OrderSolver::default());
            strategy.keep(Box::new(rest.clone()));
            let after = run(&program, strategy);
            let ran = before.len() + after.len();
            assert_eq!(
                classes(before.into_iter().chain(after)),
                all,
                "cut at {cut} of {}\n{program:?}",
                journal.len()
            );
            let mut whole = journal[..cut].to_vec();
            whole.extend(rest.0.lock().unwrap().iter().cloned());
            let (frontier, runs) = Frontier::restore(whole).unwrap();
            assert_eq!(runs.iter().filter(|whole| **whole).count(), ran);
            assert!(run(&program, Mcr::from(frontier, OrderSolver::default())).is_empty());
            resumed += 1;
        }
    }
    assert!(resumed > 150, "{resumed}");
}

#[test]
fn a_journal_that_does_not_fit_together_is_refused() {
    let node = Change::Node {
        thread: 1,
        parent: 7,
        observation: 3,
    };
    assert!(Frontier::restore(vec![node]).is_err());
    let ran = Change::Ran {
        seed: Some(4),
        member: false,
        leads_on: true,
        ends: Vec::new(),
        key: 1,
        lost: false,
        open: false,
    };
    let expanded = Change::Expanded {
        run: 0,
        effort: Default::default(),
    };
    assert!(Frontier::restore(vec![ran, expanded]).is_err());
}
