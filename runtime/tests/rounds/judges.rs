//! The logs of rounds, decided in other ways than by the progress grid: by the grid with one axis a thread, and by Z3.

use std::cell::RefCell;
use std::rc::Rc;

use seqz_runtime::Role;
use seqz_runtime::engine::Solver;
use seqz_runtime::feasibility::{Feasibility, Interleaving, Many, Verdict};
use seqz_runtime::log::Log;

use crate::execute::found_by_check;
use crate::program::{Random, generate};

type Complaints = Rc<RefCell<Vec<String>>>;

struct Judges {
    #[cfg(feature = "z3")]
    z3: seqz_runtime::feasibility::Z3,
    /// How many logs were decided.
    decided: Rc<RefCell<usize>>,
    complaints: Complaints,
}

impl Feasibility for Judges {
    fn check(&mut self, log: &Log<'_>) -> Verdict {
        *self.decided.borrow_mut() += 1;
        let mut many = Many::new(&[log.interfering]).expect("the logs are short");
        log.under_test.iter().for_each(|&event| many.push(event));
        let feasible = many.feasible();
        #[cfg(feature = "z3")]
        let verdict = self.z3.check(log);
        #[cfg(not(feature = "z3"))]
        let verdict = seqz_runtime::feasibility::ProgressGrid::new().check(log);
        if matches!(verdict, Verdict::Feasible(_)) != feasible {
            let message = format!("feasible: {feasible}, not {verdict:?}: {log:?}");
            self.complaints.borrow_mut().push(message);
        }
        if feasible {
            Verdict::Feasible(Interleaving::default())
        } else {
            Verdict::Infeasible
        }
    }
}

#[test]
fn all_who_decide_feasibility_agree_on_logs_of_rounds() {
    let complaints = Complaints::default();
    let decided = Rc::new(RefCell::new(0));
    let mut random = Random::new(21);
    for _ in 0..25 {
        let program = generate(&mut random);
        for role in [Role::FIRST, Role::SECOND] {
            let heard = Rc::clone(&complaints);
            let solver = Solver::Compare {
                other: Box::new(Judges {
                    #[cfg(feature = "z3")]
                    z3: seqz_runtime::feasibility::Z3::new(),
                    decided: Rc::clone(&decided),
                    complaints: Rc::clone(&complaints),
                }),
                differs: Box::new(move |log, by_grid, verdict| {
                    let message = format!("the grid says {by_grid}, others {verdict:?}: {log:?}");
                    heard.borrow_mut().push(message);
                }),
            };
            let found = found_by_check(&program, role, solver);
            assert_eq!(found, found_by_check(&program, role, Solver::Grid));
        }
    }
    let complaints = complaints.borrow();
    assert!(complaints.is_empty(), "{}", complaints[0]);
    assert!(*decided.borrow() > 500, "{}", decided.borrow());
}
