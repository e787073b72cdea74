//! Threads of the program under test: which threads are T and T', and when each one runs.
//!
//! A spawned thread does not run at once. The thread is started when it becomes clear what the thread runs beside:
//! - If the spawner does nothing shared before waiting for the thread, nothing runs beside the thread, which is a plain
//!   call then.
//! - Otherwise two *parties* run side by side, and the program is *split*: T' is run first, on G', then T, on G.
//!
//! A party is a line of execution, not a thread: a thread that waits for another thread, and then goes on, is on that
//! other thread's line. So main, which spawns two threads, joins one, does something, and joins the other, is still two
//! lines.

mod table;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

use table::State;
pub(crate) use table::{Thread, ThreadNo, Threads};

use super::body::Body;
use super::frame::Frame;
use super::several::Current;
use super::{
    Abort, Handle, InterferingEnd, Line, abort, bug, ended, init_locks, rounds, several, tau,
    unsupported,
};
use crate::ending::Destructor;
use crate::locals;
use crate::vocabulary::{Role, Site};

/// A new thread, which will run when something depends on it.
pub(crate) fn spawn(handle: Handle, name: Option<Arc<str>>, site: Site, body: Body) -> ThreadNo {
    let engine = handle.get();
    let (quiet, line) = (engine.quiet, engine.line);
    crate::process::thread_ids::started_by(engine.threads.current);
    let no = engine.threads.add(quiet, line, site);
    engine.threads.bodies += 1;
    if name.is_some() {
        engine.threads.has_names = true;
    }
    engine.threads.at(no).fill(name, body);
    engine.counts.spawned(no);
    refresh_attention(handle);
    no
}

/// The scope of these threads ends: threads that have not run never will.
pub(crate) fn abandon(handle: Handle, scoped: &[ThreadNo]) {
    for &thread in scoped {
        let engine = handle.get();
        let entry = engine.threads.at(thread);
        let body = entry.body.take();
        let is_unstarted = entry.state == State::Unstarted;
        if is_unstarted {
            entry.state = State::Dead;
        }
        engine.threads.bodies -= usize::from(body.is_some());
        engine.threads.unstarted -= usize::from(is_unstarted);
        if engine.threads.waiting_under_test == Some(thread) {
            engine.threads.waiting_under_test = None;
        }
        drop(body);
    }
    refresh_attention(handle);
}

/// A scope that ends has waited for this thread. With std, the scope would not have waited for the destructors of the
/// thread's thread-locals.
pub(crate) fn scope_waited_for(handle: Handle, thread: ThreadNo) {
    let engine = handle.get();
    engine.has_left_scope_open |= engine.threads.get(thread).destroyed_with_events;
}

/// The thread has been joined before its scope ends: such a join waits for all that the thread does.
pub(crate) fn joined_in_scope(handle: Handle, thread: ThreadNo) {
    handle.get().threads.at(thread).destroyed_with_events = false;
}

#[inline]
fn refresh_attention(handle: Handle) {
    let engine = handle.get();
    let waiting = usize::from(engine.threads.waiting_under_test.is_some());
    debug_assert_eq!(
        engine.threads.unstarted - waiting,
        engine.threads.unstarted().count()
    );
    engine.attention = engine.threads.unstarted > waiting
        || engine.counts.is_uncertain()
        || engine.is_behind_another();
}

/// Called before an event while a thread has not been started: from here on that thread runs beside the current one.
pub(crate) fn before_event(handle: Handle, site: Site) {
    let engine = handle.get();
    let current = engine.threads.current;
    let mut unstarted = engine.threads.unstarted();
    let Some(other) = unstarted.next() else {
        drop(unstarted);
        engine.attention = false;
        return;
    };
    let third = unstarted.next();
    drop(unstarted);
    if third.is_some() && engine.line == Line::Init {
        let parties = several_of(engine, Some(current));
        several::run(handle, &parties, Current::RunsToo, Some(site));
        refresh_attention(handle);
        return;
    }
    if let (true, Some(third)) = (engine.joined, third) {
        too_many(handle, site, &[other, third]);
        return;
    }
    if !may_split(handle, site, &[other]) {
        return;
    }
    let engine = handle.get();
    let is_first = engine.events_before_split.is_none();
    let events_before = engine.steps.saturating_sub(1);
    let under_test = split(handle, current, other);
    if is_first {
        // The event that is about to happen has been counted already.
        handle.get().events_before_split = Some(events_before);
    }
    if under_test == current {
        init_locks::enter_log(handle);
        run_interfering(handle, other);
        interfering_ends(handle, InterferingEnd::Complete);
    } else {
        let engine = handle.get();
        engine.threads.waiting_under_test = Some(other);
        engine.line = Line::Interfering;
        init_locks::enter_log(handle);
    }
    refresh_attention(handle);
}

