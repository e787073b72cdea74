//! std's count of the panics that are under way in a thread.
//!
//! std keeps the count for each OS thread, and all threads of a program run on one. So the code that lets a thread run
//! puts the thread's own count in its place, and the count before back afterwards. As most threads don't unwind, that
//! code first looks whether there is anything to put. The count's place is looked up in the executable, and tried.

use std::cell::Cell;
use std::panic::{catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::elf::{self, Executable, Symbol};
use super::loaded::{loaded, own_locals};
use super::owners::{Owner, owner};

/// The names that std has for the count of an OS thread, and for the sum of all.
const OWN: &str = "17LOCAL_PANIC_COUNT";
const SUM: &str = "18GLOBAL_PANIC_COUNT";

/// What std keeps of a thread: how many panics are under way, and whether the hook is called for one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Panics([usize; 2]);

impl Panics {
    /// Whether a panic is under way.
    #[inline(always)]
    pub(crate) const fn is_raised(self) -> bool {
        let [first, second] = self.0;
        first | second != 0
    }
}

/// The count of this OS thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter {
    own: NonNull<Panics>,
    sum: &'static AtomicUsize,
    /// The index of the word, of the two, that is the number of panics.
    number: usize,
}

/// The places of the counts: the offset in a thread's block of thread-locals, and the address in the executable.
#[derive(Clone, Copy, Debug)]
struct Symbols {
    own: usize,
    sum: usize,
}

impl Symbols {
    fn of(executable: &Executable) -> Option<Self> {
        let find = |name: &str, local: bool, size: usize| {
            let is_it = |symbol: &&Symbol| {
                symbol.local == local
                    && symbol.size == size
                    && symbol.name.contains(name)
                    && owner(&symbol.name) == Owner::Std
            };
            executable.symbols.iter().find(is_it).map(|it| it.address)
        };
        Some(Self {
            own: find(OWN, true, size_of::<Panics>())?,
            sum: find(SUM, false, size_of::<usize>())?,
        })
    }

    fn known(read: impl FnOnce() -> Option<Self>) -> Option<Self> {
        static KNOWN: OnceLock<Option<Symbols>> = OnceLock::new();
        *KNOWN.get_or_init(read)
    }
}

/// Looks the places up in an executable that has been read already.
pub(crate) fn look_up(executable: &Executable) {
    Symbols::known(|| Symbols::of(executable));
}

impl Counter {
    /// The count of this OS thread; `None` if the executable doesn't say where it is.
    pub(crate) fn find() -> Option<Self> {
        thread_local! {
            static FOUND: Cell<Option<Option<Counter>>> = const { Cell::new(None) };
        }
        FOUND.get().unwrap_or_else(|| {
            let found = Self::look();
            FOUND.set(Some(found));
            found
        })
    }

    #[cold]
    #[inline(never)]
    fn look() -> Option<Self> {
        let symbols = Symbols::known(|| Symbols::of(&elf::read().ok()?))?;
        let own = own_locals()?.wrapping_add(symbols.own);
        let sum = loaded().first()?.base + symbols.sum;
        if !own.cast::<Panics>().is_aligned() || !sum.is_multiple_of(align_of::<AtomicUsize>()) {
            return None;
        }
        let sum = std::ptr::with_exposed_provenance::<AtomicUsize>(sum);
        let mut found = Self {
            own: NonNull::new(own)?.cast(),
            // SAFETY: std's static of this name and size is an atomic.
            sum: unsafe { &*sum },
            number: 0,
        };
        found.is_looked_at().then_some(found)
    }

    /// Whether std uses these places, which is tried with a panic. The panic tells which word is the number.
    fn is_looked_at(&mut self) -> bool {
        struct Try<'a>(Counter, &'a mut Option<usize>);
        impl Drop for Try<'_> {
            fn drop(&mut self) {
                let mut panics = Panics::default();
                let raised = std::thread::panicking();
                self.0.swap(&mut panics);
                let hidden = !std::thread::panicking();
                let number = panics.0.iter().position(|&word| word == 1);
                self.0.swap(&mut panics);
                if raised && hidden && std::thread::panicking() {
                    *self.1 = number;
                }
            }
        }
        if std::thread::panicking() {
            return false;
        }
        let mut number = None;
        let tries = Try(*self, &mut number);
        let _ = catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _tries = tries;
            resume_unwind(Box::new(()));
        }));
        self.number = number.unwrap_or(0);
        number.is_some()
    }

    /// Whether a panic is under way on this OS thread.
    #[inline(always)]
    pub(crate) fn is_raised(self) -> bool {
        // SAFETY: std's thread-local of this size is there as long as the OS thread is, and it is only read.
        unsafe { self.own.as_ptr().read_volatile() }.is_raised()
    }

    /// Puts another thread's count in place. The count that was there comes back in `panics`.
    pub(crate) fn swap(self, panics: &mut Panics) {
        // SAFETY: std's thread-local of this size is there as long as the OS thread is, and std refers to it in none of its
        // functions that call others.
        unsafe {
            let own = self.own.as_ptr();
            let before = own.read_volatile();
            own.write_volatile(*panics);
            *panics = before;
        }
    }

    /// Runs something as if no panic were under way, and puts the count back afterwards.
    pub(crate) fn hide<R>(self, run: impl FnOnce() -> R) -> R {
        let mut panics = Panics::default();
        self.swap(&mut panics);
        let result = run();
        self.swap(&mut panics);
        result
    }

    /// The number of panics under way in the current thread.
    pub(crate) fn number(self) -> usize {
        // SAFETY: std's thread-local of this size is there as long as the OS thread is, and it is only read.
        unsafe { self.own.as_ptr().read_volatile() }.0[self.number]
    }

    /// A thread is left where it is: takes its panics from the sum, as they are not under way any more.
    pub(crate) fn forget(self, panics: &mut Panics) {
        let number = std::mem::take(panics).0[self.number];
        if number > 0 {
            self.sum.fetch_sub(number, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said while the thread unwinds: with its own count, with a new thread's, and with its own again.
    struct Says<'a>(Counter, &'a mut Vec<bool>);

    impl Drop for Says<'_> {
        fn drop(&mut self) {
            let mut panics = Panics::default();
            self.1.push(std::thread::panicking());
            self.0.swap(&mut panics);
            self.1.push(std::thread::panicking());
            let caught = catch_unwind(|| resume_unwind(Box::new(1)));
            self.1.push(caught.is_err() && std::thread::panicking());
            self.0.swap(&mut panics);
            self.1.push(std::thread::panicking());
        }
    }

    #[test]
    fn each_thread_has_a_count_of_its_own() {
        for _ in 0..2 {
            let other = std::thread::spawn(|| {
                let counter = Counter::find().expect("tests have symbols");
                let mut said = Vec::new();
                let says = Says(counter, &mut said);
                let caught = catch_unwind(std::panic::AssertUnwindSafe(move || {
                    let _says = says;
                    resume_unwind(Box::new(2));
                }));
                assert!(caught.is_err() && !std::thread::panicking());
                said
            });
            assert_eq!(other.join().unwrap(), [true, false, false, true]);
        }
    }
}
