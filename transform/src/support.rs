//! What seqz has no version of, with advice: items of std, as the [catalogue](crate::catalogue) says, methods, and other crates.

pub(crate) use crate::catalogue::Refusal;
use crate::catalogue::refusals::SYSTEM_THREAD;
use crate::options::Mode;

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

/// Returns the refusal for a path inside std, if the path can't be run in this mode.
pub(crate) fn refusal(path: &[&str], mode: Mode) -> Option<Refusal> {
    crate::catalogue::refusal(path, mode == Mode::Sequential)
}

/// Returns the refusal for a method that only a concurrency type of std has, by its name and number of arguments.
pub(crate) fn method_refusal(name: &str, arguments: usize) -> Option<Refusal> {
    match (name, arguments) {
        ("as_pthread_t" | "into_pthread_t", 0) => Some(SYSTEM_THREAD),
        _ => None,
    }
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

    #[test]
    fn what_the_system_calls_a_thread_is_refused_everywhere() {
        assert!(method_refusal("as_pthread_t", 0).is_some());
        for mode in [Mode::Sequential, Mode::Scheduled, Mode::Followed] {
            let path = ["os", "unix", "thread", "JoinHandleExt"];
            assert_eq!(refusal(&path, mode), None);
            assert!(refusal(&[&path[..], &["into_pthread_t"]].concat(), mode).is_some());
        }
        assert_eq!(method_refusal("unpark", 0), None);
    }
}
