//! What events tell of the values behind locks and in `static mut`s, and what of them threads observe.

#![cfg(feature = "scheduler")]

mod observed;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use seqz_explore::{
    Dfs, Event, Executor, Kind, Outcome, Pick, RunEnd, Scheduler, Search, Test, View,
};
use seqz_runtime::cell::StaticMut;
use seqz_runtime::memory::arena::Allocator;
use seqz_runtime::scheduled::{Idle, Machine, Settings};
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::{Mutex, RwLock};
use seqz_runtime::std::thread;
use seqz_runtime::values::{Opaque as _, Part, Registry, ValueHash, ValueHasher};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

const SETTINGS: Settings = Settings {
    steps: 20_000,
    stack: 1 << 20,
    idle: Idle::Ends,
    trace: true,
    values: true,
    spurious: 0,
    spurious_at: None,
    call_depth: 0,
    ignore_detached_panics: false,
    unfollowed: false,
    checks_memory: false,
    weak: false,
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
    let mut turned = VecDeque::from([0_u32, 1, 2]);
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

/// What the steps leave, the same contents each time: no two of the collections have the same room.
fn rooms_are_told<T: Clone + Send + 'static>(steps: &[&dyn Fn(&mut T)], first: T) {
    let found = seen(first, steps);
    let rooms: HashSet<u64> = found[1..].iter().copied().collect();
    assert_eq!(rooms.len(), steps.len(), "{found:?}");
}

#[test]
fn the_room_of_collections_is_told() {
    Registry::fill(|registry| {
        registry.add::<Cow<'static, str>>();
        registry.add::<Box<[String]>>();
    });
    rooms_are_told::<Vec<u8>>(
        &[&|_| {}, &|list| list.reserve(9), &|list| list.reserve(99)],
        vec![],
    );
    rooms_are_told::<Vec<i32>>(
        &[&|_| {}, &|list| {
            list.push(1);
            list.clear();
        }],
        vec![],
    );
    rooms_are_told::<String>(
        &[&|_| {}, &|text| text.reserve(9), &|text| text.reserve(99)],
        "a".to_owned(),
    );
    rooms_are_told::<VecDeque<u32>>(&[&|_| {}, &|list| list.reserve(9)], VecDeque::new());
    rooms_are_told::<HashSet<u32>>(&[&|_| {}, &|set| set.reserve(9)], HashSet::new());
    rooms_are_told::<HashMap<u32, u32>>(&[&|_| {}, &|map| map.reserve(9)], HashMap::new());
    rooms_are_told::<Option<Vec<u8>>>(
        &[&|_| {}, &|list| list.as_mut().unwrap().reserve(9)],
        Some(vec![]),
    );
    rooms_are_told::<Cow<'static, str>>(
        &[&|_| {}, &|text| _ = text.to_mut(), &|text| {
            text.to_mut().reserve(9)
        }],
        Cow::Borrowed("a"),
    );
    rooms_are_told::<Box<[String]>>(
        &[&|_| {}, &|texts| texts[0].reserve(9)],
        Box::new([String::new()]),
    );
}

/// Nobody has changed it: that is told, however much room there is.
#[test]
fn room_that_stays_is_not_a_change() {
    let found = seen(
        Vec::<u8>::with_capacity(9),
        &[&|list| list.reserve(99), &|list| list.reserve(9), &|list| {
            list.push(1);
            list.pop();
        }],
    );
    assert_eq!(found[1..], [found[1]; 3]);
}

#[test]
fn where_references_lead_is_told() {
    static TEXT: &str = "abcabc";
    static NUMBERS: [u32; 2] = [7, 7];
    Registry::fill(|registry| {
        registry.add::<&'static u32>();
        registry.add::<&'static [u32]>();
        registry.add::<Cow<'static, str>>();
    });
    let (first, second) = TEXT.split_at(3);
    told_apart(&[(0, first), (1, second), (2, TEXT), (0, &TEXT[..3])]);
    told_apart(&[(0, Some(first)), (1, Some(second)), (2, None)]);
    told_apart(&[(0, Cow::Borrowed(first)), (1, Cow::Borrowed(second))]);
    told_apart(&[(0, &NUMBERS[0]), (1, &NUMBERS[1]), (0, &NUMBERS[0])]);
    told_apart(&[(0, &NUMBERS[..1]), (1, &NUMBERS[1..]), (2, &NUMBERS[..])]);
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
        // SAFETY: no reference is used beyond its statement.
        unsafe {
            LIST.borrow_mut().push(4);
            LIST.borrow_mut().pop();
            assert_eq!(LIST.borrow().len(), 0);
        }
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
    assert_eq!(pop.1, push.2);
    // It is empty again, and has room now.
    assert!(pop.2 != push.1 && pop.2 != push.2);
    assert_eq!(read.1, pop.2);
}

#[test]
fn what_no_event_shows_is_refused() {
    static LIST: StaticMut<Vec<u32>> = StaticMut::new(Vec::new());
    let program = || {
        // SAFETY: no other reference is used while this one is.
        let list = unsafe { LIST.borrow_mut() };
        let x = AtomicU32::new(1);
        list.push(x.load(SeqCst));
        // SAFETY: the reference made before is not used any more.
        unsafe { LIST.borrow() };
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
