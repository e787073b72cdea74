//! Who may have used up what it was unparked for.

use std::time::Duration;

use seqz_explore::{Dfs, Mcr, Odpor, Strategy};
use seqz_runtime::scheduled::Settings;
use seqz_runtime::std::sync::mpsc;
use seqz_runtime::std::thread;

use super::{Seen, search};

const EXECUTIONS: u64 = 10_000;

/// What a program comes to, and whether that is all that may come of it.
fn found(strategy: impl Strategy, values: bool, spurious: u32, program: fn()) -> (Seen, bool) {
    let settings = Settings {
        values,
        spurious,
        ..Settings::default()
    };
    let (seen, open) = search(settings, EXECUTIONS, strategy, |note| {
        program();
        note("unparked".to_owned());
    })
    .expect("a search to its end");
    (seen, open.unparks)
}

/// Both may happen though it waits.
const OPEN: [fn(); 4] = [
    || {
        let harness = thread::current();
        thread::scope(|scope| {
            scope.spawn(|| harness.unpark());
        });
        thread::park();
    },
    || {
        let harness = thread::current();
        let (sender, receiver) = mpsc::sync_channel(0);
        let thread = thread::spawn(move || {
            harness.unpark();
            sender.send(1).unwrap();
        });
        receiver.recv().unwrap();
        thread::park();
        thread.join().unwrap();
    },
    || {
        let harness = thread::current();
        let (sender, receiver) = mpsc::channel::<()>();
        let thread = thread::spawn(move || harness.unpark());
        assert!(receiver.recv_timeout(Duration::from_millis(1)).is_err());
        thread::park();
        thread.join().unwrap();
        drop(sender);
    },
    // Nobody knows of the handle but who has started the thread.
    || {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || {
            receiver.recv().unwrap();
            thread::park();
        });
        thread.thread().unpark();
        sender.send(1).unwrap();
        thread.join().unwrap();
    },
];

const CLOSED: [fn(); 4] = [
    // Who is joined is not waited for.
    || {
        let harness = thread::current();
        thread::scope(|scope| {
            let thread = scope.spawn(|| harness.unpark());
            thread.join().unwrap();
        });
        thread::park();
    },
    // It does not park.
    || {
        let harness = thread::current();
        thread::scope(|scope| {
            scope.spawn(|| harness.unpark());
        });
        thread::park_timeout(Duration::from_millis(1));
    },
    // Another one parks.
    || {
        thread::scope(|scope| {
            let thread = scope.spawn(thread::park);
            thread.thread().unpark();
        });
    },
    // It parks before.
    || {
        let harness = thread::current();
        let (sender, receiver) = mpsc::sync_channel(0);
        let thread = thread::spawn(move || {
            harness.unpark();
            sender.send(1).unwrap();
        });
        thread::park();
        receiver.recv().unwrap();
        thread.join().unwrap();
    },
];

#[test]
fn nothing_is_promised_where_an_unpark_may_have_been_used_up() {
    for (programs, is_open) in [(OPEN, true), (CLOSED, false)] {
        for program in programs {
            for (seen, open) in [
                found(Odpor::new(), false, 0, program),
                found(Dfs::new(), false, 0, program),
                found(Mcr::new(), true, 0, program),
            ] {
                assert_eq!(seen, Seen::from(["unparked".to_owned()]));
                assert_eq!(open, is_open);
            }
        }
    }
}

#[test]
fn it_is_used_up_where_things_happen_without_a_reason() {
    let lost = "Deadlock: threads wait for a notification that no thread gives any more";
    for program in &OPEN[..3] {
        let (seen, open) = found(Odpor::new(), false, 1, *program);
        assert!(seen.contains(lost) && open, "{seen:?}");
    }
    for program in CLOSED {
        let (seen, open) = found(Odpor::new(), false, 1, program);
        assert!(!seen.contains(lost) && !open, "{seen:?}");
    }
}