/// Two threads, and no third one, are about to run side by side: the first two of the execution, or two of a later round,
/// which begins then. Returns whether they can; otherwise the execution ends. `waiting` are those that have not been started.
fn may_split(handle: Handle, site: Site, waiting: &[ThreadNo]) -> bool {
    if handle.get().line == Line::Init {
        return true;
    }
    match rounds::begin(handle, site) {
        Ok(()) => !handle.get().quiet,
        Err(Some(why)) => {
            let message = format!("threads run side by side again after others were joined, {why}");
            unsupported(handle, message, Some(site));
            false
        }
        Err(None) => {
            too_many(handle, site, waiting);
            false
        }
    }
}

fn too_many(handle: Handle, site: Site, waiting: &[ThreadNo]) {
    let engine = handle.get();
    let mut names = vec![describe(engine.threads.get(engine.threads.current))];
    if let Some((first, second)) = engine.threads.parties.filter(|_| !engine.joined) {
        for party in [first, second] {
            if party != engine.threads.current {
                names.push(describe(engine.threads.get(party)));
            }
        }
    }
    for &thread in waiting {
        names.push(describe(engine.threads.get(thread)));
    }
    let names = names.join(", ");
    let why = if engine.joined {
        "after others were joined"
    } else {
        "one of them started while others run"
    };
    let message = format!("more than two threads run at once here, {why}: {names}");
    unsupported(handle, message, Some(site));
}

/// More threads than two begin to run side by side, and they are these.
pub(super) fn too_many_at_once(handle: Handle, site: Option<Site>, parties: &[ThreadNo]) {
    let threads = &handle.get().threads;
    let names: Vec<String> = parties
        .iter()
        .map(|&thread| describe(threads.get(thread)))
        .collect();
    let names = names.join(", ");
    let message = format!("more than two threads run at once here: {names}");
    unsupported(handle, message, site);
}

/// The threads that have not been started, and this one, in the order of their creation.
fn several_of(engine: &super::Engine, current: Option<ThreadNo>) -> Vec<ThreadNo> {
    let unstarted = engine.threads.unstarted();
    let mut parties: Vec<ThreadNo> = unstarted.chain(current).collect();
    parties.sort_unstable();
    parties
}

/// These threads run side by side, and this one of them is T. T is left for later, and the others have their turns.
pub(super) fn choose(handle: Handle, parties: &[ThreadNo], under_test: ThreadNo) {
    let engine = handle.get();
    for &thread in parties {
        let entry = engine.threads.at(thread);
        if entry.state != State::Unstarted {
            continue;
        }
        if thread == under_test {
            engine.threads.waiting_under_test = Some(thread);
        } else {
            entry.state = State::Chosen;
            engine.threads.unstarted -= 1;
        }
    }
    refresh_attention(handle);
}

/// The run of the last of several interfering threads is over, or T has run in it. The current thread goes on behind that one,
/// if it waits for it, and is over otherwise.
pub(super) fn go_on_behind(handle: Handle, waits: bool) {
    let engine = handle.get();
    if engine.threads.waiting_under_test.is_none() {
        return; // T' itself waited for T, which has run.
    }
    let has_stopped = engine.interfering_end == InterferingEnd::Stopped;
    if waits && !has_stopped {
        engine.line = Line::Interfering;
        refresh_attention(handle);
        return;
    }
    interfering_ends(handle, InterferingEnd::Complete);
    run_waiting_under_test(handle);
    if waits {
        abort(handle, Abort::Stuck);
    }
}

/// How a thread is called in messages. Places are named as `{at file:line:column}`, for the driver to translate.
pub(crate) fn describe(thread: &Thread) -> String {
    match (&thread.name, thread.spawned_at) {
        (Some(name), Some(site)) => format!("thread `{name}` ({{at {site}}})"),
        (None, Some(site)) => format!("the thread spawned at {{at {site}}}"),
        (_, None) => "the harness's own thread".to_owned(),
    }
}

