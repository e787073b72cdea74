//! `std::thread`.

use super::Entry;
use super::Stands::{Event, Narrower, Nothing, Refused};
use super::refusals;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        module: "thread",
        items: &["spawn", "Builder"],
        learns: "all that its creator has seen",
        scheduled: Event("fork: the new thread runs after it"),
        sequential: Event(
            "the split into T and T', which are what runs side by side from there on",
        ),
        tests: &[
            "runtime/tests/engine.rs::one_spawn_runs_beside_the_harness",
            "runtime/tests/scheduled.rs::published_counts_hold_for_compiled_programs",
        ],
    },
    Entry {
        module: "thread",
        items: &["JoinHandle", "ScopedJoinHandle", "Result"],
        learns: "what the thread returned, or that it panicked; all that it has done",
        scheduled: Event(
            "join: it waits for the end of the thread, which is after the destructors of its thread-locals",
        ),
        sequential: Event("join: from there on all of T' is in the past"),
        tests: &[
            "runtime/tests/engine.rs::a_lost_update_needs_no_non_local_read",
            "runtime/tests/engine.rs::joining_under_a_lock_that_the_thread_needs_is_a_deadlock",
            "runtime/tests/events/locals.rs::what_is_flushed_when_threads_end_is_there_after_their_joins",
        ],
    },
    Entry {
        module: "thread",
        items: &["JoinHandle::drop", "ScopedJoinHandle::drop"],
        learns: "what the destructor of the thread's result does, if the handle is let go of after the thread; otherwise the thread drops its result",
        scheduled: Event(
            "an update of how many have a share in the result, by the thread at its end and by whoever drops the handle, in programs with destructors or channels, unless what the thread returns owns at most memory",
        ),
        sequential: Event("the same"),
        tests: &[
            "runtime/tests/events/results.rs::whoever_lets_go_of_a_result_last_drops_it",
            "runtime/tests/events/results.rs::a_handle_that_is_joined_gives_the_result_away",
            "runtime/tests/events/results.rs::the_result_of_a_scoped_thread_is_dropped_before_the_scope_ends",
            "runtime/tests/events/results.rs::what_a_thread_panics_with_is_a_result_too",
            "runtime/tests/events/results.rs::a_sender_that_is_a_result_is_there_until_both_have_let_go",
            "runtime/tests/events/results.rs::a_result_whose_destructor_panics_ends_the_process",
        ],
    },
    Entry {
        module: "thread",
        items: &["JoinHandle::is_finished", "ScopedJoinHandle::is_finished"],
        learns: "whether the thread's code has run; the destructors of its thread-locals may be still to come",
        scheduled: Event(
            "a read; where a program asks, a thread's last event is the write that belongs to it",
        ),
        sequential: Event("the same"),
        tests: &[
            "runtime/tests/events/ends.rs::a_thread_has_finished_or_not_whatever_it_has_done",
            "runtime/tests/events/ends.rs::the_sequential_program_sees_the_end_by_a_read",
            "runtime/tests/events/ends.rs::a_scoped_thread_and_one_without_events_finish_too",
            "runtime/tests/events/ends.rs::a_thread_that_panics_has_finished",
            "runtime/tests/events/ends.rs::destructors_of_thread_locals_come_after",
            "runtime/tests/events/ends.rs::an_end_is_like_a_flag_that_the_thread_sets_last",
        ],
    },
    Entry {
        module: "thread",
        items: &["scope", "Scope"],
        learns: "that all threads of the scope have ended, and whether one panicked that nobody joined",
        scheduled: Narrower(
            "joins, at its end, of all that have not been joined; std's scope does not wait for the destructors of their thread-locals, and this one does: where these use what threads share, nothing is promised (`scoped_destructor`). Nor where a thread parks later that was unparked before the end (`used_unpark`): std's end of a scope parks, too",
        ),
        sequential: Narrower("the same"),
        tests: &[
            "runtime/tests/scheduled.rs::scoped_threads_borrow",
            "runtime/tests/events/ends.rs::a_scope_that_waits_for_destructors_promises_nothing",
        ],
    },
    Entry {
        module: "thread",
        items: &["LocalKey", "AccessError"],
        learns: "nothing: each thread has a value of its own. What destructors do, others can see",
        scheduled: Event(
            "what the destructor does, at the thread's end, on that thread, the value that was there first going last",
        ),
        sequential: Event("the same, in the log of the line that the thread is on"),
        tests: &[
            "runtime/tests/events/locals.rs::what_is_flushed_when_threads_end_is_there_after_their_joins",
            "runtime/tests/events/locals.rs::the_sequential_program_flushes_on_the_lines_of_the_threads",
            "runtime/tests/events/locals.rs::the_harness_is_a_thread_like_others",
            "runtime/tests/events/locals.rs::the_order_is_that_of_std",
            "runtime/tests/events/locals.rs::a_thread_that_panics_destroys_its_values_too",
            "runtime/tests/events/locals.rs::a_destructor_may_wait_for_ever",
            "runtime/tests/events/locals.rs::destructors_do_what_a_body_could_have_done_at_its_end",
        ],
    },
    Entry {
        module: "thread",
        items: &["park", "park_timeout", "park_timeout_ms"],
        learns: "that it was unparked; with a time limit nothing, since the limit may have passed",
        scheduled: Event(
            "wait and wake on the thread's own place; outside of loops it may end once without a reason, and with `--spurious N` up to N times anywhere. What a thread was unparked for is used up where it waits for a channel then, as std parks it there; where both may happen, nothing is promised (`used_unpark`)",
        ),
        sequential: Event(
            "a read of whether the thread was unparked, and, if it was, an update that uses that up",
        ),
        tests: &[
            "runtime/tests/waiting/parking.rs::whoever_waits_for_a_channel_uses_up_what_it_was_unparked_for",
            "runtime/tests/events/unparks.rs::nothing_is_promised_where_an_unpark_may_have_been_used_up",
            "runtime/tests/waiting/parking.rs::an_unpark_before_is_not_lost",
            "runtime/tests/waiting/parking.rs::two_unparks_may_be_one",
            "runtime/tests/waiting/parking.rs::the_harness_can_be_parked",
            "runtime/tests/waiting/parking.rs::a_limit_ends_it",
            "runtime/tests/waiting/sequential.rs::an_unpark_is_used_up",
            "runtime/tests/events/spurious.rs::a_park_may_end_without_an_unpark",
        ],
    },
    Entry {
        module: "thread",
        items: &["Thread::unpark"],
        learns: "nothing",
        scheduled: Event("notify on the thread's place"),
        sequential: Event("a write"),
        tests: &["runtime/tests/waiting/parking.rs::an_unpark_before_is_not_lost"],
    },
    Entry {
        module: "thread",
        items: &["Thread", "ThreadId", "current"],
        learns: "nothing: names and ids don't change; where several threads start some, ids go by their order in std, and here not: then a look at one is named, and nothing promised",
        scheduled: Nothing("they are the thread's own"),
        sequential: Nothing("they are the thread's own"),
        tests: &[],
    },
    Entry {
        module: "thread",
        items: &["panicking"],
        learns: "nothing: it is about the own thread",
        scheduled: Nothing("it is about the own thread"),
        sequential: Nothing("it is about the own thread"),
        tests: &[],
    },
    Entry {
        module: "thread",
        items: &["available_parallelism"],
        learns: "nothing: it is the machine's",
        scheduled: Nothing("it is the machine's"),
        sequential: Nothing("it is the machine's"),
        tests: &[],
    },
    Entry {
        module: "thread",
        items: &["sleep", "sleep_ms", "yield_now"],
        learns: "nothing: how long others take meanwhile is open",
        scheduled: Nothing(
            "others may run before every event in any case; from the ninth in a row on, with no event in between, one of its own, at which others go first",
        ),
        sequential: Nothing("others may run before every event in any case"),
        tests: &["runtime/tests/scheduled.rs::who_sleeps_again_and_again_lets_others_go_first"],
    },
    Entry {
        module: "thread",
        items: &["sleep_until"],
        learns: "nothing",
        scheduled: Refused(refusals::SLEEP),
        sequential: Refused(refusals::SLEEP),
        tests: &["transform/tests/snapshots.rs::refusals"],
    },
    Entry {
        module: "os::unix::thread",
        items: &[
            "JoinHandleExt::as_pthread_t",
            "JoinHandleExt::into_pthread_t",
        ],
        learns: "nothing",
        scheduled: Refused(refusals::SYSTEM_THREAD),
        sequential: Refused(refusals::SYSTEM_THREAD),
        tests: &["transform/tests/snapshots.rs::refusals"],
    },
];
