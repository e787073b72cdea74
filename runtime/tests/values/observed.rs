//! What of the values threads observe: less than what they find, where the program says so, and enough to determine how an
//! execution ends.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use seqz_explore::{Comparison, Dfs, Executor, Kind, Search, Test};
use seqz_runtime::observe::{self, here};
use seqz_runtime::scheduled::{Machine, Settings};
use seqz_runtime::std::sync::Mutex;
use seqz_runtime::std::sync::atomic::{AtomicI8, AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::thread;
use seqz_runtime::values::Registry;

use crate::{Callback, SETTINGS, Shape, Unpreempted, check, events, run};

#[test]
fn marks_tell_what_is_observed() {
    let ran = run(|| {
        let x = AtomicI8::new(-3);
        assert!(observe::lt(x.load(SeqCst), 0, here()) < 0);
        let _ = observe::dropped(x.fetch_add(1, SeqCst), here());
        let result = x.compare_exchange(5, 6, SeqCst, SeqCst);
        assert!(observe::success(result, here()).is_err());
        assert!(observe::success(x.compare_exchange(-2, 4, SeqCst, SeqCst), here()).is_ok());
        assert!(observe::ge(x.load(SeqCst), 4, here()) >= 4);
    });
    let tests: Vec<(usize, u64, u64)> = ran
        .tests
        .iter()
        .map(|(number, test)| {
            let found = ran.events[*number].found;
            (*number, test.observe(found), test.observe(!found))
        })
        .collect();
    // The first compare-exchange is not within its mark.
    assert_eq!(tests, [(0, 1, 0), (1, 0, 0), (3, 1, 0), (4, 1, 0)]);
    assert!(matches!(
        ran.tests[2].1,
        Test::Compared {
            op: Comparison::Equal,
            constant: -2,
            ..
        }
    ));
}

/// A value that is not, or not only, what the latest read gave.
#[test]
fn marks_that_are_not_true_are_not_believed() {
    struct Own(AtomicU32);
    impl Own {
        fn load(&self) -> u32 {
            self.0.load(SeqCst)
        }
    }
    let ran = run(|| {
        let x = AtomicU32::new(3);
        let own = Own(AtomicU32::new(3));
        // Read in another place, whoever else has seen the value.
        let _ = observe::gt(own.load(), 1, here()) > 1;
        // Changed on the way.
        let _ = observe::gt(x.load(SeqCst) + 1, 1, here()) > 1;
        // Something has been done since.
        let value = (x.load(SeqCst), x.store(3, SeqCst)).0;
        let _ = observe::gt(value, 1, here()) > 1;
        let _ = observe::gt((x.load(SeqCst), x.load(SeqCst)).0, 1, here()) > 1;
        // Not an integer.
        let _ = observe::eq(own.load() > 2, 1, here());
        // No read at all.
        let _ = observe::gt(3, 1, here()) > 1;
    });
    // The two reads of one value in one mark can't be told apart: the transformation does not mark such an operand.
    let marked: Vec<usize> = ran.tests.iter().map(|(number, _)| *number).collect();
    assert_eq!(marked, [5]);
}

/// Where nobody asks for values, events are as they were.
#[test]
fn without_values_nothing_is_told() {
    let program = || {
        let lock = Mutex::new(3_i32);
        let x = AtomicU32::new(1);
        let _ = observe::dropped(x.load(SeqCst), here());
        drop(lock.lock().unwrap());
        // Given back as it was taken, and changed.
        *lock.lock().unwrap() = 3;
        *lock.lock().unwrap() = 4;
    };
    let settings = Settings {
        values: false,
        ..SETTINGS
    };
    let mut machine = Machine::new(&program, settings);
    machine.run(&mut Unpreempted);
    assert!(machine.tests().is_empty());
    let values: Vec<_> = events(&machine)
        .iter()
        .map(|event| (event.found, event.left))
        .collect();
    let unchanged = (0, 0);
    let locked = [
        unchanged,
        unchanged,
        unchanged,
        unchanged,
        unchanged,
        (0, 1),
    ];
    assert_eq!(values[0], (1, 1));
    assert_eq!(values[1..], locked);
}

/// The same observations by all threads give the same end, in every schedule.
#[test]
fn observations_determine_the_end() {
    Registry::fill(|registry| {
        registry.add_local::<Shape>();
        registry.add_local::<Callback>();
    });
    let program = || {
        let shape = Arc::new(Mutex::new(Shape::Point));
        let callback = Arc::new(Mutex::new(Callback {
            number: 0,
            call: |x| x,
        }));
        let last = Arc::new(AtomicU32::new(0));
        let threads: Vec<_> = (1..=2_u32)
            .map(|number| {
                let (shape, callback) = (Arc::clone(&shape), Arc::clone(&callback));
                let last = Arc::clone(&last);
                thread::spawn(move || {
                    let round = matches!(*shape.lock().unwrap(), Shape::Circle { .. });
                    if round {
                        *shape.lock().unwrap() = Shape::Point;
                    } else {
                        *shape.lock().unwrap() = Shape::Circle { radius: 1.0 };
                    }
                    if let Ok(mut callback) = callback.try_lock() {
                        callback.number += number;
                    }
                    last.store(number, SeqCst);
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        // Tells the values, by events whose values are bits.
        let round = matches!(*shape.lock().unwrap(), Shape::Circle { .. });
        AtomicU32::new(0).store(u32::from(round), SeqCst);
        let number = callback.lock().unwrap().number;
        AtomicU32::new(0).store(number, SeqCst);
    };
    let mut machine = Machine::new(&program, SETTINGS);
    let mut search = Search::new(Dfs::default());
    let mut ends: HashMap<Vec<Vec<(Kind, u64)>>, Vec<u64>> = HashMap::new();
    let mut states: HashMap<u64, Vec<u64>> = HashMap::new();
    while let Some(run) = search.step(&mut machine).unwrap() {
        let events = events(&machine);
        check(&events);
        let mut observed = vec![Vec::new(); 3];
        for event in &events {
            let found = if event.kind.observes() {
                event.found
            } else {
                0
            };
            observed[usize::from(event.thread)].push((event.kind, found));
        }
        let end: Vec<u64> = events
            .iter()
            .filter(|event| event.kind == Kind::Write && event.thread == 0)
            .map(|event| event.left)
            .collect();
        assert_eq!(*ends.entry(observed).or_insert(end.clone()), end);
        assert_eq!(*states.entry(run.end.state).or_insert(end.clone()), end);
    }
    let distinct: HashSet<&Vec<u64>> = ends.values().collect();
    assert!(distinct.len() > 2, "{distinct:?}");
    assert!(states.len() <= ends.len() * 2);
}
