//! Two threads that put entries into a map, and change one that both know.

use std::sync::Arc;
use std::thread;

use dashmap::DashMap;

#[test]
fn two_threads_change_a_map() {
    let map = Arc::new(DashMap::with_shard_amount(2));
    map.insert("both", 0);
    let theirs = map.clone();
    let other = thread::spawn(move || {
        theirs.insert("theirs", 1);
        *theirs.get_mut("both").unwrap() += 1;
    });
    map.insert("ours", 2);
    *map.get_mut("both").unwrap() += 1;
    other.join().unwrap();
    assert_eq!(map.len(), 3);
    assert_eq!(*map.get("both").unwrap(), 2);
}
