//! What events tell of the values behind locks and in `static mut`s, and what of them threads observe.

#![cfg(feature = "scheduler")]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use seqz_explore::{
    Comparison, Dfs, Event, Executor, Kind, Outcome, Pick, RunEnd, Scheduler, Search, Test, View,
};
use seqz_runtime::cell::StaticMut;
use seqz_runtime::observe::{self, here};
use seqz_runtime::scheduled::arena::Allocator;
use seqz_runtime::scheduled::{Machine, Settings};
use seqz_runtime::std::sync::atomic::{AtomicI8, AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::{Mutex, RwLock};
use seqz_runtime::std::thread;
use seqz_runtime::values::{Opaque as _, Part, Registry, ValueHash, ValueHasher};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

const SETTINGS: Settings = Settings {
    steps: 20_000,
    stack: 1 << 20,
    idle_reads: 3,
    trace: true,
    values: true,
    call_depth: 0,
};

/// Lets each thread go on as long as it can.
struct Unpreempted;

impl Scheduler for Unpreempted {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        Pick::Run(view.unpreempted())
    }
    fn ran(&mut self, _: &Event) {}
    fn blocked(&mut self, _: &View<'_>) {}
}

struct Ran {
    events: Vec<Event>,
    tests: Vec<(usize, Test)>,
    end: RunEnd,
}

/// One execution without preemptions.
fn run(program: impl Fn()) -> Ran {
    let mut machine = Machine::new(&program, SETTINGS);
    let end = machine.run(&mut Unpreempted);
    assert_eq!(machine.unsupported(), None);
    let failures = machine.failures().iter();
    let failures: Vec<_> = failures.map(|failure| &failure.message).collect();
    assert!(failures.is_empty(), "{failures:?}");
    check(&events(&machine));
    Ran {
        events: events(&machine),
        tests: machine.tests().to_vec(),
        end,
    }
}

fn events(machine: &Machine<'_>) -> Vec<Event> {
    machine.trace().iter().map(|traced| traced.event).collect()
}

/// Every event finds what the last one on its object left.
fn check(events: &[Event]) {
    let mut left = HashMap::new();
    for (number, event) in events.iter().enumerate() {
        if event.kind.has_value()
            && let Some(known) = left.insert(event.object, event.left)
        {
            assert_eq!(event.found, known, "event {number} of {events:?}");
        }
        if !matches!(event.kind, Kind::Write | Kind::Update | Kind::Unlock) {
            assert!(!event.changes(), "event {number} of {events:?}");
        }
    }
}

/// What a lock is seen to hold after each of these steps on it, one after the other.
fn seen<T: Clone + Send + 'static>(first: T, steps: &[&dyn Fn(&mut T)]) -> Vec<u64> {
    let ran = run(|| {
        let lock = Mutex::new(first.clone());
        for step in steps {
            step(&mut lock.lock().unwrap());
        }
        drop(lock.lock().unwrap());
    });
    let locks = ran.events.iter().filter(|event| event.kind == Kind::Lock);
    locks.map(|event| event.found).collect()
}

/// Each value is told as itself: two of them are the same iff their numbers are.
fn told_apart<T: Clone + Send + 'static>(values: &[(u32, T)]) {
    let mut known: BTreeMap<u32, u64> = BTreeMap::new();
    let mut hashes: HashMap<u64, u32> = HashMap::new();
    for (number, value) in values {
        // Written by a thread that has observed something else each time.
        for before in 0..3 {
            let found = seen(
                values[before as usize % values.len()].1.clone(),
                &[&|place: &mut T| *place = value.clone()],
            )[1];
            assert_eq!(*known.entry(*number).or_insert(found), found, "{number}");
            assert_eq!(*hashes.entry(found).or_insert(*number), *number);
        }
    }
}

#[test]
fn integers_and_other_words_are_their_bits() {
    assert_eq!(seen(3_u8, &[&|x| *x += 1]), [3, 4]);
    assert_eq!(seen(0_i16, &[&|x| *x -= 1]), [0, u64::MAX]);
    assert_eq!(seen(false, &[&|x| *x = true]), [0, 1]);
    assert_eq!(seen('a', &[&|x| *x = 'b']), [97, 98]);
    assert_eq!(seen(7_u64, &[&|_| {}, &|x| *x = 7]), [7, 7, 7]);
}

