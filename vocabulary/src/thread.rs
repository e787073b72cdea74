//! What identifies a thread.

use crate::message;
use crate::place::Place;

/// How a thread came to be: its creator's number in the order of creation, and how many threads the creator had created
/// before.
pub type Lineage = (u32, u32);

message! {
    /// A thread of the execution.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ThreadInfo {
        /// The thread's name, if the program gave it one.
        pub name: Option<String>,
        /// The place where the thread was spawned; `None` for the harness's own thread.
        pub spawned_at: Option<Place>,
    }
}
