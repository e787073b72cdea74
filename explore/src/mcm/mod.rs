//! Maximal causal models: [`model`] is the model of a trace, [`query`] says what can be asked of a model, [`order`] is the
//! native solver. With the cargo feature `z3`, Z3 is a second solver, and tests compare the native solver with it.

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
