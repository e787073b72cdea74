//! `std::cell`, and memory that nothing protects.

use super::Entry;
use super::Stands::{Event, NotFollowed, Nothing, Refused};
use super::refusals;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        module: "cell",
        items: &[
            "BorrowError",
            "BorrowMutError",
            "Cell",
            "LazyCell",
            "OnceCell",
            "Ref",
            "RefCell",
            "RefMut",
        ],
        learns: "nothing: two threads can't share one without a lock around it",
        scheduled: Nothing("a value of one thread, or part of what a lock protects"),
        sequential: Nothing("a value of one thread, or part of what a lock protects"),
        tests: &[],
    },
    Entry {
        module: "cell",
        items: &["UnsafeCell"],
        learns: "what another thread writes through its pointer",
        scheduled: NotFollowed(
            "accesses through the raw pointer are no events; those that the source shows are checked: whether something orders them, and whether the memory lives",
        ),
        sequential: NotFollowed("accesses through the raw pointer can't be seen"),
        tests: &["tests/raw.rs::each_fault_is_found_and_no_other"],
    },
    Entry {
        module: "cell",
        items: &["SyncUnsafeCell"],
        learns: "the same",
        scheduled: Refused(refusals::RAW_CELL),
        sequential: Refused(refusals::RAW_CELL),
        tests: &[],
    },
    Entry {
        module: "primitive",
        items: &["static mut"],
        learns: "what the other thread has written there",
        scheduled: Event(
            "a read or a write; two of which one is a write, and which nothing orders, are a race",
        ),
        sequential: Event("the same"),
        tests: &[
            "runtime/tests/scheduled.rs::plain_data_races_unless_something_orders_it",
            "runtime/tests/scheduled.rs::races_are_seen_whatever_is_left_out_of_the_order_of_sections",
        ],
    },
];
