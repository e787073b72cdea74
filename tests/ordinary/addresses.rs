//! Programs that look at where values lie in memory: threads share one value there, and `check` has copies of it.

use std::collections::{HashMap, VecDeque};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

fn two<T>(value: T) -> (Arc<T>, Arc<T>) {
    let one = Arc::new(value);
    (one.clone(), one)
}

// doubtful for `check`: where values lie in memory
#[test]
fn passes_where_an_address_stays() {
    let (m, n) = two(Mutex::new(vec![1, 2, 3]));
    let p = m.lock().unwrap().as_ptr() as usize;
    let t = thread::spawn(move || n.lock().unwrap()[0] = 5);
    let q = m.lock().unwrap().as_ptr() as usize;
    t.join().unwrap();
    assert_eq!(p, q, "never");
}

// doubtful for `check`: where values lie in memory
#[test]
fn passes_where_a_row_does_not_move() {
    let (m, n) = two(Mutex::new(Vec::<u32>::with_capacity(8)));
    let before = m.lock().unwrap().as_ptr().addr();
    let t = thread::spawn(move || {
        let mut g = n.lock().unwrap();
        g.push(1);
        assert_eq!(g.as_ptr().addr(), before, "never");
    });
    assert_eq!(m.lock().unwrap().as_ptr().addr(), before, "never");
    t.join().unwrap();
}

// doubtful for `check`: where values lie in memory
#[test]
fn fails_where_a_row_has_not_moved() {
    let (m, n) = two(Mutex::new(Vec::<u32>::with_capacity(8)));
    let before = m.lock().unwrap().as_ptr().addr();
    let t = thread::spawn(move || n.lock().unwrap().push(1));
    {
        let g = m.lock().unwrap();
        assert!(g.is_empty() || g.as_ptr().addr() != before, "changed where it is");
    }
    t.join().unwrap();
}

// doubtful for `check`: where values lie in memory
#[test]
fn fails_where_both_see_one_value() {
    let (m, n) = two(Mutex::new(0_u64));
    let (at, of) = two(AtomicUsize::new(0));
    let t = thread::spawn(move || {
        let mut g = n.lock().unwrap();
        *g = 1;
        of.store(&*g as *const u64 as usize, SeqCst);
    });
    {
        let g = m.lock().unwrap();
        let own = ptr::from_ref(&*g).addr();
        assert_ne!(at.load(SeqCst), own, "the same value");
    }
    t.join().unwrap();
}

// doubtful for `check`: where values lie in memory
#[test]
fn fails_where_what_is_printed_is_one_place() {
    let (m, n) = two(RwLock::new(String::from("a")));
    let (seen, see) = two(Mutex::new(String::new()));
    let t = thread::spawn(move || {
        let mut g = n.write().unwrap();
        g.push('b');
        *see.lock().unwrap() = format!("{:p}", &*g);
    });
    {
        let g = m.read().unwrap();
        let value = &*g;
        assert_ne!(*seen.lock().unwrap(), format!("{value:p}"), "the same value");
    }
    t.join().unwrap();
}

// doubtful for `check`: where values lie in memory
#[test]
fn fails_by_a_pointer_of_a_known_type() {
    let (m, n) = two(Mutex::new([0_u8; 4]));
    let before = {
        let g = m.lock().unwrap();
        let pointer: *const [u8; 4] = &*g;
        pointer.addr()
    };
    let t = thread::spawn(move || n.lock().unwrap()[0] = 1);
    {
        let g = m.lock().unwrap();
        let same = (&raw const *g).addr() == before;
        assert!(!same || g[0] == 0, "changed where it is");
    }
    t.join().unwrap();
}

// doubtful for `check`: where values lie in memory
#[test]
fn fails_where_a_queue_still_goes_around() {
    let mut queue: VecDeque<u32> = (0..4).collect();
    queue.rotate_left(2);
    queue.extend([4; 2]);
    queue.pop_front();
    queue.push_back(9);
    let around = !queue.as_slices().1.is_empty();
    let first = queue[0];
    let (m, n) = two(Mutex::new(queue));
    let t = thread::spawn(move || n.lock().unwrap().iter_mut().for_each(|it| *it += 1));
    {
        let g = m.lock().unwrap();
        let is_as_it_was = g.as_slices().1.is_empty() != around;
        assert!(!is_as_it_was || g[0] == first, "changed where it is");
    }
    t.join().unwrap();
}

// doubtful for `check`: where values lie in memory
#[test]
fn fails_by_what_a_macro_looks_at() {
    macro_rules! place {
        ($of:expr) => {
            $of.as_ptr().addr()
        };
    }
    let (m, n) = two(Mutex::new(vec![0_u8]));
    let before = place!(m.lock().unwrap());
    let t = thread::spawn(move || n.lock().unwrap()[0] = 1);
    {
        let g = m.lock().unwrap();
        assert!(place!(g) != before || g[0] == 0, "changed where it is");
    }
    t.join().unwrap();
}

/// Handles lead to one place, whoever copies them.
#[test]
fn fails_where_a_handle_is_another() {
    let (m, n) = two(Mutex::new(Arc::new(AtomicUsize::new(0))));
    let first = m.lock().unwrap().clone();
    let t = thread::spawn(move || *n.lock().unwrap() = Arc::new(AtomicUsize::new(1)));
    let now = m.lock().unwrap().clone();
    t.join().unwrap();
    assert!(Arc::ptr_eq(&now, &first), "replaced");
}

/// Nothing is said of values that no thread has a copy of.
#[test]
fn fails_beside_an_address_of_what_is_not_shared() {
    let own = [1, 2];
    let (m, n) = two(AtomicUsize::new(own.as_ptr().addr() % 2));
    let t = thread::spawn(move || n.store(2, SeqCst));
    let seen = m.load(SeqCst);
    t.join().unwrap();
    assert_eq!(seen, 0, "stored");
}

/// A copy of a map has its entries in the same places.
#[test]
fn fails_by_the_order_of_a_map_from_which_entries_are_gone() {
    let mut map: HashMap<u32, u32> = (0..40).map(|n| (n, n)).collect();
    (0..40).filter(|n| n % 3 != 0).for_each(|n| drop(map.remove(&n)));
    let order: Vec<u32> = map.keys().copied().collect();
    let (m, n) = two(Mutex::new(map));
    let t = thread::spawn(move || drop(n.lock().unwrap().insert(0, 7)));
    {
        let g = m.lock().unwrap();
        let same = g.keys().copied().eq(order);
        assert!(same, "never");
        assert_ne!(g[&0], 7, "changed, and in the same order");
    }
    t.join().unwrap();
}
