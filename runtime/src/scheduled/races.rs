//! Data races in an execution: accesses to plain data that nothing orders.
//!
//! Two accesses race when some interleaving has them next to each other. Then no chain of program order, locks, atomics,
//! forks and joins leads from one to the other, and that is what vector clocks tell of one execution. Accesses to plain
//! data order nothing. A strategy that executes every Mazurkiewicz trace so sees every race.
//!
//! Only the first race of an execution is told: what follows it may depend on it.

use seqz_explore::{Event, Kind, Object, Pending, Thread};

use super::failures::Failure;
use super::machine::Traced;
use crate::vocabulary::{FailureKind, Place, Site};

/// The number of events known to come before, by thread.
type Clock = Vec<u32>;

fn join(into: &mut Clock, other: &Clock) {
    if into.len() < other.len() {
        into.resize(other.len(), 0);
    }
    for (mine, theirs) in into.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// An access to plain data.
#[derive(Clone, Copy)]
struct Access {
    thread: Thread,
    /// The own entry of the access's thread in its clock, at the access.
    at: u32,
    kind: Kind,
    site: Option<Site>,
}

/// What is known of an object.
#[derive(Default)]
struct Past {
    /// The clock of the latest change.
    changed: Clock,
    /// The joined clocks of the reads since the latest change.
    read: Clock,
    /// Accesses to plain data: the latest write, and the latest read of each thread since.
    accesses: Vec<Access>,
}

/// The first race of an execution, if it has one. `plain` are the objects that are plain data.
pub(super) fn first(trace: &[Traced], plain: &[Object]) -> Option<Failure> {
    let mut clocks: Vec<Clock> = Vec::new();
    let mut objects: Vec<Past> = Vec::new();
    for (number, traced) in trace.iter().enumerate() {
        let event = &traced.event;
        let thread = usize::from(event.thread);
        let named = if matches!(event.kind, Kind::Fork | Kind::Join) {
            event.object as usize
        } else {
            thread
        };
        let threads = clocks.len().max(thread + 1).max(named + 1);
        clocks.resize_with(threads, Clock::new);
        let mut clock = std::mem::take(&mut clocks[thread]);
        if clock.len() <= thread {
            clock.resize(thread + 1, 0);
        }
        clock[thread] += 1;
        match event.kind {
            Kind::Fork => join(&mut clocks[named], &clock),
            Kind::Join => join(&mut clock, &clocks[named]),
            Kind::Local | Kind::Begin | Kind::End => {}
            kind => {
                let at = event.object as usize;
                if objects.len() <= at {
                    objects.resize_with(at + 1, Past::default);
                }
                let past = &mut objects[at];
                if plain.contains(&event.object) {
                    let this = Access {
                        thread: event.thread,
                        at: clock[thread],
                        kind,
                        site: traced.site,
                    };
                    if let Some(other) = past
                        .accesses
                        .iter()
                        .find(|other| races(other, &this, &clock))
                    {
                        return Some(failure(*other, this, event, number));
                    }
                    if kind == Kind::Write {
                        past.accesses.clear();
                    } else {
                        past.accesses.retain(|other| {
                            other.thread != event.thread || other.kind == Kind::Write
                        });
                    }
                    past.accesses.push(this);
                } else {
                    synchronize(past, event, &mut clock);
                }
            }
        }
        clocks[thread] = clock;
    }
    None
}

fn races(earlier: &Access, later: &Access, clock: &Clock) -> bool {
    let conflict = earlier.kind == Kind::Write || later.kind == Kind::Write;
    let known = clock.get(usize::from(earlier.thread)).copied().unwrap_or(0);
    earlier.thread != later.thread && conflict && known < earlier.at
}

/// A read comes after the latest change; a change also after the reads since.
///
/// A new handle of a shared value orders nothing. The end of a handle comes before the end of the last one, and before
/// all that is done because there are no other handles.
fn synchronize(past: &mut Past, event: &Event, clock: &mut Clock) {
    let kind = event.kind;
    if matches!(kind, Kind::Add | Kind::Take) && event.left != 0 {
        if event.left < event.found {
            join(&mut past.changed, clock);
        }
        return;
    }
    join(clock, &past.changed);
    if matches!(
        kind,
        Kind::Read
            | Kind::FailedUpdate
            | Kind::TryLockFailed
            | Kind::TryLockSharedFailed
            | Kind::LockShared
            | Kind::TryLockShared
            | Kind::UnlockShared
    ) {
        join(&mut past.read, clock);
    } else {
        join(clock, &past.read);
        past.changed.clone_from(clock);
        past.read.clear();
    }
}

/// The race of the events of these numbers.
pub(super) fn between(trace: &[Traced], earlier: usize, later: usize) -> Option<Failure> {
    let access = |traced: &Traced| Access {
        thread: traced.event.thread,
        at: 0,
        kind: traced.event.kind,
        site: traced.site,
    };
    let (one, other) = (trace.get(earlier)?, trace.get(later)?);
    Some(failure(access(one), access(other), &other.event, later))
}

fn failure(earlier: Access, later: Access, event: &Event, number: usize) -> Failure {
    let told = |access: Access| {
        let pending = Pending {
            kind: access.kind,
            object: event.object,
            expected: 0,
            site: event.site,
            context: event.context,
            ..Pending::default()
        };
        (access.thread, pending, access.site.map(Place::from))
    };
    Failure {
        kind: FailureKind::DataRace,
        bystander: false,
        follows: Vec::new(),
        message: "two accesses to the same plain data, with nothing that orders them".to_owned(),
        place: later.site.map(Place::from),
        thread: later.thread,
        waiting: vec![told(earlier), told(later)],
        events: number + 1,
    }
}
