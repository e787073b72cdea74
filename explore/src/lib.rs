//! Search strategies over the schedules of a concurrent program.
//!
//! A program is an [`Executor`]: it runs once from its start, and asks a [`Scheduler`] at every scheduling point which
//! thread's announced operation to run. A [`Strategy`] decides over many executions, a [`Search`] runs it and keeps
//! count. Nothing in here does I/O, starts processes or threads, or knows of Rust source.
//!
//! | strategy | looks at | ends with |
//! |---|---|---|
//! | [`Dfs`] | every schedule | exhausted |
//! | [`Pcb`] | every schedule within a preemption bound | bounded |
//! | [`Icb`] | the same, with bound 0, 1, 2, … | exhausted or bounded |
//! | [`Dpor`] | every Mazurkiewicz trace at least once | exhausted |
//! | [`CachedDpor::new`] | the same as [`Dpor`] | exhausted |
//! | [`IcbDpor`] | every Mazurkiewicz trace within a preemption bound, at least once | exhausted or bounded |
//! | [`Odpor`] | every Mazurkiewicz trace exactly once | exhausted |
//! | [`Readers`] | what another strategy looks at, but for the order of readers whom no writer meets | the same |
//! | [`HbrCache::new`] | every happens-before relation, of states on the way too, once | exhausted |
//! | [`HbrCache::lazy`] | every lazy happens-before relation, of states on the way too, once | exhausted lazily |
//! | [`CachedDpor::lazy`] | every lazy happens-before relation at least once | exhausted lazily |
//! | [`LazyDpor`] | every lazy happens-before relation at least once | exhausted lazily |
//! | [`Mcr`] | every class of executions in which all threads observe the same, exactly once | exhausted |
//! | [`RvCausal`] | the same, each at least once | exhausted |
//! | [`Hapset`], [`GuidedPcb`] | orders of statements that have not been seen | heuristic |
//! | [`Random`], [`Pct`], [`Pos`], [`Surw`] | random schedules | sampled |
//!
//! [`Dfs`] and [`Odpor`] can be divided into [parts](Part) that are searched by themselves.

#![forbid(unsafe_code)]

// What tests share names the crate.
#[cfg(test)]
extern crate self as seqz_explore;

pub mod behind_writers;
mod cache;
pub mod cached_dpor;
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
pub use search::{Counts, Divergence, Run, Search};
pub use strategy::{Causality, Promise, Strategy};
pub use surw::Surw;
pub use transition::Transition;
