//! Loops that look again and again, and yet end by themselves: each runs as it is written, and what comes after it is judged.

use std::collections::VecDeque;
use std::iter;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, RwLock, mpsc};
use std::thread;

static STOP: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicU32 = AtomicU32::new(0);

fn add(n: &AtomicU32) {
    let seen = n.load(SeqCst);
    n.store(seen + 1, SeqCst);
}

/// Adds in two threads, after each has done this, and looks whether both are counted.
fn loses(before: impl Fn() + Copy + Send + 'static) {
    let t = thread::spawn(move || {
        before();
        add(&COUNT);
    });
    before();
    add(&COUNT);
    t.join().unwrap();
    assert_eq!(COUNT.load(SeqCst), 2, "lost after the loop");
}

#[test]
fn fails_after_any_of_a_range() {
    loses(|| assert!(!(0..6).any(|_| STOP.load(SeqCst)), "never"));
}

#[test]
fn fails_after_what_is_repeated() {
    loses(|| {
        let seen = iter::repeat_with(|| STOP.load(SeqCst))
            .take(5)
            .filter(|seen| *seen)
            .count();
        assert_eq!(seen, 0, "never");
    });
}

#[test]
fn fails_after_a_loop_with_a_last_turn() {
    loses(|| {
        let mut turn = 0;
        loop {
            if STOP.load(SeqCst) {
                return;
            }
            turn += 1;
            if turn == 5 {
                break;
            }
        }
    });
}

#[test]
fn fails_after_a_recursion() {
    fn look(left: u32) -> bool {
        STOP.load(SeqCst) || left > 0 && look(left - 1)
    }
    loses(|| assert!(!look(6), "never"));
}

#[test]
fn fails_after_one_loop_in_another() {
    loses(|| {
        'all: for _ in 0..3 {
            for _ in 0..3 {
                if STOP.load(SeqCst) {
                    break 'all;
                }
            }
        }
    });
}

#[test]
fn fails_after_what_counts_down() {
    loses(|| {
        let mut left = 6u32;
        while let Some(less) = left.checked_sub(1) {
            if STOP.load(SeqCst) {
                break;
            }
            left = less;
        }
    });
}

struct Retry {
    left: u32,
}

impl Retry {
    fn again(&mut self) -> Result<(), String> {
        self.left = self.left.checked_sub(1).ok_or_else(|| "tired".to_owned())?;
        Ok(())
    }
}

fn wait_by_retries(retry: &mut Retry) -> Result<(), String> {
    while !STOP.load(SeqCst) {
        retry.again()?;
    }
    Ok(())
}

#[test]
fn fails_after_retries_that_end_with_an_error() {
    loses(|| {
        assert_eq!(
            wait_by_retries(&mut Retry { left: 5 }),
            Err("tired".to_owned()),
            "never"
        )
    });
}

#[test]
fn fails_after_what_takes_from_a_list() {
    loses(|| {
        let mut jobs: VecDeque<u32> = (0..5).collect();
        let mut sum = 0;
        while let Some(job) = jobs.pop_front() {
            if STOP.load(SeqCst) {
                break;
            }
            sum += job;
        }
        assert_eq!(sum, 10, "never");
    });
}

trait Source {
    fn has_stopped(&self) -> bool;
    fn rounds(&self) -> u32 {
        6
    }
}

struct Global;
impl Source for Global {
    fn has_stopped(&self) -> bool {
        STOP.load(SeqCst)
    }
}

fn run(source: &dyn Source) -> u32 {
    let mut round = 0;
    while round < source.rounds() && !source.has_stopped() {
        round += 1;
    }
    round
}

#[test]
fn fails_after_a_loop_over_a_trait_object() {
    loses(|| assert_eq!(run(&Global), 6, "never"));
}

fn run_generic<S: Source>(source: S, mut each: impl FnMut(u32)) {
    for round in 0..source.rounds() {
        if source.has_stopped() {
            break;
        }
        each(round);
    }
}

#[test]
fn fails_after_a_generic_loop() {
    loses(|| {
        let mut seen = Vec::new();
        run_generic(Global, |round| seen.push(round));
        assert_eq!(seen.len(), 6, "never");
    });
}

macro_rules! up_to {
    ($turns:expr, $until:expr) => {{
        let mut turns = 0;
        while turns != $turns && !$until {
            turns += 1;
        }
    }};
}

#[test]
fn fails_after_a_loop_of_a_macro() {
    loses(|| up_to!(6, STOP.load(SeqCst)));
}

#[test]
fn fails_after_looking_at_a_lock() {
    static LOCK: Mutex<bool> = Mutex::new(false);
    loses(|| {
        for _ in 0..3 {
            if *LOCK.lock().unwrap() {
                break;
            }
        }
    });
}

#[test]
fn fails_after_looking_through_read_guards() {
    static LOCK: RwLock<bool> = RwLock::new(false);
    loses(|| (0..2).for_each(|_| assert!(!*LOCK.read().unwrap(), "never")));
}

