//! Loops that wait for what others do: each of those gets its turn, and what comes after the loop is judged.

use std::collections::HashMap;
use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering::SeqCst,
};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock, TryLockError};
use std::thread;
use std::time::Duration;

static FLAG: AtomicBool = AtomicBool::new(false);
static VALUE: AtomicU32 = AtomicU32::new(0);

fn too_early() {
    FLAG.store(true, SeqCst);
    VALUE.store(7, SeqCst);
}

fn in_time() {
    VALUE.store(7, SeqCst);
    FLAG.store(true, SeqCst);
}

fn after(wait: impl FnOnce(), other: fn()) {
    let t = thread::spawn(other);
    wait();
    assert_eq!(VALUE.load(SeqCst), 7, "too early");
    t.join().unwrap();
}

trait Ready {
    fn is_ready(&self) -> bool;
}

struct Flag(&'static AtomicBool);
impl Ready for Flag {
    fn is_ready(&self) -> bool {
        self.0.load(SeqCst)
    }
}

fn wait_dyn(what: &dyn Ready) {
    while !what.is_ready() {
        thread::sleep(Duration::from_millis(1));
    }
}

fn wait_gen<R: Ready>(what: &R) {
    while !what.is_ready() {
        thread::park_timeout(Duration::from_millis(1));
    }
}

#[test]
fn passes_with_a_trait_object() {
    after(|| wait_dyn(&Flag(&FLAG)), in_time);
}

#[test]
fn fails_with_a_trait_object() {
    after(|| wait_dyn(&Flag(&FLAG)), too_early);
}

#[test]
fn passes_with_a_generic_one() {
    after(|| wait_gen(&Flag(&FLAG)), in_time);
}

#[test]
fn fails_with_a_generic_one() {
    after(|| wait_gen(&Flag(&FLAG)), too_early);
}

#[test]
fn fails_with_a_state_that_is_matched() {
    static STATE: AtomicU8 = AtomicU8::new(0);
    let t = thread::spawn(|| {
        STATE.store(1, SeqCst);
        STATE.store(2, SeqCst);
        VALUE.store(7, SeqCst);
        STATE.store(3, SeqCst);
    });
    loop {
        match STATE.load(SeqCst) {
            0 | 1 => thread::yield_now(),
            2 => {
                assert_eq!(VALUE.load(SeqCst), 7, "too early");
                break;
            }
            _ => break,
        }
    }
    t.join().unwrap();
}

#[test]
fn passes_with_a_state_that_is_matched() {
    static STATE: AtomicU8 = AtomicU8::new(0);
    let t = thread::spawn(|| {
        STATE.store(1, SeqCst);
        VALUE.store(7, SeqCst);
        STATE.store(2, SeqCst);
    });
    let state = loop {
        match STATE.load(SeqCst) {
            0 | 1 => continue,
            other => break other,
        }
    };
    assert_eq!((state, VALUE.load(SeqCst)), (2, 7), "never");
    t.join().unwrap();
}

#[test]
fn fails_with_a_message_by_let() {
    let (tx, rx) = mpsc::sync_channel(1);
    let t = thread::spawn(move || {
        tx.send(1).unwrap();
        VALUE.store(7, SeqCst);
    });
    while let Err(TryRecvError::Empty) = rx.try_recv() {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(VALUE.load(SeqCst), 7, "too early");
    t.join().unwrap();
}

#[test]
fn passes_with_a_message_by_let() {
    let (tx, rx) = mpsc::sync_channel(1);
    let t = thread::spawn(move || {
        VALUE.store(7, SeqCst);
        tx.send(1).unwrap();
    });
    while let Err(TryRecvError::Empty) = rx.try_recv() {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(VALUE.load(SeqCst), 7, "too early");
    t.join().unwrap();
}

#[test]
fn fails_with_a_lock_that_is_tried() {
    static SLOT: Mutex<Option<u32>> = Mutex::new(None);
    let t = thread::spawn(|| {
        *SLOT.lock().unwrap() = Some(1);
        *SLOT.lock().unwrap() = Some(2);
    });
    let found = loop {
        match SLOT.try_lock() {
            Ok(guard) => {
                if let Some(v) = *guard {
                    break v;
                }
            }
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Poisoned(_)) => panic!("never"),
        }
        thread::yield_now();
    };
    assert_eq!(found, 2, "too early");
    t.join().unwrap();
}

#[test]
fn fails_with_a_read_lock_that_is_tried() {
    let slot = Arc::new(RwLock::new(0));
    let other = slot.clone();
    let t = thread::spawn(move || {
        *other.write().unwrap() = 1;
        *other.write().unwrap() = 2;
    });
    while !slot.try_read().is_ok_and(|seen| *seen > 0) {
        thread::yield_now();
    }
    assert_eq!(*slot.read().unwrap(), 2, "too early");
    t.join().unwrap();
}

#[test]
fn passes_with_a_write_lock_that_is_tried() {
    let slot = Arc::new(RwLock::new(0));
    let other = slot.clone();
    let t = thread::spawn(move || *other.write().unwrap() += 1);
    loop {
        if let Ok(mut guard) = slot.try_write() {
            *guard += 1;
            break;
        }
    }
    t.join().unwrap();
    assert_eq!(*slot.read().unwrap(), 2, "never");
}

#[test]
fn fails_with_a_map_that_is_looked_up() {
    let map = Arc::new(Mutex::new(HashMap::new()));
    let other = map.clone();
    let t = thread::spawn(move || {
        other.lock().unwrap().insert("a", 1);
        other.lock().unwrap().insert("b", 2);
    });
    while !map.lock().unwrap().contains_key("a") {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(map.lock().unwrap().get("b"), Some(&2), "too early");
    t.join().unwrap();
}

// doubtful for `check`: cut where threads wait
#[test]
fn fails_with_a_list_of_flags() {
    let flags: Arc<Vec<AtomicBool>> = Arc::new((0..2).map(|_| AtomicBool::new(false)).collect());
    let all: Vec<_> = (0..2)
        .map(|i| {
            let flags = flags.clone();
            thread::spawn(move || {
                flags[i].store(true, SeqCst);
                VALUE.fetch_add(1, SeqCst);
            })
        })
        .collect();
    while !flags.iter().all(|flag| flag.load(SeqCst)) {
        std::hint::spin_loop();
    }
    assert_eq!(VALUE.load(SeqCst), 2, "too early");
    for t in all {
        t.join().unwrap();
    }
}

// doubtful for `check`: cut where threads wait
#[test]
fn passes_with_a_list_of_flags() {
    let flags: Arc<Vec<AtomicBool>> = Arc::new((0..2).map(|_| AtomicBool::new(false)).collect());
    let all: Vec<_> = (0..2)
        .map(|i| {
            let flags = flags.clone();
            thread::spawn(move || {
                VALUE.fetch_add(1, SeqCst);
                flags[i].store(true, SeqCst);
            })
        })
        .collect();
    while flags.iter().any(|flag| !flag.load(SeqCst)) {
        thread::yield_now();
    }
    assert_eq!(VALUE.load(SeqCst), 2, "never");
    for t in all {
        t.join().unwrap();
    }
}

// doubtful for `check`: cut where threads wait
#[test]
fn passes_with_handles_that_are_asked() {
    let all: Vec<_> = (0..2)
        .map(|_| thread::spawn(|| VALUE.fetch_add(1, SeqCst)))
        .collect();
    while all.iter().any(|t| !t.is_finished()) {
        thread::yield_now();
    }
    assert_eq!(VALUE.load(SeqCst), 2, "never");
}

// doubtful for `check`: cut where threads wait
#[test]
fn fails_with_one_handle_that_is_asked() {
    let all: Vec<_> = (0..2)
        .map(|_| thread::spawn(|| VALUE.fetch_add(1, SeqCst)))
        .collect();
    while !all[0].is_finished() {
        thread::yield_now();
    }
    assert_eq!(VALUE.load(SeqCst), 2, "too early");
}

#[test]
fn passes_with_scoped_handles_that_are_asked() {
    thread::scope(|s| {
        let t = s.spawn(in_time);
        while !t.is_finished() {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(VALUE.load(SeqCst), 7, "never");
    });
}

// not for `check`: how many handles of an `Arc` there are
#[test]
fn passes_with_a_count_of_handles() {
    let value = Arc::new(());
    let other = value.clone();
    let t = thread::spawn(move || {
        VALUE.store(7, SeqCst);
        drop(other);
    });
    while Arc::strong_count(&value) != 1 {
        thread::yield_now();
    }
    assert_eq!(VALUE.load(SeqCst), 7, "never");
    t.join().unwrap();
}

#[test]
fn fails_with_a_cell_for_once() {
    static CELL: OnceLock<u32> = OnceLock::new();
    let t = thread::spawn(|| {
        CELL.set(1).unwrap();
        VALUE.store(7, SeqCst);
    });
    while CELL.get().is_none() {
        std::hint::spin_loop();
    }
    assert_eq!(VALUE.load(SeqCst), 7, "too early");
    t.join().unwrap();
}

#[test]
fn passes_with_an_exchange_that_waits() {
    static TURN: AtomicI64 = AtomicI64::new(-1);
    let t = thread::spawn(|| {
        VALUE.store(7, SeqCst);
        TURN.store(1, SeqCst);
    });
    while TURN.compare_exchange(1, 2, SeqCst, SeqCst).is_err() {
        thread::yield_now();
    }
    assert_eq!((VALUE.load(SeqCst), TURN.load(SeqCst)), (7, 2), "never");
    t.join().unwrap();
}

#[test]
fn passes_with_a_weak_exchange_that_waits() {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    let t = thread::spawn(|| {
        VALUE.store(7, SeqCst);
        TURN.store(1, SeqCst);
    });
    while let Err(_) = TURN.compare_exchange_weak(1, 2, SeqCst, SeqCst) {
        std::hint::spin_loop();
    }
    assert_eq!(VALUE.load(SeqCst), 7, "never");
    t.join().unwrap();
}

#[test]
fn passes_with_an_update_that_waits() {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    let t = thread::spawn(|| {
        VALUE.store(7, SeqCst);
        TURN.store(1, SeqCst);
    });
    while TURN
        .fetch_update(SeqCst, SeqCst, |turn| (turn == 1).then_some(2))
        .is_err()
    {
        thread::yield_now();
    }
    assert_eq!(VALUE.load(SeqCst), 7, "never");
    t.join().unwrap();
}

#[test]
fn passes_with_a_condition_and_a_limit() {
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let other = gate.clone();
    let t = thread::spawn(move || {
        VALUE.store(7, SeqCst);
        *other.0.lock().unwrap() = true;
    });
    let mut open = gate.0.lock().unwrap();
    while !*open {
        open = gate
            .1
            .wait_timeout(open, Duration::from_millis(20))
            .unwrap()
            .0;
    }
    assert_eq!(VALUE.load(SeqCst), 7, "never");
    drop(open);
    t.join().unwrap();
}

// doubtful for `check`: waits at a barrier
#[test]
fn passes_with_a_barrier_before_it() {
    let gate = Arc::new(Barrier::new(2));
    let other = gate.clone();
    let t = thread::spawn(move || {
        other.wait();
        in_time();
    });
    gate.wait();
    while !FLAG.load(SeqCst) {}
    assert_eq!(VALUE.load(SeqCst), 7, "never");
    t.join().unwrap();
}

// doubtful for `check`: cut where threads wait
#[test]
fn fails_with_two_that_wait() {
    let t = thread::spawn(too_early);
    let u = thread::spawn(|| {
        while !FLAG.load(SeqCst) {}
        VALUE.load(SeqCst)
    });
    while !FLAG.load(SeqCst) {}
    let mine = VALUE.load(SeqCst);
    assert_eq!((mine, u.join().unwrap()), (7, 7), "too early");
    t.join().unwrap();
}

#[test]
fn passes_with_two_that_pass_a_token() {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    fn play(me: usize) {
        for _ in 0..2 {
            while TURN.load(SeqCst) % 2 != me {
                thread::yield_now();
            }
            let n = VALUE.load(SeqCst);
            VALUE.store(n + 1, SeqCst);
            TURN.fetch_add(1, SeqCst);
        }
    }
    let t = thread::spawn(|| play(1));
    play(0);
    t.join().unwrap();
    assert_eq!(VALUE.load(SeqCst), 4, "never");
}

#[test]
fn livelocks_in_one_order() {
    static A: AtomicBool = AtomicBool::new(false);
    let t = thread::spawn(|| {
        FLAG.store(true, SeqCst);
        FLAG.store(false, SeqCst);
        A.store(true, SeqCst);
    });
    while !FLAG.load(SeqCst) {
        thread::yield_now();
    }
    while !A.load(SeqCst) {
        thread::yield_now();
    }
    t.join().unwrap();
}

#[test]
fn livelocks_by_asking_a_handle() {
    let (tx, rx) = mpsc::channel::<()>();
    let t = thread::spawn(move || {
        let _ = rx.recv();
    });
    while !t.is_finished() {
        thread::sleep(Duration::from_millis(1));
    }
    drop(tx);
}

#[test]
fn livelocks_for_a_map() {
    let map = Arc::new(RwLock::new(HashMap::from([(1, 1)])));
    let other = map.clone();
    let t = thread::spawn(move || {
        other.write().unwrap().remove(&1);
        other.write().unwrap().insert(1, 2);
    });
    while map.read().unwrap().get(&1).is_some() {
        thread::yield_now();
    }
    t.join().unwrap();
}

#[test]
fn passes_until_it_is_disconnected() {
    let (tx, rx) = mpsc::channel();
    let t = thread::spawn(move || {
        tx.send(1).unwrap();
        tx.send(2).unwrap();
    });
    let mut sum = 0;
    loop {
        match rx.try_recv() {
            Ok(n) => sum += n,
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Disconnected) => break,
        }
    }
    assert_eq!(sum, 3, "never");
    t.join().unwrap();
}

#[test]
fn passes_until_it_is_disconnected_with_a_limit() {
    let (tx, rx) = mpsc::channel();
    let t = thread::spawn(move || {
        tx.send(1).unwrap();
        tx.send(2).unwrap();
    });
    let mut sum = 0;
    loop {
        match rx.recv_timeout(Duration::from_millis(10)) {
            Ok(n) => sum += n,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    assert_eq!(sum, 3, "never");
    t.join().unwrap();
}

#[test]
fn passes_with_a_worker_that_counts_what_it_has_done() {
    let jobs = Arc::new(Mutex::new(vec![1, 2]));
    let other = jobs.clone();
    let t = thread::spawn(move || {
        let mut done = 0;
        while !FLAG.load(SeqCst) {
            if let Some(job) = other.lock().unwrap().pop() {
                done += job;
            }
        }
        done
    });
    while !jobs.lock().unwrap().is_empty() {
        thread::yield_now();
    }
    FLAG.store(true, SeqCst);
    assert_eq!(t.join().unwrap(), 3, "never");
}

#[test]
fn fails_with_a_worker_that_stops_too_early() {
    let jobs = Arc::new(Mutex::new(Vec::<u32>::new()));
    let other = jobs.clone();
    let t = thread::spawn(move || {
        let mut done = Vec::new();
        loop {
            let job = other.lock().unwrap().pop();
            match job {
                Some(job) => done.push(job),
                None if FLAG.load(SeqCst) => break done,
                None => thread::yield_now(),
            }
        }
    });
    FLAG.store(true, SeqCst);
    jobs.lock().unwrap().push(2);
    assert_eq!(t.join().unwrap().len(), 1, "too early");
}

#[test]
fn passes_with_states_that_are_counted() {
    static STATE: AtomicU8 = AtomicU8::new(0);
    let t = thread::spawn(|| (1..=3).for_each(|state| STATE.store(state, SeqCst)));
    let (mut last, mut changes) = (0, 0);
    while last < 3 {
        let state = STATE.load(SeqCst);
        if state != last {
            last = state;
            changes += 1;
        }
    }
    t.join().unwrap();
    assert!((1..=3).contains(&changes), "never");
}

#[test]
fn fails_with_states_of_which_one_is_not_seen() {
    static STATE: AtomicU8 = AtomicU8::new(0);
    let t = thread::spawn(|| (1..=2).for_each(|state| STATE.store(state, SeqCst)));
    let mut seen = vec![0];
    while seen.last() != Some(&2) {
        let state = STATE.load(SeqCst);
        if !seen.contains(&state) {
            seen.push(state);
        }
    }
    t.join().unwrap();
    assert_eq!(seen, [0, 1, 2], "not seen");
}

#[test]
fn livelocks_with_a_message_that_never_comes() {
    let (tx, rx) = mpsc::channel();
    let t = thread::spawn(move || tx.send(1).map(|()| tx));
    let mut sum = 0;
    while sum < 2 {
        match rx.try_recv() {
            Ok(n) => sum += n,
            Err(_) => thread::yield_now(),
        }
    }
    drop(t.join());
}

#[test]
fn fails_with_a_pointer() {
    static PLACE: u32 = 1;
    static POINTER: AtomicPtr<u32> = AtomicPtr::new(std::ptr::null_mut());
    let t = thread::spawn(|| {
        POINTER.store((&raw const PLACE).cast_mut(), SeqCst);
        VALUE.store(7, SeqCst);
    });
    while POINTER.load(SeqCst).is_null() {
        std::hint::spin_loop();
    }
    assert_eq!(VALUE.load(SeqCst), 7, "too early");
    t.join().unwrap();
}
