//! What a worker writes to its standard error when it ends its own process.

/// The beginning of what a worker writes when it ends because a destructor waits again and again: in an execution that
/// is being ended, or in a sequential program, where no other thread can run while one unwinds.
pub const UNWINDS: &str = "seqz: while its thread panics, a destructor waits ";
