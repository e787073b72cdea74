//! What this process's executable says of itself: its symbols, their places, and their owners.
//!
//! | here | is |
//! |---|---|
//! | [`elf`] | what the file says |
//! | [`loaded`] | where it has been loaded to |
//! | [`owners`] | whose a symbol is |
//! | [`unwinding`] | std's count of panics, of which each thread of a program has its own |

#[cfg(target_os = "linux")]
pub(crate) mod elf;
#[cfg(target_os = "linux")]
pub(crate) mod loaded;
#[cfg(target_os = "linux")]
pub(crate) mod owners;
#[cfg(target_os = "linux")]
pub(crate) mod unwinding;
#[cfg(not(target_os = "linux"))]
#[path = "unread.rs"]
pub(crate) mod unwinding;
