//! Who a thread is.

use super::Place;

/// How a thread came to be: its creator, by order of creation, and how many threads that had created before.
pub type Lineage = (u32, u32);

/// A party of the execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadInfo {
    /// The name it was given, if it was.
    pub name: Option<String>,
    /// Where it was spawned; none for the harness's own thread.
    pub spawned_at: Option<Place>,
}
