#![no_std]
#![forbid(unsafe_code)]
#![deny(warnings)]

extern crate alloc;
extern crate std;
extern crate std as core;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicUsize, Ordering};

/// A number that is handed out and taken back.
#[derive(Clone, Default)]
pub struct Tokens(Arc<AtomicUsize>);

impl Tokens {
    pub fn new(count: usize) -> Self {
        Tokens(Arc::new(AtomicUsize::new(count)))
    }

    pub fn take(&self) -> bool {
        let change = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| n.checked_sub(1));
        change.is_ok()
    }

    pub fn take_badly(&self) -> bool {
        let left = self.0.load(Ordering::Acquire);
        left > 0 && self.0.fetch_sub(1, Ordering::AcqRel) > 0
    }

    pub fn all(&self) -> Vec<usize> {
        core::iter::once(self.0.load(Ordering::Acquire)).collect()
    }
}

/// What the root declares is known in every module.
pub mod inner {
    pub use core::string::ToString;
    pub use std::string::String;
}
