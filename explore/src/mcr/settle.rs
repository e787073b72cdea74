//! Taking in what a run was.

use super::classes::Partial;
use super::expand::Effort;
use super::frontier::{Frontier, Purpose, Ran, Seed, Shared};
use super::journal::{Membership, Origin};
use super::paths::Paths;
use crate::event::Kind;
use crate::mcm::model::Model;

/// A run that has been taken in.
#[derive(Debug)]
pub struct Settled {
    /// Its number.
    pub run: u32,
    /// Its nodes.
    pub paths: Paths,
    /// Whether something may follow from it that has not followed from others.
    pub leads_on: bool,
}

impl Shared {
    /// Takes in a run that is over. `followed`: the program could do all that the seed said.
    pub fn settle(&self, model: &Model, seed: Option<&Seed>, followed: bool) -> Settled {
        let mut guard = self.write();
        let frontier = &mut *guard;
        meet(model, frontier);
        let paths = Paths::of(model, frontier);
        let whole = model.whole();
        let ends: Partial = paths.at(model, &whole);
        let key = paths.key(model, &whole);
        let reached = seed.is_none_or(|seed| match seed.purpose {
            Purpose::Again(_, before) => key == before,
            _ => frontier.classes.are_below(&ends, &seed.nodes),
        });
        let purpose = seed.map(|seed| seed.purpose);
        let new = !frontier.contains(key);
        let (membership, leads_on) = match purpose {
            Some(Purpose::Class(_) | Purpose::Again(..)) if reached => (Membership::Planted, true),
            // The program did something else. The seed stays what it was, so that it is not planted again and again.
            Some(Purpose::Class(_) | Purpose::Again(..)) if !new => (Membership::Known, false),
            // All that follows from it follows from the execution that it was predicted from, and whatever it covers that
            // one covers, too.
            Some(Purpose::Ending(planned)) if planned == key => (Membership::Own, false),
            Some(Purpose::Race | Purpose::Pairs) if !new => (Membership::Known, false),
            _ => (Membership::Own, true),
        };
        let ran = Ran {
            origin: seed.map_or(Origin::First, |seed| seed.origin),
            membership,
            member: match membership {
                Membership::Planted => seed.and_then(Seed::member),
                Membership::Own => Some(frontier.classes.insert(&[])),
                Membership::Known => None,
            },
            leads_on,
            confirms: purpose == Some(Purpose::Race),
            ends,
            key,
            lost: !followed || !reached,
            open: model.is_open(),
        };
        let run = frontier.ran(&ran);
        if !leads_on {
            frontier.expanded(run, Effort::default());
        }
        frontier.flush();
        Settled {
            run,
            paths,
            leads_on,
        }
    }
}

/// Notes threads that come up for the first time.
fn meet(model: &Model, frontier: &mut Frontier) {
    for lane in model.lanes() {
        if let Some((parent, index)) = lane.fork {
            let parent = model.lane_at(parent);
            let before = parent.steps[..index as usize].iter();
            let before = before.filter(|step| step.kind == Kind::Fork).count();
            let nth = u32::try_from(before).unwrap_or(u32::MAX);
            frontier.met(lane.thread, parent.thread, nth);
        }
    }
}
