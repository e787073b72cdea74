//! Values under locks of types that say nothing of cells, as trait objects that are only `Send`: whether who only looks at such a
//! value changes it is not known, and `check` says so.

use std::sync::{Arc, Mutex, RwLock};
use std::thread;

trait Shape: Send {
    fn grow(&mut self);
    fn area(&self) -> u32;
    fn boxed(&self) -> Box<dyn Shape>;
}

#[derive(Clone)]
struct Square(u32);

impl Shape for Square {
    fn grow(&mut self) {
        self.0 += 1;
    }
    fn area(&self) -> u32 {
        self.0
    }
    fn boxed(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Shape> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

// doubtful for `check`: in which there may be a `Cell`
#[test]
fn fails_where_it_is_empty_after_a_look() {
    let m: Mutex<Vec<Box<dyn Shape>>> = Mutex::new(vec![Box::new(Square(1))]);
    thread::scope(|s| {
        s.spawn(|| m.lock().unwrap().clear());
        if !m.lock().unwrap().is_empty() {
            assert_eq!(m.lock().unwrap().iter().map(|it| it.area()).sum::<u32>(), 1, "it was emptied");
        }
    });
}

// doubtful for `check`: in which there may be a `Cell`
#[test]
fn fails_after_two_looks_between_which_it_grows() {
    let m: Arc<Mutex<Box<dyn Shape>>> = Arc::new(Mutex::new(Box::new(Square(0))));
    let n = m.clone();
    let t = thread::spawn(move || n.lock().unwrap().grow());
    let before = m.lock().unwrap().area();
    let after = m.lock().unwrap().area();
    t.join().unwrap();
    assert_eq!(before, after, "it has grown");
}

// doubtful for `check`: in which there may be a `Cell`
#[test]
fn fails_where_an_update_is_lost() {
    let m: Arc<Mutex<Box<dyn Shape>>> = Arc::new(Mutex::new(Box::new(Square(0))));
    let grow = |m: &Mutex<Box<dyn Shape>>| {
        let mut copy = m.lock().unwrap().clone();
        copy.grow();
        *m.lock().unwrap() = copy;
    };
    let n = m.clone();
    let t = thread::spawn(move || grow(&n));
    grow(&m);
    t.join().unwrap();
    assert_eq!(m.lock().unwrap().area(), 2, "one was lost");
}

// doubtful for `check`: in which there may be a `Cell`
#[test]
fn fails_where_both_look_before_one_grows() {
    let m: Mutex<Box<dyn Shape>> = Mutex::new(Box::new(Square(0)));
    thread::scope(|s| {
        s.spawn(|| {
            if m.lock().unwrap().area() == 0 {
                m.lock().unwrap().grow();
            }
        });
        if m.lock().unwrap().area() == 0 {
            assert_eq!(m.lock().unwrap().area(), 0, "the other one was here");
        }
    });
}

// doubtful for `check`: copies of `Box<dyn Shape>`
#[test]
fn passes_where_one_section_does_it_all() {
    let m: Mutex<Box<dyn Shape>> = Mutex::new(Box::new(Square(0)));
    let grow = || {
        let mut it = m.lock().unwrap();
        if it.area() < 2 {
            it.grow();
        }
    };
    thread::scope(|s| {
        s.spawn(grow);
        grow();
    });
    assert_eq!(m.lock().unwrap().area(), 2, "never");
}

// doubtful for `check`: in which there may be a `Cell`
#[test]
fn fails_after_a_look_at_what_a_function_gives() {
    fn evens() -> impl Iterator<Item = u32> + Send + Clone {
        let object: Box<dyn Shape> = Box::new(Square(0));
        (0..1).filter(move |_| object.clone().area() == 0)
    }
    let m = Mutex::new(evens());
    thread::scope(|s| {
        s.spawn(|| {
            m.lock().unwrap().next();
        });
        if m.lock().unwrap().size_hint().1 == Some(1) {
            m.lock().unwrap().next().unwrap();
        }
    });
}

// doubtful for `check`: in which there may be a `Cell`
#[test]
fn fails_where_a_guard_in_a_struct_only_looks() {
    struct Held<'m>(std::sync::MutexGuard<'m, Option<Box<dyn Shape>>>);
    impl Held<'_> {
        fn is_there(&self) -> bool {
            self.0.is_some()
        }
    }
    let m: Mutex<Option<Box<dyn Shape>>> = Mutex::new(Some(Box::new(Square(0))));
    thread::scope(|s| {
        s.spawn(|| drop(m.lock().unwrap().take()));
        if Held(m.lock().unwrap()).is_there() {
            assert!(Held(m.lock().unwrap()).is_there(), "it was taken");
        }
    });
}

trait Both: Send + Sync {
    fn area(&self) -> u32;
    fn boxed(&self) -> Box<dyn Both>;
}

impl Both for Square {
    fn area(&self) -> u32 {
        self.0
    }
    fn boxed(&self) -> Box<dyn Both> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Both> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

// doubtful for `check`: copies of `Option<Box<dyn Both>>`
#[test]
fn fails_where_a_write_guard_only_looks() {
    let m: RwLock<Option<Box<dyn Both>>> = RwLock::new(Some(Box::new(Square(0))));
    thread::scope(|s| {
        s.spawn(|| *m.write().unwrap() = None);
        if m.write().unwrap().is_some() {
            assert!(m.read().unwrap().is_some(), "it is gone");
        }
    });
}

/// The reference keeps the guard until the end.
#[test]
fn deadlocks_where_a_guard_is_kept_by_a_binding() {
    let m = Arc::new(Mutex::new(1));
    let n = m.clone();
    let t = thread::spawn(move || *n.lock().unwrap() += 1);
    let seen = &*m.lock().unwrap();
    assert!(*seen <= 2, "never");
    t.join().unwrap();
}
