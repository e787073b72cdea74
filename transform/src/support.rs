//! The items of std that seqz runs in each mode, and advice for the other items.

use crate::options::Mode;

/// The reason why an item isn't supported, and advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: &'static str,
    pub(crate) help: &'static str,
}

/// Modules of std of which the runtime has its own version. Paths into all other modules keep their meaning and their
/// text.
const OVERRIDDEN: &[&str] = &[
    "any", "cell", "hint", "panic", "process", "sync", "task", "thread",
];

/// Macros of which the runtime has its own version.
pub(crate) const OVERRIDDEN_MACROS: &[&str] = &[
    "dbg",
    "eprint",
    "eprintln",
    "print",
    "println",
    "thread_local",
];

/// Whether the item or module `name` at the top of std may lead to an item of the runtime.
pub(crate) fn overridden(name: &str) -> bool {
    OVERRIDDEN.contains(&name) || OVERRIDDEN_MACROS.contains(&name)
}

const WAITING: &str = "bounded interference has no event for waking a waiting thread yet";
const MEETING: &str = "bounded interference has no event for meeting at a barrier yet";
const CHANNEL: &str = "bounded interference has no event for a message yet";
const ONCE: &str = "bounded interference has no event for a one-time initialization yet";
/// Advice for items that run under a scheduler only.
const EXPLORE: &str = "use `seqz explore`, which runs it as it is";
const JOIN_AND_START: &str =
    "use `seqz explore`, which runs it as it is; or join the threads and start new ones";
const QUEUE: &str =
    "use `seqz explore`, which runs it as it is; or a `Mutex<VecDeque<_>>` that both threads share";
const EAGER: &str = "use `seqz explore`, which runs it as it is; or initialize it before the threads start, or use a `Mutex<Option<_>>`";
const RAW: &str = "accesses through the raw pointer it gives out can't be seen";
const UNSTABLE: &str = "it is unstable in std and seqz has no version of it";

const HANDLES: &str =
    "the threads of the program are none of the system's, and have no number there";
const JOINED: &str = "wait for the thread by `JoinHandle::join`";

/// Returns the reason why an item runs under a scheduler only, and advice: the runtime has the item for that.
fn scheduled_only(path: &[&str]) -> Option<(&'static str, &'static str)> {
    Some(match path {
        ["sync", "Condvar" | "WaitTimeoutResult", ..]
        | ["thread", "park" | "park_timeout" | "park_timeout_ms", ..]
        | ["thread", "Thread", "unpark", ..] => (WAITING, EXPLORE),
        ["sync", "Barrier" | "BarrierWaitResult", ..] => (MEETING, JOIN_AND_START),
        [
            "sync",
            "ONCE_INIT" | "Once" | "OnceState" | "OnceLock" | "LazyLock",
            ..,
        ] => (ONCE, EAGER),
        ["sync", "mpsc", ..] => (CHANNEL, QUEUE),
        _ => return None,
    })
}

/// Returns the refusal for a path inside std, if the path can't be run in this mode.
pub(crate) fn refusal(path: &[&str], mode: Mode) -> Option<Refusal> {
    if let Some((reason, help)) = scheduled_only(path) {
        return (mode == Mode::Sequential).then_some(Refusal { reason, help });
    }
    let (reason, help) = match path {
        ["sync", "mpmc", ..] => (UNSTABLE, "use `std::sync::mpsc`"),
        ["sync", "ReentrantLock" | "ReentrantLockGuard", ..] => (UNSTABLE, "use a `Mutex`"),
        ["sync", "Exclusive" | "nonpoison", ..] => (UNSTABLE, "use a `Mutex`"),
        [
            "sync",
            "MappedMutexGuard" | "MappedRwLockReadGuard" | "MappedRwLockWriteGuard",
            ..,
        ] => (
            UNSTABLE,
            "keep the guard and name the field where it is used",
        ),
        [
            "sync",
            "MutexGuard" | "RwLockReadGuard" | "RwLockWriteGuard",
            "map" | "filter_map" | "try_map",
            ..,
        ] => (
            UNSTABLE,
            "keep the guard and name the field where it is used",
        ),
        ["sync", "atomic", _, "from_ptr" | "as_ptr", ..] if mode != Mode::Sequential => {
            return None;
        }
        [
            "sync",
            "atomic",
            _,
            "from_ptr" | "from_mut" | "from_mut_slice" | "get_mut_slice" | "as_ptr",
            ..,
        ] => (
            RAW,
            "share the atomic itself, as a static or through `Arc` or a reference",
        ),
        ["os", "unix", "thread", "JoinHandleExt", _, ..] => (HANDLES, JOINED),
        ["thread", "sleep_until", ..] => (UNSTABLE, "use `thread::sleep`"),
        ["cell", "SyncUnsafeCell", ..] => (UNSTABLE, "use an atomic, a `Mutex` or a `static mut`"),
        _ => return None,
    };
    Some(Refusal { reason, help })
}