#[test]
fn values_of_std_types_are_told_apart() {
    told_apart(&[(0, 1_u128), (1, 1 << 64), (0, 1)]);
    told_apart(&[(0, 0.0_f64), (1, -0.0), (2, 1.5), (3, f64::NAN)]);
    told_apart(&[(0, ())]);
    told_apart(&[
        (0, String::new()),
        (1, "a".to_owned()),
        (2, "a\0".to_owned()),
        (3, "12345678".to_owned()),
        (4, "123456789".to_owned()),
        (1, "a".to_owned()),
    ]);
    told_apart(&[(0, "a"), (1, "b")]);
    told_apart(&[(0, None), (1, Some(0_i32)), (2, Some(1))]);
    told_apart(&[
        (0, vec![]),
        (1, vec![0_i32]),
        (2, vec![0, 0]),
        (3, vec![1, 2]),
        (4, vec![2, 1]),
        (3, Vec::from([1, 2])),
    ]);
    // What went through a queue does not matter, only what is in it.
    let mut turned = std::collections::VecDeque::from([0_u32, 1, 2]);
    turned.rotate_left(1);
    told_apart(&[(0, turned), (0, [1, 2, 0].into()), (1, [0, 1, 2].into())]);
    told_apart(&[(0, Box::new(1_u64)), (1, Box::new(2)), (0, Box::new(1))]);
    told_apart(&[(0, (1_i32, 2_i32)), (1, (2, 1))]);
    let map = |pairs: &[(u32, u32)]| pairs.iter().copied().collect::<HashMap<_, _>>();
    told_apart(&[
        (0, map(&[])),
        (1, map(&[(1, 2), (3, 4)])),
        (1, map(&[(3, 4), (1, 2)])),
        (2, map(&[(1, 4), (3, 2)])),
        (3, map(&[(1, 2)])),
    ]);
    let set = |parts: &[u32]| parts.iter().copied().collect::<HashSet<_>>();
    told_apart(&[
        (0, set(&[1, 2])),
        (0, set(&[2, 1])),
        (1, set(&[3])),
        (2, set(&[])),
    ]);
    let tree = |parts: &[i32]| parts.iter().copied().collect::<BTreeSet<_>>();
    told_apart(&[(0, tree(&[1, 2])), (1, tree(&[1])), (0, tree(&[2, 1]))]);
    let tree = |pairs: &[(usize, bool)]| pairs.iter().copied().collect::<BTreeMap<_, _>>();
    told_apart(&[
        (0, tree(&[(1, true)])),
        (1, tree(&[(1, false)])),
        (2, tree(&[])),
    ]);
}

/// A type of a program, with what the transformation writes for it.
#[derive(Clone, Debug)]
enum Shape {
    Point,
    Circle { radius: f32 },
    Named(String, Vec<Shape>),
}

impl ValueHash for Shape {
    fn value_hash(&self, to: &mut ValueHasher) {
        match self {
            Self::Point => to.word(0),
            Self::Circle { radius } => {
                to.word(1);
                Part(radius).seqz_feed(to);
            }
            Self::Named(name, parts) => {
                to.word(2);
                Part(name).seqz_feed(to);
                Part(parts).seqz_feed(to);
            }
        }
    }
}

/// A type with a part that can't be hashed.
#[derive(Clone, Debug)]
struct Callback {
    number: u32,
    call: fn(u32) -> u32,
}

impl ValueHash for Callback {
    fn value_hash(&self, to: &mut ValueHasher) {
        Part(&self.number).seqz_feed(to);
        Part(&self.call).seqz_feed(to);
    }
}

