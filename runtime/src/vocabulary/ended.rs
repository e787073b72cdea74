//! What a worker says on its standard error when it ends itself.

/// What stands before what a worker says when it ends since a destructor waits again and again in an execution that is ended,
/// or in a sequential program, where no other thread can be run while one unwinds.
pub const UNWINDS: &str = "seqz: while its thread panics, a destructor waits ";
