use std::thread;

#[test]
fn a_reader_sees_what_a_writer_left() {
    static LOCK: spin::RwLock<u32> = spin::RwLock::new(0);
    let writing = thread::spawn(|| *LOCK.write() = 7);
    let read = *LOCK.read();
    assert!(read == 0 || read == 7);
    writing.join().unwrap();
}
