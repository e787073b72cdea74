//! What searches say about themselves when something is less than it should be.

mod model;

use model::{Expr, Model, Op, Program};
use seqz_explore::{
    Dfs, Divergence, Dpor, Event, Executor, Icb, IcbDpor, Odpor, Outcome, Pcb, Pick, Promise,
    RunEnd, Scheduler, Search, Strategy, View,
};

fn increments() -> Program {
    Program::of(vec![
        vec![
            Op::Load(0, 0),
            Op::Store(0, Expr::Plus(0, 1)),
            Op::Load(0, 0)
        ];
        2
    ])
}

fn all<S: Strategy>(executor: &mut impl Executor, strategy: S) -> Result<Search<S>, Divergence> {
    let mut search = Search::new(strategy);
    search.run(executor, u64::MAX)?;
    Ok(search)
}

/// Gives each execution up after a number of events.
struct Bounded<S>(S, usize);

impl<S: Scheduler> Scheduler for Bounded<S> {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        if self.1 == 0 {
            return Pick::Abandon;
        }
        self.1 -= 1;
        self.0.pick(view)
    }

    fn ran(&mut self, event: &Event) {
        self.0.ran(event);
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.0.blocked(view);
    }
}

/// Cuts executions at a bound.
struct Cut<'a>(Model<'a>, usize);

impl Executor for Cut<'_> {
    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
        let mut end = self.0.run(&mut Bounded(scheduler, self.1));
        if end.outcome == Outcome::Abandoned {
            end.outcome = Outcome::Truncated;
        }
        end
    }
}

#[test]
fn truncated_executions_weaken_the_promise() {
    let program = increments();
    let weak = Promise::Bounded {
        preemptions: None,
        truncated: true,
    };
    let mut cut = Cut(Model::new(&program), 4);
    assert_eq!(all(&mut cut, Dfs::new()).unwrap().promise(), weak);
    assert_eq!(all(&mut cut, Dpor::new()).unwrap().promise(), weak);
    assert_eq!(all(&mut cut, Odpor::new()).unwrap().promise(), weak);
    let icb = all(&mut cut, Icb::new(Some(1))).unwrap();
    assert_eq!(
        icb.promise(),
        Promise::Bounded {
            preemptions: Some(1),
            truncated: true
        }
    );
}

#[test]
fn bounds_are_told() {
    let program = increments();
    let mut model = Model::new(&program);
    let bounded = |preemptions| Promise::Bounded {
        preemptions: Some(preemptions),
        truncated: false,
    };
    assert_eq!(all(&mut model, Pcb::new(1)).unwrap().promise(), bounded(1));
    let icb = all(&mut model, Icb::new(Some(2))).unwrap();
    assert_eq!(icb.promise(), bounded(2));
    let reduced = all(&mut model, IcbDpor::new(Some(1))).unwrap();
    assert_eq!(reduced.promise(), bounded(1));
    let mut started = Search::new(Dfs::new());
    started.run(&mut model, 3).unwrap();
    assert_eq!(started.promise(), Promise::Unfinished);
    assert!(started.estimate().is_some_and(|estimate| estimate > 3.0));
}

/// A program that is another one from its third execution on.
struct Fickle<'a>(Model<'a>, Model<'a>, u32);

impl Executor for Fickle<'_> {
    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
        self.2 += 1;
        if self.2 < 3 {
            self.0.run(scheduler)
        } else {
            self.1.run(scheduler)
        }
    }
}

#[test]
fn divergences_end_the_search() {
    let program = increments();
    let mut other = program.clone();
    other.threads[0][0] = Op::FetchAdd(0, 0, 1);
    let fickle = || Fickle(Model::new(&program), Model::new(&other), 0);
    assert!(all(&mut fickle(), Dpor::new()).is_err());
    assert!(all(&mut fickle(), Odpor::new()).is_err());
    assert!(all(&mut fickle(), IcbDpor::at(3)).is_err());
    let mut shorter = program.clone();
    shorter.threads[0].truncate(1);
    let mut fickle = Fickle(Model::new(&program), Model::new(&shorter), 0);
    let divergence = all(&mut fickle, Dfs::new()).map(|_| ());
    assert!(
        divergence
            .unwrap_err()
            .to_string()
            .contains("went another way")
    );
}

/// A program that is another one in one execution of so many.
struct NowAndThen<'a> {
    usual: Model<'a>,
    other: Model<'a>,
    every: u32,
    executions: u32,
}

impl Executor for NowAndThen<'_> {
    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
        self.executions += 1;
        if self.executions.is_multiple_of(self.every) {
            self.other.run(scheduler)
        } else {
            self.usual.run(scheduler)
        }
    }
}

/// How many executions a search makes that leaves out what it is told of divergences, and what it promises.
fn going_on(executor: &mut impl Executor, strategy: Odpor) -> (u64, u64, Promise) {
    let mut search = Search::new(strategy);
    let mut divergences = 0;
    loop {
        match search.run(executor, u64::MAX) {
            Ok(_) => break,
            Err(_) => divergences += 1,
        }
        if !search.go_on() {
            break;
        }
    }
    assert!(search.step(executor).unwrap().is_none());
    (search.counts().executions, divergences, search.promise())
}

#[test]
fn a_search_goes_on_beside_divergences_and_promises_nothing() {
    let program = Program::of(vec![increments().threads[0].clone(); 3]);
    let mut other = program.clone();
    other.threads[1][1] = Op::FetchAdd(0, 0, 1);
    let whole = all(&mut Model::new(&program), Odpor::new()).unwrap();
    let all = whole.counts().executions;
    // Executions are also made again where no more than an outline of them is kept.
    for strategy in [Odpor::new(), Odpor::new().keeping(0)] {
        for every in [2, 3, 7, 50, 200] {
            let mut now_and_then = NowAndThen {
                usual: Model::new(&program),
                other: Model::new(&other),
                every,
                executions: 0,
            };
            let (executions, divergences, promise) = going_on(&mut now_and_then, strategy.clone());
            assert!(divergences > 0, "{every}");
            assert_eq!(promise, Promise::Unfinished, "{every}");
            assert!(executions <= all + divergences, "{every}: {executions}");
            if every == 200 {
                // One divergence costs what would have come of its execution, and no more.
                assert!(executions > all / 2, "{executions} of {all}");
            }
        }
    }
    // Others end there.
    let program = increments();
    let mut other = program.clone();
    other.threads[0][0] = Op::FetchAdd(0, 0, 1);
    let mut fickle = Fickle(Model::new(&program), Model::new(&other), 0);
    let mut search = Search::new(Dpor::new());
    assert!(search.run(&mut fickle, u64::MAX).is_err());
    assert!(!search.go_on() && search.step(&mut fickle).unwrap().is_none());
}
