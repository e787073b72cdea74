use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{mpsc, Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_millis(100);

#[test]
fn a_sleep_is_to_be_long_enough() {
    let done = Arc::new(AtomicU32::new(0));
    let theirs = done.clone();
    let other = thread::spawn(move || theirs.store(1, SeqCst));
    thread::sleep(LONG); // is to be long enough
    let seen = done.load(SeqCst);
    other.join().unwrap();
    assert_eq!(seen, 1);
}

#[test]
fn a_limit_is_to_be_long_enough() {
    let (sender, receiver) = mpsc::channel();
    let other = thread::spawn(move || {
        thread::sleep(SHORT);
        let _ = sender.send(1);
    });
    let received = receiver.recv_timeout(LONG); // is to be long enough, too
    other.join().unwrap();
    assert_eq!(received, Ok(1));
}

#[test]
fn what_may_happen_without_a_reason_is_not_held_up() {
    let done = Arc::new(AtomicU32::new(0));
    let _ = done.compare_exchange_weak(0, 0, SeqCst, SeqCst);
    thread::sleep(SHORT);
    let theirs = done.clone();
    let other = thread::spawn(move || theirs.store(1, SeqCst));
    thread::sleep(LONG); // is to be long enough a third time
    let seen = done.load(SeqCst);
    other.join().unwrap();
    assert_eq!(seen, 1);
}

#[test]
fn both_sleep_and_an_update_is_lost() {
    let count = Arc::new(AtomicU32::new(0));
    let add = |count: Arc<AtomicU32>| {
        move || {
            let seen = count.load(SeqCst);
            thread::sleep(SHORT);
            count.store(seen + 1, SeqCst);
        }
    };
    let other = thread::spawn(add(count.clone()));
    add(count.clone())();
    other.join().unwrap();
    assert_eq!(count.load(SeqCst), 2);
}

#[test]
fn who_holds_the_lock_sleeps() {
    let count = Arc::new(Mutex::new(0));
    let theirs = count.clone();
    let other = thread::spawn(move || {
        let mut count = theirs.lock().unwrap();
        thread::sleep(SHORT);
        *count += 1;
    });
    *count.lock().unwrap() += 1;
    other.join().unwrap();
    assert_eq!(*count.lock().unwrap(), 1);
}

#[test]
fn who_waits_is_not_held_up() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = pair.clone();
    let other = thread::spawn(move || {
        thread::sleep(SHORT);
        *theirs.0.lock().unwrap() = true;
        theirs.1.notify_one();
    });
    let mut done = pair.0.lock().unwrap();
    while !*done {
        done = pair.1.wait(done).unwrap();
    }
    drop(done);
    other.join().unwrap();
    panic!("it fails in any order");
}
