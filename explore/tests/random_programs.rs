//! Strategies against a plain interpreter, on random programs.

mod model;

use std::collections::HashSet;

use model::choosing::{self, Whom};
use model::generate::{FLAVOURS, counting, drawing, longer_program, program, waiters};
use model::interpreter::{schedules, terminal_states};
use model::{Model, Op, Program};
use seqz_explore::{
    CachedDpor, Dfs, Dpor, Event, Executor, Icb, IcbDpor, LazyDpor, Mcr, Odpor, Outcome, Pcb, Pick,
    Promise, RunEnd, RvCausal, Scheduler, Search, Strategy, Thread, View,
};

fn all<S: Strategy>(program: &Program, strategy: S) -> Search<S> {
    let mut search = Search::new(strategy);
    search
        .run(&mut Model::new(program), u64::MAX)
        .unwrap_or_else(|divergence| panic!("{divergence} in {program:?}"));
    search
}

fn states<S: Strategy>(search: &Search<S>) -> HashSet<u64> {
    search.states().collect()
}

fn relations<S: Strategy>(search: &Search<S>) -> HashSet<u64> {
    search.relations().collect()
}

/// Programs with no more schedules than dfs can walk in a test.
fn programs(from: u64, count: usize, schedules_at_most: u64) -> impl Iterator<Item = Program> {
    (from..)
        .map(|seed| program(seed, FLAVOURS[seed as usize % FLAVOURS.len()]))
        .filter(move |program| {
            schedules(program, 20_000).is_some_and(|count| count <= schedules_at_most)
        })
        .take(count)
}

#[test]
fn all_strategies_reach_what_the_interpreter_reaches() {
    for program in programs(0, 2500, 400) {
        all_agree(&program);
    }
}

#[test]
fn counts_are_what_the_interpreter_counts() {
    let few = |program: &Program| schedules(program, 20_000).is_some_and(|count| count <= 400);
    for program in (0..).map(counting).filter(few).take(1500) {
        all_agree(&program);
        let reduced = all(&program, IcbDpor::new(None));
        let everything = relations(&all(&program, Dfs::new()));
        assert_eq!(relations(&reduced), everything, "icb+dpor: {program:?}");
    }
}

#[test]
fn what_is_drawn_is_what_the_interpreter_draws() {
    let few = |program: &Program| schedules(program, 20_000).is_some_and(|count| count <= 1000);
    for program in (0..).map(drawing).filter(few).take(1500) {
        all_agree(&program);
    }
}

/// Upgrades of one count have no order among themselves, whether they all succeed or all fail. Each has one with a thread
/// that gives the last handle back.
#[test]
fn upgrades_are_ordered_with_the_last_end_of_a_handle_alone() {
    const COUNT: u8 = 2;
    for threads in 2..6 {
        let upgrading = vec![vec![Op::Upgrade(0, COUNT)]; threads];
        let mut ending = upgrading.clone();
        ending.push(vec![Op::Take(0, COUNT)]);
        for (bodies, handles, executions) in [
            (upgrading.clone(), 1, 1),
            (upgrading, 0, 1),
            (ending, 1, 1 << threads),
        ] {
            let mut program = Program::of(bodies);
            program.initial[usize::from(COUNT)] = handles;
            let counts = all(&program, Odpor::new()).counts();
            assert_eq!(counts.executions, executions, "{program:?}");
            all_agree(&program);
        }
    }
}

