//! The state that all threads of one search share: the classes, and the seeds that wait to be executed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::hash::BuildHasherDefault;
use std::hint;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::classes::{Among, ClassId, Classes, Node, Partial};
use super::expand::Effort;
use super::journal::{Aim, Change, Journal, Membership, Origin};
use super::schedule::Schedule;
use crate::distinct::Identity;
use crate::event::{Site, Thread};
use crate::strategy::Causality;

/// What a seed is executed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To execute this member of the classes.
    Class(ClassId),
    /// To make a run again whose class is this member, with this key: see [`restore`](super::restore).
    Again(ClassId, u64),
    /// To execute new pairs of reads and writes: see [`rv_causal`](crate::rv_causal).
    Pairs,
    /// To show a predicted ending: the seed is the whole execution, with this key, and threads wait forever at its end.
    Ending(u64),
    /// To show a predicted race between the seed's last two accesses.
    Race,
}

/// The beginning of an execution that is to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The origin of the run that follows the seed.
    pub origin: Origin,
    /// The purpose of the execution.
    pub purpose: Purpose,
    /// Per thread: the observations that the seed fixes.
    pub nodes: Partial,
    /// The thread of each event of the seed, in order.
    pub schedule: Schedule,
    /// The class that the seed was found from, if known: the seed's own class has most observations in common with it.
    pub near: Option<ClassId>,
}

/// A run that is over.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The origin of the run.
    pub origin: Origin,
    /// How the run's class relates to the known members.
    pub membership: Membership,
    /// The run's member; `None` if [known](Membership::Known).
    pub member: Option<ClassId>,
    /// Whether the run was to show a predicted race: then it is [known](Membership::Known), or would have been if its class
    /// had been executed.
    pub confirms: bool,
    /// Per thread: all that it observed in the run.
    pub ends: Partial,
    /// Whether the run is to be expanded.
    pub leads_on: bool,
    /// The key of the run's class.
    pub key: u64,
    /// Whether the run did not follow its seed.
    pub lost: bool,
    /// Whether the run has events whose outcome depends on more than its model knows.
    pub open: bool,
}

impl Seed {
    /// Its place among the classes.
    #[must_use]
    pub const fn member(&self) -> Option<ClassId> {
        match self.purpose {
            Purpose::Class(member) | Purpose::Again(member, _) => Some(member),
            _ => None,
        }
    }
}

/// What a search knows.
#[derive(Default)]
pub struct Frontier {
    /// The executed classes, and the seeds that will become classes.
    pub classes: Classes,
    pub(super) seeds: Vec<Seed>,
    /// The number of seeds planted so far.
    planted: u32,
    runs: u32,
    keys: HashSet<u64, BuildHasherDefault<Identity>>,
    /// The keys of predicted endings with waiting threads.
    planned: HashSet<u64, BuildHasherDefault<Identity>>,
    /// The pairs of places whose race has been predicted.
    races: HashSet<(Site, Site)>,
    /// Per thread that has been met: the thread that forks it, and the number of that thread's forks before.
    threads: BTreeMap<Thread, (Thread, u32)>,
    /// The counts of all expansions.
    pub effort: Effort,
    redundant: u64,
    confirmations: u64,
    /// The number of runs that did not follow their seeds.
    lost: u64,
    /// The number of runs with [open](crate::mcm::Model::is_open) models.
    open: u64,
    /// The members of runs that are to be expanded.
    leading: HashMap<u32, ClassId>,
    /// The keys of runs that are to be made again, since other expansions left seeds to these runs.
    relied_on: HashSet<u64, BuildHasherDefault<Identity>>,
    /// The number of seeds that wait.
    waiting: Arc<AtomicUsize>,
    journal: Option<Box<dyn Journal>>,
}

impl fmt::Debug for Frontier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frontier")
            .field("classes", &self.classes)
            .field("seeds", &self.seeds)
            .finish_non_exhaustive()
    }
}

impl Frontier {
    /// Writes all changes from now on to this journal.
    pub fn keep(&mut self, journal: Box<dyn Journal>) {
        self.journal = Some(journal);
    }

    /// Has the journal write its changes out.
    pub fn flush(&mut self) {
        if let Some(journal) = &mut self.journal {
            journal.flush();
        }
    }

    fn note(&mut self, change: impl FnOnce() -> Change) {
        if let Some(journal) = &mut self.journal {
            journal.note(&change());
        }
    }

    /// The threads that have been met: per thread its number, the thread that forks it, and the number of that thread's
    /// forks before.
    pub fn threads(&self) -> impl Iterator<Item = (Thread, (Thread, u32))> {
        self.threads.iter().map(|(&thread, &by)| (thread, by))
    }

