//! Programs that lose a value without dropping it: what its destructor would have done never happens.
use std::mem::{ManuallyDrop, forget};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, RwLock, mpsc};
use std::thread;

static SEEN: AtomicBool = AtomicBool::new(false);

// A scope waits until its threads and their handles are gone.
#[test]
fn deadlocks_where_a_scoped_handle_is_forgotten() {
    let seen = AtomicBool::new(false);
    thread::scope(|s| forget(s.spawn(|| seen.store(true, SeqCst))));
}

#[test]
fn deadlocks_where_a_scoped_handle_is_never_dropped() {
    let seen = AtomicBool::new(false);
    thread::scope(|s| {
        let _handle = ManuallyDrop::new(s.spawn(|| seen.store(true, SeqCst)));
        seen.load(SeqCst);
    });
}

#[test]
fn deadlocks_where_a_scoped_handle_is_leaked() {
    let seen = AtomicBool::new(false);
    thread::scope(|s| {
        Box::leak(Box::new(s.spawn(|| seen.store(true, SeqCst))));
    });
}

#[test]
fn deadlocks_where_a_thread_forgets_another_ones_handle() {
    let seen = AtomicBool::new(false);
    thread::scope(|s| {
        s.spawn(|| forget(s.spawn(|| seen.store(true, SeqCst))));
    });
}

#[test]
fn deadlocks_where_one_of_two_is_forgotten_by_chance() {
    let seen = AtomicBool::new(false);
    thread::scope(|s| {
        let setter = s.spawn(|| seen.store(true, SeqCst));
        if seen.load(SeqCst) {
            forget(setter);
        }
    });
}

#[test]
fn passes_where_a_thread_drops_another_ones_handle() {
    let seen = AtomicBool::new(false);
    thread::scope(|s| {
        let setter = s.spawn(|| seen.store(true, SeqCst));
        s.spawn(move || drop(setter));
    });
    assert!(seen.load(SeqCst), "never");
}

// not for `check`: more than two threads
#[test]
fn passes_where_a_thread_returns_another_ones_handle() {
    let seen = AtomicBool::new(false);
    thread::scope(|s| {
        s.spawn(|| s.spawn(|| seen.store(true, SeqCst)));
    });
    assert!(seen.load(SeqCst), "never");
}

#[test]
fn passes_where_the_handle_of_a_spawned_thread_is_forgotten() {
    forget(thread::spawn(|| SEEN.store(true, SeqCst)));
    while !SEEN.load(SeqCst) {
        thread::yield_now();
    }
}

#[test]
fn passes_where_a_guard_is_forgotten() {
    let number = Arc::new(Mutex::new(0));
    let its = Arc::clone(&number);
    let thread = thread::spawn(move || forget(its.lock().unwrap()));
    thread.join().unwrap();
    assert!(number.try_lock().is_err(), "never");
}

#[test]
fn deadlocks_where_a_forgotten_guard_keeps_the_lock() {
    let number = Arc::new(Mutex::new(0));
    let its = Arc::clone(&number);
    let thread = thread::spawn(move || forget(its.lock().unwrap()));
    thread.join().unwrap();
    let _guard = number.lock().unwrap();
}

#[test]
fn deadlocks_where_a_leaked_guard_keeps_the_lock() {
    let number: &Mutex<u8> = Box::leak(Box::new(Mutex::new(0)));
    let thread = thread::spawn(|| **Box::leak(Box::new(number.lock().unwrap())) = 5);
    *number.lock().unwrap() += 1;
    thread.join().unwrap();
}

#[test]
fn deadlocks_where_a_forgotten_reader_keeps_a_writer_out() {
    let number = Arc::new(RwLock::new(0));
    let its = Arc::clone(&number);
    let thread = thread::spawn(move || {
        let _reader = ManuallyDrop::new(its.read().unwrap());
    });
    thread.join().unwrap();
    assert!(number.try_read().is_ok(), "never");
    let _guard = number.write().unwrap();
}

#[test]
fn passes_where_an_arc_is_forgotten() {
    let number = Arc::new(0);
    let its = Arc::clone(&number);
    let thread = thread::spawn(move || forget(its));
    thread.join().unwrap();
    assert_eq!(Arc::strong_count(&number), 2, "never");
    assert!(Arc::try_unwrap(number).is_err(), "never");
}

#[test]
fn passes_where_a_forgotten_sender_keeps_the_channel_open() {
    let (sender, receiver) = mpsc::channel::<u8>();
    let thread = thread::spawn(move || forget(sender));
    thread.join().unwrap();
    assert_eq!(receiver.try_recv(), Err(mpsc::TryRecvError::Empty), "never");
}

#[test]
fn deadlocks_where_a_forgotten_sender_is_waited_for() {
    let (sender, receiver) = mpsc::channel::<u8>();
    let thread = thread::spawn(move || forget(sender));
    thread.join().unwrap();
    receiver.recv().unwrap();
}

#[test]
fn deadlocks_where_a_forgotten_receiver_is_waited_for() {
    let (sender, receiver) = mpsc::sync_channel::<u8>(0);
    let thread = thread::spawn(move || forget(receiver));
    thread.join().unwrap();
    sender.send(1).unwrap();
}

// doubtful for `check`: waits at a barrier
#[test]
fn passes_where_a_barrier_is_leaked() {
    let barrier: &Barrier = Box::leak(Box::new(Barrier::new(2)));
    let number: &AtomicU32 = Box::leak(Box::default());
    let thread = thread::spawn(|| {
        number.fetch_add(1, SeqCst);
        barrier.wait();
    });
    barrier.wait();
    assert_eq!(number.load(SeqCst), 1, "never");
    thread.join().unwrap();
}
