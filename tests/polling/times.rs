//! Loops that end by the clock, and what comes after their time. What is right of each harness is in `tests/polling.rs`.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_millis(20);

/// Looks again and again, but returns each time.
fn take(tokens: &AtomicU64) -> bool {
    loop {
        let left = tokens.load(SeqCst);
        if left == 0 {
            return false;
        }
        if tokens.compare_exchange_weak(left, left - 1, SeqCst, SeqCst).is_ok() {
            return true;
        }
    }
}

/// Two threads that do this until the time is over. Returns how often it succeeded.
fn both(turn: impl Fn() -> bool + Clone + Send + 'static) -> u64 {
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let turn = turn.clone();
            thread::spawn(move || {
                let start = Instant::now();
                let mut count = 0;
                while start.elapsed() < LIMIT {
                    if turn() {
                        count += 1;
                    }
                }
                count
            })
        })
        .collect();
    threads.into_iter().map(|it| it.join().unwrap()).sum()
}

// Each of these comes to its end.

#[test]
fn ends_with_a_loop_in_a_helper() {
    let tokens = Arc::new(AtomicU64::new(0));
    assert_eq!(both(move || take(&tokens)), 0);
}

/// A token a millisecond.
struct Limiter {
    began: Instant,
    last: AtomicU64,
    tokens: AtomicU64,
}

impl Limiter {
    fn try_wait(&self) -> bool {
        let now = self.began.elapsed().as_millis() as u64;
        let last = self.last.load(SeqCst);
        if now > last && self.last.compare_exchange(last, now, SeqCst, SeqCst).is_ok() {
            self.tokens.store(1, SeqCst);
        }
        take(&self.tokens)
    }
}

#[test]
fn ends_with_a_limiter() {
    let limiter = Limiter { began: Instant::now(), last: AtomicU64::new(0), tokens: AtomicU64::new(0) };
    let limiter = Arc::new(limiter);
    assert!(both(move || limiter.try_wait()) <= 40);
}

#[test]
fn ends_with_a_loop_in_the_loop() {
    let tokens = Arc::new(AtomicU64::new(0));
    let t = thread::spawn(move || {
        let end = Instant::now() + LIMIT;
        while Instant::now() < end {
            loop {
                let left = tokens.load(SeqCst);
                if left == 0 {
                    break;
                }
                if tokens.compare_exchange(left, left - 1, SeqCst, SeqCst).is_ok() {
                    return true;
                }
            }
            thread::sleep(Duration::from_millis(1));
        }
        false
    });
    assert!(!t.join().unwrap());
}

#[test]
fn ends_with_a_loop_around_messages() {
    let (sender, receiver) = mpsc::channel::<u32>();
    let t = thread::spawn(move || {
        let end = Instant::now() + LIMIT;
        let mut sum = 0;
        while Instant::now() < end {
            while let Ok(number) = receiver.try_recv() {
                sum += number;
            }
        }
        sum
    });
    assert_eq!(t.join().unwrap(), 0);
    drop(sender);
}

#[test]
fn ends_with_a_lock_that_is_tried() {
    let numbers = Arc::new(Mutex::new(Vec::<u32>::new()));
    let pop = move || loop {
        match numbers.try_lock() {
            Ok(mut numbers) => return numbers.pop().is_some(),
            Err(_) => continue,
        }
    };
    let t = thread::spawn(move || {
        let end = Instant::now() + LIMIT;
        loop {
            if pop() {
                return true;
            }
            if Instant::now() > end {
                return false;
            }
        }
    });
    assert!(!t.join().unwrap());
}

// No clock is looked at in the loop that waits for ever.

#[test]
fn waits_for_ever_inside_a_loop_with_a_clock() {
    let tokens = Arc::new(AtomicU64::new(0));
    let t = thread::spawn(move || {
        let start = Instant::now();
        while start.elapsed() < LIMIT {
            while tokens.load(SeqCst) == 0 {}
        }
    });
    t.join().unwrap();
}

// Each of these fails in each run: time is over.

#[test]
fn over_for_one_thread() {
    let flag = Arc::new(AtomicU64::new(0));
    let t = thread::spawn(move || {
        let start = Instant::now();
        while start.elapsed() < LIMIT {
            if flag.load(SeqCst) != 0 {
                return 1;
            }
        }
        0
    });
    assert_eq!(t.join().unwrap(), 1, "over");
}

#[test]
fn over_for_both_that_count() {
    let flag = Arc::new(AtomicU64::new(0));
    assert_eq!(both(move || flag.load(SeqCst) != 0), 1, "over");
}

#[test]
fn over_where_the_clock_comes_last() {
    let flag = Arc::new(AtomicU64::new(0));
    let t = thread::spawn(move || {
        let end = Instant::now() + LIMIT;
        while flag.load(SeqCst) == 0 && Instant::now() < end {
            thread::yield_now();
        }
        flag.load(SeqCst)
    });
    assert_eq!(t.join().unwrap(), 1, "over");
}

#[test]
fn over_when_something_else_is_written() {
    let flag = Arc::new(AtomicU64::new(0));
    let other = flag.clone();
    let t = thread::spawn(move || {
        let start = Instant::now();
        while start.elapsed() < LIMIT {
            if other.load(SeqCst) == 2 {
                return 1;
            }
        }
        0
    });
    flag.store(1, SeqCst);
    assert_eq!(t.join().unwrap(), 1, "over");
}

#[test]
fn over_for_the_harness() {
    let flag = Arc::new(AtomicU64::new(0));
    let other = flag.clone();
    let t = thread::spawn(move || other.store(1, SeqCst));
    let start = Instant::now();
    let mut seen = 0;
    while start.elapsed() < LIMIT {
        if flag.load(SeqCst) == 2 {
            seen = 1;
            break;
        }
    }
    t.join().unwrap();
    assert_eq!(seen, 1, "over");
}

#[test]
fn over_while_the_other_one_sleeps() {
    let flag = Arc::new(AtomicU64::new(0));
    let other = flag.clone();
    let t = thread::spawn(move || {
        let start = Instant::now();
        while start.elapsed() < LIMIT {
            if other.load(SeqCst) == 1 {
                return 1;
            }
        }
        0
    });
    thread::sleep(2 * LIMIT);
    flag.store(1, SeqCst);
    assert_eq!(t.join().unwrap(), 1, "over");
}

#[test]
fn over_for_an_inner_loop_of_one_without_a_time() {
    let flag = Arc::new(AtomicU64::new(0));
    let done = Arc::new(AtomicU64::new(0));
    let end = done.clone();
    let t = thread::spawn(move || {
        while end.load(SeqCst) == 0 {
            let start = Instant::now();
            while start.elapsed() < LIMIT && flag.load(SeqCst) == 0 {}
            assert!(flag.load(SeqCst) != 0, "over");
        }
    });
    t.join().unwrap();
    done.store(1, SeqCst);
}
