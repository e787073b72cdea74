//! Maximal causal models: [`model`] is what a trace says, [`query`] what can be asked of it, [`order`] the native
//! solver.

pub mod model;
pub mod order;
pub mod query;
pub mod state;

pub use model::{Cut, Lane, Model, Step};
pub use order::OrderSolver;
pub use query::{Goal, Query, Sight, Solver, Verdict, validate};
pub use state::State;
