//! Taking in what a run was.

use super::classes::Partial;
use super::expand::{Effort, Paths};
use super::frontier::{Frontier, NO_RUN, Purpose, Ran, Seed, Shared};
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
        let reached = seed.is_none_or(|seed| frontier.classes.are_below(&ends, &seed.nodes));
        let purpose = seed.map(|seed| seed.purpose);
        let new = !frontier.contains(key);
        let (planted, is_member, leads_on) = match purpose {
            Some(Purpose::Class(member)) if reached => (Some(member), true, true),
            // The program did something else. The seed stays what it was, so that it is not planted again and again.
            Some(Purpose::Class(_)) if !new => (None, false, false),
            // All that follows from it follows from the execution that it was predicted from, and whatever it covers that
            // one covers, too.
            Some(Purpose::Ending(planned)) if planned == key => {
                let alone = seed.is_some_and(|seed| seed.run == NO_RUN);
                (None, true, alone)
            }
            Some(Purpose::Race | Purpose::Pairs) if !new => (None, false, false),
            _ => (None, true, true),
        };
        let own_member = is_member && planted.is_none();
        let ran = Ran {
            seed: seed.map(|seed| seed.number),
            member: if own_member {
                Some(frontier.classes.insert(Vec::new()))
            } else {
                planted
            },
            own_member,
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