    /// Whether a thread has been met.
    #[must_use]
    pub fn has_met(&self, thread: Thread) -> bool {
        self.threads.contains_key(&thread)
    }

    /// Notes that a thread has been met.
    pub fn met(&mut self, thread: Thread, parent: Thread, nth: u32) {
        if self.threads.insert(thread, (parent, nth)).is_none() {
            self.note(|| Change::Thread {
                thread,
                parent,
                nth,
            });
        }
    }

    /// See [`Classes::child`].
    pub fn child(&mut self, thread: Thread, parent: Node, observation: u64) -> Node {
        let known = self.classes.known_child(thread, parent, observation);
        known.unwrap_or_else(|| {
            self.note(|| Change::Node {
                thread,
                parent,
                observation,
            });
            self.classes.child(thread, parent, observation)
        })
    }

    /// Makes the next seed, found from the class `near` if that is known. The seed is not added to the waiting seeds.
    pub(super) fn seed(
        &mut self,
        aim: Aim,
        nodes: Partial,
        schedule: Schedule,
        near: Option<ClassId>,
    ) -> Seed {
        let number = self.planted;
        self.planted += 1;
        let purpose = match aim {
            Aim::Class => Purpose::Class(self.classes.insert(&nodes, near)),
            Aim::Ending(key) => {
                self.planned.insert(key);
                Purpose::Ending(key)
            }
            Aim::Race => Purpose::Race,
        };
        Seed {
            origin: Origin::Seed(number),
            purpose,
            nodes,
            schedule,
            near,
        }
    }

    fn plant(
        &mut self,
        aim: Aim,
        nodes: Partial,
        schedule: Schedule,
        near: Option<ClassId>,
    ) -> Option<ClassId> {
        self.note(|| Change::Seed {
            aim,
            nodes: nodes.clone(),
            schedule: schedule.clone(),
        });
        let seed = self.seed(aim, nodes, schedule, near);
        let member = seed.member();
        self.seeds.push(seed);
        self.waiting.store(self.seeds.len(), Ordering::Release);
        member
    }

    /// Plants a new seed of a class, found from another class.
    pub fn plant_class(
        &mut self,
        nodes: Partial,
        schedule: Schedule,
        near: Option<ClassId>,
    ) -> ClassId {
        let member = self.plant(Aim::Class, nodes, schedule, near);
        member.unwrap_or(ClassId::MAX)
    }

    /// Whether a race between these places has been predicted.
    #[must_use]
    pub fn knows_race(&self, places: (Site, Site)) -> bool {
        self.races.contains(&places)
    }

    /// Plants a new seed that shows a race between these places, unless their race is known.
    pub fn plant_race(&mut self, places: (Site, Site), schedule: Schedule) {
        if self.races.insert(places) {
            self.plant(Aim::Race, Vec::new(), schedule, None);
        }
    }

    /// Plants a new seed that is a whole execution with an ending of this key, unless this ending is known.
    pub fn plant_ending(&mut self, key: u64, nodes: Partial, schedule: Schedule) {
        if !self.keys.contains(&key) && !self.planned.contains(&key) {
            self.plant(Aim::Ending(key), nodes, schedule, None);
        }
    }

    /// Takes the last of the seeds.
    fn pop(&mut self) -> Option<Seed> {
        let seed = self.seeds.pop();
        self.waiting.store(self.seeds.len(), Ordering::Release);
        seed
    }

    /// Whether all that a seed would show has been executed.
    fn is_executed(&self, seed: &Seed) -> bool {
        match seed.purpose {
            Purpose::Class(_) => {
                let covering = self.classes.covering(&seed.nodes, Among::Executed);
                covering.is_some()
            }
            // Another class may cover one that ends with threads that wait.
            Purpose::Ending(key) | Purpose::Again(_, key) => self.keys.contains(&key),
            Purpose::Pairs | Purpose::Race => false,
        }
    }

    /// Takes in a run that is over. Returns the run's number.
    pub fn ran(&mut self, ran: &Ran) -> u32 {
        self.note(|| Change::Ran {
            origin: ran.origin,
            member: ran.membership,
            leads_on: ran.leads_on,
            ends: ran.ends.clone(),
            key: ran.key,
            lost: ran.lost,
            open: ran.open,
        });
        self.take_in(ran);
        let run = self.runs;
        self.runs += 1;
        if let Some(member) = ran.member.filter(|_| ran.leads_on) {
            self.leading.insert(run, member);
        }
        run
    }

