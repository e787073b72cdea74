//! The happens-before relation of an execution as one hash: equal for all interleavings of one Mazurkiewicz trace.
//!
//! The relation is the one of *The Lazy Happens-Before Relation* (Thomson and Donaldson), section 2, before it is made
//! lazy: program order, order of dependent events on an object, fork and join, closed transitively. Each event gets a
//! hash made of its own kind and object and of the hashes of its immediate predecessors, so that it stands for its
//! whole causal past (a Merkle DAG); the relation's hash is the sum of those of the threads' last events. That takes
//! constant time per event, and sums are what makes it forget the order of independent events.
//!
//! The **lazy** relation leaves out the order of lock operations (the same section of the paper); what the locks protect
//! still orders events, see [`Event::lazy_class`]. Two executions with the same lazy relation reach the same state
//! (theorem 2.2): with lock operations that do nothing, each thread would do the same in both, and who holds which lock
//! at the end follows from which of its lock operations each thread has done. What an attempt to lock came to is part
//! of the kind of its event.

use crate::event::{Class, Event, Kind};
use crate::hash::{mix, scatter};

/// The part of an object's past that the next event on the object depends on, as hashes.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    /// The hash of the last event that changed the object.
    modified: u64,
    /// The sum of the hashes of the reads since then.
    reads: u64,
    /// The hash of the last shared acquire since then (each acquire has the one before it in its past).
    acquired: u64,
    /// The sum of the hashes of the shared releases since then.
    releases: u64,
    /// The sum of the hashes of the upgrades of a count since then.
    upgrades: u64,
}

impl Past {
    /// All of it as one word: its parts are hashes, so that a sum with odd weights will do.
    #[inline]
    fn all(&self) -> u64 {
        self.modified
            .wrapping_add(self.reads.wrapping_mul(0xd6e8_feb8_6659_fd93))
            .wrapping_add(self.acquired.wrapping_mul(0xa076_1d64_78bd_642f))
            .wrapping_add(self.releases.wrapping_mul(0xe703_7ed1_a0b4_28db))
            .wrapping_add(self.upgrades.wrapping_mul(0x8ebc_6af0_9c88_c6e3))
    }
}

/// Follows one execution.
#[derive(Clone, Debug, Default)]
pub struct Relation {
    lazy: bool,
    threads: Vec<u64>,
    objects: Vec<Past>,
}

impl Relation {
    /// The lazy one.
    #[must_use]
    pub fn lazy() -> Self {
        Self {
            lazy: true,
            ..Self::default()
        }
    }

    /// Forgets the execution, keeps the memory.
    pub fn clear(&mut self) {
        self.threads.fill(0);
        self.objects.fill(Past::default());
    }

    /// Takes the next event of the execution.
    #[inline]
    pub fn push(&mut self, event: &Event) {
        let thread = usize::from(event.thread);
        if thread >= self.threads.len() {
            self.threads.resize(thread + 1, 0);
        }
        let own = mix(
            self.threads[thread],
            u64::from(event.object) << 16 | (event.kind as u64) << 8 | u64::from(event.thread),
        );
        let class = if self.lazy {
            event.lazy_class()
        } else {
            event.kind.class()
        };
        let hash = match class {
            Class::None => self.lifecycle(event, own),
            _ => {
                let object = event.object as usize;
                if object >= self.objects.len() {
                    self.objects.resize(object + 1, Past::default());
                }
                let past = &mut self.objects[object];
                match class {
                    Class::Modify => {
                        let hash = mix(own, past.all());
                        *past = Past {
                            modified: hash,
                            ..Past::default()
                        };
                        hash
                    }
                    Class::Read => {
                        let reads = std::mem::take(&mut past.reads);
                        let hash = mix(own, past.all());
                        past.reads = reads.wrapping_add(hash);
                        hash
                    }
                    Class::Acquire | Class::Take => {
                        let releases = std::mem::take(&mut past.releases);
                        let hash = mix(own, past.all());
                        past.acquired = hash;
                        past.releases = releases;
                        hash
                    }
                    Class::Release | Class::Add => {
                        let seen = past.reads.wrapping_add(past.upgrades.rotate_left(1));
                        let hash = mix(own, mix(past.modified, seen));
                        past.releases = past.releases.wrapping_add(hash);
                        hash
                    }
                    Class::Upgrade => {
                        let upgrades = std::mem::take(&mut past.upgrades);
                        let hash = mix(own, past.all());
                        past.upgrades = upgrades.wrapping_add(hash);
                        hash
                    }
                    Class::None => own,
                }
            }
        };
        self.threads[thread] = hash;
    }

    /// Fork and join order events of two threads without an object between them.
    fn lifecycle(&mut self, event: &Event, own: u64) -> u64 {
        let other = event.object as usize;
        if matches!(event.kind, Kind::Fork | Kind::Join) && other >= self.threads.len() {
            self.threads.resize(other + 1, 0);
        }
        match event.kind {
            Kind::Fork => {
                self.threads[other] = mix(own, 1);
                own
            }
            Kind::Join => mix(own, self.threads[other]),
            _ => own,
        }
    }

    /// The hash of the relation so far.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.threads
            .iter()
            .enumerate()
            .filter(|&(_, &last)| last != 0)
            .map(|(thread, &last)| scatter(mix(last, thread as u64)))
            .fold(0, u64::wrapping_add)
    }
}
