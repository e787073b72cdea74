//! Queries about maximal causal models, answered on a worker's behalf.

use seqz_explore::mcm::{self, Model, Query, Verdict, validate, words};

use crate::solvers::Solver;

/// The answering side of one conversation with a worker.
pub(super) struct Answering {
    solver: Option<Box<dyn mcm::Solver>>,
    model: Model,
}

impl Answering {
    pub(super) fn new(solver: Solver<dyn mcm::Solver>) -> Self {
        Self {
            solver: (solver.make)(),
            model: Model::default(),
        }
    }

    /// Answers a question, in words all of it: the model if it is a new one, the query, and the worker's own verdict if it
    /// has one.
    ///
    /// # Errors
    /// The two verdicts are not the same, or one of them is wrong, or these are no words of a question.
    pub(super) fn answer(
        &mut self,
        model: &[u64],
        query: &[u64],
        own: &[u64],
    ) -> Result<Vec<u64>, String> {
        let nonsense = || "the worker asks what can't be understood".to_owned();
        if !model.is_empty() {
            self.model = words::to_model(model).ok_or_else(nonsense)?;
        }
        let model = &self.model;
        let (lower, upper, goal) = words::to_query(model, query).ok_or_else(nonsense)?;
        let query = Query {
            lower: &lower,
            upper: &upper,
            goal,
        };
        let verdict = self
            .solver
            .as_mut()
            .map_or(Verdict::Unknown, |solver| solver.solve(model, &query));
        let own = words::to_verdict(own);
        compare(model, &query, own.as_ref(), &verdict)
            .map_err(|what| format!("{what}, of this query: {query:?} about {model:?}"))?;
        Ok(words::of_verdict(&verdict))
    }
}

fn compare(
    model: &Model,
    query: &Query<'_>,
    own: Option<&Verdict>,
    other: &Verdict,
) -> Result<(), String> {
    for (name, verdict) in [("the order solver", own), ("Z3", Some(other))] {
        if let Some(Verdict::Feasible(witness)) = verdict
            && validate(model, query, witness).is_none()
        {
            return Err(format!("what {name} answers is no execution: {witness:?}"));
        }
    }
    match (own, other) {
        (Some(Verdict::Feasible(_)), Verdict::Infeasible)
        | (Some(Verdict::Infeasible), Verdict::Feasible(_)) => Err(format!(
            "the order solver and Z3 differ; the order solver says {own:?}, Z3 {other:?}"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcm::Goal;

    #[test]
    fn verdicts_that_differ_are_an_error() {
        let model = Model::default();
        let query = Query {
            lower: &[],
            upper: &[],
            goal: Goal::Reached,
        };
        let feasible = Verdict::Feasible(Vec::new());
        let compare = |own, other| compare(&model, &query, own, other);
        assert_eq!(compare(Some(&feasible), &feasible), Ok(()));
        assert_eq!(compare(Some(&feasible), &Verdict::Unknown), Ok(()));
        assert_eq!(compare(None, &Verdict::Infeasible), Ok(()));
        assert!(compare(Some(&feasible), &Verdict::Infeasible).is_err());
        assert!(compare(Some(&Verdict::Infeasible), &feasible).is_err());
        let stuck = Query {
            goal: Goal::Next(0, mcm::Sight::Refused),
            lower: &[0],
            upper: &[0],
        };
        let wrong = super::compare(
            &words::to_model(&[1, 0, 0, 0, 0, 0]).unwrap(),
            &stuck,
            None,
            &feasible,
        );
        assert!(wrong.is_err());
    }
}
