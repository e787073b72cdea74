//! `std::sync` with `atomic` and `mpsc`.

use super::Entry;
use super::Stands::{Ends, Event, Narrower, Nothing, Refused};
use super::refusals;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        module: "sync",
        items: &["Mutex", "MutexGuard"],
        learns: "what the other thread left there; whether it has the lock (`lock` waits, `try_lock` fails, `{:?}` shows it)",
        scheduled: Event(
            "lock, try-lock or its failure, unlock; what is protected is read with the one and written with the other",
        ),
        sequential: Event(
            "acquire and read, release and write; a `try_lock` that fails is a non-local read",
        ),
        tests: &[
            "runtime/tests/engine.rs::a_mutex_value_travels",
            "runtime/tests/engine.rs::crossed_locks_deadlock",
            "runtime/tests/scheduled.rs::crossed_locks_deadlock_and_are_unwound",
            "runtime/tests/events/shown.rs::a_mutex_is_shown_as_it_is",
            "runtime/tests/events/shown.rs::a_lock_that_is_read_can_be_shown",
            "runtime/tests/events/shown.rs::the_sequential_program_shows_the_same",
        ],
    },
    Entry {
        module: "sync",
        items: &[
            "Mutex::is_poisoned",
            "Mutex::clear_poison",
            "RwLock::is_poisoned",
            "RwLock::clear_poison",
            "PoisonError",
            "LockResult",
            "TryLockResult",
            "TryLockError",
        ],
        learns: "whether the other thread has panicked under a guard",
        scheduled: Event(
            "a read or a write of the lock's poison flag, a place of its own; it is set right before the unlock, and read after a lock that was poisoned",
        ),
        sequential: Event(
            "the same; a flag that nobody clears comes with the value, and counts for k no further",
        ),
        tests: &[
            "runtime/tests/events/poison.rs::asking_for_the_flag_is_a_read_of_it",
            "runtime/tests/events/poison.rs::clearing_the_flag_is_a_write_of_it",
            "runtime/tests/events/poison.rs::a_read_write_lock_is_poisoned_by_writers_only",
            "runtime/tests/events/poison.rs::a_destructor_sees_the_flag_that_its_own_thread_sets",
            "runtime/tests/events/poison.rs::random_programs_see_the_same_by_all_strategies",
            "runtime/tests/events/poison.rs::random_programs_see_in_sequence_what_they_see_in_schedules",
        ],
    },
    Entry {
        module: "sync",
        items: &[
            "Mutex::get_mut",
            "Mutex::into_inner",
            "RwLock::get_mut",
            "RwLock::into_inner",
        ],
        learns: "what the other thread left there, once it is done with it",
        scheduled: Event("a read; after `get_mut` the lock is a new object"),
        sequential: Event("a read, and a write after `get_mut`"),
        tests: &["runtime/tests/events/poison.rs::whoever_has_the_lock_for_itself_keeps_its_flag"],
    },
    Entry {
        module: "sync",
        items: &["RwLock", "RwLockReadGuard", "RwLockWriteGuard"],
        learns: "as for `Mutex`; readers don't exclude each other",
        scheduled: Event("the same, shared and exclusive"),
        sequential: Event("the same, shared and exclusive"),
        tests: &["runtime/tests/engine.rs::readers_do_not_exclude_each_other"],
    },
    Entry {
        module: "sync",
        items: &["RwLockWriteGuard::downgrade"],
        learns: "nothing: nobody else writes before the reader is done",
        scheduled: Event(
            "a shared try-lock under the exclusive lock, which is given back then; refused by searches over values",
        ),
        sequential: Ends("the sequential program has no event for it"),
        tests: &["runtime/tests/events/downgrade.rs::nobody_writes_between_the_two_guards"],
    },
    Entry {
        module: "sync",
        items: &["RwLock::read"],
        learns: "whether a writer waits: std leaves open whether a `read` waits behind it, and with that perhaps for ever",
        scheduled: Event(
            "no event of its own: it goes on, and where it could wait for ever, that is looked for in each execution",
        ),
        sequential: Event("the same, where a thread reads a second time"),
        tests: &[
            "runtime/tests/events/behind_writers.rs::a_second_read_may_wait_for_ever_and_may_go_on",
            "runtime/tests/events/behind_writers.rs::a_reader_that_is_waited_for_under_a_read_guard_may_wait_for_ever",
            "runtime/tests/events/behind_writers.rs::what_waits_for_ever_is_what_does_in_an_interpreter",
        ],
    },
    Entry {
        module: "sync",
        items: &["RwLock::try_read"],
        learns: "whether a writer has the lock, and with some implementations whether one waits",
        scheduled: Narrower(
            "a `try_read` beside a writer that only waits succeeds; where one may fail then, nothing is promised \
             (`tried_beside_writer`)",
        ),
        sequential: Narrower("a `try_read` beside a writer that only waits succeeds"),
        tests: &[
            "runtime/tests/events/behind_writers.rs::an_attempt_to_read_may_fail_where_a_writer_waits",
            "runtime/tests/events/poison.rs::a_read_write_lock_is_poisoned_by_writers_only",
        ],
    },
    Entry {
        module: "sync",
        items: &["Condvar", "WaitTimeoutResult"],
        learns: "that it was notified; with a time limit also that it was not",
        scheduled: Event(
            "wait, wake, notify; who is woken by `notify_one` is open, and so is whether the time was up. One condition variable may go with several mutexes",
        ),
        sequential: Event(
            "a wait begins with a write, and its end is a read, which has to see what another thread has written since, or with a time limit may see nothing new; a notification is a write",
        ),
        tests: &[
            "runtime/tests/waiting/condvar.rs::a_flag_under_the_lock_loses_no_notification",
            "runtime/tests/waiting/condvar.rs::notify_one_wakes_either_waiter",
            "runtime/tests/waiting/condvar.rs::a_wait_with_a_limit_ends_either_way",
            "runtime/tests/waiting/sequential.rs::a_wait_in_a_loop_sees_the_notification_and_the_value",
            "runtime/tests/waiting/sequential.rs::a_notification_before_the_wait_is_lost",
            "runtime/tests/waiting/condvar.rs::poison_is_seen_after_a_wait",
        ],
    },
    Entry {
        module: "sync",
        items: &["Condvar::wait", "Condvar::wait_timeout"],
        learns: "nothing, where it wakes up without a reason, as std allows",
        scheduled: Event(
            "once in an execution where the call is in no loop that merely looks again, and with `--spurious N` up to N times anywhere: an update of what a further thread gives",
        ),
        sequential: Narrower("no wait ends without a reason: `seqz explore` tries that"),
        tests: &[
            "tests/explore/reasonless.rs::what_may_happen_without_a_reason_does_outside_of_loops",
            "runtime/tests/events/spurious.rs::a_wait_may_end_without_a_notification",
            "runtime/tests/events/spurious.rs::a_lost_notification_stays_one",
        ],
    },
    Entry {
        module: "sync",
        items: &["Condvar::wait_while", "Condvar::wait_timeout_while"],
        learns: "nothing, where a wait in it ends without a reason, and the function that it is given is called once more",
        scheduled: Event(
            "once in an execution where the source does not show that a further call of the function leaves nothing behind, and with `--spurious N` up to N times anywhere",
        ),
        sequential: Narrower("no wait ends without a reason: `seqz explore` tries that"),
        tests: &[
            "tests/explore/reasonless.rs::what_may_happen_without_a_reason_does_outside_of_loops",
        ],
    },
    Entry {
        module: "sync",
        items: &["Barrier", "BarrierWaitResult"],
        learns: "that all have come, and who came last",
        scheduled: Event("wait, wake, and for the last one notify: any thread may be the leader"),
        sequential: Event(
            "an update of the number of those who have come. T' sees nobody come: where T' is not the last one, its log ends, and nothing is promised",
        ),
        tests: &[
            "runtime/tests/waiting/barrier.rs::any_thread_may_lead_and_nobody_goes_on_before_all_have_come",
            "runtime/tests/waiting/sequential.rs::who_comes_last_to_a_barrier_leads",
            "runtime/tests/waiting/barrier.rs::it_does_what_one_of_a_mutex_and_a_condition_variable_does",
        ],
    },
    Entry {
        module: "sync",
        items: &["ONCE_INIT", "Once", "OnceState", "OnceLock", "LazyLock"],
        learns: "who initialized it, whether that is over, and whether it panicked",
        scheduled: Event(
            "reads and updates of its state, and waiting for an initialization that runs; `get` and `is_completed` are reads",
        ),
        sequential: Event(
            "reads and updates of its state; what waits for an initialization reads that it is over",
        ),
        tests: &[
            "runtime/tests/waiting/once.rs::one_thread_initializes_and_the_other_waits",
            "runtime/tests/waiting/once.rs::poison_is_for_once_and_not_for_the_forced",
            "runtime/tests/waiting/once.rs::a_once_lock_keeps_the_first_value",
            "runtime/tests/waiting/once.rs::a_once_lock_can_be_waited_for_and_taken",
            "runtime/tests/waiting/sequential.rs::one_thread_initializes",
            "runtime/tests/waiting/once.rs::a_panic_leaves_a_once_lock_to_the_next",
        ],
    },
    Entry {
        module: "sync",
        items: &["Arc", "Weak"],
        learns: "what it shares, by the events of that; how many handles there are, and who drops the last one",
        scheduled: Event(
            "where the source shows that a count, or where the last destructor runs, can be told: a new handle adds to the count, \
             the end of one takes from it, a call that asks reads or updates it; elsewhere none",
        ),
        sequential: Ends(
            "what depends on the interleaving: a count that is asked for, or a destructor with events that either thread may run",
        ),
        tests: &["tests/handles.rs::all_outcomes_are_seen_by_all_strategies"],
    },
    Entry {
        module: "sync",
        items: &[
            "Exclusive",
            "ReentrantLock",
            "ReentrantLockGuard",
            "nonpoison",
            "poison",
        ],
        learns: "what the stable ones of their kind tell",
        scheduled: Refused(refusals::OTHER_LOCK),
        sequential: Refused(refusals::OTHER_LOCK),
        tests: &["transform/tests/snapshots.rs::refusals"],
    },
    Entry {
        module: "sync",
        items: &[
            "MappedMutexGuard",
            "MappedRwLockReadGuard",
            "MappedRwLockWriteGuard",
            "MutexGuard::map",
            "MutexGuard::filter_map",
            "MutexGuard::try_map",
            "RwLockReadGuard::map",
            "RwLockReadGuard::filter_map",
            "RwLockReadGuard::try_map",
            "RwLockWriteGuard::map",
            "RwLockWriteGuard::filter_map",
            "RwLockWriteGuard::try_map",
        ],
        learns: "what the guard of the whole value tells",
        scheduled: Refused(refusals::MAPPED_GUARD),
        sequential: Refused(refusals::MAPPED_GUARD),
        tests: &["transform/tests/snapshots.rs::refusals"],
    },
    Entry {
        module: "sync",
        items: &["mpmc"],
        learns: "as for `mpsc`",
        scheduled: Refused(refusals::OTHER_CHANNEL),
        sequential: Refused(refusals::OTHER_CHANNEL),
        tests: &["transform/tests/snapshots.rs::refusals"],
    },
    Entry {
        module: "sync",
        items: &["atomic"],
        learns: "see below",
        scheduled: Nothing("a module"),
        sequential: Nothing("a module"),
        tests: &[],
    },
    Entry {
        module: "sync",
        items: &["mpsc"],
        learns: "see below",
        scheduled: Nothing("a module"),
        sequential: Nothing("a module"),
        tests: &[],
    },
    Entry {
        module: "sync::atomic",
        items: &[
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
        ],
        learns: "what the other thread left there",
        scheduled: Event(
            "read, write, update; a compare-exchange that fails is a read. All orderings are sequentially consistent",
        ),
        sequential: Event("read, write, update"),
        tests: &[
            "runtime/tests/engine.rs::bluetooth_fails_at_two_non_local_reads_of_the_adder",
            "runtime/tests/engine.rs::a_lost_update_needs_no_non_local_read",
            "runtime/tests/scheduled.rs::published_counts_hold_for_compiled_programs",
            "runtime/tests/engine.rs::an_atomic_is_changed_in_place_before_and_after_the_threads",
        ],
    },
    Entry {
        module: "sync::atomic",
        items: &[
            "AtomicBool::compare_exchange_weak",
            "AtomicPtr::compare_exchange_weak",
            "AtomicU32::compare_exchange_weak",
        ],
        learns: "nothing, where it fails without a reason, as std allows",
        scheduled: Event(
            "once in an execution where the call is in no loop that merely tries again, and with `--spurious N` up to N times anywhere: an update of what a further thread gives",
        ),
        sequential: Narrower("it fails only where the value differs"),
        tests: &["runtime/tests/events/spurious.rs::a_weak_exchange_may_fail_so_often"],
    },
    Entry {
        module: "sync::atomic",
        items: &[
            "AtomicBool::fetch_update",
            "AtomicPtr::fetch_update",
            "AtomicU32::fetch_update",
            "AtomicU32::try_update",
            "AtomicU32::update",
        ],
        learns: "what the other thread left there, at each call of the function that it is given; and nothing, where the weak exchange in it fails without a reason",
        scheduled: Event(
            "a read, and a weak exchange after each call of the function. Where the source does not show that a further call of the function leaves nothing behind, the exchange fails without a reason once in an execution",
        ),
        sequential: Narrower("the exchange in it fails only where the value differs"),
        tests: &[
            "tests/explore/reasonless.rs::what_may_happen_without_a_reason_does_outside_of_loops",
        ],
    },
    Entry {
        module: "sync::atomic",
        items: &["*::as_ptr", "*::from_ptr"],
        learns: "what another thread writes through the raw pointer",
        scheduled: Ends("accesses through the raw pointer it gives out can't be seen"),
        sequential: Refused(refusals::RAW_ATOMIC),
        tests: &["tests/faces.rs::what_compiles_with_std_compiles_under_seqz"],
    },
    Entry {
        module: "sync::atomic",
        items: &["*::from_mut", "*::from_mut_slice", "*::get_mut_slice"],
        learns: "what another thread writes through the raw pointer",
        scheduled: Refused(refusals::RAW_ATOMIC),
        sequential: Refused(refusals::RAW_ATOMIC),
        tests: &["transform/tests/snapshots.rs::refusals"],
    },
    Entry {
        module: "sync::atomic",
        items: &["Ordering", "compiler_fence", "fence", "spin_loop_hint"],
        learns: "nothing: executions are sequentially consistent",
        scheduled: Narrower(
            "weaker orderings and fences show no more than sequential consistency does; what they order decides which accesses of `unsafe` code to memory are races",
        ),
        sequential: Narrower(
            "weaker orderings and fences show no more than sequential consistency does",
        ),
        tests: &["tests/raw.rs::each_fault_is_found_and_no_other"],
    },
    Entry {
        module: "sync::mpsc",
        items: &[
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
        ],
        learns: "what was sent, in which order; that there is no room; that nobody is left at the other end, which is when the last handle is dropped",
        scheduled: Event(
            "wait, wake and notify on the channel: sending, receiving, and dropping an end. Who has waited, and has asked for its own handle before, comes to its own parking place then: see `park`",
        ),
        sequential: Event(
            "sending, receiving, and dropping an end are one step each. To send is a write of what the thread has sent; to receive is a read of what the other one has sent, unless a message is there, and an update of what was taken; what is seen of the other thread is seen until that send or take. Two threads that receive the same message, each without the other, need one that owns nothing; `try_send` on a channel without room for a message is not run, nor a send of T to a channel with a bound to which T' has sent",
        ),
        tests: &[
            "runtime/tests/waiting/channel.rs::messages_of_one_sender_keep_their_order",
            "runtime/tests/waiting/channel.rs::a_receiver_waits_as_long_as_there_are_senders",
            "runtime/tests/waiting/channel.rs::who_does_not_wait_is_told_why",
            "runtime/tests/waiting/channel.rs::a_message_comes_back_if_nobody_receives",
            "runtime/tests/waiting/channel.rs::a_bound_makes_senders_wait",
            "runtime/tests/waiting/channel.rs::messages_left_are_dropped_with_the_receiver",
            "runtime/tests/waiting/sequential.rs::messages_come_in_order_and_then_the_end",
            "runtime/tests/waiting/sequential.rs::two_senders_send_in_some_order",
            "runtime/tests/waiting/sequential.rs::nobody_is_left_at_the_other_end",
            "runtime/tests/waiting/sequential.rs::a_bound_stops_the_interfering_thread",
            "runtime/tests/waiting/reference.rs::channels_do_what_those_of_a_mutex_and_a_condition_variable_do",
        ],
    },
];
