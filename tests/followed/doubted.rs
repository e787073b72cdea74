use std::arch::asm;
use std::cell::{Cell, UnsafeCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

/// The atomic's value lies elsewhere in the runtime's atomic.
#[cfg(target_arch = "x86_64")]
fn take(lock: &AtomicUsize) -> bool {
    let was_set: u8;
    unsafe {
        asm!("lock bts qword ptr [{0:r}], 0", "setc {1}", in(reg) lock, out(reg_byte) was_set, options(nostack));
    }
    was_set == 0
}

#[cfg(not(target_arch = "x86_64"))]
fn take(lock: &AtomicUsize) -> bool {
    unsafe { asm!("/* {0} */", in(reg) lock, options(nostack)) };
    lock.load(SeqCst) == 0
}

#[test]
fn takes_the_address_of_an_atomic() {
    let lock = Arc::new(AtomicUsize::new(0));
    let other = lock.clone();
    let give_back = |lock: &AtomicUsize| assert_eq!(lock.fetch_sub(1, SeqCst), 1, "was locked");
    let there = thread::spawn(move || if take(&other) { give_back(&other) });
    if take(&lock) {
        give_back(&lock);
    }
    there.join().unwrap();
}

#[test]
fn pauses() {
    let count = Arc::new(AtomicUsize::new(0));
    let other = count.clone();
    let there = thread::spawn(move || {
        other.store(other.load(SeqCst) + 1, SeqCst);
        unsafe { asm!("nop") };
    });
    count.store(count.load(SeqCst) + 1, SeqCst);
    there.join().unwrap();
    assert_eq!(count.load(SeqCst), 2, "lost");
}

fn wait_for(state: &AtomicUsize) {
    let turns = Cell::new(0_u32);
    loop {
        match state.load(SeqCst) {
            2 => return,
            0 if turns.get() > 5 => break,
            _ => {}
        }
        for _ in 0..1_u32 << turns.get() {
            std::hint::spin_loop();
        }
        turns.set(turns.get() + 1);
    }
    while state.load(SeqCst) != 2 {
        thread::yield_now();
    }
}

fn begin(state: &AtomicUsize) {
    if state.load(SeqCst) == 2 {
        return;
    }
    match state.compare_exchange(1, 0, SeqCst, SeqCst) {
        Ok(_) => state.store(2, SeqCst),
        Err(2) => unreachable!("it has begun"),
        Err(_) => wait_for(state),
    }
}

struct Apart(UnsafeCell<u32>, AtomicBool);
unsafe impl Sync for Apart {}

#[test]
fn spins_beside_a_cell() {
    let shared = Arc::new((
        AtomicUsize::new(1),
        Apart(UnsafeCell::new(0), AtomicBool::new(false)),
    ));
    let other = shared.clone();
    let there = thread::spawn(move || {
        begin(&other.0);
        other.1.1.load(SeqCst)
    });
    begin(&shared.0);
    there.join().unwrap();
    unsafe { *shared.1.0.get() = 1 };
}
