//! Choosing non-local reads as [`super::bytes`] says.

use super::guide::{Advice, Guide, List};
use super::tau::{hypothetically_feasible, write_at};
use super::{Engine, NONE, ObjectInfo, Paired};
use crate::log::{LockMode, Object, Op, TEvent};
use crate::memory::outside;
use crate::vocabulary::{ReadId, WriteId};

/// Decides whether the latest read of T, of `object`, is to be non-local, and notes it in `pairs` if so. With `forced`,
/// the read is non-local if it can be, whatever the choice says: the caller asks with `forced` second, when the read
/// can't be local.
///
/// The candidates are the writes that T has not seen: a local read sees the latest seen write again, and older writes
/// can't be seen any more.
#[inline]
pub(super) fn choose(
    engine: &mut Engine,
    object: Object,
    op_of: &impl Fn(u64) -> Op,
    forced: bool,
) {
    if engine.bytes.complete() {
        return;
    }
    let Some(&ObjectInfo {
        last_write, seen, ..
    }) = engine.objects.get(object as usize)
    else {
        return;
    };
    if let Some(latest) = engine.writes.get(last_write as usize)
        && (latest.event != seen || engine.is_of_several())
    {
        choose_among(engine, object, (last_write, seen), op_of, forced);
    }
}

/// Does what [`choose`] does, where there is a write that T has not seen.
#[inline(never)]
fn choose_among(
    engine: &mut Engine,
    object: Object,
    (last_write, seen): (u32, u32),
    op_of: &impl Fn(u64) -> Op,
    forced: bool,
) {
    let among = match turn(engine, seen, forced) {
        Turn::Pass => return,
        Turn::Take => None,
        Turn::Among(list) => Some(list),
    };
    if engine.is_of_several() {
        if let Some(write) = choose_of_several(engine, object, (last_write, seen), op_of, among) {
            take(engine, write);
        }
        return;
    }
    if let Some(foreign) = engine.grid.foreign(object).filter(|_| engine.is_on_grid()) {
        if let Some(write) = choose_in_long(engine, object, seen, among, foreign) {
            take(engine, write);
        }
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
    let chosen = allowed(engine, object, (first, NONE), seen, op_of, among)
        .or_else(|| allowed(engine, object, (last_write, first), seen, op_of, among));
    if let Some(write) = chosen {
        take(engine, write);
    }
}

/// Does what [`choose_among`] does with several interfering threads: of a write that T has seen, only those of other threads may
/// come before and after.
fn choose_of_several(
    engine: &mut Engine,
    object: Object,
    (last_write, seen): (u32, u32),
    op_of: &impl Fn(u64) -> Op,
    among: Option<List>,
) -> Option<u32> {
    let mut unseen = Vec::new();
    let mut next = last_write;
    while let Some(&Paired { event, previous }) = engine.writes.get(next as usize) {
        if event != seen {
            unseen.push(next);
        }
        next = previous;
    }
    if unseen.is_empty() {
        return None;
    }
    let start = engine.bytes.pick(unseen.len());
    unseen.rotate_left(start);
    unseen.into_iter().find(|&write| {
        let event = engine.writes[write as usize].event;
        let op = op_of(engine.interfering_value(event));
        among.is_none_or(|among| engine.guide.is_on(among, write))
            && op.reads() == Some(object)
            && hypothetically_feasible(engine, TEvent::non_local(op, event))
    })
}

/// Does what [`choose_among`] does where the log of T' is long, without looking at writes that T can't see.
fn choose_in_long(
    engine: &mut Engine,
    object: Object,
    seen: u32,
    among: Option<List>,
    foreign: u32,
) -> Option<u32> {
    let all = engine.grid.writes_of(object);
    let old = all.partition_point(|&event| seen != NONE && event <= seen);
    let count = all.len() - old;
    let start = engine.bytes.pick(count);
    let picked = engine.grid.writes_of(object)[old + count - 1 - start];
    // From the picked one to the end, then from the beginning to the picked one.
    let after = (seen != NONE).then_some(seen);
    for (mut before, after) in [(picked + 1, after), (NONE, Some(picked))] {
        while let Some(event) = engine.grid.latest_seen(foreign, object, before)
            && after.is_none_or(|after| event > after)
        {
            let write = write_at(&engine.writes, event)?.0;
            if among.is_none_or(|among| engine.guide.is_on(among, write)) {
                return Some(write);
            }
            before = event;
        }
    }
    None
}

/// What is done with an opportunity for a non-local read.
#[derive(Clone, Copy)]
enum Turn {
    Pass,
    Take,
    /// The opportunity is taken, with one of these writes.
    Among(List),
}

/// What is done with T's latest read, which is an opportunity.
#[inline]
fn turn(engine: &mut Engine, seen: u32, forced: bool) -> Turn {
    let read = engine.reads - 1;
    if forced {
        return Turn::Take;
    }
    engine.guide.note(read, engine.under_test().len(), seen);
    match engine.guide.at(read, engine.bytes.gap()) {
        Advice::Pass => {
            engine.bytes.due();
            Turn::Pass
        }
        Advice::Take(writes) => Turn::Among(writes),
        Advice::Free if engine.bytes.due() => Turn::Take,
        Advice::Free => Turn::Pass,
    }
}

/// The write with this number, unless T has seen it already.
fn unseen(engine: &Engine, write: u32, seen: u32) -> Option<Paired> {
    let paired = *engine.writes.get(write as usize)?;
    (paired.event != seen).then_some(paired)
}

/// The first write that some interleaving allows, along the chain from the first given write to the second; where a
/// list is given, only writes of that list.
fn allowed(
    engine: &mut Engine,
    object: Object,
    (mut next, end): (u32, u32),
    seen: u32,
    op_of: &impl Fn(u64) -> Op,
    among: Option<List>,
) -> Option<u32> {
    let wanted = |guide: &Guide, write: u32| among.is_none_or(|among| guide.is_on(among, write));
    if !engine.is_on_grid() {
        while next != end {
            let Paired { event, previous } = unseen(engine, next, seen)?;
            let event = TEvent::non_local(op_of(engine.interfering_value(event)), event);
            if wanted(&engine.guide, next) && hypothetically_feasible(engine, event) {
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
        if wanted(&engine.guide, next) && reader.could_see(event, op.writes().is_some()) {
            return Some(next);
        }
        next = previous;
    }
    None
}

/// Decides whether the latest attempt of T to take `lock` is to fail since T' holds it, and notes it in `pairs` if so.
/// With `forced`, the attempt fails if it can: the caller asks with `forced` second, when the attempt can't succeed.
pub(super) fn choose_failure(engine: &mut Engine, lock: Object, mode: LockMode, forced: bool) {
    let excludes = |engine: &Engine, write: u32| {
        let event = engine.writes[write as usize].event;
        matches!(engine.interfering[event as usize], Op::Acquire(_, other) if other.excludes(mode))
    };
    if engine.bytes.complete() {
        return;
    }
    let first = engine.objects[lock as usize].last_acquire;
    let mut count = 0;
    let mut next = first;
    while next != NONE {
        count += usize::from(excludes(engine, next));
        next = engine.writes[next as usize].previous;
    }
    if count == 0 {
        return;
    }
    let among = match turn(engine, NONE, forced) {
        Turn::Pass => return,
        Turn::Take => None,
        Turn::Among(list) => Some(list),
    };
    let start = engine.bytes.pick(count);
    // Twice along the chain: from the picked one to the end, and from the beginning on.
    for (from, to) in [(start, count), (0, start)] {
        let mut at = 0;
        let mut next = first;
        while next != NONE && at < to {
            let Paired { event, previous } = engine.writes[next as usize];
            if excludes(engine, next) {
                let failure = TEvent::non_local(Op::TryFail(lock, mode), event);
                if at >= from
                    && among.is_none_or(|among| engine.guide.is_on(among, next))
                    && hypothetically_feasible(engine, failure)
                {
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
    let pair = (ReadId(engine.reads - 1), WriteId(write));
    engine.pairs.push(pair);
    engine.bytes.taken();
    engine.guide.taken(pair);
    if let Some(tell) = &mut engine.announce {
        outside(|| tell(&engine.pairs));
    }
}