    /// The counts and the class of a run that is over.
    pub(super) fn take_in(&mut self, ran: &Ran) {
        // The run that it shows something of may have to be made again.
        let known = ran.member.is_none() || !self.keys.insert(ran.key);
        self.confirmations += u64::from(known && ran.confirms);
        self.redundant += u64::from(known && !ran.confirms);
        self.lost += u64::from(ran.lost);
        self.open += u64::from(ran.open);
        if let Some(member) = ran.member {
            self.classes.extend(member, &ran.ends);
            self.classes.executed(member);
        }
    }

    /// Plans to make a run again, as this member. If the run did not follow its seed, that still counts.
    pub(super) fn plan(&mut self, member: ClassId, ran: &Ran) {
        self.lost += u64::from(ran.lost);
        self.classes.extend(member, &ran.ends);
        self.relied_on.insert(ran.key);
    }

    /// Counts a run that was made again and differed from the first one.
    pub(super) fn lose(&mut self) {
        self.lost += 1;
    }

    /// Whether other expansions may have left seeds to a run of this class: see [`restore`](super::restore).
    pub(super) fn is_relied_on(&self, key: u64) -> bool {
        self.relied_on.contains(&key)
    }

    /// This frontier with these waiting seeds, after `runs` runs.
    pub(super) fn waiting(mut self, seeds: Vec<Seed>, runs: u32) -> Self {
        self.seeds = seeds;
        self.waiting.store(self.seeds.len(), Ordering::Release);
        self.runs = runs;
        self
    }

    /// Notes that the expansion of a run has begun, so that all seeds that follow from the run will be planted.
    pub fn begun(&mut self, run: u32) {
        if let Some(member) = self.leading.remove(&run) {
            self.classes.begun(member);
        }
    }

    /// Notes that all seeds that follow from a run have been planted.
    pub fn expanded(&mut self, run: u32, effort: Effort) {
        self.effort.add(effort);
        self.note(|| Change::Expanded { run, effort });
    }

    /// The number of runs so far.
    #[must_use]
    pub const fn runs(&self) -> u32 {
        self.runs
    }

    /// The number of classes that have been executed.
    #[must_use]
    pub fn executed(&self) -> u64 {
        self.keys.len() as u64
    }

    /// The counts.
    #[must_use]
    pub fn causality(&self) -> Causality {
        Causality {
            classes: self.executed(),
            redundant: self.redundant,
            confirmations: self.confirmations,
            waiting: self.seeds.len() as u64,
            queries: self.effort.queries,
            unknown: self.effort.unknown,
            lost: self.lost,
            open: self.open,
        }
    }

    /// Whether nothing stands in the way of a promise.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        self.lost == 0 && self.open == 0 && self.effort.unknown == 0
    }

    /// Whether this class has been executed.
    #[must_use]
    pub fn contains(&self, key: u64) -> bool {
        self.keys.contains(&key)
    }
}

/// The number of times that a thread tries to get the shared state's lock before it sleeps: mostly other threads give the
/// lock back in a moment.
const TRIES: u32 = 1000;

fn soon<G>(attempt: impl Fn() -> Option<G>) -> Option<G> {
    (0..TRIES).find_map(|_| {
        let guard = attempt();
        if guard.is_none() {
            hint::spin_loop();
        }
        guard
    })
}

/// The shared state behind a lock. A holder of the lock completes its change or ends the process, so a poisoned lock is
/// used like any other.
#[derive(Debug, Default)]
pub struct Shared {
    frontier: RwLock<Frontier>,
    waiting: Arc<AtomicUsize>,
}

impl Shared {
    /// Shares this frontier.
    #[must_use]
    pub fn new(frontier: Frontier) -> Self {
        Self {
            waiting: Arc::clone(&frontier.waiting),
            frontier: RwLock::new(frontier),
        }
    }

    /// Locks the frontier for reading.
    pub fn read(&self) -> RwLockReadGuard<'_, Frontier> {
        let soon = soon(|| self.frontier.try_read().ok());
        soon.unwrap_or_else(|| self.frontier.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Locks the frontier for changes.
    pub fn write(&self) -> RwLockWriteGuard<'_, Frontier> {
        let soon = soon(|| self.frontier.try_write().ok());
        soon.unwrap_or_else(|| {
            let guard = self.frontier.write();
            guard.unwrap_or_else(PoisonError::into_inner)
        })
    }

    /// Returns the next seed that no executed class covers. Only one thread executes, so no class covers the seed before it
    /// is executed.
    pub fn next_seed(&self) -> Option<Seed> {
        loop {
            let seed = self.write().pop()?;
            if !self.read().is_executed(&seed) {
                return Some(seed);
            }
        }
    }

    /// The number of seeds that wait, or waited a moment ago.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Acquire)
    }
}
