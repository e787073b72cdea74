//! Data races, predicted from executions that have none.
//!
//! Source: Huang (PLDI 2015), section 3.3: two accesses of different threads to plain data, one of them a write, race
//! iff an execution of the maximal causal model has both next at once. A race needs no read that returns another value, so
//! without this prediction a race could stay unseen. Each pair of places that can race becomes a seed with the two accesses
//! one after the other and no event in between that could order them; the execution of this seed shows the race.

use super::frontier::Shared;
use crate::event::Site;
use crate::mcm::model::{Model, Step};
use crate::mcm::query::{Goal, Query, Solver, Verdict};

/// Finds seeds for races between pairs of places whose race is not known yet. Returns the number of queries that were
/// given up.
pub(crate) fn predict<S: Solver>(model: &Model, solver: &mut S, shared: &Shared) -> u64 {
    let mut unknown = 0;
    for cell in model.cells().iter().filter(|cell| cell.plain) {
        for (number, &one) in cell.uses.iter().enumerate() {
            for &other in &cell.uses[number + 1..] {
                let (first, second) = (model.step(one), model.step(other));
                let sites = places(first, second);
                if one.0 == other.0
                    || !(first.leaves_value() || second.leaves_value())
                    || shared.read().knows_race(sites)
                    || model.must_be_before(one, other)
                    || model.must_be_before(other, one)
                {
                    continue;
                }
                let mut upper = model.whole();
                upper[one.0 as usize] = one.1;
                upper[other.0 as usize] = other.1;
                model.close(&mut upper);
                let mut lower = vec![0; upper.len()];
                lower[one.0 as usize] = one.1;
                lower[other.0 as usize] = other.1;
                let query = Query {
                    lower: &lower,
                    upper: &upper,
                    goal: Goal::Both(one.0, other.0),
                };
                match solver.solve(model, &query) {
                    Verdict::Infeasible => {}
                    Verdict::Unknown => unknown += 1,
                    Verdict::Feasible(witness) => {
                        let lanes = witness.into_iter().chain([one.0, other.0]);
                        let thread = |lane| model.lane_at(lane).thread;
                        let schedule = lanes.map(thread).collect();
                        shared.write().plant_race(sites, schedule);
                    }
                }
            }
        }
    }
    unknown
}

/// The places of two steps, the lower number first.
fn places(one: &Step, other: &Step) -> (Site, Site) {
    (one.site.min(other.site), one.site.max(other.site))
}
