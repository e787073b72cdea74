//! Why items are refused, and what to do instead.

/// The reason why an item isn't supported, and advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why a program with the item can't be run.
    pub reason: &'static str,
    /// What to do instead.
    pub help: &'static str,
}

const fn refusal(reason: &'static str, help: &'static str) -> Refusal {
    Refusal { reason, help }
}

/// An item that std's stable releases don't have.
const fn unstable(help: &'static str) -> Refusal {
    refusal("it is unstable in std and seqz has no version of it", help)
}

pub(super) const RAW_ATOMIC: Refusal = refusal(
    "accesses through the raw pointer it gives out can't be seen",
    "share the atomic itself, as a static or through `Arc` or a reference",
);
pub(crate) const SYSTEM_THREAD: Refusal = refusal(
    "the threads of the program are none of the system's, and have no number there",
    "wait for the thread by `JoinHandle::join`",
);
pub(super) const OTHER_CHANNEL: Refusal = unstable("use `std::sync::mpsc`");
pub(super) const OTHER_LOCK: Refusal = unstable("use a `Mutex`");
pub(super) const MAPPED_GUARD: Refusal =
    unstable("keep the guard and name the field where it is used");
pub(super) const SLEEP: Refusal = unstable("use `thread::sleep`");
pub(super) const RAW_CELL: Refusal = unstable("use an atomic, a `Mutex` or a `static mut`");
