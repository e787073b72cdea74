//! Search strategies over the schedules of a concurrent program.
//!
//! A program is an [`Executor`]: the executor runs the program once from its start, and asks a [`Scheduler`] at every
//! scheduling point which thread's announced operation to run. A [`Strategy`] decides over many executions, and a
//! [`Search`] runs the strategy and keeps count. This crate does no I/O, starts no processes, and knows nothing of Rust
//! source.
//!
//! [`catalogue`] lists all strategies, with what each strategy tries and promises. [`Dfs`] and [`Odpor`] can be divided
//! into [parts](Part) that are searched by themselves. [`Readers`] wraps another strategy: of the orders that differ only
//! in how readers of a lock follow each other, [`Readers`] takes one, if no writer meets these readers.
//!
//! # Example
//!
//! A program of two threads, each of which stores to one object twice. Stores to the same object are dependent, so all six
//! schedules differ; where each thread has an object of its own, one execution stands for all of them.
//!
//! ```
//! use seqz_explore::threads::ThreadSet;
//! use seqz_explore::{
//!     Dfs, Event, Executor, Kind, Object, Odpor, Outcome, Pending, Pick, Promise, RunEnd, Scheduler, Search, View,
//! };
//!
//! /// The object that each of the two threads stores to, twice.
//! struct Stores([Object; 2]);
//!
//! impl Executor for Stores {
//!     fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
//!         let end = |outcome| RunEnd { outcome, state: 0, failures: Vec::new() };
//!         let pending = self.0.map(|object| Pending { kind: Kind::Write, object, ..Pending::default() });
//!         let (mut left, mut last) = ([2, 2], None);
//!         let mut live = ThreadSet::only(0).union(ThreadSet::only(1));
//!         while !live.is_empty() {
//!             let resting = ThreadSet::EMPTY;
//!             let Pick::Run(thread) = scheduler.pick(&View { pending: &pending, live, enabled: live, last, resting })
//!             else {
//!                 return end(Outcome::Abandoned);
//!             };
//!             let no = usize::from(thread);
//!             scheduler.ran(&Event { thread, kind: Kind::Write, object: self.0[no], ..Event::default() });
//!             last = Some(thread);
//!             left[no] -= 1;
//!             if left[no] == 0 {
//!                 live.remove(thread);
//!             }
//!         }
//!         end(Outcome::Completed)
//!     }
//! }
//!
//! let mut all = Search::new(Dfs::new());
//! all.run(&mut Stores([7, 8]), 100)?;
//! assert_eq!(all.counts().executions, 6);
//! assert_eq!(all.counts().relations, 1);
//!
//! let mut reduced = Search::new(Odpor::new());
//! reduced.run(&mut Stores([7, 8]), 100)?;
//! assert_eq!(reduced.counts().executions, 1);
//! assert_eq!(reduced.promise(), Promise::Exhausted);
//!
//! let mut dependent = Search::new(Odpor::new());
//! dependent.run(&mut Stores([7, 7]), 100)?;
//! assert_eq!(dependent.counts().executions, 6);
//! # Ok::<(), seqz_explore::Divergence>(())
//! ```

#![forbid(unsafe_code)]

// The code that tests share names this crate `seqz_explore`.
#[cfg(test)]
extern crate self as seqz_explore;

pub mod behind_writers;
mod cache;
pub mod cached_dpor;
pub mod catalogue;
pub mod dfs;
pub mod distinct;
pub mod divergence;
pub mod dpor;
pub mod executor;
pub mod fair;
#[cfg(test)]
mod growth;
pub mod hapset;
pub mod hbr_cache;
pub mod icb;
pub mod icb_dpor;
pub mod lazy_dpor;
mod looks;
pub mod mcm;
pub mod mcr;
pub mod names;
pub mod odpor;
pub mod parts;
pub mod pcb;
pub mod pct;
pub mod pos;
mod race;
pub mod random;
pub mod random_numbers;
pub mod rc11;
pub mod readers;
pub mod relation;
pub mod rv_causal;
pub mod search;
mod stack;
pub mod strategy;
pub mod surw;
pub mod threads;
mod trace;
pub mod transition;
mod tree;
mod visits;
pub mod waiting;

pub use seqz_vocabulary::{event, hash, observation};

pub use cached_dpor::CachedDpor;
pub use dfs::Dfs;
pub use divergence::Divergence;
pub use dpor::Dpor;
pub use event::{Class, Event, Kind, Object, Pending, Site, Thread};
pub use executor::{Executor, Learned, Outcome, Pick, RunEnd, Scheduler, View};
pub use fair::Fair;
pub use hapset::Hapset;
pub use hapset::guided_pcb::GuidedPcb;
pub use hbr_cache::HbrCache;
pub use icb::Icb;
pub use icb_dpor::IcbDpor;
pub use lazy_dpor::LazyDpor;
pub use mcr::Mcr;
pub use observation::{Comparison, Integer, Test};
pub use odpor::Odpor;
pub use parts::{Part, Standing};
pub use pcb::Pcb;
pub use pct::Pct;
pub use pos::Pos;
pub use random::Random;
pub use rc11::Rc11;
pub use readers::Readers;
pub use rv_causal::RvCausal;
pub use search::{AnySearch, Counts, Run, Search};
pub use strategy::{Causality, Promise, Stats, Strategy};
pub use surw::Surw;
pub use transition::Transition;
