//! Prints what `seqz test` has shown: for people, and in the forms that machines read.

mod github;
mod human;
mod junit;
mod sarif;

pub use github::github;
pub use human::{closing, line};
pub use junit::junit;
pub use sarif::sarif;

#[cfg(test)]
pub(super) mod tests;
