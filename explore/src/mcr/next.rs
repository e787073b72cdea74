//! An event that is to observe something else: its possible observations, and the blocks that have to be over before.

use crate::event::Kind;
use crate::mcm::model::{Cut, Lane, Model, Step};
use crate::mcm::query::Sight;
use crate::mcm::sections::Section;
use crate::mcm::sources::is_within;

/// A lock that a thread holds.
#[derive(Debug)]
struct Held {
    object: u32,
    /// Whether the thread holds the lock shared, so that others may hold it as well.
    shared: bool,
    /// The index of the event that takes the lock.
    since: u32,
}

impl Held {
    /// Whether the block can't overlap with this hold of the lock.
    const fn excludes(&self, section: &Section) -> bool {
        section.object == self.object && !(self.shared && section.block.shared)
    }
}

/// An event that is to observe something else.
#[derive(Debug)]
pub(crate) struct Next<'a> {
    model: &'a Model,
    /// Its lane.
    pub lane: u32,
    /// Its index.
    pub index: u32,
    /// The event as it was in the trace.
    pub step: &'a Step,
    /// Per lane: the number of events that can come before the event.
    pub upper: Cut,
    /// The locks that the thread holds at the event: see [`locks`].
    locks: Vec<Held>,
}

impl<'a> Next<'a> {
    /// This one.
    #[must_use]
    pub(crate) fn new(model: &'a Model, lane: u32, index: u32, step: &'a Step) -> Self {
        Self {
            model,
            lane,
            index,
            step,
            upper: model.without((lane, index)),
            locks: locks(model, lane, index, step),
        }
    }

    /// Lane and index.
    #[must_use]
    pub(crate) const fn at(&self) -> (u32, u32) {
        (self.lane, self.index)
    }

    /// All that the event could observe instead, as far as the trace tells, and whether that is all.
    #[must_use]
    pub(crate) fn sights(&self) -> (Vec<Sight>, bool) {
        let step = self.step;
        let happened = step.at != u32::MAX;
        let (mut sights, mut is_all) = (Vec::new(), true);
        let values = |sights: &mut Vec<Sight>, except: Option<u64>| {
            let views = self.model.views(self.at(), step, &self.upper).into_iter();
            let others = views.filter(|&view| except != Some(view));
            sights.extend(others.map(Sight::Value));
        };
        match step.kind {
            Kind::Read
            | Kind::Update
            | Kind::FailedUpdate
            | Kind::CompareExchange
            | Kind::Lock
            | Kind::LockShared => {
                values(&mut sights, happened.then(|| step.view(step.found)));
            }
            Kind::TryLock | Kind::TryLockShared => {
                sights.push(Sight::Refused);
                values(&mut sights, happened.then(|| step.view(step.found)));
            }
            Kind::TryLockFailed | Kind::TryLockSharedFailed => values(&mut sights, None),
            Kind::Wake if !happened => sights.push(Sight::Notified(true)),
            Kind::Wake if step.timed => {
                sights.push(Sight::Notified(step.found != Step::NOTIFIED));
            }
            Kind::Wait | Kind::Notify if step.attempts() => {
                let outcomes = self.model.outcomes(self.at(), step, &self.upper);
                is_all = outcomes.is_some();
                let others = outcomes
                    .into_iter()
                    .flatten()
                    .filter(|&other| other != step.found);
                sights.extend(others.map(Sight::Outcome));
            }
            _ => {}
        }
        (sights, is_all)
    }

    /// Adds to a cut the rest of the blocks that have to be over before the event. Returns false if the event can't come
    /// after any such cut.
    pub(crate) fn finish(&self, cut: &mut [u32]) -> bool {
        let open = |cut: &[u32]| {
            let mut locks = self.locks.iter();
            locks.find_map(|held| {
                let mut open = self.others().flat_map(|(lane, of)| {
                    let open = of.sections().open_after(cut[lane as usize]);
                    open.filter(|section| held.excludes(section))
                });
                open.next().map(|section| section.block)
            })
        };
        while let Some(block) = open(cut) {
            if block.end >= self.upper[block.lane as usize] {
                return false;
            }
            self.model.raise(cut, block.lane, block.end + 1);
        }
        is_within(cut, &self.upper) && self.locks.iter().all(|held| self.is_kept(cut, held))
    }

    /// The other lanes.
    fn others(&self) -> impl Iterator<Item = (u32, &'a Lane)> {
        let lanes = (0..).zip(self.model.lanes());
        lanes.filter(|&(lane, _)| lane != self.lane)
    }

    /// Whether what the thread observed since it took a lock can be after all blocks of the lock in this cut, as far as
    /// can be seen.
    fn is_kept(&self, cut: &[u32], held: &Held) -> bool {
        if held.since == self.index {
            return true;
        }
        let mut before = vec![0; cut.len()];
        for (lane, of) in self.others() {
            let sections = of.sections();
            let end = sections.last_end(held.object, cut[lane as usize], held.shared);
            if let Some(end) = end {
                self.model.raise(&mut before, lane, end.saturating_add(1));
            }
        }
        let of = self.model.lane_at(self.lane);
        let readers = of.readers();
        let start = readers.partition_point(|&index| index < held.since);
        let mut readers = readers[start..]
            .iter()
            .take_while(|&&index| index < self.index);
        readers.all(|&index| {
            let step = &of.steps[index as usize];
            let view = step.view(step.found);
            self.model
                .may_see((self.lane, index), step, view, &before, &self.upper)
        })
    }
}

/// The locks that a thread holds before an event or has to have for it.
fn locks(model: &Model, lane: u32, index: u32, step: &Step) -> Vec<Held> {
    let mut locks = Vec::new();
    if matches!(step.kind, Kind::Lock | Kind::LockShared) {
        locks.push(Held {
            object: step.object,
            shared: step.kind == Kind::LockShared,
            since: index,
        });
    }
    let before = locks.len();
    let open = model.lane_at(lane).sections().open_after(index);
    locks.extend(open.map(|section| Held {
        object: section.object,
        shared: section.block.shared,
        since: section.block.start,
    }));
    // Of a lock that the thread holds twice, since it first took it.
    locks[before..].sort_unstable_by_key(|held| (held.object, held.since));
    let mut known = None;
    let mut at = 0;
    locks.retain(|held| {
        at += 1;
        at <= before || known.replace(held.object) != Some(held.object)
    });
    locks
}
