//! Maximal causal models for tests: a plain solver, models of random executions, and random queries.

#![allow(dead_code)]

pub(crate) mod plain;
pub(crate) mod random;
pub(crate) mod record;
