//! The conversations about choices that are made of bytes: running one, making some to begin with, and making one simpler.

use std::convert::Infallible;

use super::{Conversation, Executing, Finding};
use crate::vocabulary::message;
use crate::vocabulary::{Role, ThreadInfo};

message! {
    /// A choice that is made of bytes, and what is asked about the choice.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ByteChoice {
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
        /// The bound on executions beside that of the choice itself.
        pub executions: u64,
    }
}

message! {
    /// Run the choice that bytes stand for, and tell what is found. The worker announces each non-local read as it is
    /// chosen with [`DecodeReply::Executing`].
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DecodeRequest {
        /// The choice. Further executions look for the same bugs with fewer non-local reads.
        pub choice: ByteChoice,
    }
}

message! {
    /// What the worker says of the choice that bytes stand for.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum DecodeReply {
        /// How far the choice has come: the non-local reads as they are chosen.
        Executing(Executing),
        /// The threads that run side by side, in order of creation.
        Threads(Vec<ThreadInfo>),
        /// A bug.
        Finding(Box<Finding>),
        /// The execution is over, and all that it meets has been told.
        Done,
    }
}

impl Conversation for DecodeRequest {
    type Reply = DecodeReply;
    type Answer = Infallible;

    fn harness(&self) -> &str {
        &self.choice.harness
    }
}

message! {
    /// Make bytes for a fuzzer to begin with: [`Seeds`].
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
}

message! {
    /// Bytes for a fuzzer to begin with.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Seeds {
        /// The byte strings.
        pub strings: Vec<Vec<u8>>,
        /// The greatest number of bytes that matter in a string.
        pub longest: u32,
    }
}

impl Conversation for SeedRequest {
    type Reply = Seeds;
    type Answer = Infallible;

    fn harness(&self) -> &str {
        &self.harness
    }
}

message! {
    /// Find bytes with simpler inputs that meet the same bugs: a [`SimplifyReply::Simpler`] for each string that is
    /// found, the last one being the simplest.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct SimplifyRequest {
        /// The choice that meets the bugs.
        pub choice: ByteChoice,
    }
}

message! {
    /// What the worker says while it looks for simpler bytes.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum SimplifyReply {
        /// Simpler bytes that meet the same bugs; simpler than those that were sent before.
        Simpler(Vec<u8>),
        /// There are none that are simpler still.
        Done,
    }
}

impl Conversation for SimplifyRequest {
    type Reply = SimplifyReply;
    type Answer = Infallible;

    fn harness(&self) -> &str {
        &self.choice.harness
    }
}
