//! What check finds of these: the failures of programs in which T sees T' often enough, each with the smallest number of
//! reads by which it does. Every failure is confirmed on the scheduled machine.

use std::sync::Arc;
use std::time::Duration;

use seqz_runtime::check::{Bounds, Search, machine};
use seqz_runtime::engine::Solver;
use seqz_runtime::loops::Loop;
use seqz_runtime::scheduled::witness::confirm;
use seqz_runtime::std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::mpsc::{RecvTimeoutError, TryRecvError, channel, sync_channel};
use seqz_runtime::std::sync::{Barrier, Condvar, LazyLock, Mutex, Once, OnceLock};
use seqz_runtime::std::thread;
use seqz_runtime::vocabulary::Confirmation;
use seqz_runtime::{Bound, Role};

const LIMIT: Duration = Duration::from_millis(10);

/// What the roles find: for the harness itself, which is the first thread, and for the thread that it spawns, each message
/// with its smallest k. Each k is exhausted, unless T' may wait for ever.
fn found(program: fn()) -> [Vec<(String, usize)>; 2] {
    let bound = Bound {
        inputs: Vec::new(),
        program: Box::new(program),
        safe: true,
    };
    [Role::FIRST, Role::SECOND].map(|role| {
        let bounds = Bounds::default();
        let mut machine = machine(&bounds, Solver::Grid);
        let mut search = Search::new(&bound, role, bounds);
        let mut found = Vec::new();
        while !search.finished() {
            let k = search.k();
            let level = search.next_level(&mut machine, &mut |_, _| true).unwrap();
            assert!(
                level.exhausted() || level.interfering_waiting > 0,
                "k = {k}: {level:?}"
            );
            let new = machine.bugs().iter().filter(|(bug, _)| bug.role == role);
            for (bug, _) in new.skip(found.len()) {
                assert_eq!(bug.pairs.len(), k);
                found.push((bug.message.clone(), k));
            }
        }
        for (bug, _) in machine.bugs() {
            let confirmed = confirm(bug, &program);
            assert!(
                matches!(confirmed, Confirmation::Confirmed(_)),
                "{bug}{confirmed:?}"
            );
        }
        found
    })
}

/// What only the harness's own thread finds.
fn found_by_first(program: fn()) -> Vec<(String, usize)> {
    let [first, second] = found(program);
    assert_eq!(second, []);
    first
}

fn at(k: usize, message: &str) -> Vec<(String, usize)> {
    vec![(message.to_owned(), k)]
}

const NOTIFICATION: &str = "the thread waits for a notification that no thread gives any more";
const UNPARK: &str = "the thread is parked, and no thread unparks it any more";
const MESSAGE: &str = "the thread waits for a message that no thread sends any more";

#[test]
fn a_wait_in_a_loop_sees_the_notification_and_the_value() {
    let program = || {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            *theirs.0.lock().unwrap() = 1;
            theirs.1.notify_one();
            *theirs.0.lock().unwrap() = 2;
        });
        let guard = shared.0.lock().unwrap();
        let guard = shared.1.wait_while(guard, |value| *value == 0).unwrap();
        assert!(*guard != 2, "saw the second");
        drop(guard);
        thread.join().unwrap();
    };
    // Without a wait: the value alone.
    assert_eq!(found_by_first(program), at(1, "saw the second"));
}

#[test]
fn a_notification_before_the_wait_is_lost() {
    let with_flag = || {
        let shared = Arc::new((Mutex::new(()), Condvar::new(), AtomicBool::new(false)));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            theirs.2.store(true, SeqCst);
            theirs.1.notify_all();
        });
        let mut guard = shared.0.lock().unwrap();
        while !shared.2.load(SeqCst) {
            guard = shared.1.wait(guard).unwrap();
        }
        drop(guard);
        thread.join().unwrap();
    };
    assert_eq!(found_by_first(with_flag), at(0, NOTIFICATION));
    let under_the_lock = || {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            *theirs.0.lock().unwrap() = true;
            theirs.1.notify_all();
        });
        let mut guard = shared.0.lock().unwrap();
        while !*guard {
            guard = shared.1.wait(guard).unwrap();
        }
        drop(guard);
        thread.join().unwrap();
    };
    assert_eq!(found(under_the_lock), [vec![], vec![]]);
}

