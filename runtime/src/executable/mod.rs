//! What this process's executable says of itself: its symbols, their places, and their owners.
//!
//! | here | is |
//! |---|---|
//! | [`elf`] | what the file says |
//! | [`loaded`] | where it has been loaded to |
//! | [`owners`] | whose a symbol is |
//! | [`unwinding`] | std's count of panics, of which each thread of a program has its own |

#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) mod elf;
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) mod loaded;
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) mod owners;
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) mod unwinding;
// Miri runs no executable.
#[cfg(not(all(target_os = "linux", not(miri))))]
#[path = "unread.rs"]
pub(crate) mod unwinding;