#[test]
fn values_of_the_programs_own_types_are_told_apart() {
    Registry::fill(|registry| registry.add_local::<Shape>());
    let named = |name: &str, parts: &[Shape]| Shape::Named(name.to_owned(), parts.to_vec());
    told_apart(&[
        (0, Shape::Point),
        (1, Shape::Circle { radius: 0.0 }),
        (2, Shape::Circle { radius: 1.0 }),
        (3, named("a", &[])),
        (4, named("a", &[Shape::Point])),
        (5, named("b", &[Shape::Point])),
        (4, named("a", &[Shape::Point])),
    ]);
    told_apart(&[
        (0, vec![Shape::Point]),
        (1, vec![]),
        (0, vec![Shape::Point]),
    ]);
    told_apart(&[(0, None), (1, Some(Box::new(Shape::Point)))]);
}

/// What a lock of an opaque value is found to hold: by whoever comes after two threads.
fn opaque(program: fn(&Mutex<Callback>, u32)) -> BTreeMap<Vec<u64>, BTreeSet<u64>> {
    Registry::fill(|registry| registry.add_local::<Callback>());
    let program = || {
        let number = Arc::new(AtomicU32::new(0));
        let lock = Arc::new(Mutex::new(Callback {
            number: 0,
            call: |x| x,
        }));
        let (other, other_number) = (Arc::clone(&lock), Arc::clone(&number));
        let thread = thread::spawn(move || {
            let read = other_number.load(SeqCst);
            program(&other, read);
        });
        number.store(1, SeqCst);
        thread.join().unwrap();
        let number = lock.lock().unwrap().number;
        // The value itself, for the test to see.
        AtomicU32::new(0).store((lock.lock().unwrap().call)(number), SeqCst);
    };
    let mut machine = Machine::new(&program, SETTINGS);
    let mut search = Search::new(Dfs::default());
    let mut by_value: BTreeMap<Vec<u64>, BTreeSet<u64>> = BTreeMap::new();
    while search.step(&mut machine).unwrap().is_some() {
        assert_eq!(machine.unsupported(), None);
        let events = events(&machine);
        check(&events);
        let last = events.iter().rfind(|event| event.kind == Kind::Lock);
        let value = events.last().unwrap().left;
        let hashes = by_value.entry(vec![value]).or_default();
        hashes.insert(last.unwrap().found);
    }
    by_value
}

#[test]
fn opaque_values_are_told_by_what_their_writer_knew() {
    let by_value = opaque(|lock, read| lock.lock().unwrap().number = read);
    assert_eq!(by_value.len(), 2, "{by_value:?}");
    let hashes: BTreeSet<u64> = by_value.values().flatten().copied().collect();
    // One hash for each: the schedule adds nothing.
    assert_eq!(hashes.len(), 2, "{by_value:?}");
}

#[test]
fn the_first_value_of_an_object_is_told() {
    let ran = run(|| {
        let lock = RwLock::new(5_i32);
        assert_eq!(*lock.read().unwrap(), 5);
        *lock.write().unwrap() = 6;
        let mut lock = lock;
        *lock.get_mut().unwrap() += 1;
        // It lies elsewhere now, and has been changed without an event.
        let lock = Arc::new(lock);
        let other = Arc::clone(&lock);
        thread::spawn(move || *other.write().unwrap() += 1)
            .join()
            .unwrap();
        let lock = Arc::try_unwrap(lock).unwrap();
        assert_eq!(lock.into_inner().unwrap(), 8);
    });
    let values = ran.events.iter().filter(|event| event.kind.has_value());
    let values: Vec<_> = values
        .map(|event| (event.kind, event.found, event.left))
        .collect();
    assert_eq!(
        values,
        [
            (Kind::LockShared, 5, 5),
            (Kind::UnlockShared, 5, 5),
            (Kind::Lock, 5, 5),
            (Kind::Unlock, 5, 6),
            (Kind::Read, 6, 6),
            (Kind::Lock, 7, 7),
            (Kind::Unlock, 7, 8),
            (Kind::Read, 8, 8),
        ]
    );
}

/// Two objects that have been at one place, one after the other, are two objects.
#[test]
fn objects_that_move_keep_their_names() {
    fn make(value: u32) -> Mutex<u32> {
        let lock = Mutex::new(value);
        drop(lock.lock().unwrap());
        lock
    }
    let ran = run(|| {
        let (a, b) = (make(1), make(2));
        let first = a.lock().unwrap();
        // With one name for both, this would wait for ever.
        let second = b.lock().unwrap();
        assert_eq!((*first, *second), (1, 2));
    });
    let objects: HashSet<u32> = ran.events.iter().map(|event| event.object).collect();
    assert_eq!(objects.len(), 2);
    assert_eq!(ran.end.outcome, Outcome::Completed);
}

