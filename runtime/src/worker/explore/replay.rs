//! Following one schedule.

use std::io;

use seqz_explore::Executor;

use super::super::connection::Connection;
use super::super::message::{ReplayRequest, Replayed, Stopped};
use super::finding;
use crate::harness::AnyHarness;
use crate::input::{InputError, Spec};
use crate::process::random;
use crate::scheduled::replay::{Follow, Parting};
use crate::scheduled::witness::schedule;
use crate::scheduled::{Idle, Machine, Settings};

/// Follows a schedule, and sends what comes of it.
pub(in super::super) fn replay(
    mut connection: Connection<ReplayRequest>,
    harness: &dyn AnyHarness,
    request: &ReplayRequest,
) -> io::Result<()> {
    // Each parameter has one value, whose text may hold commas.
    let params = harness.params().iter();
    let specs: Vec<Spec> = params
        .map(|param| {
            let given = request.inputs.iter().find(|(name, _)| name == param.name);
            given.map_or(Spec::Default, |(_, text)| Spec::List(vec![text.clone()]))
        })
        .collect();
    let set = match harness.bind(&specs, 1, 0) {
        Ok(set) => set,
        Err(InputError { param, message }) => {
            return connection.stop(Stopped::BadInput { param, message });
        }
    };
    let Some(bound) = set.bound.first() else {
        return connection.refuse("there are no inputs");
    };
    let events = u32::try_from(request.schedule.len()).unwrap_or(u32::MAX);
    let settings = Settings {
        steps: Settings::room_for(request.schedule.len()),
        stack: usize::try_from(request.stack).unwrap_or(usize::MAX),
        idle: if request.loops_as_written {
            Idle::GoesOnUntil(events)
        } else {
            // The searches have various settings for threads that wait in loops.
            Idle::WaitsAfter(events)
        },
        spurious: request.spurious,
        spurious_at: super::places(&request.spurious_at),
        unfollowed: request.unfollowed,
        checks_memory: request.checks_memory,
        weak: request.schedule.iter().any(|event| event.saw.is_some()),
        ..Settings::default()
    };
    random::vary(request.random);
    let mut first = None;
    let mut failures = Vec::new();
    let mut bystanders = Vec::new();
    let mut next = Vec::new();
    let mut same = 0;
    for run in 0..request.times.max(1) {
        let mut machine = Machine::new(&*bound.program, settings);
        let mut follow = Follow::new(&request.schedule);
        machine.run(&mut follow);
        let announced = follow.take_next();
        let events = schedule(&machine);
        if let Some(Parting {
            at,
            difference,
            thread,
        }) = follow.parting()
        {
            let place =
                thread.and_then(|thread| machine.announced().get(thread).cloned().flatten()?.1);
            let replayed = Replayed::Diverged {
                at,
                difference,
                place,
                schedule: events,
            };
            return connection.send(replayed);
        }
        let all = machine.failures();
        let places: Vec<_> = all
            .iter()
            .map(|failure| (failure.kind, failure.place.clone()))
            .collect();
        if run == 0 {
            for failure in all {
                let finding = finding(&machine, failure, bound, 1);
                if failure.bystander {
                    bystanders.push(finding);
                } else {
                    failures.push(finding);
                }
            }
            first = Some((events, places));
            (next, same) = (announced, 1);
        } else if first
            .as_ref()
            .is_some_and(|(known, known_places)| *known == events && *known_places == places)
        {
            same += 1;
        }
    }
    connection.send(Replayed::Followed {
        failures,
        bystanders,
        same,
        next,
    })
}
