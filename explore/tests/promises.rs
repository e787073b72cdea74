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