#[test]
fn poison_is_part_of_the_value() {
    let program = || {
        let lock = Arc::new(Mutex::new(0_i32));
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            let _guard = other.lock().unwrap();
            panic!("under the guard");
        });
        assert!(thread.join().is_err());
        assert!(lock.lock().is_err());
    };
    let mut machine = Machine::new(&program, SETTINGS);
    machine.run(&mut Unpreempted);
    let events = events(&machine);
    check(&events);
    let last = events.iter().rfind(|event| event.kind == Kind::Lock);
    assert_ne!(last.unwrap().found, 0);
    let unlock = events.iter().find(|event| event.kind == Kind::Unlock);
    assert!(unlock.unwrap().changes());
}

#[test]
fn static_muts_have_values() {
    static WORD: StaticMut<i32> = StaticMut::new(-1);
    static LIST: StaticMut<Vec<u32>> = StaticMut::new(Vec::new());
    let ran = run(|| {
        WORD.set(WORD.get() + 3);
        LIST.borrow_mut().push(4);
        LIST.borrow_mut().pop();
        assert_eq!(LIST.borrow().len(), 0);
    });
    let values: Vec<_> = ran
        .events
        .iter()
        .map(|event| (event.kind, event.found, event.left))
        .collect();
    assert_eq!(
        values[..2],
        [(Kind::Read, u64::MAX, u64::MAX), (Kind::Write, u64::MAX, 2)]
    );
    let [_, _, _, push, _, pop, read] = values[..] else {
        panic!("{values:?}");
    };
    assert_ne!(push.1, push.2);
    assert_eq!((pop.1, pop.2), (push.2, push.1));
    assert_eq!(read.1, push.1);
}

#[test]
fn what_no_event_shows_is_refused() {
    static LIST: StaticMut<Vec<u32>> = StaticMut::new(Vec::new());
    let program = || {
        let list = LIST.borrow_mut();
        let x = AtomicU32::new(1);
        list.push(x.load(SeqCst));
        LIST.borrow();
    };
    let mut machine = Machine::new(&program, SETTINGS);
    let end = machine.run(&mut Unpreempted);
    assert_eq!(end.outcome, Outcome::Truncated);
    let (message, _) = machine.unsupported().unwrap();
    assert!(message.contains("no event shows"), "{message}");
}

/// A lock in a value counts as itself, whatever is in it.
#[test]
fn objects_in_values_are_named() {
    let ran = run(|| {
        let inner = Arc::new(Mutex::new(1_i32));
        let outer = Mutex::new(Some(Arc::clone(&inner)));
        drop(outer.lock().unwrap());
        *inner.lock().unwrap() = 2;
        drop(outer.lock().unwrap());
        *outer.lock().unwrap() = Some(Arc::new(Mutex::new(2)));
        drop(outer.lock().unwrap());
    });
    // No type in here is registered: the outer lock's value is opaque.
    assert_eq!(ran.end.outcome, Outcome::Completed);
    Registry::fill(|registry| {
        registry.add::<Option<Arc<Mutex<i64>>>>();
    });
    let ran = run(|| {
        let inner = Arc::new(Mutex::new(1_i64));
        let outer = Mutex::new(Some(Arc::clone(&inner)));
        drop(outer.lock().unwrap());
        *inner.lock().unwrap() = 2;
        drop(outer.lock().unwrap());
        *outer.lock().unwrap() = Some(Arc::new(Mutex::new(2)));
        drop(outer.lock().unwrap());
    });
    let outer = ran.events[0].object;
    let found: Vec<u64> = ran
        .events
        .iter()
        .filter(|event| event.object == outer && event.kind == Kind::Lock)
        .map(|event| event.found)
        .collect();
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
    assert_ne!(found[0], found[3]);
}

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
        *lock.lock().unwrap() = 3;
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
    assert_eq!(values, [(1, 1), (0, 0), (0, 0), (0, 0), (0, 1)]);
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