#[test]
fn fails_after_a_budget_that_all_share() {
    static LEFT: AtomicU32 = AtomicU32::new(4);
    let t = thread::spawn(|| {
        while LEFT
            .fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1))
            .is_ok()
        {}
        add(&COUNT);
    });
    add(&COUNT);
    t.join().unwrap();
    assert_eq!(COUNT.load(SeqCst), 2, "lost after the loop");
}

#[test]
fn fails_for_who_gives_up() {
    let ready = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&ready);
    let t = thread::spawn(move || other.store(1, SeqCst));
    let found = (0..20)
        .map(|_| ready.load(SeqCst))
        .find(|found| *found == 1);
    t.join().unwrap();
    assert!(found.is_some(), "gave up");
}

#[test]
fn fails_with_three_that_sample() {
    let flags: Arc<[AtomicBool]> = (0..3).map(|_| AtomicBool::new(false)).collect();
    thread::scope(|scope| {
        let flags = &flags;
        scope.spawn(move || flags[0].store(true, SeqCst));
        scope.spawn(move || {
            let seen = (0..5).filter(|_| flags[0].load(SeqCst)).count();
            assert!(seen != 3, "three of five");
        });
    });
}

#[test]
fn passes_with_a_queue_that_is_tried_a_few_times() {
    let (sender, receiver) = mpsc::channel();
    let t = thread::spawn(move || sender.send(7).unwrap());
    let mut found = None;
    for _ in 0..5 {
        if let Ok(value) = receiver.try_recv() {
            found = Some(value);
            break;
        }
    }
    t.join().unwrap();
    assert!(matches!(found, None | Some(7)), "never");
}

#[test]
fn fails_if_a_queue_is_tried_too_seldom() {
    let (sender, receiver) = mpsc::channel();
    let t = thread::spawn(move || sender.send(7).unwrap());
    let found = (0..6).find_map(|_| receiver.try_recv().ok());
    t.join().unwrap();
    assert_eq!(found, Some(7), "too seldom");
}

#[test]
fn passes_with_two_workers_that_are_stopped() {
    let stop = Arc::new(AtomicBool::new(false));
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let stop = stop.clone();
            thread::spawn(move || (0..6).take_while(|_| !stop.load(SeqCst)).count())
        })
        .collect();
    stop.store(true, SeqCst);
    for worker in workers {
        assert!(worker.join().unwrap() <= 6, "never");
    }
}

#[test]
fn passes_with_an_exchange_that_is_tried_thrice() {
    static SLOT: AtomicU32 = AtomicU32::new(0);
    let take = || (0..3).any(|_| SLOT.compare_exchange(0, 1, SeqCst, SeqCst).is_ok());
    let t = thread::spawn(take);
    let mine = take();
    assert!(mine != t.join().unwrap(), "never");
}

fn two<T>(make: T) -> (Arc<T>, Arc<T>) {
    let one = Arc::new(make);
    (one.clone(), one)
}

#[test]
fn fails_after_looking_often() {
    let (n, flag) = (two(AtomicU32::new(0)), two(AtomicBool::new(false)));
    let t = thread::spawn(move || {
        for _ in 0..20 {
            if flag.1.load(SeqCst) {
                break;
            }
        }
        add(&n.1);
    });
    add(&n.0);
    t.join().unwrap();
    assert_eq!(n.0.load(SeqCst), 2);
    drop(flag.0);
}

#[test]
fn fails_after_a_counted_spin() {
    let (n, ready) = (two(AtomicU32::new(0)), two(AtomicBool::new(false)));
    let t = thread::spawn(move || {
        ready.1.store(true, SeqCst);
        add(&n.1);
    });
    let mut turns = 0;
    while !ready.0.load(SeqCst) && turns < 6 {
        turns += 1;
    }
    add(&n.0);
    t.join().unwrap();
    assert_eq!(n.0.load(SeqCst), 2);
}

#[test]
fn fails_if_all_samples_are_alike() {
    let level = two(AtomicU32::new(7));
    let t = thread::spawn(move || level.1.store(8, SeqCst));
    let samples: Vec<_> = (0..9).map(|_| level.0.load(SeqCst)).collect();
    t.join().unwrap();
    assert!(
        samples.iter().any(|sample| *sample == 7),
        "the last value was there from the start"
    );
}

#[test]
fn passes_whoever_stops() {
    let (stop, done) = (two(AtomicBool::new(false)), two(AtomicU32::new(0)));
    let t = thread::spawn(move || {
        let mut n = 0;
        while !stop.1.load(SeqCst) && n < 5 {
            n += 1;
        }
        done.1.store(n, SeqCst);
    });
    stop.0.store(true, SeqCst);
    t.join().unwrap();
    assert!(done.0.load(SeqCst) <= 5);
}

#[test]
fn passes_with_two_that_sample() {
    let (a, b) = (two(AtomicU32::new(0)), two(AtomicU32::new(0)));
    let t = thread::spawn(move || (0..6).map(|_| a.1.load(SeqCst)).sum::<u32>() + b.1.load(SeqCst));
    let sum: u32 = (0..6).map(|_| b.0.load(SeqCst)).sum();
    assert_eq!(sum + t.join().unwrap() + a.0.load(SeqCst), 0);
}
