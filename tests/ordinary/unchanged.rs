//! Updates that change nothing are reads: both threads look in that way before either has made what isn't there.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

static MADE: AtomicU32 = AtomicU32::new(0);

/// Two threads that both make what isn't there, after a look by which nothing changes.
fn both<T: Send + Sync + 'static>(shared: T, once: impl Fn(&T) + Copy + Send + 'static) {
    let shared = Arc::new(shared);
    let other = shared.clone();
    let t = thread::spawn(move || once(&other));
    once(&shared);
    t.join().unwrap();
    assert_eq!(MADE.load(SeqCst), 1, "made twice");
}

fn two<T>(make: T) -> (Arc<T>, Arc<T>) {
    let one = Arc::new(make);
    (one.clone(), one)
}

fn made() {
    MADE.fetch_add(1, SeqCst);
}

#[test]
fn fails_by_iter_mut() {
    both(Mutex::new(Vec::<u32>::new()), |all| {
        let none = all.lock().unwrap().iter_mut().next().is_none();
        if none {
            made();
            all.lock().unwrap().push(1);
        }
    });
}

#[test]
fn fails_by_last_mut() {
    both(Mutex::new(Vec::<u32>::new()), |all| {
        let none = all.lock().unwrap().last_mut().is_none();
        if none {
            made();
            all.lock().unwrap().push(1);
        }
    });
}

#[test]
fn fails_by_pop_of_a_pair() {
    both(Mutex::new((Vec::<u32>::new(), false)), |all| {
        let none = all.lock().unwrap().0.pop().is_none();
        if none {
            made();
            all.lock().unwrap().0.push(1);
        }
    });
}

#[test]
fn fails_by_pop_of_one_of_three() {
    both(Mutex::new((0, Vec::new(), String::new())), |all| {
        let none = all.lock().unwrap().1.pop().is_none();
        if none {
            made();
            all.lock().unwrap().1.push(7_u64);
        }
        all.lock().unwrap().2.truncate(9);
    });
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<u32>,
    closed: bool,
}

#[test]
fn fails_by_pop() {
    both(Mutex::new(Queue::default()), |all| {
        let none = {
            let mut g = all.lock().unwrap();
            g.jobs.pop_front().is_none() && !g.closed
        };
        if none {
            made();
            all.lock().unwrap().closed = true;
        }
    });
}

#[derive(Default)]
struct Slot {
    value: Option<u32>,
    taken: bool,
}

#[test]
fn fails_by_take() {
    both(Mutex::new(Slot::default()), |slot| {
        let mut g = slot.lock().unwrap();
        let none = g.value.take().is_none() && !g.taken;
        drop(g);
        if none {
            made();
            slot.lock().unwrap().taken = true;
        }
    });
}

#[test]
fn fails_by_retain() {
    both(Mutex::new(vec![1]), |all| {
        let few = {
            let mut g = all.lock().unwrap();
            g.retain(|n| *n > 0);
            g.len() == 1
        };
        if few {
            made();
            all.lock().unwrap().push(2);
        }
    });
}

#[test]
fn fails_by_sort() {
    both(Mutex::new(vec![1, 2]), |all| {
        let few = {
            let mut g = all.lock().unwrap();
            g.sort_unstable();
            g.len() == 2
        };
        if few {
            made();
            all.lock().unwrap().push(3);
        }
    });
}

#[test]
fn fails_by_a_write_guard_of_a_tree() {
    both(RwLock::new(BTreeMap::<u32, u32>::new()), |all| {
        let none = all.write().unwrap().get_mut(&1).is_none();
        if none {
            made();
            all.write().unwrap().insert(1, 1);
        }
    });
}

#[test]
fn fails_by_removing_nothing() {
    both(Mutex::new(BTreeSet::from([2])), |all| {
        let none = {
            let mut g = all.lock().unwrap();
            !g.remove(&7) && !g.contains(&1)
        };
        if none {
            made();
            all.lock().unwrap().insert(1);
        }
    });
}

#[test]
fn fails_by_the_same_entry() {
    both(Mutex::new(HashMap::from([(0, 0)])), |all| {
        let none = {
            let mut g = all.lock().unwrap();
            *g.entry(0).or_insert(5) == 0 && g.len() == 1
        };
        if none {
            made();
            all.lock().unwrap().insert(1, 1);
        }
    });
}

#[test]
fn fails_by_extending_with_nothing() {
    both(Mutex::new(HashSet::<u32>::new()), |all| {
        let none = {
            let mut g = all.lock().unwrap();
            g.extend(Vec::<u32>::new());
            g.is_empty()
        };
        if none {
            made();
            all.lock().unwrap().insert(1);
        }
    });
}

struct Account {
    owner: String,
    open: Option<u32>,
}

impl Account {
    fn slot(&mut self) -> &mut Option<u32> {
        &mut self.open
    }
}

#[test]
fn fails_by_a_method() {
    both(
        Mutex::new(Account {
            owner: "a".into(),
            open: None,
        }),
        |account| {
            let none = {
                let mut g = account.lock().unwrap();
                assert_eq!(g.owner, "a", "never");
                g.slot().is_none()
            };
            if none {
                made();
                *account.lock().unwrap().slot() = Some(1);
            }
        },
    );
}

