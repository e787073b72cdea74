//! seqz.
fn main() {}
