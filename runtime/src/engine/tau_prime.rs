//! τ'\[T'\]: what an event does on the line of the interfering thread.
//!
//! Source: section 4.1, figure 3, right. T' runs on G' and only logs; the values of the writes that `wrts` names are
//! kept (the paper's `vals`). Instead of returning at a point that depends on `wrts`, T' runs as far as it can.

use super::{Abort, Block, Engine, Handle, Held, NONE, Paired, abort, bug, number};
use crate::log::{LockMode, Object, Op};
use crate::vocabulary::{Site, WriteId};

/// append(log, (T', …)). Returns the event's index.
#[inline]
pub(crate) fn push(engine: &mut Engine, op: Op, site: Site, value: u64) -> u32 {
    let event = number(engine.interfering.len());
    engine.interfering.push(op);
    let trail = engine.trail(site, value);
    engine.interfering_trail.push(trail);
    event
}

/// The index of the latest event of T'.
pub(crate) fn latest(handle: Handle) -> u32 {
    let before = handle.get().interfering.len().checked_sub(1);
    before.and_then(|at| u32::try_from(at).ok()).unwrap_or(NONE)
}

/// A read of `object` by T', which sees `value` in G'.
#[inline]
pub(crate) fn read(handle: Handle, object: Object, site: Site, value: u64) {
    push(handle.get(), Op::Read(object), site, value);
}

/// A write or an update of `object` by T' that leaves `value`. `Some(event)` tells that the value has to be kept for T.
#[inline]
pub(crate) fn write(
    engine: &mut Engine,
    op: Op,
    object: Object,
    site: Site,
    value: u64,
) -> Option<u32> {
    engine.spin.progress();
    let event = push(engine, op, site, value);
    let write = new_write(engine, event, object, false);
    let kept = engine.keep_all_values || engine.pairs.iter().any(|&(_, wanted)| wanted == write);
    kept.then_some(event)
}

#[inline]
fn new_write(engine: &mut Engine, event: u32, object: Object, acquires: bool) -> WriteId {
    let write = number(engine.writes.len());
    let info = &mut engine.objects[object as usize];
    let last = if acquires {
        &mut info.last_acquire
    } else {
        &mut info.last_write
    };
    let previous = std::mem::replace(last, write);
    engine.writes.push(Paired { event, previous });
    WriteId(write)
}

/// T' takes a lock. Where T' holds the lock already, T' waits for ever, or gets `false` if it only tried.
pub(crate) fn acquire(
    handle: Handle,
    lock: Object,
    mode: LockMode,
    blocking: bool,
    site: Site,
) -> bool {
    let engine = handle.get();
    let wanted = Held { lock, mode };
    let holds = engine
        .open
        .iter()
        .map(|&open| engine.blocks[open as usize])
        .filter(|block| block.acquire as usize >= engine.several.first())
        .any(|block| block.held.lock == lock && block.held.mode.excludes(mode));
    if holds {
        if blocking {
            bug::interfering_self_deadlock(handle, lock, site);
            abort(handle, Abort::Bug);
        }
        return false;
    }
    engine.spin.acquired(lock, mode);
    let event = push(engine, Op::Acquire(lock, mode), site, 0);
    new_write(engine, event, lock, true);
    engine.interfering_shares |= mode == LockMode::Shared;
    let block = number(engine.blocks.len());
    engine.blocks.push(Block {
        held: wanted,
        acquire: event,
        release: NONE,
        blocking,
    });
    if blocking && !engine.open.is_empty() {
        engine.note_nestings(block);
    }
    engine.open.push(block);
    true
}

/// T' gives a lock back.
pub(crate) fn release(handle: Handle, lock: Object, mode: LockMode, site: Site) {
    let engine = handle.get();
    engine.spin.released(lock, mode);
    let event = push(engine, Op::Release(lock, mode), site, 0);
    let held = Held { lock, mode };
    let blocks = &mut engine.blocks;
    let is_it = |open: &u32| blocks[*open as usize].held == held;
    // Mostly the block is the latest one.
    let latest = match engine.open.last() {
        Some(last) if is_it(last) => engine.open.pop(),
        _ => {
            let latest = engine.open.iter().rposition(is_it);
            latest.map(|latest| engine.open.remove(latest))
        }
    };
    if let Some(latest) = latest {
        blocks[latest as usize].release = event;
    }
}

/// Notes that the next event of T' is an access to data that no synchronisation protects.
pub(crate) fn note_racy(engine: &mut Engine) {
    let next = number(engine.interfering.len());
    engine.racy_accesses.push(next);
}
