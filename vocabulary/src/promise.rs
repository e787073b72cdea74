//! What a search of schedules says of the program, and of itself.

use crate::message;

message! {
    /// What can be said of the program once a strategy has ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Promise {
        /// The search executed every Mazurkiewicz trace at least once, so every reachable terminal state and failure was seen.
        Exhausted,
        /// Every reachable terminal state, failure and deadlock was seen, but not every Mazurkiewicz trace was executed: of
        /// the traces with one lazy happens-before relation, which differ in the order of critical sections that share
        /// nothing, at least one was executed.
        ExhaustedLazily {
            /// Executions were cut by the executor's step bound: nothing is known of what follows the cut.
            truncated: bool,
        },
        /// An execution of every class was made. In all executions of a class every thread observes the same values, and the
        /// same threads wait forever, so every failure and every deadlock belongs to a class.
        ExhaustedByValues {
            /// Executions were cut by the executor's step bound: nothing is known of what follows the cut.
            truncated: bool,
        },
        /// Every execution that Rust's memory model allows was made, each as a graph: what each thread does, what each read
        /// reads from, and the order of the writes to each object.
        ExhaustedWeakly,
        /// Every terminal state and failure that can be reached within bounds was seen.
        Bounded {
            /// The bound on preemptions in one execution: every Mazurkiewicz trace that has an interleaving within the bound
            /// was executed. `None`: no bound.
            preemptions: Option<u32>,
            /// Executions were cut by the executor's step bound: nothing is known of what follows the cut.
            truncated: bool,
        },
        /// The search drew schedules at random: a failure that was not seen may still exist.
        Sampled,
        /// The search left out schedules that are like executed schedules: a failure that was not seen may still exist.
        Heuristic,
        /// The search has not come to its end.
        Unfinished,
    }
}

message! {
    /// Counts of a strategy that tells executions apart by what the threads observe.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Causality {
        /// Classes of which an execution was made.
        pub classes: u64,
        /// Executions of a class that had been executed before.
        pub redundant: u64,
        /// Executions made only to show a predicted race, of a class that had been executed before.
        pub confirmations: u64,
        /// Seed interleavings that wait to be executed; other executions may cover some of these seeds first.
        pub waiting: u64,
        /// Queries given to the solver.
        pub queries: u64,
        /// Queries that the solver gave up. If there is one, the search promises nothing.
        pub unknown: u64,
        /// Seed interleavings that the program did not follow. If there is one, the search promises nothing.
        pub lost: u64,
        /// Executions with an event whose outcome depends on more than values. If there is one, the search promises nothing.
        pub open: u64,
    }
}
