//! Locks that are held from before the split.
//!
//! A thread that holds a lock when two threads begin to run side by side either is one of the two, and the lock's block
//! belongs to that thread's log; or waits for one of them to end, and no thread can take the lock in the meantime.

use super::threads::ThreadNo;
use super::{Abort, Engine, Handle, Held, Line, abort, bug, tau_prime};
use crate::log::{LockMode, Object, Op};
use crate::vocabulary::{BugKind, Site};

/// A lock held from before the split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InitLock {
    held: Held,
    holder: ThreadNo,
    site: Site,
}

#[inline]
fn find(engine: &Engine, lock: Object, mode: LockMode) -> Option<InitLock> {
    engine
        .init_locks
        .iter()
        .find(|entry| entry.held.lock == lock && entry.held.mode.excludes(mode))
        .copied()
}

/// Whether a thread that takes part in neither log holds the lock.
pub(crate) fn is_held(handle: Handle, lock: Object, mode: LockMode) -> bool {
    find(handle.get(), lock, mode).is_some()
}

/// Reports the deadlock of a thread that is about to wait for a lock that a thread in neither log holds.
#[inline]
pub(crate) fn would_block(handle: Handle, lock: Object, mode: LockMode, site: Site) {
    if !handle.get().init_locks.is_empty() {
        would_block_if_held(handle, lock, mode, site);
    }
}

fn would_block_if_held(handle: Handle, lock: Object, mode: LockMode, site: Site) {
    if handle.get().quiet {
        return;
    }
    if let Some(entry) = find(handle.get(), lock, mode) {
        let threads = &handle.get().threads;
        let message = if entry.holder == threads.current {
            "the thread waits for a lock that it holds itself"
        } else if threads.get(entry.holder).is_over() {
            "the thread waits for a lock that another one ended without giving back"
        } else {
            "the thread waits for a lock whose holder waits for this thread to end"
        };
        bug::blocked_for_ever(handle, BugKind::Deadlock, message, site, entry.site);
        abort(handle, Abort::Bug);
    }
}

/// Takes a lock before the split. Returns whether the lock was free.
pub(crate) fn acquire(
    handle: Handle,
    lock: Object,
    mode: LockMode,
    waits: bool,
    site: Site,
) -> bool {
    if waits {
        would_block(handle, lock, mode, site);
    }
    let engine = handle.get();
    if find(engine, lock, mode).is_some() {
        return false;
    }
    let holder = engine.threads.current;
    engine.init_locks.push(InitLock {
        held: Held { lock, mode },
        holder,
        site,
    });
    true
}

/// Gives back a lock that is in no log, as no lock is before the split. Returns whether the lock was such a lock.
#[inline]
pub(crate) fn forget(handle: Handle, lock: Object, mode: LockMode) -> bool {
    !handle.get().init_locks.is_empty() && forget_one(handle, lock, mode)
}

fn forget_one(handle: Handle, lock: Object, mode: LockMode) -> bool {
    let engine = handle.get();
    let at = engine
        .init_locks
        .iter()
        .rposition(|entry| entry.held == Held { lock, mode });
    at.map(|at| engine.init_locks.remove(at)).is_some()
}

/// The split makes the current thread a party: the blocks that the thread is inside open its log.
///
/// The other party was spawned inside those blocks. An extra variable, written by T' and read by T, expresses this
/// order. If T is the spawner, T reads the variable's initial value after T's blocks have begun, so that T' begins
/// after that read. If T' is the spawner, T' writes the variable after its blocks have begun, and T begins by reading
/// that value.
pub(crate) fn enter_log(handle: Handle) {
    let engine = handle.get();
    let current = engine.threads.current;
    let mine: Vec<InitLock> = engine
        .init_locks
        .iter()
        .filter(|entry| entry.holder == current)
        .copied()
        .collect();
    if mine.is_empty() {
        return;
    }
    engine.init_locks.retain(|entry| entry.holder != current);
    let begin = engine.new_object(super::ValueKind::Opaque);
    engine.begin = Some(super::Begin {
        object: begin,
        site: mine[0].site,
        blocks: mine.len(),
    });
    engine.tied = true;
    if engine.line == Line::Interfering {
        engine.opening_log = true;
        for entry in &mine {
            tau_prime::acquire(handle, entry.held.lock, entry.held.mode, false, entry.site);
        }
        tau_prime::push(handle.get(), Op::Write(begin), mine[0].site, 0);
        handle.get().opening_log = false;
    } else {
        engine.opening.extend(mine);
    }
}

/// What the log of T' starts with when T held locks as it spawned T'.
pub(crate) fn open_log_of_t_prime(handle: Handle) {
    let engine = handle.get();
    if let Some(begin) = engine.begin
        && !engine.opening.is_empty()
    {
        engine.opening_log = true;
        tau_prime::push(engine, Op::Write(begin.object), begin.site, 0);
        engine.opening_log = false;
    }
}

impl InitLock {
    pub(crate) const fn event(self) -> (Held, Site) {
        (self.held, self.site)
    }
}

/// What the log of T starts with when locks were held at the split.
pub(crate) fn open_log_of_t(handle: Handle) {
    let engine = handle.get();
    let Some(begin) = engine.begin else { return };
    engine.opening_log = true;
    if engine.opening.is_empty() {
        let source = u32::try_from(begin.blocks).unwrap_or(0);
        super::tau::push(engine, Op::Read(begin.object), Some(source), begin.site, 0);
    } else {
        for at in 0..engine.opening.len() {
            let (held, site) = engine.opening[at].event();
            engine.held.push(held);
            super::tau::push(engine, Op::Acquire(held.lock, held.mode), None, site, 0);
        }
        super::tau::push(engine, Op::Read(begin.object), None, begin.site, 0);
        engine.opening.clear();
    }
    engine.opening_log = false;
}
