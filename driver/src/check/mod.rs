//! The search for bugs: drives a worker through the harnesses and gathers what it says.

mod classify;
pub mod progress;

pub use classify::kind_of_panic;
