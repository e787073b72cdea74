//! Queries about maximal causal models, answered by the driver.

use std::process;

use seqz_explore::mcm::{Model, OrderSolver, Query, Solver, Verdict, words};

use super::super::connection::Connection;
use super::super::message::{ExploreReply, ExploreRequest, SolverKind};

/// A solver that asks the driver, at the other end of the connection, and may ask the worker's own.
pub(super) struct Asking {
    connection: Option<Connection<ExploreRequest>>,
    /// The worker's own solver; `None` if only the driver is asked.
    own: Option<OrderSolver>,
    /// The model that the driver knows, in words.
    told: Vec<u64>,
}

impl Asking {
    pub(super) fn new(
        kind: SolverKind,
        connection: &Connection<ExploreRequest>,
    ) -> std::io::Result<Self> {
        let asks = kind != SolverKind::Grid;
        Ok(Self {
            connection: asks.then(|| connection.try_clone()).transpose()?,
            own: (kind != SolverKind::Driver).then(OrderSolver::default),
            told: Vec::new(),
        })
    }
}

impl Solver for Asking {
    fn solve(&mut self, model: &Model, query: &Query<'_>) -> Verdict {
        let own = self.own.as_mut().map(|own| own.solve(model, query));
        let Some(connection) = &mut self.connection else {
            return own.unwrap_or(Verdict::Unknown);
        };
        let mut model = words::of_model(model);
        if model == self.told {
            model.clear();
        } else {
            self.told.clone_from(&model);
        }
        let question = ExploreReply::Solve {
            model,
            query: words::of_query(query),
            own: own.as_ref().map_or_else(Vec::new, words::of_verdict),
        };
        let answer = connection.send(question).and_then(|()| connection.answer());
        let other = match answer {
            Ok(words) => words::to_verdict(&words),
            // The driver is gone. A search that went on without answers would give up one query after the other, and
            // write that into its checkpoint: a search that went on from there could never find what is behind these
            // queries.
            Err(_) => process::exit(1),
        };
        match own {
            Some(own) if own != Verdict::Unknown => own,
            _ => other.unwrap_or(Verdict::Unknown),
        }
    }
}
