//! What the sequential program does where it comes to one of these: it says that it can't be run.

use std::sync::Arc;
use std::time::Duration;

use seqz_runtime::check::{Bounds, Search, Trouble, machine};
use seqz_runtime::engine::Solver;
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::{Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, mpsc};
use seqz_runtime::std::thread;
use seqz_runtime::{Bound, Role};

/// What is said of a program one of whose threads does this.
fn refused(role: Role, act: fn()) -> String {
    let bounds = Bounds::default();
    let program = move || {
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        let thread = thread::spawn(move || {
            other.store(1, SeqCst);
            act();
        });
        x.load(SeqCst);
        thread.join().unwrap();
    };
    let bound = Bound {
        inputs: Vec::new(),
        program: Box::new(program),
        safe: true,
    };
    let mut machine = machine(&bounds, Solver::Grid);
    let mut search = Search::new(&bound, role, bounds);
    while !search.finished() {
        match search.next_level(&mut machine, &mut |_, _| true) {
            Ok(_) => {}
            Err(Trouble::Unsupported { message, .. }) => return message,
            Err(other) => panic!("{other:?}"),
        }
    }
    panic!("nothing was refused");
}

#[test]
fn it_is_refused_where_it_is_met() {
    static LOCK: Mutex<()> = Mutex::new(());
    let all: [(&str, fn()); 9] = [
        ("Condvar::wait", || {
            drop(Condvar::new().wait(LOCK.lock().unwrap()));
        }),
        ("Condvar::notify_all", || Condvar::new().notify_all()),
        ("Barrier::wait", || {
            Barrier::new(2).wait();
        }),
        ("Once::call_once", || Once::new().call_once(|| ())),
        ("OnceLock::get_or_init", || {
            OnceLock::new().get_or_init(|| 1);
        }),
        ("LazyLock::force", || {
            let _ = *LazyLock::new(|| 1);
        }),
        ("mpsc::channel", || drop(mpsc::channel::<u32>())),
        ("thread::park_timeout", || {
            thread::park_timeout(Duration::ZERO);
        }),
        ("Thread::unpark", || thread::current().unpark()),
    ];
    for role in [Role::First, Role::Second] {
        for (what, act) in all {
            let said = format!("`{what}` has no event in the sequential program");
            assert_eq!(refused(role, act), said);
        }
    }
}
