//! The sessions of a server, in a crate with module files: `../../modules` with the bug taken out.
//!
//! [`ids`] hands a number out in one step.

pub mod ids;
pub mod registry;

#[cfg(test)]
mod tests;
