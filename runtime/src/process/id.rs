//! The id of the process, which is another one in each execution once an execution has changed a file: programs put the id
//! into the names of files of their own, and would find those of an earlier execution under their own name.
//!
//! While no file is changed, the id is that of the worker, under which a program finds itself, as in `/proc`.

use std::sync::atomic::{AtomicU32, Ordering};

use super::asked;

/// The number of executions that have begun since a file was changed.
static BEGUN: AtomicU32 = AtomicU32::new(0);

/// Larger than the id of any process of Linux.
const ABOVE_ALL: u32 = 1 << 22;

/// The numbers of bits, of an id, that tell the execution and the worker.
const EXECUTION: u32 = 17;
const WORKER: u32 = 12;

/// An execution is over.
#[inline]
pub(super) fn restart() {
    if asked::changes_files() {
        BEGUN.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the id that the program has in a worker with the id `worker`.
pub(crate) fn of_program(worker: u32) -> u32 {
    match BEGUN.load(Ordering::Relaxed) {
        0 => worker,
        begun => {
            let execution = begun % (1 << EXECUTION);
            ABOVE_ALL + ((worker % (1 << WORKER)) << EXECUTION) + execution
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_process_has_the_id_of_an_execution() {
        assert_eq!(of_program(77), 77);
        BEGUN.store(1, Ordering::Relaxed);
        let first = of_program(77);
        assert!(first > ABOVE_ALL);
        assert_ne!(first, of_program(78));
        BEGUN.store(2, Ordering::Relaxed);
        assert_ne!(first, of_program(77));
        BEGUN.store(u32::MAX, Ordering::Relaxed);
        assert!(i32::try_from(of_program(u32::MAX)).is_ok());
        BEGUN.store(0, Ordering::Relaxed);
    }
}
