//! `std::thread`: threads of the program under test, which the engine runs as plain calls.

mod ends;
mod local;
mod results;
mod scope;
#[cfg(unix)]
mod system;
mod task;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::io;
use std::num::NonZero;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

pub use ::std::thread::{Result, available_parallelism, panicking};

pub use local::{AccessError, LocalKey};
pub use scope::{Scope, ScopedJoinHandle, scope};

use ends::asks_unseen;
pub use ends::watch_ends;
pub use results::watch_results;
use task::{Packet, task};

use crate::engine::body::Body;
use crate::engine::threads::{self, ThreadNo};
use crate::engine::{Handle, current as engine};
use crate::running::with_panics;
use crate::running::{Running, running};
use crate::shared::parking;
use crate::vocabulary::Site;

/// The engine, or a panic that says that threads exist inside of executions only.
#[track_caller]
fn engine_or_panic() -> Handle {
    match engine() {
        Some(handle) => handle,
        None => panic!("threads of a transformed program run under seqz only: call `p_hat`"),
    }
}

/// See `std::thread::spawn`.
#[track_caller]
pub fn spawn<F, T>(body: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    spawn_at(None, body, Location::caller())
}

#[inline]
fn spawn_at<F, T>(name: Option<String>, body: F, site: Site) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // SAFETY: `'static` does not end.
    unsafe { spawn_unchecked(name, body, site) }
}

/// Starts a thread.
///
/// # Safety
/// What the thread borrows must outlive it.
#[inline]
unsafe fn spawn_unchecked<F, T>(name: Option<String>, body: F, site: Site) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    // SAFETY: the caller's promise.
    let (body, packet) = unsafe { task(body, site) };
    // SAFETY: as above; the handle hands out the thread's result, which borrows what the caller's type says.
    let packet: Packet<'static, T> = unsafe { std::mem::transmute(packet) };
    let name = name.map(Arc::from);
    let no = start(name.clone(), site, body);
    JoinHandle {
        thread: Thread { no, name },
        packet,
        lets_go: LetGo(no),
    }
}

/// Makes a thread.
fn start(name: Option<Arc<str>>, site: Site, body: Body) -> ThreadNo {
    if let Some(machine) = crate::scheduled::current() {
        return fork(machine, name, site, body);
    }
    threads::spawn(engine_or_panic(), name, site, body)
}

/// Makes a thread on the scheduled machine.
#[cold]
#[inline(never)]
fn fork(
    machine: crate::scheduled::Handle,
    name: Option<Arc<str>>,
    site: Site,
    body: Body,
) -> ThreadNo {
    let name = machine.outside(|| name.as_deref().map(str::to_owned));
    machine.fork(name, site, Box::new(move || body.run()))
}

/// Waits for a thread to end.
fn wait(no: ThreadNo, site: Site) {
    if let Some(machine) = crate::scheduled::current() {
        machine.join(no, site);
        return;
    }
    threads::join(engine_or_panic(), no, site);
}

/// A thread can't wait for its own end: std panics where the system tells, as Linux and macOS do.
#[track_caller]
fn refuse_to_join_itself(no: ThreadNo) {
    if is_current(no) {
        panic!("failed to join thread: Resource deadlock avoided (os error 35)");
    }
}

/// Whether this is the thread that runs, in an execution that is not being ended.
fn is_current(no: ThreadNo) -> bool {
    if let Some(machine) = crate::scheduled::current() {
        return machine.thread() == no && !machine.is_ending();
    }
    engine().is_some_and(|handle| {
        let engine = handle.get();
        engine.threads.current == no && !engine.quiet
    })
}

/// Waits for a thread and takes its result.
fn join<T>(no: ThreadNo, packet: Packet<'_, T>, site: Site) -> Result<T> {
    wait(no, site);
    match packet.take() {
        Some(Err(payload)) => {
            with_panics(|panics, thread, _| panics.join(thread, no, &*payload));
            Err(payload)
        }
        Some(value) => value,
        // A destructor joins while the execution is being ended.
        None => Err(Box::new("the thread did not end")),
    }
}

/// `std::thread::JoinHandle`.
pub struct JoinHandle<T> {
    thread: Thread,
    packet: Packet<'static, T>,
    /// Whether the thread is let go with the handle.
    lets_go: LetGo,
}

/// Lets a thread go when it is dropped: no thread can join it any more.
struct LetGo(ThreadNo);

impl Drop for LetGo {
    fn drop(&mut self) {
        // Where a panic takes the handle away, the program has not said what is to become of the thread.
        if !panicking() {
            with_panics(|panics, _, _| panics.let_go(self.0));
        }
    }
}

impl<T> JoinHandle<T> {
    /// See `std::thread::JoinHandle::join`.
    ///
    /// # Errors
    /// The thread panicked.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        refuse_to_join_itself(self.thread.no);
        std::mem::forget(self.lets_go);
        join(self.thread.no, self.packet, Location::caller())
    }

    /// See `std::thread::JoinHandle::is_finished`.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.packet.is_finished(Location::caller())
    }

    /// See `std::thread::JoinHandle::thread`.
    #[must_use]
    pub const fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// `std::thread::ThreadId`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ThreadId(ThreadNo);

impl Hash for ThreadId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        crate::process::thread_ids::told();
        self.0.hash(state);
    }
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::process::thread_ids::told();
        // A process's first thread has number 1: that of a program, or the one that has started the harness's.
        let before = if HARNESS.get().is_some() { 2 } else { 1 };
        f.debug_tuple("ThreadId")
            .field(&u64::from(self.0).saturating_add(before))
            .finish()
    }
}

