//! The C functions that stand before those of the system, and by which std and all dependencies come to seqz.
//!
//! std and all that stands on it ask the C library for the time, for random numbers, to sleep, and to run a thread-local's
//! destructor. A worker has functions of its own under these names, which linkers prefer to a shared library's: see
//! [`stand_before_the_system`](crate::stand_before_the_system). While code of the program runs, these functions answer
//! by themselves, and otherwise they call the system's.

pub mod requests;

use std::ffi::{c_int, c_long, c_void};
use std::mem::transmute;
use std::time::Duration;

use crate::memory::{arena, outside};
use crate::process;
use crate::process::library::System;

/// The time at an execution's beginning, in seconds: of the clocks that only go forward, and of those that tell the
/// date, which is the first day of 2026.
const STARTED: u64 = 1_000_000;
const DATE: u64 = 1_767_225_600;

const CLOCK_REALTIME: c_int = 0;
const CLOCK_REALTIME_COARSE: c_int = 5;
const CLOCK_TAI: c_int = 11;
const TIMER_ABSTIME: c_int = 1;

#[cfg(target_arch = "x86_64")]
const SYS_GETRANDOM: c_long = 318;
#[cfg(not(target_arch = "x86_64"))]
const SYS_GETRANDOM: c_long = 278;

/// C's `struct timespec`, as it is on systems with 64 bits.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TimeSpec {
    seconds: i64,
    nanoseconds: i64,
}

impl TimeSpec {
    fn of(duration: Duration) -> Self {
        Self {
            seconds: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
            nanoseconds: i64::from(duration.subsec_nanos()),
        }
    }

    fn duration(self) -> Duration {
        let seconds = u64::try_from(self.seconds).unwrap_or(0);
        let nanoseconds = u32::try_from(self.nanoseconds).unwrap_or(0);
        Duration::new(seconds, nanoseconds)
    }
}

/// The number of the thread whose code runs on this OS thread, if code of the program runs.
#[inline]
pub(super) fn program() -> Option<u32> {
    if !arena::is_entered() {
        return None;
    }
    if let Some(machine) = crate::scheduled::current() {
        return Some(machine.thread());
    }
    crate::engine::current().map(|engine| engine.get().threads.current)
}

/// The time of the clock of the thread that runs, which looks at it.
fn look(thread: u32) -> Duration {
    let now = outside(|| {
        if let Some(machine) = crate::scheduled::current() {
            return machine.look_at_clock(thread);
        }
        crate::engine::current().map_or(0, |engine| engine.get().look_at_clock(thread))
    });
    Duration::from_nanos(now)
}

/// The current thread sleeps. Returns false where no program runs: then the caller has to sleep.
fn sleep_in_program(duration: Duration) -> bool {
    if program().is_none() {
        return false;
    }
    crate::std::thread::sleep(duration);
    true
}

/// The date at which the execution begins.
fn date() -> Duration {
    Duration::from_secs(DATE) + process::random::started_later()
}

/// C's function of this name.
///
/// # Safety
/// As C's.
pub unsafe fn clock_gettime(clock: c_int, time: *mut TimeSpec) -> c_int {
    static SYSTEM: System = System::new(c"clock_gettime");
    if let Some(thread) = program() {
        let start = match clock {
            CLOCK_REALTIME | CLOCK_REALTIME_COARSE | CLOCK_TAI => date(),
            _ => Duration::from_secs(STARTED),
        };
        let now = start + look(thread);
        // SAFETY: the caller's promise.
        unsafe { time.write(TimeSpec::of(now)) };
        return 0;
    }
    type Function = unsafe extern "C" fn(c_int, *mut TimeSpec) -> c_int;
    // SAFETY: the system's function of this name has this type; for its arguments see the caller's promise.
    unsafe { transmute::<*mut c_void, Function>(SYSTEM.get())(clock, time) }
}

/// C's function of this name.
///
/// # Safety
/// As C's.
pub unsafe fn gettimeofday(time: *mut TimeSpec, zone: *mut c_void) -> c_int {
    static SYSTEM: System = System::new(c"gettimeofday");
    if let Some(thread) = program() {
        let now = date() + look(thread);
        let mut now = TimeSpec::of(now);
        // A `struct timeval` has microseconds.
        now.nanoseconds /= 1_000;
        // SAFETY: the caller's promise.
        unsafe { time.write(now) };
        return 0;
    }
    type Function = unsafe extern "C" fn(*mut TimeSpec, *mut c_void) -> c_int;
    // SAFETY: the system's function of this name has this type; for its arguments see the caller's promise.
    unsafe { transmute::<*mut c_void, Function>(SYSTEM.get())(time, zone) }
}

