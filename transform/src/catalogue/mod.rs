//! All of std by which one thread can learn of another, item by item: the event that stands for the item in each mode,
//! and the test that sees all of its outcomes.
//!
//! The page `docs/events.md` is made of this table, and so is what the transformation knows of the names in std, and which of
//! them it refuses. A new item or a new event of the runtime has to be added here.

mod memory;
mod outside;
pub(crate) mod refusals;
mod sync;
mod thread;

use std::fmt::Write as _;

pub use refusals::Refusal;

/// What stands for an item in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// These events stand for the item.
    Event(&'static str),
    /// No event stands for the item, since a thread learns nothing of another thread from it, for this reason.
    Nothing(&'static str),
    /// The program is refused, and the place is named.
    Refused(Refusal),
    /// The execution that comes to it ends, and the place is named.
    Ends(&'static str),
    /// The item runs as it is and is not followed: the verdict names it and promises nothing.
    NotFollowed(&'static str),
    /// Some of the behaviour that std allows is left out.
    Narrower(&'static str),
}

impl Stands {
    /// Whether the item needs a test that sees its outcomes.
    #[must_use]
    pub const fn is_event(self) -> bool {
        matches!(self, Self::Event(_))
    }

    fn shown(self) -> String {
        match self {
            Self::Event(text) => text.to_owned(),
            Self::Nothing(text) => format!("none: {text}"),
            Self::Refused(refusal) => format!("*refused*: {}", refusal.reason),
            Self::Ends(text) => format!("*refused*: {text}"),
            Self::NotFollowed(text) => format!("*not followed*: {text}"),
            Self::Narrower(text) => format!("*narrower than std*: {text}"),
        }
    }
}

/// An item of std, or several similar items.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The module, as a path in std.
    pub module: &'static str,
    /// The items: names in the module, each perhaps with a method. A name stands for all of its methods that have no
    /// entry of their own, and `*::method` for the method of all types of the module.
    pub items: &'static [&'static str],
    /// What a thread can learn of another thread by the item.
    pub learns: &'static str,
    /// What stands for the item under a scheduler: `explore`, `replay`.
    pub scheduled: Stands,
    /// What stands for the item in P̂ₖ: `check`, `fuzz`.
    pub sequential: Stands,
    /// Tests that see all outcomes, as `path::function` from the top of the repository.
    pub tests: &'static [&'static str],
}

/// The whole table, module by module.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    [
        sync::ENTRIES,
        thread::ENTRIES,
        memory::ENTRIES,
        outside::ENTRIES,
    ]
    .into_iter()
    .flatten()
}

/// The modules of which all names are in the table, so that it is known what `use …::*` brings in.
const WHOLE: &[&str] = &["sync", "sync::atomic", "sync::mpsc", "thread", "cell"];

/// Whether the module of std, of those of which all names are known, has an item of this name.
pub(crate) fn has(module: &str, name: &str) -> bool {
    let mut of_module = entries().filter(|entry| entry.module == module);
    WHOLE.contains(&module) && of_module.any(|entry| entry.items.iter().any(|it| first(it) == name))
}

/// The name in its module of an item.
fn first(item: &str) -> &str {
    item.split_once("::").map_or(item, |(name, _)| name)
}

/// Returns the refusal for a path inside std, if the path can't be run in P̂ₖ, or else under a scheduler. What is said of a
/// method comes before what is said of its type, and that before what is said of the module.
pub(crate) fn refusal(path: &[&str], sequential: bool) -> Option<Refusal> {
    (1..path.len()).rev().find_map(|at| {
        let module = path[..at].join("::");
        let of_module = entries().filter(|entry| entry.module == module);
        let method = path.get(at + 1).map(|method| (path[at], *method));
        let is_meant = |item: &&&str| match item.split_once("::") {
            Some((of, its)) => {
                method.is_some_and(|(name, method)| its == method && (of == name || of == "*"))
            }
            None => **item == path[at],
        };
        let meant = of_module.filter_map(|entry| Some((entry, entry.items.iter().find(is_meant)?)));
        let (entry, _) = meant.max_by_key(|(_, item)| item.contains("::"))?;
        match if sequential {
            entry.sequential
        } else {
            entry.scheduled
        } {
            Stands::Refused(refusal) => Some(refusal),
            _ => None,
        }
    })
}

