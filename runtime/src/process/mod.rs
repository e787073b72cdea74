//! Each execution begins like a new process.
//!
//! What the runtime replaces starts afresh by itself: atomics, locks, `static mut`s, thread-locals of the program. What else
//! a program can leave behind is put back at an execution's end, if it has changed:
//!
//! | here | is |
//! |---|---|
//! | [`executable`](crate::executable) | what the worker's executable says of its writable memory, and whose each symbol is |
//! | [`memory`] | the statics of the program, its dependencies and C libraries: compared, and written over where they differ |
//! | [`locals`] | the thread-locals of dependencies: threads of the program share an OS thread, and each has its own |
//! | [`environment`] | environment variables, the current directory, and the state of the C library that can be set back |
//! | [`held`] | what std has put aside of an execution's memory |
//! | [`imports`] | the functions of the C library whose state can't |
//! | [`random`] | random numbers that are the same in each execution |
//! | [`id`] | the id of the process, another one in each execution of a program that changes files |
//! | [`library`] | functions of the C library by their names |
//! | [`asked`], [`thread_ids`] | what a program asks of the system, and of the numbers of threads, which is not put back but named |
//!
//! A worker begins this with [`install`], before any code of the program has run. Where `install` has not been called,
//! as in a fuzzer's process, statics of dependencies outlive executions.
//!
//! # What it costs
//! Each execution is followed by a comparison of the statics that are neither the runtime's nor std's nor objects of the
//! runtime's types: in most programs there are none but what lies between others, which is compared word by word. What the C
//! library keeps is looked after where the executable imports a function that can change it, and thread-locals are switched
//! with the threads where a dependency has any. What a dependency has put on the heap and refers to from a static is forgotten
//! with the static, and its memory is not used again.

pub(crate) mod asked;
mod environment;
mod held;
pub(crate) mod id;
mod imports;
pub(crate) mod library;
mod locals;
mod memory;
pub(crate) mod random;
pub(crate) mod thread_ids;

use std::cell::UnsafeCell;
use std::mem::size_of_val;
use std::sync::atomic::{AtomicUsize, Ordering};

use environment::Environment;
use held::Held;
use locals::{Destructor, Locals};
use memory::Memory;

use crate::alone::Generation;
use crate::executable::{elf, unwinding};
use crate::memory::outside;

/// All that is put back.
struct Process {
    memory: Memory,
    locals: Locals,
    environment: Environment,
    held: Held,
    draws: random::Draws,
    /// What can't be put back, in words.
    left: Vec<String>,
}

/// All that is put back, for the OS thread that runs a program: programs are run one after the other.
struct Place(UnsafeCell<Option<Box<Process>>>);

// SAFETY: it is used by the OS thread alone that holds what `engine::alone` gives, but for `install`, before any
// program runs.
unsafe impl Sync for Place {}

static PROCESS: Place = Place(UnsafeCell::new(None));

/// The address at which statics begin, and their extent in bytes; 0 before [`install`].
static STATICS: AtomicUsize = AtomicUsize::new(0);
static EXTENT: AtomicUsize = AtomicUsize::new(0);

/// All that is put back, for the OS thread that runs a program.
fn process() -> Option<&'static mut Process> {
    // SAFETY: only the OS thread that runs a program comes here; no reference outlives a function of this module, and
    // none calls another while it has one.
    unsafe { (*PROCESS.0.get()).as_deref_mut() }
}

/// Remembers how everything is, before any code of the program runs.
///
/// Where the executable can't be read, nothing is put back, and [`left_behind`] says so.
pub(crate) fn install(_alone: &mut Generation) {
    // The hook is among what is put back.
    crate::panics::install_hook();
    let executable = elf::read();
    let left = match &executable {
        Ok(executable) => imports::without_remedy(&executable.imports),
        Err(error) => vec![format!(
            "state of the process (the executable can't be read: {error})"
        )],
    };
    let executable = executable.unwrap_or_default();
    unwinding::look_up(&executable);
    let memory = Memory::of(&executable);
    let (start, length) = memory.extent();
    STATICS.store(start, Ordering::Relaxed);
    EXTENT.store(length, Ordering::Relaxed);
    let process = Process {
        memory,
        locals: Locals::of(&executable),
        environment: Environment::of(&executable.imports),
        held: Held::of(&executable),
        draws: random::Draws::default(),
        left,
    };
    // SAFETY: no OS thread runs a program yet.
    unsafe { *PROCESS.0.get() = Some(Box::new(process)) };
}

