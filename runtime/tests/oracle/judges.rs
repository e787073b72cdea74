//! Holds every log that the engine asks about against all ways to decide it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use seqz_runtime::feasibility::{Feasibility, ProgressGrid, Verdict, validate};
use seqz_runtime::log::{Log, Op, TEvent};

use crate::exhaustive::Exhaustive;

/// What went wrong between the judges, for whoever compares the results.
pub(crate) type Complaints = Rc<RefCell<Vec<String>>>;

/// A log's events.
type Events = (Vec<TEvent>, Vec<Op>);

/// Asks all; answers as the exhaustive search does. The same log is judged once.
pub(crate) struct Judges {
    judges: Vec<(&'static str, Box<dyn Feasibility>)>,
    known: HashMap<Events, bool>,
    complaints: Complaints,
}

impl Judges {
    /// All judges that there are.
    pub(crate) fn new(complaints: Complaints) -> Self {
        #[allow(unused_mut, reason = "a feature adds to it")]
        let mut judges: Vec<(&'static str, Box<dyn Feasibility>)> = vec![
            ("exhaustive", Box::new(Exhaustive)),
            ("grid", Box::new(ProgressGrid::new())),
        ];
        #[cfg(feature = "z3")]
        judges.push(("Z3", Box::new(seqz_runtime::feasibility::Z3::new())));
        Self {
            judges,
            known: HashMap::new(),
            complaints,
        }
    }
}

impl Feasibility for Judges {
    fn check(&mut self, log: &Log<'_>) -> Verdict {
        let events = (log.under_test.to_vec(), log.interfering.to_vec());
        let feasible = self.known.get(&events).copied().unwrap_or_else(|| {
            let mut verdicts = Vec::new();
            for (name, judge) in &mut self.judges {
                let verdict = judge.check(log);
                if let Verdict::Feasible(witness) = &verdict
                    && let Err(why) = validate(log, witness)
                {
                    let message =
                        format!("the witness of {name} is none: {why}\n{witness:?}\n{log:#?}");
                    self.complaints.borrow_mut().push(message);
                }
                verdicts.push((*name, verdict));
            }
            let feasible = matches!(verdicts[0].1, Verdict::Feasible(_));
            let same = verdicts.iter().all(|(_, verdict)| match verdict {
                Verdict::Feasible(_) => feasible,
                Verdict::Infeasible => !feasible,
                Verdict::Unknown(_) => false,
            });
            if !same {
                self.complaints
                    .borrow_mut()
                    .push(format!("verdicts differ: {verdicts:#?}\n{log:#?}"));
            }
            self.known.insert(events, feasible);
            feasible
        });
        if feasible {
            Verdict::Feasible(Default::default())
        } else {
            Verdict::Infeasible
        }
    }
}