/// From here on the threads `a` and `b` run side by side. Returns T.
fn split(handle: Handle, a: ThreadNo, b: ThreadNo) -> ThreadNo {
    let engine = handle.get();
    engine.threads.parties = Some((a.min(b), a.max(b)));
    engine.events_before_split.get_or_insert(engine.steps);
    engine.steps = 0;
    engine.role = Role(engine.role.0.min(1));
    if engine.role == Role::FIRST {
        a.min(b)
    } else {
        a.max(b)
    }
}

/// Waits for a thread to end.
pub(crate) fn join(handle: Handle, thread: ThreadNo, site: Site) {
    let engine = handle.get();
    if engine.quiet {
        abort::after_end(handle);
        if handle.get().threads.get(thread).state != State::Finished {
            abort::unwind(handle);
        }
        return;
    }
    let line = engine.line;
    let state = engine.threads.get(thread).state;
    match (state, line) {
        (State::Finished | State::Dead, Line::UnderTest) if engine.is_of_several() => {
            several::join(handle, thread, site);
        }
        (State::Chosen, _) => several::stop_behind_another(handle),
        (State::Unstarted, Line::Interfering)
            if engine.threads.waiting_under_test == Some(thread) && !several::is_last(engine) =>
        {
            several::stop_behind_another(handle);
        }
        (State::Finished, Line::Interfering) if engine.is_of_several() => {
            several::wait_for_another(handle, thread);
        }
        (State::Finished | State::Dead, Line::UnderTest) => {
            if engine.threads.get(thread).line == Line::Interfering {
                // A thread that T has created, and that has not been started, may run beside T' until here, and beside T.
                let unstarted = engine.threads.unstarted().next();
                if let (false, Some(third)) = (engine.joined, unstarted) {
                    too_many(handle, site, &[third]);
                    return;
                }
                tau::join(handle, site);
            }
        }
        (State::Finished, _) => {}
        (State::Dead | State::Running, _) => abort(handle, Abort::Stuck),
        (State::Unstarted, Line::Init) => join_in_init(handle, thread, site),
        (State::Unstarted, Line::Interfering)
            if engine.threads.waiting_under_test == Some(thread) =>
        {
            let waits = InterferingEnd::WaitsForUnderTest(engine.threads.current, site);
            interfering_ends(handle, waits);
            run_waiting_under_test(handle);
            tau::join(handle, site);
        }
        (State::Unstarted, Line::UnderTest) if engine.joined => join_in_init(handle, thread, site),
        (State::Unstarted, Line::Interfering | Line::UnderTest) => run_inline(handle, thread),
    }
    handle.get().counts.joined(thread);
    let engine = handle.get();
    engine.clocks.follow(engine.threads.current, thread);
    refresh_attention(handle);
}

fn join_in_init(handle: Handle, thread: ThreadNo, site: Site) {
    let engine = handle.get();
    let mut others = engine.threads.unstarted().filter(|&other| other != thread);
    let other = others.next();
    let third = others.next();
    drop(others);
    if third.is_some() && engine.line == Line::Init {
        let parties = several_of(engine, None);
        several::run(handle, &parties, Current::WaitsFor(thread), Some(site));
        return;
    }
    match (other, third) {
        (None, _) => run_inline(handle, thread),
        (Some(other), Some(third)) => too_many(handle, site, &[thread, other, third]),
        (Some(other), None) => {
            if !may_split(handle, site, &[thread, other]) {
                return;
            }
            let under_test = split(handle, thread, other);
            let interfering = if under_test == thread { other } else { thread };
            handle.get().threads.waiting_under_test = Some(under_test);
            run_interfering(handle, interfering);
            let engine = handle.get();
            if engine.threads.waiting_under_test.is_none() {
                return; // T' itself waited for T, which has run.
            }
            if under_test == thread {
                interfering_ends(handle, InterferingEnd::Complete);
                run_waiting_under_test(handle);
            } else if engine.interfering_end == InterferingEnd::Stopped {
                interfering_ends(handle, InterferingEnd::Stopped);
                run_waiting_under_test(handle);
                abort(handle, Abort::Stuck);
            } else {
                // The waiting thread goes on, on the line of the thread that it waited for.
                engine.line = Line::Interfering;
            }
        }
    }
}