fn all_agree(program: &Program) {
    let reachable = terminal_states(program, None);
    let choosing = choosing::terminal_states(program, Whom::Any);
    assert_eq!(choosing, reachable, "{program:?}");
    let dfs = all(program, Dfs::new());
    let counts = dfs.counts();
    assert_eq!(states(&dfs), reachable, "dfs: {program:?}");
    assert_eq!(Some(counts.executions), schedules(program, 20_000));
    let estimate = dfs.estimate().expect("a tree");
    assert!((estimate - counts.executions as f64).abs() < 1e-6 * estimate);

    let icb = all(program, Icb::new(None));
    assert_eq!(states(&icb), reachable, "icb: {program:?}");
    let dpor = all(program, Dpor::new());
    assert_eq!(relations(&dpor), relations(&dfs), "dpor: {program:?}");
    assert_eq!(states(&dpor), reachable, "dpor: {program:?}");
    assert_eq!(dpor.counts().redundant, 0, "dpor: {program:?}");
    for promise in [dfs.promise(), icb.promise(), dpor.promise()] {
        assert_eq!(promise, Promise::Exhausted);
    }

    // The second lists children a few at a time, and lets threads take turns, as is done where executions are long.
    let as_if_long = Odpor::new().looking_at(1).taking_turns_of(2);
    for odpor in [Odpor::new(), as_if_long] {
        let odpor = all(program, odpor);
        let optimal = odpor.counts();
        assert_eq!(
            (optimal.executions, optimal.redundant, optimal.abandoned),
            (counts.relations, 0, 0),
            "odpor: {program:?}"
        );
        assert_eq!(relations(&odpor), relations(&dfs), "odpor: {program:?}");
        assert_eq!(states(&odpor), reachable, "odpor: {program:?}");
        let estimate = odpor.estimate().expect("a tree");
        assert!((estimate - optimal.executions as f64).abs() < 1e-6 * estimate);
    }
}

#[test]
fn any_waiter_may_be_the_one_that_is_notified() {
    let mut choices = 0;
    let mut programs = 0;
    for seed in 0..400 {
        let program = waiters(seed);
        let mut dpor = Search::new(Dpor::new());
        dpor.run(&mut Model::new(&program), 1500)
            .expect("models are deterministic");
        if dpor.promise() != Promise::Exhausted {
            continue;
        }
        programs += 1;
        let any = choosing::terminal_states(&program, Whom::Any);
        assert_eq!(states(&dpor), any, "dpor: {program:?}");
        let odpor = all(&program, Odpor::new());
        assert_eq!(states(&odpor), any, "odpor: {program:?}");
        assert_eq!(
            odpor.counts().executions,
            dpor.counts().relations,
            "{program:?}"
        );
        choices += u32::from(choosing::terminal_states(&program, Whom::First) != any);
    }
    assert!(programs > 250, "{programs} programs");
    assert!(
        choices > 30,
        "in {choices} programs it matters who is chosen"
    );
}

#[test]
fn reductions_agree_where_dfs_would_not_end() {
    for seed in 0..1000 {
        let program = longer_program(seed, FLAVOURS[seed as usize % FLAVOURS.len()]);
        let mut dpor = Search::new(Dpor::new());
        dpor.run(&mut Model::new(&program), 2000)
            .expect("models are deterministic");
        if dpor.promise() != Promise::Exhausted {
            continue;
        }
        let odpor = all(&program, Odpor::new());
        assert_eq!(
            odpor.counts().executions,
            dpor.counts().relations,
            "{program:?}"
        );
        assert_eq!(relations(&odpor), relations(&dpor), "{program:?}");
    }
}

#[test]
fn bounded_strategies_reach_what_the_interpreter_reaches_within_the_bound() {
    for program in programs(1_000_000, 2000, 250) {
        let everything = relations(&all(&program, Dfs::new()));
        for bound in 0.. {
            let pcb = all(&program, Pcb::new(bound));
            let reachable = terminal_states(&program, Some(bound));
            assert_eq!(states(&pcb), reachable, "pcb {bound}: {program:?}");
            let icb = all(&program, Icb::new(Some(bound)));
            assert_eq!(states(&icb), reachable, "icb {bound}: {program:?}");
            assert_eq!(
                icb.counts().executions - icb.strategy().repeated(),
                pcb.counts().executions,
                "icb {bound}: {program:?}"
            );
            let reduced = all(&program, IcbDpor::at(bound));
            assert_eq!(
                relations(&reduced),
                relations(&pcb),
                "icb+dpor {bound}: {program:?}"
            );
            if pcb.promise() == Promise::Exhausted {
                assert_eq!(relations(&pcb), everything);
                break;
            }
        }
        let reduced = all(&program, IcbDpor::new(None));
        assert_eq!(relations(&reduced), everything, "icb+dpor: {program:?}");
        assert_eq!(reduced.promise(), Promise::Exhausted);
    }
}

