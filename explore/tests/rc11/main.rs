//! The search over Rust's memory model, held against published counts and against an enumerator that is written from the
//! axioms.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod counts;
mod oracle;
mod program;
mod random;

use std::collections::HashSet;

use program::{Program, Runner};
use seqz_explore::rc11::Link;
use seqz_explore::{Outcome, Promise, Rc11, Search, Strategy};

/// What a search has found.
#[derive(Debug, Default)]
pub(crate) struct Searched {
    pub(crate) graphs: Vec<Vec<Link>>,
    pub(crate) outcomes: HashSet<Vec<Vec<u64>>>,
    pub(crate) executions: u64,
    pub(crate) races: bool,
    pub(crate) failed: bool,
}

pub(crate) fn search(program: &Program, strategy: Rc11) -> Searched {
    let mut found = Searched::default();
    let mut search = Search::new(strategy);
    let mut runner = Runner::new(program);
    while let Some(run) = search.step(&mut runner).unwrap() {
        found.executions += 1;
        found.races |= search.strategy().race().is_some();
        found.failed |= runner.failed && run.end.outcome != Outcome::Abandoned;
        if run.end.outcome == Outcome::Completed {
            let mut links = search.strategy().links();
            links.sort_unstable();
            found.graphs.push(links);
            found.outcomes.insert(runner.results.clone());
        }
        if found.races {
            // What comes after a race may depend on the order of the search.
            return found;
        }
        assert!(found.executions < 200_000, "it goes on and on");
    }
    assert_eq!(search.promise(), Promise::ExhaustedWeakly);
    found
}
