//! Search strategies over the schedules of a concurrent program.
//!
//! A program is an [`Executor`]: it runs once from its start, and asks a [`Scheduler`] at every scheduling point which
//! thread's announced operation to run. A [`Strategy`] decides over many executions, a [`Search`] runs it and keeps
//! count. Nothing in here does I/O, starts processes or threads, or knows of Rust source.
//!
//! [`catalogue`] lists all strategies, with what each tries and what it promises. [`Dfs`] and [`Odpor`] can be divided into
//! [parts](Part) that are searched by themselves. [`Readers`] goes around another strategy: of those orders in which readers
//! of a lock differ whom no writer meets, it takes one.

#![forbid(unsafe_code)]

// What tests share names the crate.
#[cfg(test)]
extern crate self as seqz_explore;

pub mod behind_writers;
mod cache;
pub mod cached_dpor;
pub mod catalogue;
pub mod dfs;
pub mod distinct;
pub mod dpor;
pub mod event;
pub mod executor;
pub mod fair;
#[cfg(test)]
mod growth;
pub mod hapset;
pub mod hash;
pub mod hbr_cache;
pub mod icb;
pub mod icb_dpor;
pub mod lazy_dpor;
mod looks;
pub mod mcm;
pub mod mcr;
pub mod names;
pub mod observation;
pub mod odpor;
pub mod parts;
pub mod pcb;
pub mod pct;
pub mod pos;
mod race;
pub mod random;
pub mod random_numbers;
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
pub mod waiting;

pub use cached_dpor::CachedDpor;
pub use dfs::Dfs;
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
pub use readers::Readers;
pub use rv_causal::RvCausal;
pub use search::{AnySearch, Counts, Divergence, Run, Search};
pub use strategy::{Causality, Promise, Stats, Strategy};
pub use surw::Surw;
pub use transition::Transition;
