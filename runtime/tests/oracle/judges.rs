//! Holds every log that the engine asks about against all ways to decide it.
//!
//! Trying every interleaving and a new grid are asked at once. Z3 is asked for all logs together at the end, in as many
//! threads as there are cores, since it takes a thousand times as long.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use seqz_runtime::feasibility::{Feasibility, Interleaving, ProgressGrid, Verdict, validate};
use seqz_runtime::log::{Log, Object, Op, TEvent};

use crate::exhaustive::Exhaustive;

/// What went wrong between the judges, for whoever compares the results.
pub(crate) type Complaints = Rc<RefCell<Vec<String>>>;

/// A log's events.
type Events = (Vec<TEvent>, Vec<Op>);

/// The logs that have been judged, and whether they are feasible.
pub(crate) type Judged = Rc<RefCell<HashMap<Events, bool>>>;

/// The exhaustive search and the grid. The same log is judged once.
pub(crate) struct Judges {
    exhaustive: Exhaustive,
    grid: ProgressGrid,
    judged: Judged,
    complaints: Complaints,
}

impl Judges {
    /// Judges who have seen nothing.
    pub(crate) fn new(complaints: Complaints, judged: Judged) -> Self {
        Self {
            exhaustive: Exhaustive,
            grid: ProgressGrid::new(),
            judged,
            complaints,
        }
    }
}

impl Feasibility for Judges {
    fn check(&mut self, log: &Log<'_>) -> Verdict {
        let events = renumbered(log);
        let known = self.judged.borrow().get(&events).copied();
        let feasible = known.unwrap_or_else(|| {
            let feasible = matches!(self.exhaustive.check(log), Verdict::Feasible(_));
            if let Err(why) = examine("grid", &mut self.grid, log, feasible) {
                self.complaints.borrow_mut().push(why);
            }
            self.judged.borrow_mut().insert(events, feasible);
            feasible
        });
        if feasible {
            Verdict::Feasible(Interleaving::default())
        } else {
            Verdict::Infeasible
        }
    }
}

/// Whether the judge says what is known of the log, and has a witness for it.
fn examine(
    name: &str,
    judge: &mut dyn Feasibility,
    log: &Log<'_>,
    feasible: bool,
) -> Result<(), String> {
    let verdict = judge.check(log);
    match &verdict {
        Verdict::Feasible(witness) if feasible => validate(log, witness)
            .map_err(|why| format!("the witness of {name} is none: {why}\n{witness:?}\n{log:#?}")),
        Verdict::Infeasible if !feasible => Ok(()),
        _ => Err(format!(
            "feasible: {feasible}, but {name} says {verdict:?}\n{log:#?}"
        )),
    }
}

/// Asks Z3 about all the logs; the answer is what it says differently.
#[cfg(feature = "z3")]
pub(crate) fn ask_z3(judged: &Judged) -> Vec<String> {
    let judged = judged.borrow();
    let logs: Vec<(&Events, bool)> = judged
        .iter()
        .map(|(log, &feasible)| (log, feasible))
        .collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = logs.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let ask = |logs: &[(&Events, bool)]| -> Vec<String> {
            let mut z3 = seqz_runtime::feasibility::Z3::new();
            let answers = logs.iter().map(|((under_test, interfering), feasible)| {
                let log = Log {
                    under_test,
                    interfering,
                };
                examine("Z3", &mut z3, &log, *feasible)
            });
            answers.filter_map(Result::err).collect()
        };
        let shares: Vec<_> = logs
            .chunks(share)
            .map(|logs| scope.spawn(move || ask(logs)))
            .collect();
        let answers = shares.into_iter().map(|share| share.join());
        answers
            .flat_map(|answer| answer.expect("Z3 panicked"))
            .collect()
    })
}

/// The log with its objects numbered by first use, so that logs of different programs are known to be the same.
fn renumbered(log: &Log<'_>) -> Events {
    let mut names: Vec<Object> = Vec::new();
    let mut name = |object| {
        let known = names.iter().position(|&known| known == object);
        let at = known.unwrap_or_else(|| {
            names.push(object);
            names.len() - 1
        });
        Object::try_from(at).expect("logs are short")
    };
    let mut rename = |op| match op {
        Op::Read(object) => Op::Read(name(object)),
        Op::Write(object) => Op::Write(name(object)),
        Op::Update(object) => Op::Update(name(object)),
        Op::Acquire(object, mode) => Op::Acquire(name(object), mode),
        Op::Release(object, mode) => Op::Release(name(object), mode),
        Op::TryFail(object, mode) => Op::TryFail(name(object), mode),
        Op::Join => Op::Join,
    };
    let under_test = log.under_test.iter().map(|event| TEvent {
        op: rename(event.op),
        ..*event
    });
    let under_test = under_test.collect();
    let interfering = log.interfering.iter().map(|&op| rename(op)).collect();
    (under_test, interfering)
}
