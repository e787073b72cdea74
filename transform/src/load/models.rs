//! What stands in the place of code that asks the system to wait, or that spins before it does, and of code that takes memory
//! for an atomic.
//!
//! Such code is in few crates, on which many stand. Where a thread waits by a system call, seqz would see no event; where a
//! thread spins before it waits, each look is one more order to try, after which nothing is different. A model waits by
//! std's means, so that it is instrumented as all code is. A model is only used for a text that is as the model expects:
//! another version of the crate runs as it is written. An atomic of the runtime is larger than std's: memory that the program takes
//! for one must have been made as one.

use std::path::Path;

/// A model of a file.
struct Model {
    package: &'static str,
    /// The end of the file's path.
    file: &'static str,
    change: Change,
}

enum Change {
    /// Another text, if the file has all of these words.
    Whole {
        needs: &'static [&'static str],
        text: &'static str,
    },
    /// Other texts in the place of these, on as many lines, each of which the file has once.
    Parts(&'static [(&'static str, &'static str)]),
}

/// The model of a parked thread of parking_lot_core: the file, what it waits by, and the form of its version.
macro_rules! parker {
    ($file:literal, $waits:literal, $form:literal => $text:literal) => {
        Model {
            package: "parking_lot_core",
            file: concat!("src/thread_parker/", $file),
            change: Change::Whole {
                needs: &[
                    $form,
                    "prepare_park",
                    "timed_out",
                    "park_until",
                    "unpark_lock",
                    $waits,
                ],
                text: include_str!($text),
            },
        }
    };
}

/// The models of all crates.
const ALL: &[Model] = &[
    // The futex of a parked thread; in versions that have no trait for it, too.
    parker!("linux.rs", "SYS_futex", "super::ThreadParkerT" => "models/thread_parker.rs"),
    parker!("linux.rs", "SYS_futex", "\nimpl ThreadParker {" => "models/thread_parker_without_trait.rs"),
    // The mutex and the condition variable of a parked thread, where there is no futex.
    parker!("unix.rs", "pthread_cond_wait", "super::ThreadParkerT" => "models/thread_parker.rs"),
    parker!("unix.rs", "pthread_cond_wait", "\nimpl ThreadParker {" => "models/thread_parker_without_trait.rs"),
    // A thread that finds a lock taken parks at once.
    Model {
        package: "parking_lot_core",
        file: "src/spinwait.rs",
        change: Change::Parts(&[
            ("if self.counter >= 10 {", "if self.counter <= 10 {"),
            (
                "for _ in 0..iterations {",
                "for _ in iterations..iterations {",
            ),
        ]),
    },
    // An atomic cell has its value behind a lock, whatever the value's size is.
    Model {
        package: "crossbeam-utils",
        file: "src/atomic/atomic_cell.rs",
        change: Change::Parts(&[
            (
                "(mem::size_of::<A>() == mem::size_of::<B>()) & (mem::align_of::<A>() >= mem::align_of::<B>())",
                "(mem::size_of::<A>() == 0) & (mem::size_of::<B>() == 0)",
            ),
            (
                "    atomic! { T, _a, true, false }",
                "    (mem::size_of::<T>() <= 8) & (mem::size_of::<T>().is_power_of_two() & (mem::align_of::<T>() >= mem::size_of::<T>()) | (mem::size_of::<T>() == 0))",
            ),
        ]),
    },
    Model {
        package: "crossbeam-utils",
        file: "src/atomic/seq_lock.rs",
        change: Change::Whole {
            needs: &[
                "optimistic_read",
                "validate_read",
                "fn write(&'static self)",
                "fn abort(self)",
                "state: AtomicUsize",
            ],
            text: include_str!("models/seq_lock.rs"),
        },
    },
    // A thread that waits gives way, and waits in another way at once where it can.
    Model {
        package: "crossbeam-utils",
        file: "src/backoff.rs",
        change: Change::Parts(&[
            (
                "for _ in 0..1 << self.step.get().min(SPIN_LIMIT) {",
                "for _ in 0..1 {",
            ),
            (
                "if self.step.get() <= SPIN_LIMIT {\n            for _ in 0..1 << self.step.get() {",
                "if true {\n            for _ in 0..1 {",
            ),
            (
                "self.step.get() > YIELD_LIMIT",
                "self.step.get() <= YIELD_LIMIT + 1",
            ),
        ]),
    },
];

/// The text that is read in the place of a file's own.
pub(super) enum Modelled {
    /// Another one.
    Other(&'static str),
    /// The file's own, with other parts in it.
    Edited(String),
}

/// Returns the model of a file of a package, if there is one for this text.
pub(super) fn of(package: &str, path: &Path, text: &str) -> Option<Modelled> {
    let all = ALL.iter();
    let mut all = all.filter(|it| it.package == package && path.ends_with(it.file));
    all.find_map(|it| it.change.of(text))
}

impl Change {
    /// Returns what is read in the place of this text, if the change is one of this text.
    fn of(&self, text: &str) -> Option<Modelled> {
        match self {
            Change::Whole { needs, text: other } => {
                let fits = needs.iter().all(|word| text.contains(word));
                fits.then_some(Modelled::Other(other))
            }
            Change::Parts(parts) => {
                let mut edited = text.to_owned();
                for (from, to) in *parts {
                    if edited.matches(from).count() != 1 {
                        return None;
                    }
                    edited = edited.replace(from, to);
                }
                Some(Modelled::Edited(edited))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_lines() {
        for model in ALL {
            if let Change::Parts(parts) = &model.change {
                for (from, to) in *parts {
                    assert_eq!(from.lines().count(), to.lines().count(), "{from}");
                }
            }
        }
    }

    #[test]
    fn a_parked_thread_is_modelled_in_the_form_of_its_version() {
        let of = |file: &str, head: &str, waits: &str| {
            let text = format!("{head}\nprepare_park timed_out park_until unpark_lock {waits}");
            match of("parking_lot_core", Path::new(file), &text) {
                Some(Modelled::Other(text)) => Some(text.contains("impl super::ThreadParkerT")),
                _ => None,
            }
        };
        let (linux, unix) = ("src/thread_parker/linux.rs", "src/thread_parker/unix.rs");
        let with_trait = "impl super::ThreadParkerT for ThreadParker {}\nimpl ThreadParker {";
        let (futex, condition) = ("SYS_futex", "pthread_cond_wait");
        assert_eq!(of(linux, with_trait, futex), Some(true));
        assert_eq!(of(linux, "\nimpl ThreadParker {", futex), Some(false));
        assert_eq!(of(unix, with_trait, condition), Some(true));
        assert_eq!(of(unix, "\nimpl ThreadParker {", condition), Some(false));
        assert_eq!(of(unix, "\nimpl ThreadParker {", futex), None);
    }

    #[test]
    fn only_a_text_that_is_known_is_modelled() {
        let path = Path::new("x/src/spinwait.rs");
        let text = "if self.counter >= 10 { return false; } for _ in 0..iterations { spin_loop() }";
        let Some(Modelled::Edited(edited)) = of("parking_lot_core", path, text) else {
            panic!("it is known");
        };
        assert!(edited.contains("self.counter <= 10"));
        assert!(of("parking_lot_core", path, &edited).is_none());
        assert!(of("other", path, text).is_none());
        assert!(of("parking_lot_core", Path::new("x/src/lib.rs"), text).is_none());
    }
}
