//! What is known of a program, a search and its findings: the types that commands make and reports draw, and the
//! sentences that promise something.
//!
//! The types are serialized as they stand; docs/json.md documents their JSON.

pub mod apart;
pub mod document;
pub mod exploration;
pub(crate) mod lines;
pub mod lone;
pub mod pieces;
pub mod schedule;
pub(crate) mod standstill;
mod status;
pub mod tested;
pub mod unfollowed;
pub mod verdict;
pub mod withdrawn;
pub mod words;

#[cfg(test)]
pub(crate) mod sample;
