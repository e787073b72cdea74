//! The names in std, as far as globs need them: in the modules with concurrency.

use super::{Def, Ns};

const TOP: &[&str] = &[
    "alloc",
    "any",
    "arch",
    "array",
    "ascii",
    "backtrace",
    "borrow",
    "boxed",
    "cell",
    "char",
    "clone",
    "cmp",
    "collections",
    "convert",
    "default",
    "env",
    "error",
    "f32",
    "f64",
    "ffi",
    "fmt",
    "fs",
    "future",
    "hash",
    "hint",
    "i128",
    "i16",
    "i32",
    "i64",
    "i8",
    "io",
    "isize",
    "iter",
    "marker",
    "mem",
    "net",
    "num",
    "ops",
    "option",
    "os",
    "panic",
    "path",
    "pin",
    "prelude",
    "primitive",
    "process",
    "ptr",
    "rc",
    "result",
    "slice",
    "str",
    "string",
    "sync",
    "task",
    "thread",
    "time",
    "u128",
    "u16",
    "u32",
    "u64",
    "u8",
    "usize",
    "vec",
];

const SYNC: &[&str] = &[
    "Arc",
    "Barrier",
    "BarrierWaitResult",
    "Condvar",
    "Exclusive",
    "LazyLock",
    "LockResult",
    "MappedMutexGuard",
    "MappedRwLockReadGuard",
    "MappedRwLockWriteGuard",
    "Mutex",
    "MutexGuard",
    "ONCE_INIT",
    "Once",
    "OnceLock",
    "OnceState",
    "PoisonError",
    "ReentrantLock",
    "ReentrantLockGuard",
    "RwLock",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "TryLockError",
    "TryLockResult",
    "WaitTimeoutResult",
    "Weak",
    "atomic",
    "mpmc",
    "mpsc",
    "nonpoison",
    "poison",
];

const ATOMIC: &[&str] = &[
    "ATOMIC_BOOL_INIT",
    "ATOMIC_ISIZE_INIT",
    "ATOMIC_USIZE_INIT",
    "AtomicBool",
    "AtomicI8",
    "AtomicI16",
    "AtomicI32",
    "AtomicI64",
    "AtomicIsize",
    "AtomicPtr",
    "AtomicU8",
    "AtomicU16",
    "AtomicU32",
    "AtomicU64",
    "AtomicUsize",
    "Ordering",
    "compiler_fence",
    "fence",
    "spin_loop_hint",
];

const MPSC: &[&str] = &[
    "IntoIter",
    "Iter",
    "Receiver",
    "RecvError",
    "RecvTimeoutError",
    "SendError",
    "Sender",
    "SyncSender",
    "TryIter",
    "TryRecvError",
    "TrySendError",
    "channel",
    "sync_channel",
];

const THREAD: &[&str] = &[
    "AccessError",
    "Builder",
    "JoinHandle",
    "LocalKey",
    "Result",
    "Scope",
    "ScopedJoinHandle",
    "Thread",
    "ThreadId",
    "available_parallelism",
    "current",
    "panicking",
    "park",
    "park_timeout",
    "park_timeout_ms",
    "scope",
    "sleep",
    "sleep_ms",
    "sleep_until",
    "spawn",
    "yield_now",
];

const CELL: &[&str] = &[
    "BorrowError",
    "BorrowMutError",
    "Cell",
    "LazyCell",
    "OnceCell",
    "Ref",
    "RefCell",
    "RefMut",
    "SyncUnsafeCell",
    "UnsafeCell",
];

const MACROS: &[&str] = &[
    "dbg",
    "eprint",
    "eprintln",
    "print",
    "println",
    "thread_local",
];

/// The modules with concurrency in them, with their names.
#[cfg(test)]
pub(crate) fn concurrent() -> [(&'static str, &'static [&'static str]); 5] {
    [
        ("sync", SYNC),
        ("sync::atomic", ATOMIC),
        ("sync::mpsc", MPSC),
        ("thread", THREAD),
        ("cell", CELL),
    ]
}

/// Whether std has `name` in the module at `path`.
pub(crate) fn has(path: &[String], name: &str, ns: Ns) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let names = match path[..] {
        [] if ns == Ns::Macro => MACROS,
        [] => TOP,
        ["sync"] => SYNC,
        ["sync", "atomic"] => ATOMIC,
        ["sync", "mpsc"] => MPSC,
        ["thread"] => THREAD,
        ["cell"] => CELL,
        _ => &[],
    };
    names.contains(&name) && kind_fits(name, path.is_empty(), ns)
}

/// Whether a path into std can be meant in this namespace; other definitions always fit.
pub(crate) fn fits(def: &Def, ns: Ns) -> bool {
    let Def::Std(path) = def else { return true };
    match path.last() {
        Some(name) => kind_fits(name, path.len() == 1, ns),
        None => ns == Ns::Type,
    }
}

/// Decides by spelling: types are capitalized, modules are known by name, all other names are functions and macros.
fn kind_fits(name: &str, top: bool, ns: Ns) -> bool {
    let module = TOP.contains(&name) && top
        || matches!(name, "atomic" | "mpsc" | "mpmc" | "poison" | "nonpoison");
    let capital = name.chars().next().is_some_and(char::is_uppercase);
    match ns {
        Ns::Type => module || capital,
        Ns::Value => !module,
        Ns::Macro => !capital,
    }
}

/// Returns the path of `name` in the module at `path`, by its best known name.
pub(crate) fn canonical(path: &[String], name: &str) -> Vec<String> {
    let mut path = path.to_vec();
    // `std::sync::poison::Mutex` is `std::sync::Mutex`.
    if path.len() == 2 && path[0] == "sync" && path[1] == "poison" {
        path.pop();
    }
    path.push(name.to_string());
    path
}
