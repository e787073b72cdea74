use std::thread;

use heapless::mpmc::Q2;

#[test]
fn who_takes_an_item_has_made_room() {
    let queue = Q2::new();
    queue.enqueue(1).unwrap();
    queue.enqueue(2).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| queue.dequeue());
        if queue.dequeue().is_some() {
            assert!(queue.enqueue(3).is_ok(), "it is full of at most one item");
        }
    });
}
