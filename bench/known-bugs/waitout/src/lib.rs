use std::sync::Arc;
use std::thread;

use waitout::WaitGroup;

#[test]
fn two_threads_wait_for_one() {
    let group = Arc::new(WaitGroup::new(1));
    let waiting = [0, 1].map(|_| {
        let group = Arc::clone(&group);
        thread::spawn(move || group.wait())
    });
    group.done();
    for thread in waiting {
        thread.join().unwrap();
    }
}