/// The harness has returned: runs all threads that still have to run.
pub(crate) fn finish(handle: Handle) {
    if handle.get().quiet {
        return;
    }
    if handle.get().line == Line::Interfering {
        interfering_ends(handle, InterferingEnd::Complete);
        run_waiting_under_test(handle);
    }
    while handle.get().threads.unstarted > 0 {
        let engine = handle.get();
        let mut unstarted = engine.threads.unstarted();
        let Some(first) = unstarted.next() else { break };
        let second = unstarted.next();
        let third = unstarted.next();
        drop(unstarted);
        if third.is_some() && engine.line == Line::Init {
            let parties = several_of(engine, None);
            several::run(handle, &parties, Current::IsOver, None);
            break;
        }
        let splits = engine.line == Line::Init || engine.joined;
        match (splits, second, third) {
            (true, Some(second), None) => {
                let site = engine.threads.get(second).spawned_at;
                if site.is_some_and(|site| !may_split(handle, site, &[first, second])) {
                    return;
                }
                let under_test = split(handle, first, second);
                let interfering = if under_test == first { second } else { first };
                handle.get().threads.waiting_under_test = Some(under_test);
                run_interfering(handle, interfering);
                if handle.get().threads.waiting_under_test.is_some() {
                    interfering_ends(handle, InterferingEnd::Complete);
                    run_waiting_under_test(handle);
                }
            }
            (true, Some(second), Some(third)) => {
                let site = engine.threads.get(third).spawned_at;
                if let Some(site) = site {
                    too_many(handle, site, &[first, second, third]);
                }
                return;
            }
            _ => run_inline(handle, first),
        }
    }
    refresh_attention(handle);
}

/// T' runs on the stack of the thread that spawned T, and has been ended there early by unwinding with `payload`: T has
/// its turn now. Returns whether T' was ended so; if not, `payload` goes on unwinding.
pub(crate) fn interfering_unwound(handle: Handle, payload: &(dyn Any + Send)) -> bool {
    let engine = handle.get();
    if engine.line != Line::Interfering || engine.threads.waiting_under_test.is_none() {
        return false;
    }
    if !stop_interfering_by(handle, payload) {
        return false;
    }
    interfering_ends(handle, InterferingEnd::Stopped);
    run_waiting_under_test(handle);
    // T is over: what is left of the stack of T' must not be taken for T's. Where the stack can't be left, its
    // unwinding goes on.
    let engine = handle.get();
    engine.quiet = true;
    engine.is_over = true;
    if engine.leaves == abort::Leaves::Forgets {
        abort::leave(handle);
    }
    true
}

/// T' runs on the stack of the thread that spawned T, and has been ended there without unwinding. T has its turn on top
/// of that.
pub(super) fn run_after_interfering(handle: Handle) {
    if handle.get().threads.waiting_under_test.is_some() {
        stop_interfering(handle);
        interfering_ends(handle, InterferingEnd::Stopped);
        run_waiting_under_test(handle);
    }
}

pub(super) fn run_waiting_under_test(handle: Handle) {
    if let Some(thread) = handle.get().threads.waiting_under_test.take() {
        run_under_test(handle, thread);
    }
}

/// The log of T' is whole.
fn interfering_ends(handle: Handle, end: InterferingEnd) {
    let engine = handle.get();
    if engine.is_of_several() {
        several::end_one(handle, end);
        several::close(handle);
        return;
    }
    if engine.interfering_end == InterferingEnd::Open {
        engine.interfering_end = end;
    }
    engine.close_interfering();
    engine.steps = 0;
    engine.spin.progress();
    engine.line = Line::UnderTest;
    init_locks::open_log_of_t(handle);
}

#[inline(always)]
fn take_body(handle: Handle, thread: ThreadNo) -> (Option<Body>, ThreadNo) {
    let engine = handle.get();
    let line = engine.line;
    let entry = engine.threads.at(thread);
    let before = std::mem::replace(&mut entry.state, State::Running);
    entry.line = line;
    let body = entry.body.take();
    engine.threads.bodies -= usize::from(body.is_some());
    engine.threads.unstarted -= usize::from(before == State::Unstarted);
    let before = std::mem::replace(&mut engine.threads.current, thread);
    if let Some(counter) = engine.counter {
        engine.threads.switch_panics(counter, thread, before);
    }
    begin_on_its_own(engine, thread, before);
    refresh_attention(handle);
    (body, before)
}

#[inline]
fn leave(handle: Handle, thread: ThreadNo, before: ThreadNo, state: State) {
    let engine = handle.get();
    engine.threads.at(thread).state = state;
    engine.threads.current = before;
    if let Some(counter) = engine.counter {
        engine.threads.leave_panics(counter, before, thread);
    }
    crate::process::leave(Some(before));
}