#[test]
fn bounded_reduction_keeps_every_trace_of_longer_programs() {
    let (mut whole, mut fewer) = (0, 0);
    for seed in 500_000..501_000 {
        let program = longer_program(seed, FLAVOURS[seed as usize % FLAVOURS.len()]);
        for bound in 0..3 {
            let mut pcb = Search::new(Pcb::new(bound));
            pcb.run(&mut Model::new(&program), 4000)
                .expect("models are deterministic");
            if pcb.promise() == Promise::Unfinished {
                break;
            }
            let reduced = all(&program, IcbDpor::at(bound));
            assert_eq!(
                relations(&reduced),
                relations(&pcb),
                "icb+dpor {bound}: {program:?}"
            );
            whole += pcb.counts().executions;
            fewer += reduced.counts().executions;
        }
    }
    println!("{fewer} executions instead of {whole}");
    assert!(
        3 * fewer < 2 * whole,
        "{fewer} executions instead of {whole}"
    );
}

/// Cuts an execution where a thread makes this many events in a row, as where one sleeps for too long.
struct Cutting<'p> {
    model: Model<'p>,
    row: u32,
}

struct Cutter<S> {
    inner: S,
    row: u32,
    last: Option<(Thread, u32)>,
    is_cut: bool,
}

impl<S: Scheduler> Scheduler for Cutter<S> {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        if self.last.is_some_and(|(_, events)| events >= self.row) {
            self.is_cut = true;
            self.inner.cut(view);
            return Pick::Abandon;
        }
        self.inner.pick(view)
    }

    fn ran(&mut self, event: &Event) {
        let events = match self.last {
            Some((thread, events)) if thread == event.thread => events + 1,
            _ => 1,
        };
        self.last = Some((event.thread, events));
        self.inner.ran(event);
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.inner.blocked(view);
    }

    fn cut(&mut self, view: &View<'_>) {
        self.inner.cut(view);
    }
}

impl Executor for Cutting<'_> {
    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
        let mut cutter = Cutter {
            inner: scheduler,
            row: self.row,
            last: None,
            is_cut: false,
        };
        let mut end = self.model.run(&mut cutter);
        if cutter.is_cut {
            end.outcome = Outcome::Truncated;
        }
        end
    }
}

/// Cuts executions of random programs under this strategy. Returns how many were cut.
fn cut_anywhere<S: Strategy>(count: usize, strategy: impl Fn() -> S) -> u64 {
    let mut cut = 0;
    for program in programs(0, count, 400) {
        for row in 2..5 {
            let model = Model::new(&program);
            let mut search = Search::new(strategy());
            search
                .run(&mut Cutting { model, row }, 10_000)
                .unwrap_or_else(|divergence| panic!("{divergence} in {program:?}"));
            cut += search.counts().truncated;
            assert!(
                search.counts().truncated == 0 || search.promise() != Promise::Exhausted,
                "{row}: {program:?}"
            );
        }
    }
    cut
}

/// An execution may be cut before it is as far as its strategy has planned it.
#[test]
fn executions_may_be_cut_anywhere() {
    assert!(cut_anywhere(1500, Odpor::new) > 1000);
    assert!(cut_anywhere(500, Dpor::new) > 1000);
    assert!(cut_anywhere(500, LazyDpor::new) > 1000);
    assert!(cut_anywhere(500, || IcbDpor::new(None)) > 1000);
    assert!(cut_anywhere(500, CachedDpor::new) > 1000);
    assert!(cut_anywhere(200, Mcr::new) > 100);
    assert!(cut_anywhere(200, RvCausal::new) > 100);
}
