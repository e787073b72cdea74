//! Locks that spin, of all makes.

use std::cell::Cell;
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicUsize, Ordering::SeqCst,
};
use std::thread;
use std::time::Duration;

static N: AtomicU32 = AtomicU32::new(0);

fn add() {
    let seen = N.load(SeqCst);
    N.store(seen + 1, SeqCst);
}

fn threads(n: u32, section: impl Fn() + Copy + Send + 'static) {
    let all: Vec<_> = (1..n).map(|_| thread::spawn(section)).collect();
    section();
    for t in all {
        t.join().unwrap();
    }
    assert_eq!(N.load(SeqCst), n, "lost");
}

static LOCK: AtomicBool = AtomicBool::new(false);

#[test]
fn passes_with_an_exchange() {
    threads(2, || {
        while LOCK.compare_exchange(false, true, SeqCst, SeqCst).is_err() {}
        add();
        LOCK.store(false, SeqCst);
    });
}

#[test]
fn passes_with_a_weak_exchange() {
    threads(2, || {
        while LOCK
            .compare_exchange_weak(false, true, SeqCst, SeqCst)
            .is_err()
        {
            spin_loop();
        }
        add();
        LOCK.store(false, SeqCst);
    });
}

#[test]
fn passes_with_an_or() {
    threads(2, || {
        while LOCK.fetch_or(true, SeqCst) {
            thread::yield_now();
        }
        add();
        LOCK.fetch_and(false, SeqCst);
    });
}

#[test]
fn passes_with_a_number() {
    static WORD: AtomicU8 = AtomicU8::new(0);
    threads(2, || {
        while WORD.swap(1, SeqCst) == 1 {
            thread::sleep(Duration::from_micros(1));
        }
        add();
        WORD.store(0, SeqCst);
    });
}

#[test]
fn passes_with_a_look_first() {
    threads(2, || {
        loop {
            while LOCK.load(SeqCst) {
                spin_loop();
            }
            if !LOCK.swap(true, SeqCst) {
                break;
            }
        }
        add();
        LOCK.store(false, SeqCst);
    });
}

#[test]
fn fails_with_a_look_only() {
    threads(2, || {
        while LOCK.load(SeqCst) {
            spin_loop();
        }
        LOCK.store(true, SeqCst);
        add();
        LOCK.store(false, SeqCst);
    });
}

struct Spin {
    locked: AtomicBool,
}

struct Guard<'a>(&'a Spin);
impl Spin {
    const fn new() -> Self {
        Spin {
            locked: AtomicBool::new(false),
        }
    }
    fn lock(&self) -> Guard<'_> {
        loop {
            if let Ok(false) = self.locked.compare_exchange(false, true, SeqCst, SeqCst) {
                return Guard(self);
            }
            spin_loop();
        }
    }
    fn try_lock(&self) -> Option<Guard<'_>> {
        if self.locked.swap(true, SeqCst) {
            None
        } else {
            Some(Guard(self))
        }
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.locked.store(false, SeqCst);
    }
}

static SPIN: Spin = Spin::new();

#[test]
fn passes_with_a_guard() {
    threads(2, || {
        let _guard = SPIN.lock();
        add();
    });
}

#[test]
fn passes_with_three_and_a_guard() {
    threads(3, || {
        let _guard = SPIN.lock();
        add();
    });
}

#[test]
fn passes_with_a_guard_by_attempts() {
    threads(2, || {
        let _guard = loop {
            if let Some(guard) = SPIN.try_lock() {
                break guard;
            }
        };
        add();
    });
}

#[test]
fn fails_with_a_guard_that_is_dropped_at_once() {
    threads(2, || {
        let _ = SPIN.lock();
        add();
    });
}

#[test]
fn livelocks_with_a_lock_that_is_taken_twice() {
    threads(2, || {
        let _guard = SPIN.lock();
        drop(SPIN.lock());
        add();
    });
}

#[test]
fn livelocks_with_two_in_other_orders() {
    static OTHER: Spin = Spin::new();
    let t = thread::spawn(|| {
        let _a = SPIN.lock();
        let _b = OTHER.lock();
    });
    {
        let _b = OTHER.lock();
        let _a = SPIN.lock();
    }
    t.join().unwrap();
}

#[test]
fn livelocks_twice_with_a_lock_that_is_never_given_back() {
    threads(2, || {
        std::mem::forget(SPIN.lock());
        add();
    });
}

struct Tickets {
    next: AtomicUsize,
    now: AtomicUsize,
}

static TICKETS: Tickets = Tickets {
    next: AtomicUsize::new(0),
    now: AtomicUsize::new(0),
};

#[test]
fn passes_with_tickets() {
    threads(2, || {
        let mine = TICKETS.next.fetch_add(1, SeqCst);
        while TICKETS.now.load(SeqCst) != mine {
            spin_loop();
        }
        add();
        TICKETS.now.fetch_add(1, SeqCst);
    });
}

#[test]
fn passes_with_tickets_of_three() {
    threads(3, || {
        let mine = TICKETS.next.fetch_add(1, SeqCst);
        while TICKETS.now.load(SeqCst) != mine {
            thread::yield_now();
        }
        add();
        let now = TICKETS.now.load(SeqCst);
        TICKETS.now.store(now + 1, SeqCst);
    });
}

