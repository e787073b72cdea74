//! Dropping what a thread returns, or panics with.
//!
//! As with std, a thread and its handle share the result, and the last of the two to let go of it drops it: the thread
//! at its end, before its thread-locals are destroyed, or the thread that drops the handle. Where others may see what
//! that does, letting go is an update of the number of the two that are left. A handle that is joined gives the result
//! away: there is nothing to let go of then.
//!
//! A program that has no destructors, and nothing whose end others notice, has no such events: `transform` knows that,
//! and says so where the program starts. Nor does a result that owns at most memory.

use std::mem::needs_drop;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::ending::{Destructor, Results};
use crate::engine::{current as engine, die_of_a, is_let_go};
use crate::memory::arena::is_watched;
use crate::shared::AtomicCell;
use crate::vocabulary::Site;

/// The program may see these results dropped: from here on, letting go of one of them is an event of this execution.
pub fn watch_results(results: Results) {
    WATCHED.store(true, Ordering::Relaxed);
    if let Some(machine) = crate::scheduled::current() {
        machine.watch_results(results);
        return;
    }
    if let Some(handle) = engine() {
        handle.get().watches_results = results;
    }
}

/// What the program may see of its threads' ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watched {
    pub(super) results: Results,
    /// Whether the program sees when threads have finished: see [`super::watch_ends`].
    pub(super) ends: bool,
}

/// Whether some program in this process has had something watched; most have not.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// The ends of threads are watched from here on.
pub(super) fn watches_ends() {
    WATCHED.store(true, Ordering::Relaxed);
}

/// What is watched now; asked once for each thread, when it is spawned.
#[inline]
pub(super) fn watched() -> Watched {
    if WATCHED.load(Ordering::Relaxed) {
        watched_now()
    } else {
        Watched::default()
    }
}

#[cold]
fn watched_now() -> Watched {
    if let Some(machine) = crate::scheduled::current() {
        return Watched {
            results: machine.watches_results(),
            ends: machine.watches_ends(),
        };
    }
    engine().map_or_else(Watched::default, |handle| Watched {
        results: handle.get().watches_results,
        ends: handle.get().watches_ends,
    })
}

/// The number of owners that a result still has, where that is watched.
pub(super) struct Shares(Option<AtomicCell<u64>>);

impl Shares {
    /// The two owners of a result of type `T`: the thread and its handle.
    pub(super) fn of<T>(watched: Results) -> Self {
        let is_watched = match watched {
            Results::Unseen => false,
            // Where accesses to memory are checked, so is that memory is given back after them.
            Results::Values => {
                let is_seen = || is_watched() || !owns_memory(std::any::type_name::<T>());
                needs_drop::<T>() && is_seen()
            }
            Results::Payloads => true,
        };
        Self(is_watched.then(|| AtomicCell::new(2)))
    }

    /// The thread or its handle lets go of the result. Returns whether the result is to be dropped with that.
    #[inline]
    pub(super) fn let_go(&self, site: Site) -> bool {
        self.0.as_ref().is_some_and(|it| Self::take_one(it, site))
    }

    /// A handle is dropped whose thread returns a `T`: in P̂ₖ, says so where others can see who drops the result.
    pub(super) fn told<T>(&self, site: Site) {
        if self.0.is_some()
            && needs_drop::<T>()
            && let Some(handle) = engine()
        {
            is_let_go::<T>(handle, site);
        }
    }

    #[cold]
    fn take_one(count: &AtomicCell<u64>, site: Site) -> bool {
        let one_less = |count: u64| Some(count.saturating_sub(1));
        count.update(one_less, None, site) == Ok(1)
    }
}

/// The destructor of a result has panicked: std aborts the process.
#[cold]
pub(super) fn die() {
    if let Some(machine) = crate::scheduled::current() {
        machine.die_of_a(Destructor::Result);
        return;
    }
    if let Some(handle) = engine() {
        let thread = handle.get().threads.current;
        die_of_a(handle, Destructor::Result, thread);
    }
}

/// Whether values of the type of this name own at most memory: all words of the name are types of std that share
/// nothing with others, and none may be any type.
fn owns_memory(name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let mut words = name.split(|c| !is_word(c)).filter(|word| !word.is_empty());
    words.all(|word| match word.split_once("::") {
        Some((root, _)) => {
            let is_std = matches!(root, "core" | "alloc" | "std");
            is_std && !SHARED.iter().any(|module| word.contains(module))
        }
        None => !matches!(word, "dyn" | "impl"),
    })
}

/// Modules of std whose types have ends that others may notice.
const SHARED: [&str; 6] = [
    "::fs::",
    "::net::",
    "::os::",
    "::process::",
    "::sync::",
    "::thread::",
];

#[cfg(test)]
mod tests {
    use super::owns_memory;
    use std::any::type_name;

    #[test]
    fn what_owns_memory_is_told_from_its_name() {
        assert!(owns_memory(type_name::<String>()));
        assert!(owns_memory(type_name::<Vec<(u8, Box<[u32]>)>>()));
        assert!(owns_memory(type_name::<
            Result<Option<String>, [Vec<i32>; 2]>,
        >()));
        struct Own;
        assert!(!owns_memory(type_name::<Own>()));
        assert!(!owns_memory(type_name::<Vec<Option<Own>>>()));
        assert!(!owns_memory(type_name::<Box<dyn Send>>()));
        assert!(!owns_memory(type_name::<std::sync::mpsc::Sender<u8>>()));
        assert!(!owns_memory(type_name::<crate::counted::Arc<u8, true>>()));
        assert!(!owns_memory(type_name::<std::fs::File>()));
    }
}