/// C's function of this name.
///
/// # Safety
/// As C's.
pub unsafe fn time(result: *mut i64) -> i64 {
    let mut now = TimeSpec::of(Duration::ZERO);
    // SAFETY: a place for a result; and the caller's promise.
    unsafe {
        clock_gettime(CLOCK_REALTIME, &raw mut now);
        if !result.is_null() {
            result.write(now.seconds);
        }
    }
    now.seconds
}

/// C's function of this name.
///
/// # Safety
/// As C's.
pub unsafe fn clock_nanosleep(
    clock: c_int,
    flags: c_int,
    duration: *const TimeSpec,
    rest: *mut TimeSpec,
) -> c_int {
    static SYSTEM: System = System::new(c"clock_nanosleep");
    if program().is_some() {
        // SAFETY: the caller's promise.
        let mut wanted = unsafe { *duration }.duration();
        if flags & TIMER_ABSTIME != 0 {
            let mut now = TimeSpec::of(Duration::ZERO);
            // SAFETY: a place for a result.
            unsafe { clock_gettime(clock, &raw mut now) };
            wanted = wanted.saturating_sub(now.duration());
        }
        sleep_in_program(wanted);
        return 0;
    }
    type Function = unsafe extern "C" fn(c_int, c_int, *const TimeSpec, *mut TimeSpec) -> c_int;
    // SAFETY: the system's function of this name has this type; for its arguments see the caller's promise.
    unsafe { transmute::<*mut c_void, Function>(SYSTEM.get())(clock, flags, duration, rest) }
}

/// C's function of this name.
///
/// # Safety
/// As C's.
pub unsafe fn nanosleep(duration: *const TimeSpec, rest: *mut TimeSpec) -> c_int {
    static SYSTEM: System = System::new(c"nanosleep");
    // SAFETY: the caller's promise.
    if program().is_some() && sleep_in_program(unsafe { *duration }.duration()) {
        return 0;
    }
    type Function = unsafe extern "C" fn(*const TimeSpec, *mut TimeSpec) -> c_int;
    // SAFETY: the system's function of this name has this type; for its arguments see the caller's promise.
    unsafe { transmute::<*mut c_void, Function>(SYSTEM.get())(duration, rest) }
}

/// C's function of this name.
#[must_use]
pub fn sched_yield() -> c_int {
    static SYSTEM: System = System::new(c"sched_yield");
    if program().is_some() {
        crate::std::thread::yield_now();
        return 0;
    }
    type Function = unsafe extern "C" fn() -> c_int;
    // SAFETY: the system's function of this name has this type, and no arguments.
    unsafe { transmute::<*mut c_void, Function>(SYSTEM.get())() }
}

/// C's function of this name.
#[must_use]
pub fn getpid() -> c_int {
    static SYSTEM: System = System::new(c"getpid");
    type Function = unsafe extern "C" fn() -> c_int;
    // SAFETY: the system's function of this name has this type, and no arguments.
    let worker = unsafe { transmute::<*mut c_void, Function>(SYSTEM.get())() };
    if program().is_none() {
        return worker;
    }
    process::id::of_program(worker.cast_unsigned()).cast_signed()
}

/// C's functions `sleep` and `usleep`.
#[must_use]
pub fn sleep(duration: Duration) -> c_int {
    if !sleep_in_program(duration) {
        std::thread::sleep(duration);
    }
    0
}

/// C's function `getrandom`, which never fails here, and never comes back with less than what it is asked for.
///
/// # Safety
/// As C's.
pub unsafe fn getrandom(buffer: *mut u8, length: usize) -> isize {
    // SAFETY: the caller's promise; bytes have no invalid values, and are written before they are read.
    let bytes = unsafe {
        buffer.write_bytes(0, length);
        std::slice::from_raw_parts_mut(buffer, length)
    };
    process::draw(program(), bytes);
    length.cast_signed()
}

