//! Messages about choices that are made of bytes.

use super::super::wire::{Wire, WireError, wire};
use crate::vocabulary::Role;

/// Run the choice that bytes stand for, and tell what is found. The worker announces each non-local read as it is chosen
/// with [`Reply::Executing`](super::Reply::Executing), and answers as to a [`CheckRequest`](super::CheckRequest).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeRequest {
    /// Whether panics of threads that no thread joins are no failures.
    pub ignore_detached_panics: bool,
    /// The harness's name.
    pub harness: String,
    /// The party that is T.
    pub role: Role,
    /// The largest number of non-local reads.
    pub k: u32,
    /// The bytes that stand for the choice.
    pub bytes: Vec<u8>,
    /// The bound on executions to look for the same bugs with fewer non-local reads.
    pub executions: u64,
}

/// Find bytes with simpler inputs that meet the same bugs: a [`Reply::Seeds`](super::Reply::Seeds) with one string for each that
/// is found, the last one being the simplest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimplifyRequest {
    /// Whether panics of threads that no thread joins are no failures.
    pub ignore_detached_panics: bool,
    /// The harness's name.
    pub harness: String,
    /// The party that is T.
    pub role: Role,
    /// The largest number of non-local reads.
    pub k: u32,
    /// The bytes that meet the bugs.
    pub bytes: Vec<u8>,
    /// The bound on executions.
    pub executions: u64,
}

/// Make bytes for a fuzzer to begin with: [`Reply::Seeds`](super::Reply::Seeds).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedRequest {
    /// The harness's name.
    pub harness: String,
    /// The party that is T.
    pub role: Role,
    /// The largest number of non-local reads.
    pub k: u32,
    /// The largest number of seeds.
    pub limit: u32,
    /// The seed of random inputs.
    pub seed: u64,
}

wire!(DecodeRequest {
    ignore_detached_panics,
    harness,
    role,
    k,
    bytes,
    executions
});

wire!(SimplifyRequest {
    ignore_detached_panics,
    harness,
    role,
    k,
    bytes,
    executions
});

wire!(SeedRequest {
    harness,
    role,
    k,
    limit,
    seed
});

impl Wire for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        let (&byte, rest) = bytes.split_first().ok_or(WireError)?;
        *bytes = rest;
        Ok(byte)
    }
}