const HEAD: &str = "# What is an event

An event is everything that one thread can learn of another: a read of what it may have written, a lock that it may have
taken, its end. Whatever is no event is not a point at which threads are switched, and its order with what other threads do
is not searched. So this page goes through what std offers, item by item: what a thread can learn by it, which event stands
for that under the scheduler (`seqz explore`) and in the sequential program (`seqz check`), and which test sees all of its
outcomes.

- An event in the column *check* is one that may be non-local: a read of T that sees what T' has written counts for k.
- *none*: nothing of another thread can be learned by it.
- *refused*: the program, or the execution that comes to it, is refused, and the place is named.
- *not followed*: it is run as it is; it is named in the verdict, and then nothing is promised.
- *narrower than std*: std allows more than is looked at.

This page is made of `transform/src/catalogue`: `SEQZ_UPDATE=1 cargo test -p seqz --test catalogue`.
";

/// Returns the page of the documentation.
#[must_use]
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    let mut module = "";
    let cell = |text: &str| text.replace('|', "\\|");
    for entry in entries() {
        if entry.module != module {
            module = entry.module;
            let _ = write!(
                page,
                "\n## `std::{module}`\n\n| item | a thread can learn | explore | check | tests |\n|---|---|---|---|---|\n"
            );
        }
        let items: Vec<String> = entry.items.iter().map(|item| format!("`{item}`")).collect();
        let tests: Vec<String> = entry
            .tests
            .iter()
            .map(|test| {
                let (file, function) = test.rsplit_once("::").unwrap_or((test, ""));
                format!("[`{function}`](../{file})")
            })
            .collect();
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} |",
            items.join(", "),
            cell(entry.learns),
            cell(&entry.scheduled.shown()),
            cell(&entry.sequential.shown()),
            tests.join(", ")
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_modules_that_are_known() {
        for name in [
            "Mutex",
            "mpsc",
            "poison",
            "ONCE_INIT",
            "mpmc",
            "MappedMutexGuard",
        ] {
            assert!(has("sync", name), "{name}");
        }
        assert!(has("sync::atomic", "AtomicI64") && has("thread", "Thread"));
        assert!(!has("sync", "AtomicI64"));
        // Not all of these modules is there.
        assert!(!has("fs", "File") && !has("panic", "set_hook"));
    }

    #[test]
    fn the_more_is_said_the_more_counts() {
        let refused = |path: &str| {
            let path: Vec<&str> = path.split("::").collect();
            [refusal(&path, true), refusal(&path, false)].map(|it| it.is_some())
        };
        assert_eq!(refused("sync::Mutex::new"), [false, false]);
        assert_eq!(refused("sync::MutexGuard::map"), [true, true]);
        assert_eq!(refused("sync::mpmc"), [true, true]);
        assert_eq!(refused("sync::mpmc::no_such_item"), [true, true]);
        assert_eq!(refused("sync::atomic::AtomicI8::as_ptr"), [true, false]);
        assert_eq!(refused("sync::atomic::AtomicI8::from_mut"), [true, true]);
        assert_eq!(refused("sync::atomic::AtomicI8::load"), [false, false]);
        assert_eq!(refused("thread::Thread::id"), [false, false]);
    }

    #[test]
    fn every_event_has_a_test() {
        for entry in entries() {
            let is_event = entry.scheduled.is_event() || entry.sequential.is_event();
            assert!(!is_event || !entry.tests.is_empty(), "{:?}", entry.items);
            assert!(!entry.items.is_empty());
        }
    }

    #[test]
    fn no_item_is_in_it_twice() {
        let mut items = Vec::new();
        for entry in entries() {
            for item in entry.items {
                assert!(!items.contains(&(entry.module, *item)), "{item}");
                items.push((entry.module, *item));
            }
        }
    }
}
