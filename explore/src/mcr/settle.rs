//! Settling a run: finding its class, and adding it to the shared state.

use super::classes::{ClassId, Partial};
use super::expand::Effort;
use super::frontier::{Purpose, Ran, Seed, Shared};
use super::journal::{Membership, Origin};
use super::paths::Paths;
use crate::event::Kind;
use crate::mcm::model::Model;

/// A run that has been settled.
#[derive(Debug)]
pub struct Settled {
    /// The run's number.
    pub run: u32,
    /// The run's nodes in the trees of the classes.
    pub paths: Paths,
    /// Whether seeds may follow from the run that do not follow from other runs.
    pub leads_on: bool,
    /// The run's class.
    pub member: Option<ClassId>,
    /// A class that has much in common with the run's and whose expansion has begun, if one is known.
    pub near: Option<ClassId>,
    /// Whether other expansions may have left seeds to this run.
    pub relied_on: bool,
}

impl Shared {
    /// Takes in a run that is over. `followed`: the program could do all that the seed said. The paths are for their memory.
    pub fn settle(
        &self,
        model: &Model,
        seed: Option<&Seed>,
        followed: bool,
        mut paths: Paths,
    ) -> Settled {
        self.meet(model);
        paths.enter(model, self);
        let whole = model.whole();
        let ends: Partial = paths.at(model, &whole);
        let key = paths.key(model, &whole);
        let reached = seed.is_none_or(|seed| match seed.purpose {
            Purpose::Again(_, before) => key == before,
            _ => paths.pass(model, &self.read().classes, &seed.nodes),
        });
        let mut frontier = self.write();
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
                Membership::Own => Some(frontier.classes.insert(&[], None)),
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
            member: ran.member,
            near: seed.and_then(|seed| seed.near),
            relied_on: frontier.is_relied_on(key),
        }
    }

    /// Notes threads that come up for the first time.
    fn meet(&self, model: &Model) {
        let forked = model.lanes().iter().filter(|lane| lane.fork.is_some());
        let known = self.read();
        if forked.clone().all(|lane| known.has_met(lane.thread)) {
            return;
        }
        drop(known);
        let mut frontier = self.write();
        for lane in forked {
            let Some((parent, index)) = lane.fork else {
                continue;
            };
            let parent = model.lane_at(parent);
            let before = parent.steps[..index as usize].iter();
            let before = before.filter(|step| step.kind == Kind::Fork).count();
            let nth = u32::try_from(before).unwrap_or(u32::MAX);
            frontier.met(lane.thread, parent.thread, nth);
        }
    }
}
