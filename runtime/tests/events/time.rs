//! Virtual time.

use std::sync::Arc;
use std::time::Duration;

use seqz_explore::random_numbers::RandomNumbers;
use seqz_explore::{CachedDpor, Dfs, Dpor, HbrCache, LazyDpor, Mcr, Odpor, RvCausal, Strategy};
use seqz_runtime::loops::Loop;
use seqz_runtime::scheduled::{Idle, Settings};
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::mpsc::channel;
use seqz_runtime::std::sync::{Condvar, Mutex, RwLock};
use seqz_runtime::std::thread;
use seqz_runtime::system;

use super::{DFS, Note, Open, Seen, search};

/// What the thread's clock says, in seconds: as a worker's programs, which have this function in the place of C's.
fn now() -> i64 {
    // SAFETY: the result is not to be written anywhere else.
    unsafe { system::time(std::ptr::null_mut()) }
}

/// What a thread does.
#[derive(Clone, Copy, Debug)]
enum Step {
    Sleep(u64),
    Look,
    /// Takes the lock and gives it back.
    Lock,
    Increment,
    TryLock,
    Read,
    TryRead,
    WriteLock,
    /// Stores what is there.
    Store,
    Add,
    Load,
}

/// Three threads, the last of them the harness.
type Program = [Vec<Step>; 3];

fn program(seed: u64) -> Program {
    let mut numbers = RandomNumbers::new(seed);
    [0, 1, 2].map(|_| {
        let length = 1 + numbers.below(4);
        let mut step = |_| match numbers.below(13) {
            0 | 1 => Step::Sleep(1 << numbers.below(8)),
            2 | 3 => Step::Look,
            4 => Step::Lock,
            5 => Step::Increment,
            6 => Step::TryLock,
            7 => Step::Read,
            8 => Step::TryRead,
            9 => Step::WriteLock,
            10 => Step::Store,
            11 => Step::Add,
            _ => Step::Load,
        };
        (0..length).map(&mut step).collect()
    })
}

#[derive(Default)]
struct Shared {
    lock: Mutex<u32>,
    shared: RwLock<u32>,
    atomic: AtomicU32,
}

/// What a thread sees.
fn run(steps: &[Step], shared: &Shared, start: i64) -> Vec<i64> {
    let mut seen = Vec::new();
    for step in steps {
        match step {
            Step::Sleep(seconds) => thread::sleep(Duration::from_secs(*seconds)),
            Step::Look => seen.push(now() - start),
            Step::Lock => drop(shared.lock.lock().unwrap()),
            Step::Increment => *shared.lock.lock().unwrap() += 1,
            Step::TryLock => seen.push(i64::from(shared.lock.try_lock().is_ok())),
            Step::Read => drop(shared.shared.read().unwrap()),
            Step::TryRead => seen.push(i64::from(shared.shared.try_read().is_ok())),
            Step::WriteLock => drop(shared.shared.write().unwrap()),
            Step::Store => shared.atomic.store(0, SeqCst),
            Step::Add => seen.push(i64::from(shared.atomic.fetch_add(1, SeqCst))),
            Step::Load => seen.push(i64::from(shared.atomic.load(SeqCst))),
        }
    }
    seen
}

fn runs(program: Program) -> impl Fn(Note<'_>) {
    move |note| {
        let start = now();
        let shared = Arc::new(Shared::default());
        let [one, other, own] = program.clone();
        let threads = [one, other].map(|steps| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || run(&steps, &shared, start))
        });
        let own = run(&own, &shared, start);
        let others = threads.map(|thread| thread.join().unwrap());
        // The times of the threads come together here.
        note(format!("{own:?} {others:?} {}", now() - start));
    }
}