#[test]
fn fails_by_the_greatest() {
    both(AtomicU32::new(1), |n| {
        if n.fetch_max(0, SeqCst) == 1 {
            made();
            n.store(5, SeqCst);
        }
    });
}

#[test]
fn fails_by_the_least() {
    both(AtomicI32::new(-1), |n| {
        if n.fetch_min(0, SeqCst) == -1 {
            made();
            n.store(-5, SeqCst);
        }
    });
}

#[test]
fn fails_by_and() {
    both(AtomicUsize::new(6), |n| {
        if n.fetch_and(!0, SeqCst) == 6 {
            made();
            n.store(7, SeqCst);
        }
    });
}

#[test]
fn fails_by_or() {
    both(AtomicBool::new(false), |b| {
        if !b.fetch_or(false, SeqCst) {
            made();
            b.store(true, SeqCst);
        }
    });
}

#[test]
fn fails_by_adding_nothing() {
    both(AtomicU32::new(0), |n| {
        if n.fetch_add(0, SeqCst) == 0 {
            made();
            n.store(1, SeqCst);
        }
    });
}

#[test]
fn fails_by_swapping_the_same() {
    both(AtomicU32::new(0), |n| {
        if n.load(SeqCst) == 0 && n.swap(0, SeqCst) == 0 {
            made();
            n.store(1, SeqCst);
        }
    });
}

#[test]
fn fails_by_an_exchange_that_fails() {
    both(AtomicU32::new(0), |n| {
        if n.compare_exchange(9, 8, SeqCst, SeqCst) == Err(0) {
            made();
            n.store(1, SeqCst);
        }
    });
}

#[test]
fn fails_by_an_update_that_is_given_up() {
    both(AtomicU32::new(0), |n| {
        if n.fetch_update(SeqCst, SeqCst, |n| n.checked_sub(1)) == Err(0) {
            made();
            n.store(1, SeqCst);
        }
    });
}
// What changes something is an update.

#[test]
fn passes_by_swapping() {
    both(AtomicBool::new(false), |b| {
        if !b.swap(true, SeqCst) {
            made();
        }
    });
}

#[test]
fn passes_by_an_entry() {
    both(Mutex::new(HashMap::new()), |all| {
        all.lock().unwrap().entry(1).or_insert_with(made);
    });
}

#[test]
fn passes_by_get_or_insert() {
    both(Mutex::new(None), |slot| {
        slot.lock().unwrap().get_or_insert_with(made);
    });
}

#[test]
fn passes_by_an_exchange() {
    both(AtomicU32::new(0), |n| {
        if n.compare_exchange(0, 1, SeqCst, SeqCst).is_ok() {
            made();
        }
    });
}

#[test]
fn passes_by_replacing() {
    both(Mutex::new(false), |b| {
        if !std::mem::replace(&mut *b.lock().unwrap(), true) {
            made();
        }
    });
}

fn cached(cache: &Mutex<HashMap<u32, u32>>, computed: &AtomicU32) -> u32 {
    if let Some(known) = cache.lock().unwrap().get_mut(&1) {
        return *known;
    }
    computed.fetch_add(1, SeqCst);
    *cache.lock().unwrap().entry(1).or_insert(5)
}

#[test]
fn fails_with_a_look_up_by_get_mut() {
    let (cache, computed) = (two(Mutex::new(HashMap::new())), two(AtomicU32::new(0)));
    let t = thread::spawn(move || cached(&cache.1, &computed.1));
    assert_eq!(cached(&cache.0, &computed.0), t.join().unwrap());
    assert_eq!(computed.0.load(SeqCst), 1, "computed twice");
}

#[test]
fn fails_with_a_write_guard_that_looks() {
    let (slot, made) = (two(RwLock::new(None::<u32>)), two(AtomicU32::new(0)));
    let fill = |slot: &RwLock<Option<u32>>, made: &AtomicU32| {
        let is_there = slot.write().unwrap().as_mut().is_some();
        if !is_there {
            made.fetch_add(1, SeqCst);
            *slot.write().unwrap() = Some(1);
        }
    };
    let t = thread::spawn(move || fill(&slot.1, &made.1));
    fill(&slot.0, &made.0);
    t.join().unwrap();
    assert_eq!(made.0.load(SeqCst), 1, "made twice");
}

#[test]
fn fails_with_an_update_that_changes_nothing() {
    let (done, made) = (two(AtomicU32::new(0)), two(AtomicU32::new(0)));
    let once = |done: &AtomicU32, made: &AtomicU32| {
        if done.fetch_or(0, SeqCst) == 0 {
            done.fetch_or(1, SeqCst);
            made.fetch_add(1, SeqCst);
        }
    };
    let t = thread::spawn(move || once(&done.1, &made.1));
    once(&done.0, &made.0);
    t.join().unwrap();
    assert_eq!(made.0.load(SeqCst), 1, "made twice");
}
