//! Scheduled mode: the original program with real concurrency, under the control of a scheduler.
//!
//! Each thread of the program is a stackful coroutine; all of them run on one OS thread. Before every event a thread
//! *announces* what it is about to do, and the [`Scheduler`](seqz_explore::Scheduler) says whose announced operation runs
//! next. So an execution is a function of the scheduler's picks alone.
//!
//! | here | is |
//! |---|---|
//! | [`machine`] | runs executions: the [`Executor`](seqz_explore::Executor) that the strategies of `seqz-explore` drive |
//! | [`events`] | what shared objects call: announce, wait for the turn, say what was done |
//! | [`waiting`] | what condition variables, and all that waits like them, call |
//! | [`loops`] | threads that wait by looking again and again |
//! | [`beyond`] | time that passes for threads that wait so, and what comes after it |
//! | [`resting`] | threads that sleep or yield again and again, and let others go first |
//! | [`turns`] | whose turn it is: asking the scheduler, and telling it what was done |
//! | [`poison`] | what the poison flags of locks call |
//! | [`spurious`] | wake-ups, and weak exchanges that fail, without a reason |
//! | [`running`] | starting threads, switching to them, ending them |
//! | [`failures`] | panics, deadlocks, livelocks |
//! | [`behind_writers`] | finds readers that may wait for ever behind a writer |
//! | [`contexts`] | the calls that threads are in |
//! | [`coroutine`] | the coroutine of a thread |
//! | [`values`] | the values in events, and what of them threads observe |
//! | [`haste`] | who is held up while a time passes for others |
//! | [`time`] | whether what threads see of time depends on what a search leaves out |
//! | [`races`] | finds accesses to plain data that nothing orders |
//! | [`raw`] | checks what `unsafe` code does with memory |
//! | [`weak`] | the orderings of atomics, where the scheduler says what each read reads |
//! | [`coupling`] | how often one thread sees the other one in a failing execution |
//! | [`replay`] | follows a schedule that was written down |
//! | [`witness`] | follows the interleaving of a finding of P̂ₖ, and says whether the bug is there |
//!
//! # Invariants
//! - No `&mut` to the state is alive across a switch of coroutines, or while code of the program runs.
//! - Each thread has its own count of panics, though std keeps one for the OS thread: see
//!   [`process`](crate::process). So a thread that unwinds is a thread like any other.

pub mod behind_writers;
mod beyond;
mod contexts;
mod coroutine;
pub mod coupling;
pub(crate) mod events;
mod failures;
mod haste;
pub(crate) mod loops;
pub mod machine;
mod objects;
pub(crate) mod parking;
mod poison;
mod races;
pub(crate) mod raw;
pub mod replay;
mod resting;
mod running;
pub mod spurious;
mod state;
mod threads;
mod time;
mod turns;
pub(crate) mod values;
pub(crate) mod waiting;
mod weak;
pub mod witness;

pub(crate) use events::{Handle, OF_COUNT, current};
pub use failures::Failure;
pub use loops::Idle;
pub(crate) use loops::Since;
pub use machine::{Machine, Settings, Traced};
pub(crate) use parking::Waited;
pub(crate) use raw::{fenced, ordered};
pub(crate) use running::Ended;
pub(crate) use values::is_asked;
pub(crate) use waiting::Attempt;
pub(crate) use weak::{announces, fence};