#[test]
fn livelocks_twice_with_one_ticket_for_two() {
    threads(2, || {
        let mine = TICKETS.next.load(SeqCst);
        TICKETS.next.store(mine + 1, SeqCst);
        while TICKETS.now.load(SeqCst) != mine {
            spin_loop();
        }
        let now = TICKETS.now.load(SeqCst);
        TICKETS.now.store(now + 1, SeqCst);
        N.fetch_add(1, SeqCst);
    });
}

#[test]
fn passes_with_readers_and_a_writer() {
    static STATE: AtomicI32 = AtomicI32::new(0);
    let t = thread::spawn(|| {
        while STATE.compare_exchange(0, -1, SeqCst, SeqCst).is_err() {
            spin_loop();
        }
        N.store(1, SeqCst);
        N.store(2, SeqCst);
        STATE.store(0, SeqCst);
    });
    loop {
        let s = STATE.load(SeqCst);
        if s >= 0 && STATE.compare_exchange(s, s + 1, SeqCst, SeqCst).is_ok() {
            break;
        }
    }
    let seen = N.load(SeqCst);
    STATE.fetch_sub(1, SeqCst);
    t.join().unwrap();
    assert_ne!(seen, 1, "never");
}

#[test]
fn passes_with_a_weak_loop_that_adds() {
    let n = Arc::new(AtomicU32::new(0));
    let inc = |n: &AtomicU32| {
        let mut v = n.load(SeqCst);
        loop {
            match n.compare_exchange_weak(v, v + 1, SeqCst, SeqCst) {
                Ok(_) => break,
                Err(x) => v = x,
            }
        }
    };
    let m = n.clone();
    let t = thread::spawn(move || inc(&m));
    inc(&n);
    t.join().unwrap();
    assert_eq!(n.load(SeqCst), 2, "never");
}

#[test]
fn passes_with_a_loop_that_looks_again() {
    let inc = || {
        while {
            let v = N.load(SeqCst);
            N.compare_exchange(v, v + 1, SeqCst, SeqCst).is_err()
        } {}
    };
    threads(3, inc);
}

#[test]
fn passes_with_peterson() {
    static WANT: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
    static TURN: AtomicUsize = AtomicUsize::new(0);
    fn section(me: usize) {
        WANT[me].store(true, SeqCst);
        TURN.store(1 - me, SeqCst);
        while WANT[1 - me].load(SeqCst) && TURN.load(SeqCst) != me {
            spin_loop();
        }
        add();
        WANT[me].store(false, SeqCst);
    }
    let t = thread::spawn(|| section(1));
    section(0);
    t.join().unwrap();
    assert_eq!(N.load(SeqCst), 2, "never");
}

#[test]
fn fails_with_peterson_the_wrong_way_round() {
    static WANT: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
    static TURN: AtomicUsize = AtomicUsize::new(0);
    fn section(me: usize) {
        TURN.store(1 - me, SeqCst);
        WANT[me].store(true, SeqCst);
        while WANT[1 - me].load(SeqCst) && TURN.load(SeqCst) != me {
            spin_loop();
        }
        add();
        WANT[me].store(false, SeqCst);
    }
    let t = thread::spawn(|| section(1));
    section(0);
    t.join().unwrap();
    assert_eq!(N.load(SeqCst), 2, "lost");
}

#[test]
fn passes_with_a_sequence() {
    static SEQ: AtomicUsize = AtomicUsize::new(0);
    static A: AtomicU32 = AtomicU32::new(0);
    static B: AtomicU32 = AtomicU32::new(0);
    let t = thread::spawn(|| {
        SEQ.fetch_add(1, SeqCst);
        A.store(1, SeqCst);
        B.store(1, SeqCst);
        SEQ.fetch_add(1, SeqCst);
    });
    let (a, b) = loop {
        let before = SEQ.load(SeqCst);
        if before % 2 == 1 {
            spin_loop();
            continue;
        }
        let both = (A.load(SeqCst), B.load(SeqCst));
        if SEQ.load(SeqCst) == before {
            break both;
        }
    };
    t.join().unwrap();
    assert_eq!(a, b, "never");
}

thread_local! { static DEPTH: Cell<u32> = const { Cell::new(0) }; }

#[test]
fn passes_with_a_lock_that_may_be_taken_again() {
    static OWNER: AtomicUsize = AtomicUsize::new(0);
    fn enter(me: usize) {
        if OWNER.load(SeqCst) != me {
            while OWNER.compare_exchange(0, me, SeqCst, SeqCst).is_err() {
                spin_loop();
            }
        }
        DEPTH.set(DEPTH.get() + 1);
    }
    fn leave() {
        DEPTH.set(DEPTH.get() - 1);
        if DEPTH.get() == 0 {
            OWNER.store(0, SeqCst);
        }
    }
    fn both(me: usize) {
        enter(me);
        enter(me);
        add();
        leave();
        leave();
    }
    let t = thread::spawn(|| both(2));
    both(1);
    t.join().unwrap();
    assert_eq!(N.load(SeqCst), 2, "never");
}