#[test]
fn a_wait_with_a_limit_ends_either_way() {
    let program = || {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            *theirs.0.lock().unwrap() = 1;
            theirs.1.notify_one();
        });
        let guard = shared.0.lock().unwrap();
        let (guard, result) = shared.1.wait_timeout(guard, LIMIT).unwrap();
        assert!(result.timed_out() || *guard == 1, "notified of nothing");
        assert!(!result.timed_out(), "timed out");
        drop(guard);
        thread.join().unwrap();
    };
    assert_eq!(found_by_first(program), at(0, "timed out"));
}

#[test]
fn who_comes_last_to_a_barrier_leads() {
    let program = || {
        let shared = Arc::new((Barrier::new(2), AtomicU32::new(0)));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            theirs.1.store(1, SeqCst);
            theirs.0.wait();
        });
        let leads = shared.0.wait().is_leader();
        assert!(leads);
        assert_eq!(shared.1.load(SeqCst), 0, "the other one was there");
        thread.join().unwrap();
    };
    let [first, second] = found(program);
    assert_eq!(first.len(), 1);
    assert!(
        first[0].0.contains("the other one was there") && first[0].1 == 2,
        "{first:?}"
    );
    assert_eq!(second, []);
}

#[test]
fn one_thread_initializes() {
    static MADE: LazyLock<AtomicU32> = LazyLock::new(|| AtomicU32::new(0));
    let lock = || {
        let shared = Arc::new(OnceLock::new());
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            let _ = theirs.set(3);
            MADE.fetch_add(1, SeqCst);
        });
        let value = *shared.get_or_init(|| 4);
        thread.join().unwrap();
        assert_eq!(shared.get(), Some(&value));
        assert_eq!(MADE.load(SeqCst), 1);
        assert!(value == 4, "the other one's");
    };
    // The thread's value, and at the end its initialization of `MADE`, and its addition.
    assert_eq!(found_by_first(lock), at(3, "the other one's"));
    let once = || {
        let shared = Arc::new((Once::new(), AtomicU32::new(0)));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            theirs.0.call_once(|| theirs.1.store(1, SeqCst));
        });
        shared.0.call_once(|| ());
        assert!(shared.1.load(SeqCst) == 1, "first");
        thread.join().unwrap();
    };
    assert_eq!(found_by_first(once), at(0, "first"));
}

#[test]
fn an_unpark_is_used_up() {
    let once = || {
        static FLAG: AtomicBool = AtomicBool::new(false);
        let harness = thread::current();
        let thread = thread::spawn(move || {
            harness.unpark();
            FLAG.store(true, SeqCst);
        });
        thread::park();
        assert!(FLAG.load(SeqCst), "too early");
        thread.join().unwrap();
    };
    assert_eq!(found_by_first(once), at(1, "too early"));
    let twice = || {
        let harness = thread::current();
        let thread = thread::spawn(move || {
            harness.unpark();
            harness.unpark();
        });
        thread::park();
        thread::park();
        thread.join().unwrap();
    };
    assert_eq!(found_by_first(twice), at(1, UNPARK));
    let limited = || {
        static FLAG: AtomicBool = AtomicBool::new(false);
        let harness = thread::current();
        let thread = thread::spawn(move || {
            FLAG.store(true, SeqCst);
            harness.unpark();
        });
        thread::park_timeout(LIMIT);
        assert!(FLAG.load(SeqCst), "too early");
        thread.join().unwrap();
    };
    assert_eq!(found_by_first(limited), at(0, "too early"));
}

#[test]
fn messages_come_in_order_and_then_the_end() {
    let program = || {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || {
            for n in 0..3 {
                sender.send(n).unwrap();
            }
        });
        for n in 0..3 {
            assert_eq!(receiver.recv(), Ok(n));
        }
        assert!(receiver.recv().is_err());
        thread.join().unwrap();
    };
    assert_eq!(found(program), [vec![], vec![]]);
    let impatient = || {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            let _ = sender.send(2);
        });
        assert_eq!(receiver.recv(), Ok(1));
        assert!(receiver.try_recv() != Err(TryRecvError::Empty), "empty");
        let last = receiver.recv_timeout(LIMIT);
        assert!(last != Err(RecvTimeoutError::Timeout), "late");
        thread.join().unwrap();
    };
    let mut found = found_by_first(impatient);
    found.sort();
    assert_eq!(found, [("empty".to_owned(), 1), ("late".to_owned(), 1)]);
}

