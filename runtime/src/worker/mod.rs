//! The `main` of a generated crate.
