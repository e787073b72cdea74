//! Shared values of many kinds, and reads of which less than the value is used.

#![deny(warnings)]
#![allow(dead_code, unused_comparisons)]

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

mod shapes {
    use std::sync::Mutex;

    #[derive(Debug)]
    pub struct Point<T> {
        x: T,
        y: T,
    }

    impl<T> Point<T> {
        pub fn new(x: T, y: T) -> Self {
            Self { x, y }
        }
    }

    pub(crate) mod deep {
        #[derive(Clone, Default)]
        pub enum Shape<'a, T: Copy + 'a, const N: usize>
        where
            T: Default,
        {
            #[default]
            Empty,
            Named(&'a str, Box<Self>),
            Points {
                all: [T; N],
                r#type: u8,
            },
        }

        pub static SHAPE: super::Mutex<Shape<'static, u8, 2>> = super::Mutex::new(Shape::Empty);

        #[derive(Clone, Copy)]
        #[repr(C, packed)]
        pub struct Packed {
            pub a: u8,
            pub b: u32,
        }
    }

    pub struct Empty;
    pub enum Never {}
    pub struct Holder(pub Mutex<Option<Empty>>, pub Mutex<Result<u8, Never>>);
}

use shapes::deep::{Packed, SHAPE, Shape};
use shapes::{Empty, Holder, Point};

/// A trait whose method has the name of those that the generated code calls.
trait Feed {
    fn seqz_value(&self) {}
    fn value_hash(&self) {}
}
impl<T> Feed for T {}

struct Opaque {
    number: u32,
    call: fn(u32) -> u32,
}

static mut WORD: i32 = -1;
static mut LIST: Vec<u8> = Vec::new();
const LIMIT: u32 = 3;

/// Of the program's own: what it sees goes elsewhere, too.
struct Own {
    x: AtomicU32,
    seen: Mutex<u32>,
}

impl Own {
    #[track_caller]
    fn swap(&self, value: u32, order: std::sync::atomic::Ordering) -> u32 {
        let old = self.x.swap(value, order);
        *self.seen.lock().unwrap() += old;
        old
    }
}

pub fn values() {
    struct Local {
        map: HashMap<u32, Point<i64>>,
    }
    let local = Mutex::new(Local { map: HashMap::new() });
    let first = || local.lock().unwrap().map.clear(); // found:
    first();
    local.lock().unwrap().map.insert(1, Point::new(2, 3)); // found: same
    local.lock().unwrap().map.remove(&1); // found: differs
    drop(local.lock().unwrap()); // found: empty, with room
    local.lock().unwrap().map.insert(1, Point::new(2, 3)); // found: as before
    drop(local.lock().unwrap()); // found: as 3

    *SHAPE.lock().unwrap() = Shape::Named("a", Box::default());
    *SHAPE.lock().unwrap() = Shape::Points { all: [1, 2], r#type: 3 };
    *SHAPE.lock().unwrap() = Shape::Named("a", Box::default());
    drop(SHAPE.lock().unwrap());

    let packed = Mutex::new(Packed { a: 1, b: 2 });
    packed.lock().unwrap().a = 1;
    drop(packed.lock().unwrap());

    let opaque = Mutex::new(Opaque { number: 1, call: |x| x });
    opaque.lock().unwrap().number = 1;
    drop(opaque.lock().unwrap());

    let tree: RwLock<BTreeMap<String, Vec<Arc<str>>>> = RwLock::default();
    tree.write().unwrap().entry("a".into()).or_default();
    tree.write().unwrap().clear();
    drop(tree.read().unwrap());

    let holder = Holder(Mutex::new(None), Mutex::new(Ok(1)));
    *holder.0.lock().unwrap() = Some(Empty);
    *holder.0.lock().unwrap() = None;
    drop(holder.0.lock().unwrap());
    drop(holder.1.lock().unwrap());

    unsafe {
        WORD += 2;
        LIST.push(1);
        LIST.pop();
        assert!(LIST.is_empty());
    }
}

pub fn tests() {
    let x = AtomicU32::new(0);
    let signed = AtomicI32::new(-3);
    assert!(x.load(SeqCst) < LIMIT); // test: Less 3
    assert!(-4 < signed.load(SeqCst)); // test: Greater -4
    x.fetch_add(1, SeqCst); // test: Unobserved
    let _ = x.load(SeqCst); // test: Unobserved
    assert!(x.compare_exchange(1, 2, SeqCst, SeqCst).is_ok()); // test: Equal 1
    assert!(x.compare_exchange(1, 3, SeqCst, SeqCst).is_err()); // test: Equal 1
    assert!(unsafe { WORD > 0 }); // test: Greater 0
    while x.fetch_sub(1, SeqCst) != 1 {} // test: NotEqual 1
    let value = x.load(SeqCst);
    assert!(value < 1);
    assert_eq!(x.load(SeqCst), 0);
    let own = Own { x: AtomicU32::new(1), seen: Mutex::new(0) };
    assert!(own.swap(2, SeqCst) == 1);
    own.swap(3, SeqCst);
    assert!((x.load(SeqCst), x.load(SeqCst)).0 < 1);
    let swapped = Mutex::new(vec![1, 2]);
    let mut guard = swapped.lock().unwrap();
    guard.swap(0, 1);
}

#[test]
fn both() {
    thread::scope(|scope| {
        scope.spawn(values).join().unwrap();
        scope.spawn(tests).join().unwrap();
    });
}

/// A type with a constant for a parameter, which is written as a type would be.
struct Kept<const N: usize>(Mutex<[u8; N]>);

const OUTER: usize = 2;

pub fn constants() {
    const INNER: usize = 2;
    let inner = Kept::<INNER>(Mutex::new([0; INNER]));
    let outer = Mutex::new(Kept::<OUTER>(Mutex::new([0; OUTER])));
    inner.0.lock().unwrap()[0] = 1;
    outer.lock().unwrap().0.lock().unwrap()[0] = 1;
}