#[test]
fn two_senders_send_in_some_order() {
    let program = || {
        let (sender, receiver) = channel();
        let theirs = sender.clone();
        let thread = thread::spawn(move || theirs.send(1).unwrap());
        sender.send(2).unwrap();
        thread.join().unwrap();
        drop(sender);
        let all: Vec<u32> = receiver.iter().collect();
        assert!(all != [1, 2], "the thread's came first");
    };
    assert_eq!(
        found(program),
        [
            at(1, "the thread's came first"),
            at(1, "the thread's came first")
        ]
    );
}

#[test]
fn nobody_is_left_at_the_other_end() {
    let receiver_goes = || {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || drop(receiver));
        assert!(sender.send(String::new()).is_ok(), "nobody receives");
        thread.join().unwrap();
    };
    assert_eq!(found_by_first(receiver_goes), at(1, "nobody receives"));
    let sender_stays = || {
        let (sender, receiver) = channel::<u32>();
        let theirs = sender.clone();
        let thread = thread::spawn(move || drop(theirs));
        let _ = receiver.recv();
        drop(sender);
        thread.join().unwrap();
    };
    // The end of the thread's sender wakes the harness up.
    assert_eq!(found_by_first(sender_stays), at(1, MESSAGE));
}

#[test]
fn a_bound_stops_the_interfering_thread() {
    let program = || {
        let (sender, receiver) = sync_channel(1);
        let thread = thread::spawn(move || {
            assert!(sender.try_send(1).is_ok());
            assert!(sender.try_send(2).is_ok(), "full");
        });
        receiver.recv().unwrap();
        thread.join().unwrap();
    };
    let [first, second] = found(program);
    assert_eq!((first, second), (vec![], at(0, "full")));
    let handed_over = || {
        let (sender, receiver) = sync_channel(0);
        let thread = thread::spawn(move || sender.send(5).unwrap());
        assert_eq!(receiver.recv(), Ok(5));
        thread.join().unwrap();
    };
    assert_eq!(found(handed_over), [vec![], vec![]]);
}

#[test]
fn two_threads_take_from_one_receiver() {
    let program = || {
        let (sender, receiver) = channel();
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        drop(sender);
        let receiver = Arc::new(Mutex::new(receiver));
        let theirs = receiver.clone();
        let thread = thread::spawn(move || theirs.lock().unwrap().recv().unwrap());
        let mine = receiver.lock().unwrap().recv().unwrap();
        assert_eq!(mine + thread.join().unwrap(), 3);
        assert!(mine == 1, "the other one's");
    };
    // What the lock protects may have changed, for all that is known of its type; and a message was taken.
    assert_eq!(found_by_first(program), at(2, "the other one's"));
}

#[test]
fn nobody_is_left_to_wait_for() {
    let parked = || thread::park();
    assert_eq!(found(parked), [at(0, UNPARK), at(0, UNPARK)]);
    let receives = || {
        let (sender, receiver) = channel::<u32>();
        let thread = thread::spawn(move || sender.send(1).map(|()| sender));
        let sender = thread.join().unwrap();
        assert_eq!(receiver.recv(), Ok(1));
        let _ = receiver.recv();
        drop(sender);
    };
    let [first, second] = found(receives);
    let all: Vec<_> = first.into_iter().chain(second).map(|(it, _)| it).collect();
    assert!(
        !all.is_empty() && all.iter().all(|it| it == MESSAGE),
        "{all:?}"
    );
}

const LOCKED: &str = "the thread waits for a lock held by the other one, which waits for what this thread does after that";
const COMPLETION: &str =
    "the thread waits for an initialization that no thread brings to an end any more";

