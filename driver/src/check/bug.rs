//! A finding of P̂ₖ as a bug of the original program.

use std::collections::HashMap;

use seqz_runtime::engine::{Event, Value, ValueKind, WITHOUT_GIVING_BACK};
use seqz_runtime::feasibility;
use seqz_runtime::log;
use seqz_runtime::vocabulary::{self, BugKind};
use seqz_runtime::worker::message::Finding;

use crate::model::apart;
use crate::model::document::{Bug, Kind, Met, NonLocalRead, Op, Role, Step};
use crate::model::schedule::Confirmation;
use crate::original::{Original, inputs};

impl Original<'_> {
    /// A finding as a bug.
    pub(crate) fn bug(&self, finding: &Finding) -> Bug {
        let role = Role::from(finding.role);
        let pairs = &finding.pairs;
        let names = self.names(finding);
        let mut trace: Vec<Step> = Vec::with_capacity(finding.interleaving.len());
        let mut reads: Vec<NonLocalRead> = Vec::with_capacity(pairs.len());
        // The step at which an event of T' stands in the trace; a non-local read comes after the write that it sees.
        let mut written = HashMap::new();
        for step in &finding.interleaving {
            let at = trace.len() as u32;
            let (thread, event) = match *step {
                feasibility::Step::UnderTest(i) => (role, finding.under_test.get(i as usize)),
                feasibility::Step::Interfering(i) => {
                    written.insert(i, at);
                    (role_of(finding, i), finding.interfering.get(i as usize))
                }
            };
            // What only ties the two logs together is nothing that the program does.
            let Some(event) = event.filter(|event| event.thread.is_some()) else {
                continue;
            };
            let mut drawn = self.step(thread, event, &names);
            if let (feasibility::Step::UnderTest(_), Some(source)) = (step, event.source)
                && let Some(&(read, write)) = pairs.get(reads.len())
            {
                let number = reads.len() as u32;
                drawn.pair = Some(number);
                let write_step = written.get(&source).copied();
                let mut value = drawn.value.clone();
                let mut write_site = None;
                if let Some(writer) = write_step.and_then(|at| trace.get_mut(at as usize)) {
                    // One write may be seen by several reads; the first one gives it its number.
                    writer.pair.get_or_insert(number);
                    // What a read-modify-write leaves is not what it saw.
                    value = writer.value.clone();
                    write_site = writer.site.clone();
                }
                reads.push(NonLocalRead {
                    read: read.0,
                    write: write.0,
                    variable: drawn.variable.clone(),
                    value,
                    read_step: Some(at),
                    write_step,
                    read_site: drawn.site.clone(),
                    write_site,
                });
            }
            trace.push(drawn);
        }
        apart::number(&mut trace);
        let pending = self.pending(finding);
        for read in &mut reads {
            if let Some(step) = read.read_step.and_then(|at| trace.get(at as usize)) {
                read.variable = step.variable.clone();
            }
        }
        Bug {
            kind: match finding.kind {
                BugKind::Panic => self.kind_of_panic(&finding.message, Some(&finding.place)),
                BugKind::Deadlock => Kind::Deadlock,
                BugKind::DataRace => Kind::DataRace,
                BugKind::Detached => Kind::DetachedPanic,
                BugKind::Result => Kind::Result,
                BugKind::Exit => Kind::Exit,
                BugKind::Abort => Kind::Crash,
            },
            message: match finding.kind {
                BugKind::Panic | BugKind::Detached | BugKind::Result => finding.message.clone(),
                _ => self.message(&finding.message),
            },
            site: self.site(&finding.place),
            other_site: finding
                .other_place
                .as_ref()
                .and_then(|place| self.site(place)),
            other_pending: pending.is_some(),
            other_thread: pending.filter(|_| finding.lines.len() > 1),
            k: pairs.len() as u32,
            under_test: role,
            inputs: inputs(&finding.inputs),
            non_local_reads: reads,
            trace,
            confirmation: self.confirmation(&finding.confirmation),
            run_alone: None,
            count: 1,
            also_found: Vec::new(),
            finding: None,
            met: Met {
                executions: finding.execution,
                seconds: 0.0,
            },
        }
    }

    fn confirmation(&self, confirmation: &vocabulary::Confirmation) -> Confirmation {
        match confirmation {
            vocabulary::Confirmation::Confirmed(schedule) => Confirmation::Confirmed {
                schedule: self.schedule(schedule),
            },
            vocabulary::Confirmation::Diverged {
                difference,
                schedule,
            } => Confirmation::Diverged {
                difference: difference.clone(),
                schedule: self.schedule(schedule),
            },
            vocabulary::Confirmation::Absent(schedule) => Confirmation::Absent {
                schedule: self.schedule(schedule),
            },
            vocabulary::Confirmation::NotTried => Confirmation::NotTried,
        }
    }

    /// The interfering thread of which the finding says by the other place what it does next: an event, or a wait for the end
    /// of T, which is none.
    fn pending(&self, finding: &Finding) -> Option<Role> {
        let other = finding.other_place.as_ref()?;
        let mut from = 0;
        for &(role, events) in &finding.lines {
            let own = from..from + events;
            from = own.end;
            let is_own = |step: &&feasibility::Step| matches!(step, feasibility::Step::Interfering(event) if own.contains(event));
            // A thread does its events in their order.
            let done = finding.interleaving.iter().filter(is_own).count();
            let next = own.clone().nth(done);
            let next = next.and_then(|event| finding.interfering.get(event as usize));
            if next.is_some_and(|next| next.place == *other) {
                return Some(role.into());
            }
            if next.is_some() || finding.lines.len() > 1 {
                continue;
            }
            let mut events = finding.under_test.iter().chain(&finding.interfering);
            // A thread that has ended waits for nothing: it took the lock there, before the two ran side by side.
            let waits = finding.kind == BugKind::Deadlock
                && !finding.message.ends_with(WITHOUT_GIVING_BACK)
                && !events.any(|event| event.place == *other);
            if waits {
                return Some(role.into());
            }
        }
        None
    }

    /// The short name of each object, from the first place that has one for it.
    fn names(&self, finding: &Finding) -> HashMap<u32, String> {
        let mut names = HashMap::new();
        for event in finding.under_test.iter().chain(&finding.interfering) {
            if let Some(object) = object(event.op)
                && let Some(name) = self.origin(&event.place).and_then(|origin| origin.name)
            {
                names.entry(object).or_insert(name);
            }
        }
        names
    }

    fn step(&self, thread: Role, event: &Event, names: &HashMap<u32, String>) -> Step {
        let object = object(event.op);
        let here = self.origin(&event.place).and_then(|origin| origin.name);
        Step {
            thread,
            op: op(event.op),
            object,
            // A guard's drop has no name of its own; its lock has.
            variable: here.or_else(|| names.get(&object?).cloned()),
            value: event
                .value
                .filter(|value| value.kind != ValueKind::Opaque)
                .map(|value: Value| value.to_string()),
            site: self.site(&event.place),
            pair: None,
        }
    }
}

/// The party whose event of T' has this index.
fn role_of(finding: &Finding, event: u32) -> Role {
    let mut end = 0;
    let mut lines = finding.lines.iter();
    let line = lines.find(|(_, events)| {
        end += events;
        event < end
    });
    line.map_or(Role::SECOND, |&(role, _)| role.into())
}

const fn object(op: log::Op) -> Option<u32> {
    use log::Op as L;
    match op {
        L::Read(x)
        | L::Write(x)
        | L::Update(x)
        | L::Acquire(x, _)
        | L::Release(x, _)
        | L::TryFail(x, _) => Some(x),
        L::Join => None,
    }
}

const fn op(op: log::Op) -> Op {
    use log::LockMode::{Exclusive, Shared};
    use log::Op as L;
    match op {
        L::Read(_) => Op::Read,
        L::Write(_) => Op::Write,
        L::Update(_) => Op::Update,
        L::Acquire(_, Exclusive) => Op::Lock,
        L::Acquire(_, Shared) => Op::LockShared,
        L::Release(_, Exclusive) => Op::Unlock,
        L::Release(_, Shared) => Op::UnlockShared,
        L::TryFail(..) => Op::TryLockFailed,
        L::Join => Op::Join,
    }
}
