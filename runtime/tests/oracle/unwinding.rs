//! What the generator's programs don't have: a guard that outlives a scope in which its thread panics.

use seqz_runtime::engine::{Ending, Limits, Machine, Solver};
use seqz_runtime::std::sync::Mutex;
use seqz_runtime::std::sync::atomic::{AtomicU8, Ordering};
use seqz_runtime::std::thread;
use seqz_runtime::{Bound, Role};

#[test]
fn what_is_left_of_a_t_prime_that_unwinds_is_no_code_of_t() {
    let run = || {
        let (mutex, atomic) = (Mutex::new(0), AtomicU8::new(0));
        let _guard = mutex.lock();
        thread::scope(|scope| {
            scope.spawn(|| atomic.store(1, Ordering::SeqCst));
            atomic.load(Ordering::SeqCst);
            panic!("main's");
        });
    };
    let bound = Bound {
        inputs: Vec::new(),
        program: Box::new(run),
        safe: false,
    };
    for role in Role::BOTH {
        let mut machine = Machine::new(Limits::default(), Solver::Grid);
        let ending = machine.run(role, &[], true, &bound);
        assert_eq!(ending, Ok(Ending::Bug));
        let bugs: Vec<_> = machine.bugs().iter().map(|(bug, _)| bug).collect();
        assert_eq!(bugs.len(), 1, "T is {role:?}: {bugs:#?}");
        assert_eq!(bugs[0].role, Role::First, "main is the first");
        assert_eq!(bugs[0].message, "main's");
    }
}
