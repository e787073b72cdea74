//! Poison flags.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use seqz_explore::random_numbers::RandomNumbers;
use seqz_runtime::std::sync::{Mutex, RwLock};
use seqz_runtime::std::thread;

use super::{DFS, Note, all, check, set};

/// Panics under a guard, and goes on.
fn poison(lock: &Mutex<u32>) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let mut value = lock.lock().unwrap_or_else(|error| error.into_inner());
        *value += 1;
        panic!("under the guard");
    }));
}

#[test]
fn asking_for_the_flag_is_a_read_of_it() {
    let program = |note: Note<'_>| {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || poison(&other));
        let seen = (lock.is_poisoned(), lock.is_poisoned());
        thread.join().unwrap();
        note(format!("{seen:?} {}", lock.is_poisoned()));
    };
    let seen = [
        "(false, false) true",
        "(false, true) true",
        "(true, true) true",
    ];
    assert_eq!(all(program), set(&seen));
}

#[test]
fn clearing_the_flag_is_a_write_of_it() {
    let program = |note: Note<'_>| {
        let lock = Arc::new(Mutex::new(0));
        let (first, second) = (Arc::clone(&lock), Arc::clone(&lock));
        let first = thread::spawn(move || poison(&first));
        let second = thread::spawn(move || second.clear_poison());
        let seen = lock.lock().is_err();
        first.join().unwrap();
        second.join().unwrap();
        note(format!("{seen} {}", lock.lock().is_err()));
    };
    let seen = ["false false", "false true", "true false", "true true"];
    assert_eq!(all(program), set(&seen));
}

#[test]
fn a_read_write_lock_is_poisoned_by_writers_only() {
    for writes in [false, true] {
        let program = move |note: Note<'_>| {
            let lock = Arc::new(RwLock::new(0));
            let other = Arc::clone(&lock);
            let thread = thread::spawn(move || {
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    let _guards = if writes {
                        (None, Some(other.write().unwrap()))
                    } else {
                        (Some(other.read().unwrap()), None)
                    };
                    panic!("under the guard");
                }));
            });
            let tried = match lock.try_read() {
                Ok(_) => "read",
                Err(std::sync::TryLockError::Poisoned(_)) => "poisoned",
                Err(std::sync::TryLockError::WouldBlock) => "held",
            };
            let seen = lock.read().is_err();
            thread.join().unwrap();
            note(format!("{tried} {seen} {}", lock.write().is_err()));
        };
        let seen: &[&str] = if writes {
            &[
                "held true true",
                "poisoned true true",
                "read false true",
                "read true true",
            ]
        } else {
            &["read false false"]
        };
        assert_eq!(all(program), set(seen), "{writes}");
    }
}

#[test]
fn whoever_has_the_lock_for_itself_keeps_its_flag() {
    let program = |note: Note<'_>| {
        let mut lock = Mutex::new(0);
        poison(&lock);
        let first = lock.get_mut().is_err();
        let second = lock.is_poisoned();
        lock.clear_poison();
        let third = lock.lock().is_err();
        poison(&lock);
        note(format!(
            "{first} {second} {third} {}",
            lock.into_inner().is_err()
        ));
    };
    assert_eq!(all(program), set(&["true true false true"]));
}

#[test]
fn a_destructor_sees_the_flag_that_its_own_thread_sets() {
    struct Asks(Arc<Mutex<u32>>);
    impl Drop for Asks {
        fn drop(&mut self) {
            let seen = (self.0.is_poisoned(), self.0.lock().is_err());
            assert_eq!(seen, (true, true));
        }
    }
    let program = |note: Note<'_>| {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let result = catch_unwind(AssertUnwindSafe(|| {
            let _asks = Asks(Arc::clone(&other));
            let _value = other.lock().unwrap();
            panic!("under the guard");
        }));
        note(format!("{} {}", result.is_err(), lock.is_poisoned()));
    };
    assert_eq!(all(program), set(&["true true"]));
}

#[test]
fn the_sequential_program_sees_what_a_panic_left() {
    let found = check(&set(&["0", "11"]), || {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || poison(&other));
        let seen = match lock.lock() {
            Ok(value) => *value,
            Err(error) => 10 + *error.into_inner(),
        };
        thread.join().unwrap();
        seen.to_string()
    });
    // The flag comes with the value.
    assert_eq!(found, [("0".to_owned(), 0), ("11".to_owned(), 1)].into());
}