#[test]
fn who_waits_under_a_lock_may_wait_for_the_one_that_needs_it() {
    let message = || {
        let lock = Arc::new(Mutex::new(0));
        let theirs = lock.clone();
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || {
            *theirs.lock().unwrap() += 1;
            sender.send(1).unwrap();
        });
        let guard = lock.lock().unwrap();
        assert_eq!(receiver.recv(), Ok(1));
        drop(guard);
        thread.join().unwrap();
    };
    let notification = || {
        let shared = Arc::new((Mutex::new(0), Mutex::new(false), Condvar::new()));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            *theirs.0.lock().unwrap() += 1;
            *theirs.1.lock().unwrap() = true;
            theirs.2.notify_one();
        });
        let guard = shared.0.lock().unwrap();
        drop(shared.2.wait_while(shared.1.lock().unwrap(), |set| !*set));
        drop(guard);
        thread.join().unwrap();
    };
    let barrier = || {
        let shared = Arc::new((Mutex::new(0), Barrier::new(2)));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            *theirs.0.lock().unwrap() += 1;
            theirs.1.wait();
        });
        let guard = shared.0.lock().unwrap();
        shared.1.wait();
        drop(guard);
        thread.join().unwrap();
    };
    let unpark = || {
        let lock = Arc::new(Mutex::new(0));
        let theirs = lock.clone();
        let harness = thread::current();
        let thread = thread::spawn(move || {
            *theirs.lock().unwrap() += 1;
            harness.unpark();
        });
        let guard = lock.lock().unwrap();
        thread::park();
        drop(guard);
        thread.join().unwrap();
    };
    for program in [message, notification, barrier, unpark] {
        assert_eq!(found(program), [at(0, LOCKED), at(0, LOCKED)]);
    }
    // The other way round there is no deadlock, nor where the lock is not needed before.
    let not_needed = || {
        let lock = Arc::new(Mutex::new(0));
        let theirs = lock.clone();
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            *theirs.lock().unwrap() += 1;
        });
        let guard = lock.lock().unwrap();
        assert_eq!(receiver.recv(), Ok(1));
        drop(guard);
        thread.join().unwrap();
    };
    assert_eq!(found(not_needed), [vec![], vec![]]);
}

#[test]
fn who_waits_for_an_initialization_may_wait_for_ever() {
    let crossed = || {
        let both = Arc::new((OnceLock::<u32>::new(), OnceLock::<u32>::new()));
        let theirs = both.clone();
        let thread = thread::spawn(move || {
            let value = *theirs.0.wait();
            theirs.1.set(value).unwrap();
        });
        let value = *both.1.wait();
        both.0.set(value).unwrap();
        thread.join().unwrap();
    };
    assert_eq!(found(crossed), [at(0, COMPLETION), at(0, COMPLETION)]);
    let never = || {
        let once = Arc::new(Once::new());
        let theirs = once.clone();
        let thread = thread::spawn(move || theirs.is_completed());
        once.wait();
        thread.join().unwrap();
    };
    assert_eq!(found_by_first(never), at(0, COMPLETION));
    let under_a_lock = || {
        let shared = Arc::new((Mutex::new(0), Once::new()));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            *theirs.0.lock().unwrap() += 1;
            theirs.1.call_once(|| ());
        });
        let guard = shared.0.lock().unwrap();
        shared.1.wait();
        drop(guard);
        thread.join().unwrap();
    };
    assert_eq!(found(under_a_lock), [at(0, LOCKED), at(0, LOCKED)]);
    // The initialization that is waited for has begun, and needs the lock.
    let begun = || {
        let shared = Arc::new((Mutex::new(0), Once::new()));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            theirs.1.call_once(|| *theirs.0.lock().unwrap() += 1);
        });
        let guard = shared.0.lock().unwrap();
        shared.1.wait();
        drop(guard);
        thread.join().unwrap();
    };
    // The harness has to look at what has begun.
    assert_eq!(found(begun), [at(1, LOCKED), at(0, LOCKED)]);
}

#[test]
fn a_loop_of_waits_with_a_limit_waits() {
    fn poll(shared: &(Mutex<u32>, Condvar), value: u32) {
        let mut guard = shared.0.lock().unwrap();
        let mut turns = Loop::new();
        while *guard < value {
            turns.turn();
            guard = shared.1.wait_timeout(guard, LIMIT).unwrap().0;
        }
    }
    let in_the_end = || {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let theirs = shared.clone();
        let thread = thread::spawn(move || *theirs.0.lock().unwrap() = 1);
        poll(&shared, 1);
        thread.join().unwrap();
    };
    assert_eq!(found(in_the_end), [vec![], vec![]]);
    assert!(is_promised(in_the_end));
    // Each waits for the other one.
    let there_and_back = || {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            poll(&theirs, 1);
            *theirs.0.lock().unwrap() = 2;
        });
        *shared.0.lock().unwrap() = 1;
        poll(&shared, 2);
        thread.join().unwrap();
    };
    assert_eq!(found(there_and_back), [vec![], vec![]]);
    // What is waited for does not come, or is behind a lock that is kept meanwhile.
    let never = || {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let theirs = shared.clone();
        let thread = thread::spawn(move || *theirs.0.lock().unwrap() = 1);
        poll(&shared, 2);
        thread.join().unwrap();
    };
    assert!(!is_promised(never));
    let behind_a_lock = || {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let lock = Arc::new(Mutex::new(0));
        let (theirs, same) = (shared.clone(), lock.clone());
        let thread = thread::spawn(move || {
            *same.lock().unwrap() += 1;
            *theirs.0.lock().unwrap() = 1;
        });
        let guard = lock.lock().unwrap();
        poll(&shared, 1);
        drop(guard);
        thread.join().unwrap();
    };
    assert!(!is_promised(behind_a_lock));
}

