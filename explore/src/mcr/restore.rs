//! The state of a search from its journal, cut anywhere.
//!
//! A run counts once all seeds that follow from it have been planted. If the search was broken off during the run's
//! expansion, other expansions may have gone on meanwhile, and may have left out seeds since the run's class covers them:
//! these seeds depend on that very class. So the run is made again, and until then its class stays a member with the
//! observations that it had: it covers all that it covered before. The program does the same from the same schedule, so the
//! class comes back; if another seed leads to the class first, that seed's run takes the place of the run. The expansion of
//! either run plants the seeds that other classes have in common with it, too, since these classes may have left those
//! seeds to it.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;

use super::frontier::{Frontier, Purpose, Ran, Seed};
use super::journal::{Change, Membership, Origin};

/// A journal that does not fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenJournal;

impl fmt::Display for BrokenJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what is written down of the search does not fit together")
    }
}

impl Error for BrokenJournal {}

/// A search that is being restored.
struct Restoring {
    frontier: Frontier,
    /// The numbers of the runs that were expanded to the end.
    expanded: BTreeSet<u32>,
    /// Per number: a seed that no counted run has followed.
    seeds: BTreeMap<u32, Seed>,
    /// Per number of a run that is to be made again: the seed to make it from.
    again: BTreeMap<u32, Seed>,
    /// Per run: whether it counts.
    runs: Vec<bool>,
}

impl Frontier {
    /// Returns the state after these changes, without changes by runs that were not expanded to the end, and per run
    /// whether it was.
    ///
    /// # Errors
    /// When the changes do not fit together.
    pub fn restore(changes: Vec<Change>) -> Result<(Self, Vec<bool>), BrokenJournal> {
        let expanded = changes.iter().filter_map(|change| match change {
            Change::Expanded { run, .. } => Some(*run),
            _ => None,
        });
        let mut restoring = Restoring {
            expanded: expanded.collect(),
            frontier: Self::default(),
            seeds: BTreeMap::new(),
            again: BTreeMap::new(),
            runs: Vec::new(),
        };
        for change in changes {
            restoring.take(change)?;
        }
        let Restoring {
            frontier,
            seeds,
            again,
            runs,
            ..
        } = restoring;
        // The last seed is executed next: runs to be made again come first.
        let seeds = seeds.into_values().chain(again.into_values().rev());
        let count = u32::try_from(runs.len()).map_err(|_| BrokenJournal)?;
        let frontier = frontier.waiting(seeds.collect(), count);
        Ok((frontier, runs))
    }
}

impl Restoring {
    fn take(&mut self, change: Change) -> Result<(), BrokenJournal> {
        match change {
            Change::Thread {
                thread,
                parent,
                nth,
            } => self.frontier.met(thread, parent, nth),
            Change::Node {
                thread,
                parent,
                observation,
            } => {
                if !self.frontier.classes.has(parent) {
                    return Err(BrokenJournal);
                }
                self.frontier.child(thread, parent, observation);
            }
            Change::Seed {
                aim,
                nodes,
                schedule,
            } => {
                if !nodes
                    .iter()
                    .all(|&(_, node)| self.frontier.classes.has(node))
                {
                    return Err(BrokenJournal);
                }
                let seed = self.frontier.seed(aim, nodes, schedule, None);
                if let Origin::Seed(number) = seed.origin {
                    self.seeds.insert(number, seed);
                }
            }
            Change::Ran {
                origin,
                member,
                leads_on,
                ends,
                key,
                lost,
                open,
            } => {
                self.ran(Ran {
                    origin,
                    membership: member,
                    member: None,
                    confirms: false,
                    ends,
                    leads_on,
                    key,
                    lost,
                    open,
                })?;
            }
            Change::Expanded { effort, .. } => self.frontier.effort.add(effort),
        }
        Ok(())
    }

    /// A run, of which the member and whether it confirms a race follow from the seed.
    fn ran(&mut self, mut ran: Ran) -> Result<(), BrokenJournal> {
        let classes = &mut self.frontier.classes;
        if !ran.ends.iter().all(|&(_, node)| classes.has(node)) {
            return Err(BrokenJournal);
        }
        let own = (ran.membership == Membership::Own).then(|| classes.insert(&[], None));
        let run = u32::try_from(self.runs.len()).map_err(|_| BrokenJournal)?;
        let counts = self.expanded.contains(&run);
        self.runs.push(counts);
        let seed = match ran.origin {
            Origin::First => None,
            Origin::Seed(number) => Some(self.seeds.get(&number).ok_or(BrokenJournal)?),
            Origin::Again(run) => Some(self.again.get(&run).ok_or(BrokenJournal)?),
        };
        let seed = seed.cloned();
        ran.member = match ran.membership {
            Membership::Planted => Some(seed.as_ref().and_then(Seed::member).ok_or(BrokenJournal)?),
            Membership::Own | Membership::Known => own,
        };
        ran.confirms = seed
            .as_ref()
            .is_some_and(|seed| seed.purpose == Purpose::Race);
        if ran.member.is_none() && !counts {
            // It only showed something, and has to show it again: the seed stays.
            return Ok(());
        }
        match ran.origin {
            Origin::First => {}
            Origin::Seed(number) => {
                self.seeds.remove(&number);
            }
            Origin::Again(run) => {
                self.again.remove(&run);
            }
        }
        match ran.member {
            Some(member) if !counts => {
                self.frontier.plan(member, &ran);
                let schedule = seed.map(|seed| seed.schedule).unwrap_or_default();
                let seed = Seed {
                    origin: Origin::Again(run),
                    purpose: Purpose::Again(member, ran.key),
                    nodes: ran.ends,
                    schedule,
                    near: None,
                };
                self.again.insert(run, seed);
            }
            member => {
                self.frontier.take_in(&ran);
                if let Some(member) = member.filter(|_| ran.leads_on) {
                    self.frontier.classes.begun(member);
                }
            }
        }
        Ok(())
    }
}
