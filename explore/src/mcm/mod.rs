//! Maximal causal models: [`model`] is what a trace says, [`query`] what can be asked of it, [`order`] the native
//! solver. With the cargo feature `z3` there is Z3 beside it, which it is held against.

pub mod clocks;
pub mod model;
pub mod order;
pub mod query;
pub mod sections;
pub mod sources;
pub mod state;
pub mod step;
pub mod words;
#[cfg(feature = "z3")]
pub mod z3;

pub use model::{Cut, Lane, Model, Step};
pub use order::OrderSolver;
pub use query::{Goal, Query, Sight, Solver, Verdict, validate};
pub use state::State;
#[cfg(feature = "z3")]
pub use z3::{Retract, Z3, Z3Incremental};