/// A thread has thread-locals and a clock of its own, which begins at the time of the previous thread's clock.
#[inline(always)]
fn begin_on_its_own(engine: &mut super::Engine, thread: ThreadNo, before: ThreadNo) {
    crate::process::enter(thread);
    engine.clocks.follow(thread, before);
}

/// Runs a thread on the line of T'. However the thread ends, the caller goes on.
pub(super) fn run_interfering(handle: Handle, thread: ThreadNo) {
    let engine = handle.get();
    engine.line = Line::Interfering;
    engine.steps = 0;
    engine.spin.progress();
    init_locks::open_log_of_t_prime(handle);
    let (mut body, before) = take_body(handle, thread);
    let frame = Frame::default();
    handle.get().frames.interfering = Some(NonNull::from(&frame));
    let mut result = Ok(());
    let is_over = frame.call(&mut || {
        result = catch_unwind(AssertUnwindSafe(|| {
            if let Some(body) = body.take() {
                body.run();
            }
            destroy_locals(handle, thread);
        }));
    });
    handle.get().frames.interfering = None;
    match result {
        Ok(()) if is_over => leave(handle, thread, before, State::Finished),
        Ok(()) => {
            let engine = handle.get();
            if let Some(counter) = engine.counter {
                let line = Some(Line::Interfering);
                engine.threads.forget_panics(counter, line);
            }
            stop_interfering(handle);
            leave(handle, thread, before, State::Dead);
        }
        Err(payload) => {
            // T itself may have run inside: what ends T ends the execution.
            if handle.get().line == Line::UnderTest || !stop_interfering_by(handle, &*payload) {
                resume_unwind(payload);
            }
            leave(handle, thread, before, State::Dead);
        }
    }
}

/// Ends the log of T' where it stands, if `payload` is what may end T' alone.
fn stop_interfering_by(handle: Handle, payload: &(dyn Any + Send)) -> bool {
    let engine = handle.get();
    if !payload.is::<abort::Unwind>() && engine.abort.is_none() {
        ended::note_panic(engine, engine.threads.current);
    }
    if abort::ends_all(handle.get()) {
        return false;
    }
    stop_interfering(handle);
    true
}

/// Ends the log of T' where it stands.
fn stop_interfering(handle: Handle) {
    let engine = handle.get();
    let reason = engine.abort.take();
    if reason == Some(Abort::StepBound) {
        engine.interfering_was_cut = true;
    }
    engine.opening_log = false;
    engine.interfering_waits = reason == Some(Abort::Waiting);
    engine.quiet = false;
    engine.left = abort::LEFT;
    engine.interfering_end = InterferingEnd::Stopped;
}

/// A panic has reached the top of the current thread, which ends with it.
pub(crate) fn panicked(handle: Handle) {
    let engine = handle.get();
    if engine.quiet {
        // The execution was ended while the thread unwound.
        abort::after_end(handle);
    } else {
        ended::note_panic(engine, engine.threads.current);
    }
}

/// Runs a thread on the line of T.
fn run_under_test(handle: Handle, thread: ThreadNo) {
    handle.get().line = Line::UnderTest;
    run_inline(handle, thread);
    bug::find_deadlock_at_end(handle);
}

/// Runs a thread on the current line, as a plain call.
fn run_inline(handle: Handle, thread: ThreadNo) {
    let (body, before) = take_body(handle, thread);
    if let Some(body) = body {
        body.run();
    }
    destroy_locals(handle, thread);
    leave(handle, thread, before, State::Finished);
}

/// Destroys the thread-locals of a thread whose code has come to its end.
#[inline]
pub(crate) fn destroy_locals(handle: Handle, thread: ThreadNo) {
    crate::process::run_destructors();
    if handle.get().has_locals {
        destroy_own(handle, thread);
    }
}

#[cold]
fn destroy_own(handle: Handle, thread: ThreadNo) {
    let before = handle.get().steps;
    let result = catch_unwind(AssertUnwindSafe(|| locals::destroy(thread)));
    let engine = handle.get();
    engine.threads.at(thread).destroyed_with_events = engine.steps != before;
    match result {
        Err(payload) if payload.is::<abort::Unwind>() => resume_unwind(payload),
        Err(_) => ended::die_of_a(handle, Destructor::ThreadLocal, thread),
        Ok(()) => {}
    }
}
