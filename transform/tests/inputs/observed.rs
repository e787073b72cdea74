//! Reads of which less than the value is used, and reads that only look like it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering::SeqCst};
use std::thread;

const LIMIT: u32 = 3;
const RATIO: f64 = 0.5;
const NAMES: [&str; 2] = ["a", "b"];

static X: AtomicU32 = AtomicU32::new(0);
static SIGNED: AtomicI64 = AtomicI64::new(0);
static FLAG: AtomicBool = AtomicBool::new(false);
static mut COUNT: u32 = 0;
static mut TEXT: String = String::new();

mod limits {
    pub const LOW: i64 = -5;
}

struct Pair {
    a: AtomicU32,
    b: [AtomicU32; 2],
}

impl Pair {
    /// Of the crate's own: does more than read.
    fn fetch_max(&self, value: u32, _: std::sync::atomic::Ordering) -> u32 {
        self.a.load(SeqCst).max(value)
    }
}

fn compared(pair: &Pair, i: usize) -> bool {
    let mut all = X.load(SeqCst) > 3;
    all |= 3 < X.load(SeqCst);
    all |= X.load(SeqCst) == LIMIT;
    all |= (X.load(SeqCst)) != u32::MAX;
    all |= SIGNED.load(SeqCst) <= -1;
    all |= SIGNED.load(SeqCst) >= limits::LOW;
    all |= pair.b[i].load(SeqCst) < 0x10_u32;
    all |= pair.a.fetch_sub(1, SeqCst) == 1;
    all |= unsafe { COUNT } > 2;
    all |= unsafe { COUNT > 2 };
    all |= X.compare_exchange(1, 2, SeqCst, SeqCst).is_ok();
    if X.compare_exchange_weak(LIMIT, 2, SeqCst, SeqCst).is_err() {
        all = !all;
    }
    while X.load(SeqCst) < 2 {
        thread::yield_now();
    }
    all
}

fn dropped(pair: &Pair) {
    X.load(SeqCst);
    let _ = X.load(SeqCst);
    pair.a.fetch_add(1, SeqCst);
    let _ = pair.b[0].swap(4, SeqCst);
    let _ = X.compare_exchange(1, 2, SeqCst, SeqCst);
    #[allow(unused_must_use)]
    X.load(SeqCst);
}

fn asserted() {
    assert!(X.load(SeqCst) < 7);
    assert!(X.load(SeqCst)
        < 8,);
    assert!(X.load(SeqCst) < 9, "not {}", 9);
    debug_assert!(!FLAG.load(SeqCst) && X.load(SeqCst) < 10);
    assert!(X.load(SeqCst) /* what a comment says is lost */ < 11);
    assert!(NAMES[0] == "a" || X.load(SeqCst) != 12);
}

fn not_less_than_the_value(pair: &Pair, y: u32) -> u32 {
    let mut all = X.load(SeqCst) > y;
    all |= X.load(SeqCst) as u64 > 3;
    all |= -SIGNED.load(SeqCst) > 3;
    all |= X.load(SeqCst) + 1 > 3;
    all |= X.load(SeqCst).max(1) > 3;
    all |= (X.load(SeqCst) as f64) < RATIO;
    all |= pair.fetch_max(1, SeqCst) > 3;
    all |= X.fetch_add(X.load(SeqCst), SeqCst) > 3;
    all |= X.load(SeqCst) > X.load(SeqCst);
    all |= X.fetch_update(SeqCst, SeqCst, |x| Some(x + 1)).is_ok();
    all |= X.compare_exchange(1, 2, SeqCst, SeqCst) == Ok(1);
    all |= FLAG.load(SeqCst) == true;
    all |= *Mutex::new(3).lock().unwrap() > 2;
    all |= unsafe { TEXT.len() } > 2;
    assert_eq!(X.load(SeqCst), 3);
    assert_ne!(X.load(SeqCst), 4);
    let value = X.load(SeqCst);
    let _value = X.load(SeqCst);
    macro_rules! above {
        ($x:expr) => {
            $x.load(SeqCst) > 3
        };
    }
    all |= above!(X);
    all |= matches!(X.load(SeqCst), 1 | 2);
    value + u32::from(all)
}

#[test]
fn observed() {
    let pair = Pair { a: AtomicU32::new(0), b: [AtomicU32::new(0), AtomicU32::new(1)] };
    thread::scope(|scope| {
        scope.spawn(|| dropped(&pair));
        scope.spawn(|| {
            compared(&pair, 1);
            asserted();
            not_less_than_the_value(&pair, 1);
        });
    });
}
