//! A dependency that keeps whatever a library can keep.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, Once, OnceLock};
use std::time::{Duration, Instant};

static COUNT: AtomicU32 = AtomicU32::new(0);
static ONCE: Once = Once::new();
static NAME: OnceLock<String> = OnceLock::new();
static ALL: Mutex<Vec<String>> = Mutex::new(Vec::new());
static LAZY: LazyLock<Vec<u32>> = LazyLock::new(|| vec![COUNT.load(Ordering::SeqCst); 10]);

/// How often the static has been counted up.
pub fn count() -> u32 {
    COUNT.fetch_add(1, Ordering::SeqCst)
}

/// Runs what is run once.
pub fn once(run: impl FnOnce()) {
    ONCE.call_once(run);
}

/// Whether the name was free.
pub fn set(name: &str) -> bool {
    NAME.set(name.to_owned()).is_ok()
}

/// How many there are.
pub fn add(name: &str) -> usize {
    let mut all = ALL.lock().unwrap();
    all.push(name.to_owned());
    all.len()
}

/// What was counted at first.
pub fn first() -> u32 {
    LAZY[3]
}

struct Counts(Cell<u32>);

impl Drop for Counts {
    fn drop(&mut self) {
        COUNT.fetch_add(self.0.get() * 100, Ordering::SeqCst);
    }
}

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
    static NAMES: RefCell<Vec<String>> = RefCell::new(vec!["first".to_owned()]);
    static AT_END: Counts = const { Counts(Cell::new(0)) };
}

/// How often this thread has called.
pub fn calls() -> u32 {
    CALLS.set(CALLS.get() + 1);
    CALLS.get()
}

/// How many names this thread has.
pub fn names() -> usize {
    NAMES.with_borrow_mut(|names| {
        names.push("another".to_owned());
        names.len()
    })
}

/// When this thread ends, the static is counted up by 100.
pub fn at_end() {
    AT_END.with(|it| it.0.set(1));
}

/// Sleeps for as long as nobody would wait.
pub fn sleep() -> Duration {
    let start = Instant::now();
    std::thread::sleep(Duration::from_secs(1_000_000));
    start.elapsed()
}
