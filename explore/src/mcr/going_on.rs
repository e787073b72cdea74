//! `mcr` with several threads on one search, and going on from a journal that is cut anywhere.

#[path = "../../tests/model/mod.rs"]
mod model;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::mcm::OrderSolver;
use crate::mcr::classes::Among;
use crate::mcr::frontier::{Frontier, Shared};
use crate::mcr::journal::{Aim, Change, Journal, Membership, Origin};
use crate::strategy::Promise;
use crate::{Event, Executor, Mcr, Pick, RunEnd, Scheduler, Search, View};
use model::generate::{Flavour, longer_program, program};
use model::{Model, Program};

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
    let causality = search.strategy().report().causality.unwrap();
    assert_eq!(causality.redundant, 0, "{program:?}");
    executor.vectors
}

use crate::Strategy as _;

/// The parts of vectors that tell classes apart: writes find what they find by chance.
fn classes(vectors: impl IntoIterator<Item = Vector>) -> BTreeMap<Vector, u32> {
    use crate::Kind;
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

/// Executes a program, going on from this journal; what it adds to it.
fn go_on(
    program: &Program,
    journal: &[Change],
    helpers: usize,
) -> (Vec<bool>, Vec<Vector>, Vec<Change>) {
    let (frontier, runs) = Frontier::restore(journal.to_vec()).unwrap();
    let strategy = Mcr::beginning(frontier, OrderSolver::default());
    // One alone puts expansions off whenever it can, so that others are not over, either.
    let rest = Kept::default();
    let strategy = strategy.noting(Box::new(rest.clone()));
    let strategy = strategy.with_helpers(helpers).unwrap().pausing_after(1);
    let after = run(program, strategy);
    let rest = rest.0.lock().unwrap().clone();
    (runs, after, rest)
}

/// The runs that count among these.
fn counting(executed: Vec<Vector>, counts: &[bool]) -> Vec<Vector> {
    let whole = executed.into_iter().zip(counts);
    whole
        .filter_map(|(run, &whole)| whole.then_some(run))
        .collect()
}

#[test]
fn a_search_goes_on_from_wherever_its_journal_ends() {
    let mut resumed = 0;
    for (number, (program, all)) in programs().enumerate() {
        let helpers = number % 3;
        let (_, executed, journal) = go_on(&program, &[], helpers);
        // Twice in a row it is broken off: somewhere, and then somewhere in what it has added since.
        for part in 0..4 {
            let cut = journal.len() * (part + 1) / 4 - part % 2;
            let (_, more, rest) = go_on(&program, &journal[..cut], helpers);
            let again = cut + rest.len() * (3 * part % 4 + 1) / 4;
            let ran = |changes: &[Change]| {
                let ran = changes.iter();
                ran.filter(|change| matches!(change, Change::Ran { .. }))
                    .count()
            };
            let mut both = executed[..ran(&journal[..cut])].to_vec();
            let mut whole = journal[..cut].to_vec();
            whole.extend(rest);
            both.extend_from_slice(&more[..ran(&whole[cut..again])]);
            let (counts, last, rest) = go_on(&program, &whole[..again], helpers);
            both.extend(last);
            whole.truncate(again);
            whole.extend(rest);
            let (counts_at_the_end, nothing, _) = go_on(&program, &whole, helpers);
            assert!(nothing.is_empty(), "{program:?}");
            // Whether a run counts shows when the search is broken off, and does not change later on.
            assert_eq!(counts_at_the_end[..counts.len()], counts);
            let found = classes(counting(both, &counts_at_the_end));
            assert!(
                found == all,
                "{} of {} classes, cut at {cut} and {again} of {} by {helpers} helpers\n{program:?}",
                found.len(),
                all.len(),
                journal.len()
            );
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
        origin: Origin::Seed(4),
        member: Membership::Planted,
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

#[test]
fn a_seed_that_was_not_followed_executes_nothing() {
    let node = |observation| Change::Node {
        thread: 0,
        parent: crate::mcr::classes::ROOT,
        observation,
    };
    let ran = |origin, membership, node, lost| Change::Ran {
        origin,
        member: membership,
        leads_on: membership != Membership::Known,
        ends: vec![(0, node)],
        key: u64::from(node),
        lost,
        open: false,
    };
    let expanded = |run| Change::Expanded {
        run,
        effort: Default::default(),
    };
    let seed = Change::Seed {
        aim: Aim::Class,
        nodes: vec![(0, 1)],
        schedule: [0].into_iter().collect(),
    };
    let first = ran(Origin::First, Membership::Own, 0, false);
    let other = ran(Origin::Seed(0), Membership::Known, 0, true);
    let changes = vec![
        node(7),
        node(8),
        first,
        seed,
        expanded(0),
        other,
        expanded(1),
    ];
    let (frontier, runs) = Frontier::restore(changes).unwrap();
    assert_eq!(runs, [true, true]);
    assert_eq!(frontier.causality().lost, 1);
    // It is not executed, and not tried again.
    assert_eq!(frontier.classes.covering(&[(0, 1)], Among::Executed), None);
    assert_eq!(frontier.classes.covering(&[(0, 1)], Among::All), Some(1));
    assert_eq!(Shared::new(frontier).next_seed(), None);
}
