use std::thread;

use parking_lot::ReentrantMutex;

#[test]
fn two_threads_take_turns() {
    static MUTEX: std::sync::OnceLock<ReentrantMutex<u32>> = std::sync::OnceLock::new();
    let mutex = MUTEX.get_or_init(|| ReentrantMutex::new(1));
    let other = thread::spawn(move || *mutex.lock());
    drop(mutex.lock());
    other.join().unwrap();
}
