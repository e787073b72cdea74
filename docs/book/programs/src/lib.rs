//! The programs of seqz's book: ordinary Rust, as the book's reader has it.

pub mod closing;
pub mod desk;
pub mod mended;
pub mod refund;
pub mod ring;
pub mod shelf;
pub mod tally;
