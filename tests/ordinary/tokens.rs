//! Values under locks with destructors that other threads notice.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

fn two<T>(value: T) -> (Arc<T>, Arc<T>) {
    let one = Arc::new(value);
    (one.clone(), one)
}

static DROPPED: AtomicUsize = AtomicUsize::new(0);
static BESIDE: AtomicUsize = AtomicUsize::new(0);

struct Token;

impl Drop for Token {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, SeqCst);
    }
}

// doubtful for `check`: copies of `Option<Token>`, whose destructors run for each copy
#[test]
fn fails_where_a_token_is_forgotten_in_one_order() {
    let (m, n) = two(Mutex::new(Some(Token)));
    let t = thread::spawn(move || std::mem::forget(n.lock().unwrap().replace(Token)));
    m.lock().unwrap().take();
    t.join().unwrap();
    drop(m);
    assert!(DROPPED.load(SeqCst) >= 2, "a token is forgotten");
}

#[test]
fn passes_where_a_token_is_put_and_not_looked_at() {
    let (m, n) = two(Mutex::new(None));
    let t = thread::spawn(move || {
        BESIDE.load(SeqCst);
        *n.lock().unwrap() = Some(Token);
    });
    BESIDE.store(1, SeqCst);
    t.join().unwrap();
    drop(m);
    assert_eq!(DROPPED.load(SeqCst), 1, "never");
}
