//! What an execution of P̂ₖ costs besides the program: nothing is allocated per event, and nothing is left behind.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::Ordering::SeqCst;

use seqz_runtime::engine::Ending;
use seqz_runtime::input::Random;
use seqz_runtime::std::sync::atomic::AtomicU32;
use seqz_runtime::std::sync::{Mutex, RwLock};
use seqz_runtime::std::thread;
use seqz_runtime::{AnyHarness, Harness, Role, p_hat_from_bytes};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does it all; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as for the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as for the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

seqz_runtime::inputs! {
    /// How often each thread goes round.
    struct Rounds { rounds: u8 }
}

static X: AtomicU32 = AtomicU32::new(0);
static LOCKED: Mutex<u32> = Mutex::new(0);
static SHARED: RwLock<u32> = RwLock::new(0);

/// Every kind of access, in each round.
fn threads(inputs: Rounds) {
    let body = move || {
        for _ in 0..inputs.rounds {
            let seen = X.load(SeqCst);
            X.store(seen.wrapping_add(1), SeqCst);
            X.fetch_add(1, SeqCst);
            let _ = X.compare_exchange(seen, 1, SeqCst, SeqCst);
            *LOCKED.lock().unwrap() += 1;
            let seen = *SHARED.read().unwrap();
            *SHARED.write().unwrap() = seen;
            if let Ok(mut value) = LOCKED.try_lock() {
                *value += 1;
            }
        }
    };
    let first = thread::spawn(body);
    let second = thread::spawn(body);
    first.join().unwrap();
    second.join().unwrap();
}

static HARNESS: Harness<Rounds> = Harness::new("threads", threads).without_unsafe_code();

/// Allocations per execution in which each thread goes round so often.
fn allocations(rounds: u8) -> u64 {
    let run = || {
        let mut random = Random::new(1);
        let mut most = 0;
        for _ in 0..40 {
            let mut bytes = [0; 5];
            bytes[..4].copy_from_slice(&random.next().to_le_bytes()[..4]);
            bytes[4] = rounds;
            let before = ALLOCATIONS.get();
            let outcome = p_hat_from_bytes::<2>(&HARNESS, Role::FIRST, &bytes);
            assert!(matches!(
                outcome.ending,
                Ending::Passed | Ending::Infeasible
            ));
            most = most.max(ALLOCATIONS.get() - before);
        }
        most
    };
    // Buffers grow to what is needed.
    run();
    run()
}

/// The two tests look at the whole process.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[test]
fn events_allocate_nothing() {
    let _alone = ALONE.lock().unwrap();
    let few = allocations(40);
    let many = allocations(240);
    println!("allocations per execution: {few} with 40 rounds, {many} with 240");
    // Each round is a dozen events. One that turns out to be infeasible is run again up to six times, for each of which a
    // decision and what it leads to is noted: that is all.
    assert!(many <= few + 8);
    assert!(few <= 100);
}

/// The resident memory of this process, in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[test]
fn executions_leave_nothing_behind() {
    let _alone = ALONE.lock().unwrap();
    let executions: u64 = std::env::var("SEQZ_EXECUTIONS").map_or(10_000, |n| n.parse().unwrap());
    let mut random = Random::new(2);
    let mut run = |times: u64| {
        for _ in 0..times {
            // Two choices, and up to three rounds.
            let mut bytes = random.next().to_le_bytes();
            bytes[4] %= 4;
            let _ = p_hat_from_bytes::<2>(&HARNESS, Role::SECOND, &bytes);
        }
    };
    run(executions / 10);
    let before = resident();
    run(executions);
    let after = resident();
    println!(
        "{executions} executions: {} KiB before, {} KiB after",
        before / 1024,
        after / 1024
    );
    assert!(after < before + (1 << 20), "{before} bytes, then {after}");
    assert_eq!(HARNESS.widths(), [1]);
}
