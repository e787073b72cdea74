//! Write guards that become read guards.

use seqz_explore::{CachedDpor, Dfs, Dpor, HbrCache, Odpor};
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::{RwLock, RwLockWriteGuard};
use seqz_runtime::std::thread;

use super::{Note, Seen, explore, set};

/// What all strategies see that don't look at values.
fn all(program: impl Fn(Note<'_>)) -> Seen {
    let seen = explore(u64::MAX, false, Dfs::new(), &program).unwrap();
    for (name, other) in [
        ("odpor", explore(u64::MAX, false, Odpor::new(), &program)),
        ("dpor", explore(u64::MAX, false, Dpor::new(), &program)),
        (
            "hbr-cache",
            explore(u64::MAX, false, HbrCache::new(), &program),
        ),
        (
            "hbr-cache+dpor",
            explore(u64::MAX, false, CachedDpor::new(), &program),
        ),
    ] {
        assert_eq!(other.unwrap(), seen, "{name}");
    }
    seen
}

#[test]
fn nobody_writes_between_the_two_guards() {
    let seen = all(|note| {
        let lock = RwLock::new(0);
        let mine = thread::scope(|scope| {
            let other = scope.spawn(|| {
                let mut guard = lock.write().unwrap();
                *guard += 10;
            });
            let mut guard = lock.write().unwrap();
            *guard += 1;
            let written = *guard;
            let guard = RwLockWriteGuard::downgrade(guard);
            assert_eq!(*guard, written, "somebody wrote");
            let mine = *guard;
            drop(guard);
            other.join().unwrap();
            mine
        });
        note(format!("{mine} {}", *lock.read().unwrap()));
    });
    assert_eq!(seen, set(&["1 11", "11 11"]));
}

#[test]
fn others_read_beside_the_reader_that_was_a_writer() {
    let seen = all(|note| {
        let lock = RwLock::new(0);
        let inside = AtomicU32::new(0);
        let beside = thread::scope(|scope| {
            let other = scope.spawn(|| {
                let guard = lock.read().unwrap();
                inside.store(1 + *guard, SeqCst);
            });
            let mut guard = lock.write().unwrap();
            *guard = 1;
            let before = inside.load(SeqCst);
            let guard = RwLockWriteGuard::downgrade(guard);
            let after = inside.load(SeqCst);
            drop(guard);
            other.join().unwrap();
            format!("{before} {after}")
        });
        note(beside);
    });
    // It has read before, or it reads beside the reader, or after that.
    assert_eq!(seen, set(&["1 1", "0 2", "0 0"]));
}

#[test]
fn who_tries_fails_before_and_succeeds_after() {
    let seen = all(|note| {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let reads = lock.try_read().is_ok();
                (reads, lock.try_write().is_ok())
            });
            let guard = RwLockWriteGuard::downgrade(lock.write().unwrap());
            assert_eq!(*guard, 0);
            drop(guard);
            let (reads, writes) = other.join().unwrap();
            note(format!("{reads} {writes}"));
        });
    });
    assert_eq!(
        seen,
        set(&["true true", "true false", "false true", "false false"])
    );
}
