//! `std::thread::scope`.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, RefUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use super::{Packet, Result, Thread, join, start, task, wait};
use crate::engine::threads::{self, ThreadNo};
use crate::engine::{current as engine, waits_for_handle};
use crate::running::with_panics;
use crate::scheduled::Waited;
use crate::shared::Spot;
use crate::std::panic::is_of_a_machine;
use crate::vocabulary::{Awaited, Site};

/// `std::thread::Scope`.
pub struct Scope<'scope, 'env: 'scope> {
    members: Members,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// What a scope knows of its threads.
struct Members {
    /// The threads; on the scheduled machine without those that have been joined, which are not waited for at the end.
    threads: RefCell<Vec<ThreadNo>>,
    /// The number of handles that the program still has, or has lost without dropping them.
    handles: Cell<usize>,
    /// What the scope waits on for the last handle.
    last_handle: Spot,
}

// SAFETY: all threads of the program run on one OS thread, and no borrow of the list outlives a method.
unsafe impl Sync for Scope<'_, '_> {}
// As std's, whose fields are atomics and handles.
impl RefUnwindSafe for Scope<'_, '_> {}

/// `std::thread::ScopedJoinHandle`.
pub struct ScopedJoinHandle<'scope, T> {
    thread: Thread,
    packet: Packet<'scope, T>,
    member: Member<'scope>,
}

/// A handle's share in its scope. As with std, whose scopes count what their threads and handles have in common, a
/// scope does not end before all handles have been dropped.
struct Member<'scope>(&'scope Members);

impl<'scope> Member<'scope> {
    fn new(of: &'scope Members) -> Self {
        of.handles.set(of.handles.get() + 1);
        Self(of)
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        self.0.handles.set(self.0.handles.get().saturating_sub(1));
    }
}

// SAFETY: all threads of the program run on one OS thread, and no borrow of the list outlives a method.
unsafe impl<T: Send> Send for ScopedJoinHandle<'_, T> {}
// SAFETY: all threads of the program run on one OS thread, and no borrow of the list outlives a method.
unsafe impl<T: Send> Sync for ScopedJoinHandle<'_, T> {}

/// Ends the scope even where it is being unwound: no thread may run after its borrows have ended.
struct ScopeEnd<'a>(&'a RefCell<Vec<ThreadNo>>);

impl Drop for ScopeEnd<'_> {
    fn drop(&mut self) {
        // On the scheduled machine threads run on stacks of their own, and later ones are ended before earlier ones.
        if let Some(handle) = engine() {
            threads::abandon(handle, &self.0.borrow());
        }
    }
}

/// See `std::thread::scope`.
#[track_caller]
pub fn scope<'env, F, T>(body: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let site = Location::caller();
    let scope = Scope {
        members: Members {
            threads: RefCell::default(),
            handles: Cell::new(0),
            last_handle: Spot::new(),
        },
        scope: PhantomData,
        env: PhantomData,
    };
    let _end = ScopeEnd(&scope.members.threads);
    match catch_unwind(AssertUnwindSafe(|| body(&scope))) {
        Ok(value) => {
            let panicked = wait_for_all(&scope.members, site);
            if !panicked.is_empty() {
                with_panics(|panics, thread, _| panics.blame(thread, &panicked));
                panic!("a scoped thread panicked");
            }
            value
        }
        Err(payload) => {
            // Where the engine has ended the execution, threads that have not run need not.
            let by_engine = engine().is_some_and(|handle| {
                threads::interfering_unwound(handle, &*payload) || is_of_a_machine(&*payload)
            });
            if !by_engine {
                with_panics(|panics, thread, _| panics.hold(thread, true));
                let panicked = wait_for_all(&scope.members, site);
                with_panics(|panics, thread, _| {
                    panics.hold(thread, false);
                    panics.wait_for(&panicked);
                });
            }
            resume_unwind(payload);
        }
    }
}

/// Waits for the threads of a scope. Returns those that have panicked and that no thread has joined.
fn wait_for_all(members: &Members, site: Site) -> Vec<ThreadNo> {
    let threads = &members.threads;
    let mut panicked = Vec::new();
    // The list may grow while it is worked through: a scoped thread may spawn others.
    let mut at = 0;
    loop {
        let next = threads.borrow().get(at).copied();
        let Some(thread) = next else { break };
        wait(thread, site);
        if let Some(machine) = crate::scheduled::current() {
            machine.scope_waited_for(thread);
        }
        if let Some(handle) = engine() {
            threads::scope_waited_for(handle, thread);
        }
        if with_panics(|panics, _, _| panics.has_panicked_unseen(thread)) == Some(true) {
            panicked.push(thread);
        }
        at += 1;
    }
    if members.handles.get() > 0 {
        wait_for_ever(members, site);
    }
    if at > 0
        && let Some(handle) = engine()
    {
        crate::shared::parking::was_parked_inside(handle);
    }
    if at > 0
        && let Some(machine) = crate::scheduled::current()
    {
        machine.was_parked_inside(Waited::Perhaps, site);
    }
    panicked
}

/// All threads are over, and a handle has not been dropped: nobody is left who could drop it.
#[cold]
fn wait_for_ever(members: &Members, site: Site) {
    if let Some(handle) = engine() {
        waits_for_handle(handle, site);
        return;
    }
    let Some(machine) = crate::scheduled::current() else {
        return;
    };
    let object = members.last_handle.of(machine);
    machine.wait_unlogged(object, site);
    machine.wake(object, Awaited::Handle, false, site);
}

impl<'scope> Scope<'scope, '_> {
    /// See `std::thread::Scope::spawn`.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, body: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_at(None, body, Location::caller())
    }

    pub(super) fn spawn_at<F, T>(
        &'scope self,
        name: Option<String>,
        body: F,
        site: Site,
    ) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        // SAFETY: the body is run or dropped before `scope` returns: at its end it joins all threads, and `ScopeEnd`
        // drops the bodies of those that have not run, on every way out. So nothing in it is used after `'scope`.
        let (body, packet) = unsafe { task(body, site) };
        let name = name.map(Arc::from);
        let no = start(name.clone(), site, body);
        self.members.threads.borrow_mut().push(no);
        ScopedJoinHandle {
            thread: Thread { no, name },
            packet,
            member: Member::new(&self.members),
        }
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// See `std::thread::ScopedJoinHandle::join`.
    ///
    /// # Errors
    /// The thread panicked.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        super::refuse_to_join_itself(self.thread.no);
        let no = self.thread.no;
        if engine().is_none() {
            let mut threads = self.member.0.threads.borrow_mut();
            threads.retain(|thread| *thread != no);
        }
        let result = join(no, self.packet, Location::caller());
        if let Some(handle) = engine() {
            threads::joined_in_scope(handle, no);
        }
        result
    }

    /// See `std::thread::ScopedJoinHandle::is_finished`.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.packet.is_finished(Location::caller())
    }

    /// See `std::thread::ScopedJoinHandle::thread`.
    #[must_use]
    pub const fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