/// What a strategy sees, and whether it leaves time open.
fn explore(
    values: bool,
    strategy: impl Strategy,
    program: impl Fn(Note<'_>),
) -> Option<(Seen, bool)> {
    let settings = Settings {
        values,
        ..Settings::default()
    };
    search(settings, DFS, strategy, program).map(|(seen, open)| (seen, open.time))
}

/// Whether the searches over values and the lazy ones, where they don't see all that is `right`, leave time open. How many
/// left it open, and how many saw less.
fn hold_against(right: &Seen, program: impl Fn(Note<'_>)) -> (usize, usize) {
    let all = [
        ("lazy-dpor", explore(true, LazyDpor::new(), &program)),
        ("lazy-hbr", explore(true, HbrCache::lazy(), &program)),
        ("lazy-hbr+dpor", explore(true, CachedDpor::lazy(), &program)),
        ("mcr", explore(true, Mcr::new(), &program)),
        ("rv-causal", explore(true, RvCausal::new(), &program)),
    ];
    let (mut opens, mut misses) = (0, 0);
    for (name, seen) in all {
        let Some((seen, is_open)) = seen else {
            continue;
        };
        assert!(seen.is_subset(right), "{name} sees {seen:#?}");
        assert!(
            is_open || seen == *right,
            "{name} misses some of {right:#?}"
        );
        opens += usize::from(is_open);
        misses += usize::from(seen != *right);
    }
    (opens, misses)
}

#[test]
fn random_programs_see_the_same_times_or_leave_them_open() {
    let (mut compared, mut open, mut missed) = (0, 0, 0);
    for seed in 0..100 {
        let program = program(seed);
        let Some((right, _)) = explore(false, Dfs::new(), runs(program.clone())) else {
            continue;
        };
        compared += 1;
        let of = |seen: Option<(Seen, bool)>| seen.map(|(seen, _)| seen);
        let odpor = of(explore(false, Odpor::new(), runs(program.clone())));
        assert_eq!(odpor.as_ref(), Some(&right), "odpor, {program:?}");
        let dpor = of(explore(false, Dpor::new(), runs(program.clone())));
        assert_eq!(dpor.as_ref(), Some(&right), "dpor, {program:?}");
        let (opens, misses) = hold_against(&right, runs(program));
        open += opens;
        missed += misses;
    }
    println!("{compared} programs, {open} searches leave time open, {missed} see less");
    assert!(compared > 60 && missed > 5 && open < 4 * compared);
}

#[test]
fn an_empty_critical_section_hands_time_on() {
    use Step::{Load, Lock, Look, Read, Sleep, Store, WriteLock};
    let programs: [Program; 4] = [
        [vec![Sleep(8), Lock], vec![Lock, Look], vec![]],
        [vec![Sleep(8), Store], vec![Load, Look], vec![]],
        [vec![Sleep(8), Load], vec![Store, Look], vec![]],
        [vec![Sleep(8), Read], vec![WriteLock, Look], vec![]],
    ];
    for program in programs {
        let (right, _) = explore(false, Odpor::new(), runs(program.clone())).unwrap();
        assert_eq!(right.len(), 2, "{program:?}");
        let (opens, _) = hold_against(&right, runs(program));
        assert!(opens == 5, "all of them say so: {opens}");
    }
}

#[test]
fn what_no_order_changes_is_not_left_open() {
    use Step::{Add, Load, Lock, Look, Sleep};
    let programs: [Program; 3] = [
        // Who sleeps is joined, or shares nothing with who looks.
        [vec![Sleep(8)], vec![Sleep(4), Lock], vec![Load]],
        [vec![Sleep(8), Look, Look], vec![Add], vec![Load]],
        [vec![Add, Sleep(8), Look], vec![Add, Look], vec![Look, Load]],
    ];
    for program in programs {
        let (right, _) = explore(false, Dfs::new(), runs(program.clone())).unwrap();
        assert_eq!(hold_against(&right, runs(program)), (0, 0));
    }
}

/// The same, in nanoseconds.
fn precisely() -> Duration {
    const MONOTONIC: i32 = 1;
    let mut time = [0_i64; 2];
    // SAFETY: it writes two numbers.
    unsafe { system::clock_gettime(MONOTONIC, (&raw mut time).cast()) };
    let [seconds, nanoseconds] = time.map(|it| u64::try_from(it).unwrap());
    Duration::new(seconds, u32::try_from(nanoseconds).unwrap())
}

/// What a thread waits with, for as long as this.
#[derive(Clone, Copy, Debug)]
enum Wait {
    Sleep,
    Park,
    Receive,
    Condvar,
}

impl Wait {
    fn wait(self, left: Duration) {
        match self {
            Self::Sleep => thread::sleep(left),
            Self::Park => thread::park_timeout(left),
            Self::Receive => {
                let (_sender, receiver) = channel::<()>();
                assert!(receiver.recv_timeout(left).is_err());
            }
            Self::Condvar => {
                let (lock, condvar) = (Mutex::new(()), Condvar::new());
                let guard = lock.lock().unwrap();
                drop(condvar.wait_timeout(guard, left).unwrap());
            }
        }
    }
}

const WAITS: [Wait; 4] = [Wait::Sleep, Wait::Park, Wait::Receive, Wait::Condvar];

const LIMIT: Duration = Duration::from_millis(100);

/// What all strategies see of a program that looks at clocks, and whether some time might have come elsewhere.
fn all_in_time(program: impl Fn(Note<'_>)) -> (Seen, bool) {
    let of = |seen: Option<(Seen, Open)>| seen.map(|(seen, open)| (seen, open.passing));
    let settings = |values| Settings {
        values,
        idle: if values {
            Idle::EndsByValues
        } else {
            Idle::Ends
        },
        ..Settings::default()
    };
    let right = of(search(settings(false), DFS, Odpor::new(), &program)).unwrap();
    for (name, seen) in [
        ("dfs", search(settings(false), DFS, Dfs::new(), &program)),
        ("dpor", search(settings(false), DFS, Dpor::new(), &program)),
        (
            "lazy-dpor",
            search(settings(true), DFS, LazyDpor::new(), &program),
        ),
        ("mcr", search(settings(true), DFS, Mcr::new(), &program)),
    ] {
        let seen = of(seen);
        assert!(
            seen.as_ref().is_none_or(|it| *it == right),
            "{name} sees {seen:#?}, odpor {right:#?}"
        );
    }
    right
}

#[test]
fn whoever_waits_for_what_is_left_of_a_time_waits_once() {
    for wait in WAITS {
        for marked in [false, true] {
            let (seen, passing) = all_in_time(move |note| {
                let shared = Arc::new(AtomicU32::new(0));
                let theirs = Arc::clone(&shared);
                let other = thread::spawn(move || theirs.fetch_add(1, SeqCst));
                let start = precisely();
                let mut rounds = 0;
                let mut waits = marked.then(Loop::new);
                while let Some(left) = LIMIT.checked_sub(precisely() - start) {
                    if let Some(waits) = &mut waits {
                        waits.turn();
                    }
                    wait.wait(left);
                    rounds += 1;
                }
                other.join().unwrap();
                let late = precisely() - start - LIMIT;
                note(format!("{rounds} {}", late < LIMIT / 100));
            });
            assert_eq!(
                seen,
                Seen::from(["1 true".to_owned()]),
                "{wait:?}, {marked}"
            );
            assert!(passing, "the other one may hold it up");
        }
    }
}

#[test]
fn sleeps_in_loops_are_as_many_as_fit_into_the_time() {
    // As a plain interpreter would have it: a sleep takes a little longer than it was to, as Linux has it.
    let right = |limit: Duration, sleep: Duration| {
        let (mut now, mut rounds) = (Duration::ZERO, 0);
        while now < limit {
            now += sleep + Duration::from_micros(50);
            rounds += 1;
        }
        rounds
    };
    let mut numbers = RandomNumbers::new(7);
    for _ in 0..10 {
        let sleep = Duration::from_micros(1 + numbers.below(2_000));
        let limit = sleep * (1 + numbers.below(60) as u32) / 2;
        let (seen, passing) = all_in_time(move |note| {
            let shared = Arc::new(AtomicU32::new(0));
            let theirs = Arc::clone(&shared);
            let other = thread::spawn(move || theirs.fetch_add(1, SeqCst));
            let (start, mut rounds) = (precisely(), 0);
            while precisely() - start < limit {
                thread::sleep(sleep);
                rounds += 1;
            }
            shared.fetch_add(1, SeqCst);
            other.join().unwrap();
            note(format!("{rounds}"));
        });
        assert_eq!(
            seen,
            Seen::from([right(limit, sleep).to_string()]),
            "{limit:?} {sleep:?}"
        );
        assert!(passing, "the other one may hold it up");
    }
}

/// Whether a thread may see in this program that others hold it up.
const BETWEEN_LOOKS: [(bool, fn()); 12] = [
    (true, || {
        let start = precisely();
        let other = thread::spawn(|| thread::sleep(LIMIT));
        let _ = precisely() - start;
        other.join().unwrap();
    }),
    (true, || {
        let start = precisely();
        thread::spawn(|| ()).join().unwrap();
        let _ = precisely() - start;
    }),
    (true, || {
        let start = precisely();
        let other = thread::spawn(move || precisely() - start);
        other.join().unwrap();
    }),
    (true, || {
        let lock = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&lock);
        let other = thread::spawn(move || *theirs.lock().unwrap() = 1);
        let start = precisely();
        drop(lock.lock().unwrap());
        let _ = precisely() - start;
        other.join().unwrap();
    }),
    (true, || {
        let other = thread::spawn(|| {
            let start = precisely();
            precisely() - start
        });
        AtomicU32::new(0).store(1, SeqCst);
        other.join().unwrap();
    }),
    (true, || {
        let start = precisely();
        let one = thread::spawn(|| ());
        let other = thread::spawn(move || {
            one.join().unwrap();
            precisely() - start
        });
        other.join().unwrap();
    }),
    // Nobody else is there.
    (false, || {
        thread::spawn(|| ()).join().unwrap();
        let start = precisely();
        let _ = precisely() - start;
        thread::spawn(|| ()).join().unwrap();
    }),
    (false, || {
        let other = thread::spawn(|| {
            let start = precisely();
            precisely() - start
        });
        other.join().unwrap();
    }),
    (false, || {
        let one = thread::spawn(|| ());
        let other = thread::spawn(move || {
            one.join().unwrap();
            let start = precisely();
            let _ = precisely() - start;
            thread::spawn(|| ()).join().unwrap();
        });
        other.join().unwrap();
    }),
    (false, || {
        let start = precisely();
        let _ = precisely() - start;
        thread::spawn(|| AtomicU32::new(0).store(1, SeqCst))
            .join()
            .unwrap();
    }),
    // There is nothing to hold it against.
    (false, || {
        let other = thread::spawn(precisely);
        AtomicU32::new(0).store(1, SeqCst);
        other.join().unwrap();
    }),
    (false, || {
        let other = thread::spawn(|| thread::sleep(LIMIT));
        thread::sleep(LIMIT);
        other.join().unwrap();
    }),
];

#[test]
fn who_looks_again_sees_how_long_others_have_held_it_up() {
    for (at, (expected, program)) in BETWEEN_LOOKS.into_iter().enumerate() {
        let (_, passing) = all_in_time(|_| program());
        assert_eq!(passing, expected, "{at}");
    }
}

#[test]
fn a_time_that_may_come_while_others_could_run_is_open() {
    for sleep in [Duration::ZERO, Duration::from_millis(1)] {
        let waits = move |joins_first: bool| {
            move |note: Note<'_>| {
                let flag = Arc::new(AtomicU32::new(0));
                let theirs = Arc::clone(&flag);
                let other = thread::spawn(move || theirs.load(SeqCst));
                let other = if joins_first {
                    other.join().unwrap();
                    None
                } else {
                    Some(other)
                };
                let start = precisely();
                let mut waits = Loop::new();
                loop {
                    waits.turn();
                    if flag.load(SeqCst) == 1 || precisely() - start > LIMIT {
                        break;
                    }
                    if !sleep.is_zero() {
                        thread::sleep(sleep);
                    }
                }
                drop(waits);
                note("in time".to_owned());
                if let Some(other) = other {
                    other.join().unwrap();
                }
            }
        };
        let (seen, passing) = all_in_time(waits(true));
        assert!(seen.len() == 1 && !passing, "nobody else is there");
        let (_, passing) = all_in_time(waits(false));
        assert!(passing);
    }
}
