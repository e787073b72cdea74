//! Choosing non-local reads as [`super::bytes`] says.

use super::tau::hypothetically_feasible;
use super::{Engine, NONE, ObjectInfo, Paired};
use crate::ids::{ReadId, WriteId};
use crate::log::{LockMode, Object, Op, TEvent};

/// Decides whether the latest read of T, of `object`, is to be non-local, and notes it in `pairs` if so. With `forced` it is
/// if it can be, whether it is its turn or not.
///
/// The candidates are the writes that T has not seen: seeing the same one again is what a local read does, and older ones
/// are out of sight.
#[inline]
pub(super) fn choose(
    engine: &mut Engine,
    object: Object,
    op_of: &impl Fn(u64) -> Op,
    forced: bool,
) {
    if engine.bytes.exhausted() || object as usize >= engine.objects.len() {
        return;
    }
    let ObjectInfo {
        last_write, seen, ..
    } = engine.objects[object as usize];
    if last_write == NONE || engine.writes[last_write as usize].event == seen {
        return;
    }
    if !engine.bytes.due() && !forced {
        return;
    }
    let mut count = 0;
    let mut next = last_write;
    while let Some(paired) = unseen(engine, next, seen) {
        count += 1;
        next = paired.previous;
    }
    let start = engine.bytes.pick(count);
    let mut first = last_write;
    for _ in 0..start {
        first = engine.writes[first as usize].previous;
    }
    // From the picked one to the end, then from the beginning to the picked one.
    let chosen = allowed(engine, object, (first, NONE), seen, op_of)
        .or_else(|| allowed(engine, object, (last_write, first), seen, op_of));
    if let Some(write) = chosen {
        take(engine, write);
    }
}

/// The write with this number, unless T has seen it already.
fn unseen(engine: &Engine, write: u32, seen: u32) -> Option<Paired> {
    let paired = *engine.writes.get(write as usize)?;
    (paired.event != seen).then_some(paired)
}

/// The first write that some interleaving allows, along the chain from the one to the other.
fn allowed(
    engine: &mut Engine,
    object: Object,
    (mut next, end): (u32, u32),
    seen: u32,
    op_of: &impl Fn(u64) -> Op,
) -> Option<u32> {
    if !engine.solver.is_grid() {
        while next != end {
            let Paired { event, previous } = unseen(engine, next, seen)?;
            let event = TEvent::non_local(op_of(engine.interfering_value(event)), event);
            if hypothetically_feasible(engine, event) {
                return Some(next);
            }
            next = previous;
        }
        return None;
    }
    let mut reader = engine.grid.reader(object);
    while next != end {
        let Paired { event, previous } = *engine.writes.get(next as usize)?;
        if event == seen {
            return None;
        }
        let op = op_of(engine.interfering_trail[event as usize].value);
        if reader.could_see(event, op.writes().is_some()) {
            return Some(next);
        }
        next = previous;
    }
    None
}

/// Decides whether the latest attempt of T to take `lock` is to fail since T' holds it, and notes it in `pairs` if so.
pub(super) fn choose_failure(engine: &mut Engine, lock: Object, mode: LockMode) {
    let excludes = |engine: &Engine, write: u32| {
        let event = engine.writes[write as usize].event;
        matches!(engine.interfering[event as usize], Op::Acquire(_, other) if other.excludes(mode))
    };
    if engine.bytes.exhausted() {
        return;
    }
    let first = engine.objects[lock as usize].last_acquire;
    let mut count = 0;
    let mut next = first;
    while next != NONE {
        count += usize::from(excludes(engine, next));
        next = engine.writes[next as usize].previous;
    }
    if count == 0 || !engine.bytes.due() {
        return;
    }
    let start = engine.bytes.pick(count);
    // Twice along the chain: from the picked one to the end, and from the beginning on.
    for (from, to) in [(start, count), (0, start)] {
        let mut at = 0;
        let mut next = first;
        while next != NONE && at < to {
            let Paired { event, previous } = engine.writes[next as usize];
            if excludes(engine, next) {
                let failure = TEvent::non_local(Op::TryFail(lock, mode), event);
                if at >= from && hypothetically_feasible(engine, failure) {
                    take(engine, next);
                    return;
                }
                at += 1;
            }
            next = previous;
        }
    }
}

fn take(engine: &mut Engine, write: u32) {
    engine
        .pairs
        .push((ReadId(engine.reads - 1), WriteId(write)));
    engine.bytes.taken();
    if let Some(tell) = &mut engine.announce {
        tell(&engine.pairs);
    }
}