#[test]
fn each_one_may_wait_for_what_the_other_one_has_initialized() {
    let there_and_back = || {
        let both = Arc::new((OnceLock::new(), OnceLock::new()));
        let theirs = both.clone();
        let thread = thread::spawn(move || {
            let value: u32 = *theirs.0.wait();
            theirs.1.set(value + 1).unwrap();
        });
        both.0.set(1).unwrap();
        assert_eq!(*both.1.wait(), 2);
        thread.join().unwrap();
    };
    assert_eq!(found(there_and_back), [vec![], vec![]]);
}

/// Whether some k of some role is not exhausted, or the program is refused.
fn is_promised(program: fn()) -> bool {
    let bound = Bound {
        inputs: Vec::new(),
        program: Box::new(program),
        safe: true,
    };
    [Role::FIRST, Role::SECOND].into_iter().all(|role| {
        let bounds = Bounds::default();
        let mut machine = machine(&bounds, Solver::Grid);
        let mut search = Search::new(&bound, role, bounds);
        while !search.finished() {
            match search.next_level(&mut machine, &mut |_, _| true) {
                Ok(level) if level.exhausted() => {}
                _ => return false,
            }
        }
        true
    })
}

#[test]
fn crossed_initializations_are_not_promised() {
    let crossed = || {
        let both = Arc::new((OnceLock::new(), OnceLock::new()));
        let theirs = both.clone();
        let thread = thread::spawn(move || {
            theirs.0.get_or_init(|| *theirs.1.get_or_init(|| 1));
        });
        both.1.get_or_init(|| *both.0.get_or_init(|| 2));
        thread.join().unwrap();
    };
    assert!(!is_promised(crossed));
    let waiting = || {
        let both = Arc::new((OnceLock::<u32>::new(), OnceLock::<u32>::new()));
        let theirs = both.clone();
        let thread = thread::spawn(move || {
            theirs.0.get_or_init(|| *theirs.1.wait());
        });
        both.1.get_or_init(|| *both.0.wait());
        thread.join().unwrap();
    };
    assert!(!is_promised(waiting));
    let nested = || {
        let both = Arc::new((OnceLock::new(), OnceLock::new()));
        let theirs = both.clone();
        let thread = thread::spawn(move || {
            theirs.0.get_or_init(|| *theirs.1.get_or_init(|| 1));
        });
        both.0.get_or_init(|| 2);
        thread.join().unwrap();
    };
    assert!(is_promised(nested));
}

#[test]
fn an_unpark_that_a_channel_may_use_up_is_not_promised() {
    let program = || {
        let (sender, receiver) = channel();
        let harness = thread::current();
        let thread = thread::spawn(move || {
            harness.unpark();
            sender.send(1).unwrap();
        });
        receiver.recv().unwrap();
        thread::park();
        thread.join().unwrap();
    };
    assert!(!is_promised(program));
    let in_scope = || {
        let harness = thread::current();
        thread::scope(|scope| {
            scope.spawn(move || harness.unpark());
        });
        thread::park();
    };
    assert!(!is_promised(in_scope));
}

#[test]
fn what_comes_after_a_barrier_is_not_promised() {
    // The thread that has come first has seen the other one, once it goes on, and is seen by it again.
    let late = || {
        let shared = Arc::new((Barrier::new(2), AtomicU32::new(0)));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            theirs.0.wait();
            theirs.1.store(1, SeqCst);
        });
        shared.0.wait();
        assert_eq!(shared.1.load(SeqCst), 0, "late");
        thread.join().unwrap();
    };
    let nobody_else_comes = || {
        let shared = Arc::new(Barrier::new(3));
        let theirs = shared.clone();
        let thread = thread::spawn(move || theirs.wait().is_leader());
        shared.wait();
        thread.join().unwrap();
    };
    for program in [late, nobody_else_comes] {
        assert!(!is_promised(program));
    }
    assert!(is_promised(|| {
        let thread = thread::spawn(|| Barrier::new(1).wait().is_leader());
        thread.join().unwrap();
    }));
}