#[test]
fn the_sequential_program_sees_the_flag_by_itself() {
    let seen = [
        ("(false, false)", 0),
        ("(false, true)", 1),
        ("(true, false)", 2),
        ("(true, true)", 1),
    ];
    let found = check(&set(&seen.map(|(text, _)| text)), || {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            poison(&other);
            other.clear_poison();
        });
        let seen = (lock.is_poisoned(), lock.is_poisoned());
        thread.join().unwrap();
        format!("{seen:?}")
    });
    assert_eq!(found, seen.map(|(text, k)| (text.to_owned(), k)).into());
}

/// What a thread of a random program does.
#[derive(Clone, Copy, Debug)]
enum Act {
    Poison,
    Lock,
    TryLock,
    Write,
    Ask,
    Clear,
    ClearUnderLock,
}

fn act(act: Act, lock: &Mutex<u32>) -> String {
    match act {
        Act::Poison => {
            poison(lock);
            "p".to_owned()
        }
        Act::Lock => match lock.lock() {
            Ok(value) => format!("{}", *value),
            Err(error) => format!("!{}", **error.get_ref()),
        },
        Act::TryLock => match lock.try_lock() {
            Ok(value) => format!("{}", *value),
            Err(std::sync::TryLockError::Poisoned(error)) => format!("!{}", **error.get_ref()),
            Err(std::sync::TryLockError::WouldBlock) => "held".to_owned(),
        },
        Act::Write => {
            let mut value = lock.lock().unwrap_or_else(|error| error.into_inner());
            *value += 10;
            "w".to_owned()
        }
        Act::Ask => format!("{}", lock.is_poisoned()),
        Act::Clear => {
            lock.clear_poison();
            "c".to_owned()
        }
        Act::ClearUnderLock => {
            let guard = lock.lock();
            let seen = guard.is_err();
            lock.clear_poison();
            format!("{seen}")
        }
    }
}

fn random(numbers: &mut RandomNumbers, threads: u64) -> Vec<Vec<Act>> {
    let acts = [
        Act::Poison,
        Act::Poison,
        Act::Lock,
        Act::TryLock,
        Act::Write,
        Act::Ask,
        Act::Clear,
        Act::ClearUnderLock,
    ];
    let act = |numbers: &mut RandomNumbers| {
        acts[usize::try_from(numbers.below(acts.len() as u64)).unwrap()]
    };
    (0..threads)
        .map(|_| (0..=numbers.below(2)).map(|_| act(numbers)).collect())
        .collect()
}

/// The harness's own thread does what is first, and tells what all have seen.
fn run(program: &[Vec<Act>]) -> String {
    let lock = Arc::new(Mutex::new(0));
    let threads: Vec<_> = program[1..]
        .iter()
        .cloned()
        .map(|acts| {
            let lock = Arc::clone(&lock);
            thread::spawn(move || acts.iter().map(|&one| act(one, &lock)).collect::<Vec<_>>())
        })
        .collect();
    let mut seen = vec![
        program[0]
            .iter()
            .map(|&one| act(one, &lock))
            .collect::<Vec<_>>(),
    ];
    for thread in threads {
        seen.push(thread.join().unwrap());
    }
    format!("{seen:?} {:?}", lock.is_poisoned())
}

#[test]
fn random_programs_see_the_same_by_all_strategies() {
    let mut numbers = RandomNumbers::new(1);
    for _ in 0..300 {
        let threads = 2 + numbers.below(2);
        let program = random(&mut numbers, threads);
        all(|note| note(run(&program)));
    }
}

#[test]
fn random_programs_see_in_sequence_what_they_see_in_schedules() {
    let mut numbers = RandomNumbers::new(2);
    let (mut same, mut fewer) = (0, 0);
    for _ in 0..400 {
        let program = random(&mut numbers, 2);
        let schedules = super::explore(DFS, false, seqz_explore::Dfs::new(), |note| {
            note(run(&program));
        })
        .unwrap();
        let of_check = program.clone();
        let found = check(&schedules, move || run(&of_check));
        let found: super::Seen = found.into_keys().collect();
        if found == schedules {
            same += 1;
        } else {
            fewer += 1;
        }
    }
    assert!(same > 5 * fewer, "{same} the same, {fewer} fewer");
}