/// `std::thread::Thread`.
#[derive(Clone)]
pub struct Thread {
    no: ThreadNo,
    name: Option<Arc<str>>,
}

crate::values::clones::whole! {
    [] Thread;
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread")
            .field("id", &self.id())
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

impl Thread {
    /// See `std::thread::Thread::id`.
    #[must_use]
    pub const fn id(&self) -> ThreadId {
        ThreadId(self.no)
    }

    /// See `std::thread::Thread::name`.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// See `std::thread::Thread::unpark`.
    #[track_caller]
    pub fn unpark(&self) {
        let site = Location::caller();
        match running() {
            Running::Scheduled(machine) => machine.unpark(self.no, site),
            Running::Sequential(_) => parking::unpark(self.no, site),
            Running::Nothing => {}
        }
    }
}

/// See `std::thread::current`.
#[must_use]
pub fn current() -> Thread {
    if let Some(machine) = crate::scheduled::current() {
        machine.hands_itself_out();
        let no = machine.thread();
        let name = if no == 0 {
            Some(Arc::from(harness_thread()))
        } else {
            machine.thread_name(no).map(Arc::from)
        };
        return Thread { no, name };
    }
    let Some(handle) = engine() else {
        return Thread { no: 0, name: None };
    };
    let threads = &handle.get().threads;
    let no = threads.current;
    let name = if no == 0 {
        Some(Arc::from(harness_thread()))
    } else {
        threads.get(no).name.clone()
    };
    Thread { no, name }
}

std::thread_local! {
    static HARNESS: std::cell::Cell<Option<&'static str>> = const { std::cell::Cell::new(None) };
}

/// Gives the thread that runs the harness a name: that of the test, as the test runner does; none for a program.
pub fn name_harness_thread(name: Option<&'static str>) {
    HARNESS.set(name);
}

fn harness_thread() -> &'static str {
    HARNESS.get().unwrap_or("main")
}

/// See `std::thread::park`. There is no wake-up without an `unpark`.
#[track_caller]
pub fn park() {
    park_for(None, Location::caller());
}

/// See `std::thread::park_timeout`. It may end at any moment; if no thread has unparked this one, its time is over then.
#[track_caller]
pub fn park_timeout(duration: Duration) {
    park_for(Some(duration), Location::caller());
}

fn park_for(limit: Option<Duration>, site: Site) {
    match running() {
        Running::Scheduled(machine) => {
            let is_unparked = machine.park(limit.is_some(), site);
            if let Some(limit) = limit.filter(|_| !is_unparked) {
                machine.run_out(limit, site);
            }
        }
        Running::Sequential(handle) => parking::park(handle, limit, site),
        Running::Nothing => crate::running::refuse(
            "`thread::park` of a transformed program runs under `seqz` only",
            site,
        ),
    }
}

/// See `std::thread::park_timeout_ms`.
#[track_caller]
pub fn park_timeout_ms(milliseconds: u32) {
    park_timeout(Duration::from_millis(u64::from(milliseconds)));
}

/// See `std::thread::yield_now`. Every event is a point at which others may run; a thread that yields again and again
/// lets others go first.
#[track_caller]
pub fn yield_now() {
    if let Some(machine) = crate::scheduled::current() {
        machine.give_way(Location::caller());
    } else if let Some(handle) = engine() {
        crate::engine::note_wait(handle);
    }
}

/// See `std::thread::sleep`. The thread's clock moves on; what another thread does meanwhile is for the interleaving to
/// say. A thread that sleeps again and again lets others go first.
#[track_caller]
pub fn sleep(duration: Duration) {
    if let Some(machine) = crate::scheduled::current() {
        let site = Location::caller();
        machine.sleep(duration, site);
        machine.give_way(site);
    } else if let Some(handle) = engine() {
        crate::engine::limit_passed(handle, duration);
        crate::engine::note_wait(handle);
        crate::engine::slept(handle);
    }
}

/// See `std::thread::sleep_ms`.
#[track_caller]
pub fn sleep_ms(milliseconds: u32) {
    sleep(Duration::from_millis(u64::from(milliseconds)));
}

/// `std::thread::Builder`.
#[derive(Debug, Default)]
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    name: Option<String>,
}

impl Builder {
    /// See `std::thread::Builder::new`.
    pub const fn new() -> Self {
        Self { name: None }
    }

    /// See `std::thread::Builder::name`.
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// See `std::thread::Builder::stack_size`. The thread runs on its spawner's stack.
    pub fn stack_size(self, _size: usize) -> Self {
        self
    }

    /// See `std::thread::Builder::spawn`.
    ///
    /// # Errors
    /// None: the engine can always make a thread.
    #[track_caller]
    pub fn spawn<F, T>(self, body: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        Ok(spawn_at(self.name, body, Location::caller()))
    }

    /// See `std::thread::Builder::spawn_unchecked`.
    ///
    /// # Errors
    /// None: the engine can always make a thread.
    ///
    /// # Safety
    /// What the thread borrows must outlive it, as with std.
    #[track_caller]
    pub unsafe fn spawn_unchecked<F, T>(self, body: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        // SAFETY: the caller's promise.
        Ok(unsafe { spawn_unchecked(self.name, body, Location::caller()) })
    }

    /// See `std::thread::Builder::spawn_scoped`.
    ///
    /// # Errors
    /// None: the engine can always make a thread.
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        body: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Ok(scope.spawn_at(self.name, body, Location::caller()))
    }
}

// `available_parallelism` is std's own; its type is named here so that a change of it shows.
const _: fn() -> io::Result<NonZero<usize>> = available_parallelism;