/// C's function of this name, with arguments that are all numbers or pointers.
///
/// # Safety
/// As C's.
pub unsafe fn syscall(number: c_long, arguments: [usize; 6]) -> c_long {
    static SYSTEM: System = System::new(c"syscall");
    if number == SYS_GETRANDOM {
        let [buffer, length, ..] = arguments;
        let buffer = std::ptr::with_exposed_provenance_mut(buffer);
        // SAFETY: the caller's promise.
        return unsafe { getrandom(buffer, length) } as c_long;
    }
    type Function =
        unsafe extern "C" fn(c_long, usize, usize, usize, usize, usize, usize) -> c_long;
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the system's function of this name takes as many arguments as the system call has; for them see the
    // caller's promise.
    unsafe { transmute::<*mut c_void, Function>(SYSTEM.get())(number, a, b, c, d, e, f) }
}

/// The function that std calls to have a thread-local's destructor run.
///
/// # Safety
/// As C's.
pub unsafe fn cxa_thread_atexit_impl(
    run: unsafe extern "C" fn(*mut u8),
    object: *mut u8,
    handle: *mut u8,
) -> c_int {
    static SYSTEM: System = System::new(c"__cxa_thread_atexit_impl");
    if program().is_some() && process::keep_destructor(run, object) {
        return 0;
    }
    type Function = unsafe extern "C" fn(unsafe extern "C" fn(*mut u8), *mut u8, *mut u8) -> c_int;
    // SAFETY: the system's function of this name has this type; for its arguments see the caller's promise.
    unsafe { transmute::<*mut c_void, Function>(SYSTEM.get())(run, object, handle) }
}

/// Defines functions of [`system::requests`](crate::system::requests) under C's names.
#[doc(hidden)]
#[macro_export]
macro_rules! stand_for {
    ($([$note:ident($($about:ident),*)] $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            unsafe { requests::$name($($argument),*) }
        }
    )*};
}

/// Defines the functions of [`system`](crate::system) and of [`system::requests`](crate::system::requests) under C's names. For the `main.rs` of workers.
#[macro_export]
macro_rules! stand_before_the_system {
    () => {
        /// What C calls.
        mod stands_before_the_system {
            use ::std::ffi::{c_char, c_int, c_long, c_uint, c_void};
            use ::std::time::Duration;
            use $crate::system::requests;
            use $crate::system::{self, TimeSpec};

            $crate::requests_to_the_system!($crate::stand_for);

            #[unsafe(no_mangle)]
            unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut TimeSpec) -> c_int {
                unsafe { system::clock_gettime(clock, time) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn gettimeofday(time: *mut TimeSpec, zone: *mut c_void) -> c_int {
                unsafe { system::gettimeofday(time, zone) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn time(result: *mut i64) -> i64 {
                unsafe { system::time(result) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn clock_nanosleep(
                clock: c_int,
                flags: c_int,
                duration: *const TimeSpec,
                rest: *mut TimeSpec,
            ) -> c_int {
                unsafe { system::clock_nanosleep(clock, flags, duration, rest) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn nanosleep(
                duration: *const TimeSpec,
                rest: *mut TimeSpec,
            ) -> c_int {
                unsafe { system::nanosleep(duration, rest) }
            }

            #[unsafe(no_mangle)]
            extern "C" fn sleep(seconds: c_uint) -> c_uint {
                let _ = system::sleep(Duration::from_secs(seconds.into()));
                0
            }

            #[unsafe(no_mangle)]
            extern "C" fn usleep(microseconds: c_uint) -> c_int {
                system::sleep(Duration::from_micros(microseconds.into()))
            }

            #[unsafe(no_mangle)]
            extern "C" fn getpid() -> c_int {
                system::getpid()
            }

            #[unsafe(no_mangle)]
            extern "C" fn sched_yield() -> c_int {
                system::sched_yield()
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn getrandom(
                buffer: *mut u8,
                length: usize,
                _flags: c_uint,
            ) -> isize {
                unsafe { system::getrandom(buffer, length) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn getentropy(buffer: *mut u8, length: usize) -> c_int {
                unsafe { system::getrandom(buffer, length) };
                0
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn syscall(
                number: c_long,
                a: usize,
                b: usize,
                c: usize,
                d: usize,
                e: usize,
                f: usize,
            ) -> c_long {
                unsafe { system::syscall(number, [a, b, c, d, e, f]) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn __cxa_thread_atexit_impl(
                run: unsafe extern "C" fn(*mut u8),
                object: *mut u8,
                handle: *mut u8,
            ) -> c_int {
                unsafe { system::cxa_thread_atexit_impl(run, object, handle) }
            }
        }
    };
}