/// What a program may have changed that can't be put back, in words.
pub(crate) fn left_behind(_alone: &mut Generation) -> Vec<String> {
    process().map_or_else(Vec::new, |process| process.left.clone())
}

/// The execution is over: puts everything back.
#[inline(always)]
pub(crate) fn restore(_alone: &mut Generation) {
    if let Some(process) = process() {
        process.restore();
    }
}

impl Process {
    #[inline(never)]
    fn restore(&mut self) {
        self.memory.restore();
        self.locals.restore();
        self.environment.restore();
        self.draws.restart();
        id::restart();
    }
}

/// Whether executions are followed by putting everything back.
pub(crate) fn is_put_back() -> bool {
    process().is_some()
}

/// Whether nothing that outlives an execution refers to these addresses, once everything has been put back.
pub(crate) fn is_let_go(is_such: impl Fn(usize) -> bool) -> bool {
    process().is_some_and(|process| process.left.is_empty() && !process.held.any(is_such))
}

/// Notes an object of the runtime, which starts afresh by itself: if it is a static, it is left alone.
#[inline]
pub(crate) fn object<C>(object: &C) {
    if is_static(object) {
        leave_alone(std::ptr::from_ref(object).addr(), size_of_val(object));
    }
}

/// Whether an object is a static. Where nothing is put back, no object is known to be one.
#[inline]
pub(crate) fn is_static<C>(object: &C) -> bool {
    let address = std::ptr::from_ref(object).addr();
    let from_start = address.wrapping_sub(STATICS.load(Ordering::Relaxed));
    from_start < EXTENT.load(Ordering::Relaxed)
}

/// Whether it is known where statics are.
pub(crate) fn knows_statics() -> bool {
    EXTENT.load(Ordering::Relaxed) > 0
}

#[cold]
#[inline(never)]
fn leave_alone(address: usize, size: usize) {
    outside(|| {
        if let Some(process) = process() {
            process.memory.leave_alone(address, size);
        }
    });
}

/// The code of this thread runs from here on, until [`leave`]. Returns the thread whose code ran before.
#[inline]
pub(crate) fn enter(thread: u32) -> Option<u32> {
    match process() {
        Some(process) => process.locals.enter(Some(thread)),
        None => None,
    }
}

/// The code of the thread before runs again, or code of no thread.
#[inline]
pub(crate) fn leave(before: Option<u32>) {
    if let Some(process) = process() {
        process.locals.enter(before);
    }
}

/// Fills bytes with random numbers for a thread of the program, or for code outside of programs.
pub(crate) fn draw(thread: Option<u32>, bytes: &mut [u8]) {
    match (thread, process()) {
        (Some(thread), Some(process)) => outside(|| {
            process.locals.use_them();
            process.draws.fill(thread, bytes);
        }),
        _ => random::fill(0, &mut 0, bytes),
    }
}

/// Has a thread-local's destructor run when the current thread ends, if that is one of those that each thread of the program
/// has of its own.
pub(crate) fn keep_destructor(run: unsafe extern "C" fn(*mut u8), object: *mut u8) -> bool {
    process().is_some_and(|process| {
        process.locals.contains(object)
            && outside(|| process.locals.note_destructor(Destructor { run, object }))
    })
}

/// Runs the destructors of the current thread's thread-locals, the latest first.
#[inline]
pub(crate) fn run_destructors() {
    if process().is_some() {
        run_all_destructors();
    }
}

#[inline(never)]
fn run_all_destructors() {
    while let Some(process) = process()
        && let Some(destructor) = process.locals.next_destructor()
    {
        // SAFETY: std has asked for this call, at the end of the thread that is current.
        unsafe { (destructor.run)(destructor.object) };
    }
}
