//! The sessions of a server, in a crate with module files and a static in one of them.
//!
//! Source: folklore; a generator of numbers that is not atomic.
//!
//! The bug: [`ids`] hands a number out in two steps, so that two logins can get the same.
//!
//! Threads: two logins. One read, of the list of sessions, sees the other's entry, which has the same number.

pub mod ids;
pub mod registry;

#[cfg(test)]
mod tests;
