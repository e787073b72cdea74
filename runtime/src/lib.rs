//! seqz.