/// Returns the refusal for a method that only a concurrency type of std has, by its name and number of arguments.
pub(crate) fn method_refusal(name: &str, arguments: usize, mode: Mode) -> Option<Refusal> {
    let (reason, help) = match (name, arguments) {
        ("as_pthread_t" | "into_pthread_t", 0) => (HANDLES, JOINED),
        _ if mode != Mode::Sequential => return None,
        ("unpark", 0) => (WAITING, EXPLORE),
        ("recv_timeout" | "try_recv", _) => (CHANNEL, QUEUE),
        _ => return None,
    };
    Some(Refusal { reason, help })
}

/// Returns the refusal for a crate that shares memory out of seqz's sight.
pub(crate) fn crate_refusal(name: &str) -> Option<Refusal> {
    let help = match name {
        "parking_lot" | "parking_lot_core" | "lock_api" | "spin" => {
            "use `std::sync::Mutex` and `RwLock`"
        }
        "once_cell" | "lazy_static" => {
            "use `std::sync::OnceLock` and `LazyLock`, and `seqz explore`"
        }
        "crossbeam" | "crossbeam_utils" => "use `std::thread::scope` and the types of `std::sync`",
        "crossbeam_channel" | "flume" | "async_channel" | "kanal" => {
            "use a `Mutex<VecDeque<_>>` that both threads share; or `std::sync::mpsc`, and `seqz explore`"
        }
        "crossbeam_queue" | "crossbeam_deque" | "crossbeam_epoch" | "concurrent_queue" => {
            "use a `Mutex<VecDeque<_>>` that both threads share"
        }
        "dashmap" | "scc" | "evmap" | "flurry" | "papaya" | "moka" => {
            "use a `Mutex<HashMap<_, _>>`"
        }
        "rayon" | "rayon_core" | "threadpool" | "scoped_threadpool" => {
            "start the two threads with `std::thread::scope`"
        }
        "tokio" | "async_std" | "smol" | "futures" => {
            "test the shared state from two `std::thread`s"
        }
        "arc_swap" | "left_right" | "triomphe" | "atomic_refcell" | "portable_atomic"
        | "atomic" => "use the types of `std::sync`",
        "loom" | "shuttle" => {
            "write the test with `std::thread` and `std::sync`; seqz puts its own types in their place"
        }
        _ => return None,
    };
    Some(Refusal {
        reason: "it is not among the dependencies; a crate is compiled as it is, so what it shares between threads can't be seen",
        help,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::std_names;

    #[test]
    fn what_the_system_calls_a_thread_is_refused_everywhere() {
        for mode in [Mode::Sequential, Mode::Scheduled, Mode::Followed] {
            assert!(method_refusal("as_pthread_t", 0, mode).is_some());
            let path = ["os", "unix", "thread", "JoinHandleExt"];
            assert_eq!(refusal(&path, mode), None);
            assert!(refusal(&[&path[..], &["into_pthread_t"]].concat(), mode).is_some());
        }
        assert_eq!(method_refusal("unpark", 0, Mode::Scheduled), None);
    }

    #[test]
    fn every_refused_name_is_known_to_globs() {
        for (module, name) in [
            ("sync", "Condvar"),
            ("sync", "mpsc"),
            ("thread", "park"),
            ("cell", "SyncUnsafeCell"),
        ] {
            assert!(refusal(&[module, name], Mode::Sequential).is_some());
            let anywhere = refusal(&[module, name], Mode::Scheduled).is_some();
            assert_eq!(anywhere, name == "SyncUnsafeCell");
            let known = [crate::resolve::Ns::Type, crate::resolve::Ns::Value]
                .iter()
                .any(|ns| std_names::has(&[module.to_string()], name, *ns));
            assert!(known, "{module}::{name}");
        }
        for mode in [Mode::Sequential, Mode::Scheduled, Mode::Followed] {
            assert_eq!(refusal(&["sync", "Mutex"], mode), None);
            assert_eq!(refusal(&["sync", "atomic", "AtomicU32", "new"], mode), None);
        }
    }
}
