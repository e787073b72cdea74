//! What `unsafe` code does with memory: harnesses that begin with `passes` do it right, each beside one or more that do
//! not. `races`: two accesses that nothing orders. `used`: memory used after its end. `freed`: memory given back twice.

use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering, Ordering::*, fence,
};
use std::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, mpsc};
use std::thread;

/// A pointer that threads may share.
struct Shared<T>(*mut T);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<T> {}

unsafe impl<T> Send for Shared<T> {}
unsafe impl<T> Sync for Shared<T> {}

impl<T: Copy> Shared<T> {
    fn new(value: T) -> Self {
        Self(Box::into_raw(Box::new(value)))
    }

    fn get(self) -> T {
        unsafe { *self.0 }
    }

    fn set(self, value: T) {
        unsafe { *self.0 = value }
    }

    fn free(self) {
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// Runs this in two threads.
fn both(one: impl FnOnce() + Send, other: impl FnOnce() + Send) {
    thread::scope(|scope| {
        scope.spawn(one);
        scope.spawn(other);
    });
}

fn publish(store: Ordering, load: Ordering) {
    let slot = AtomicPtr::new(null_mut());
    both(
        || slot.store(Box::into_raw(Box::new(42)), store),
        || {
            let p = slot.load(load);
            if !p.is_null() {
                assert_eq!(unsafe { *p }, 42);
            }
        },
    );
    drop(unsafe { Box::from_raw(slot.load(Relaxed)) });
}

#[test]
fn passes_published() {
    publish(Release, Acquire);
}

#[test]
fn races_published_by_nothing() {
    publish(Relaxed, Relaxed);
}

#[test]
fn races_published_but_not_acquired() {
    publish(Release, Relaxed);
}

fn fenced(release: bool, acquire: bool) {
    let (value, ready) = (Shared::new(0), AtomicBool::new(false));
    both(
        || {
            value.set(1);
            if release {
                fence(Release);
            }
            ready.store(true, Relaxed);
        },
        || {
            if ready.load(Relaxed) {
                if acquire {
                    fence(Acquire);
                }
                assert_eq!(value.get(), 1);
            }
        },
    );
    value.free();
}

#[test]
fn passes_fenced() {
    fenced(true, true);
}

#[test]
fn races_with_half_a_fence() {
    fenced(true, false);
}

#[test]
fn races_with_the_other_half() {
    fenced(false, true);
}

fn sequence(passes_on: impl Fn(&AtomicU32) + Sync) {
    let (value, state) = (Shared::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            value.set(1);
            state.store(1, Release);
        });
        scope.spawn(|| {
            if state.load(Relaxed) == 1 {
                passes_on(&state);
            }
        });
        scope.spawn(|| {
            if state.load(Acquire) == 2 {
                assert_eq!(value.get(), 1);
            }
        });
    });
    value.free();
}

#[test]
fn passes_a_release_sequence() {
    sequence(|state| {
        state.fetch_add(1, Relaxed);
    });
}

#[test]
fn races_where_a_store_breaks_the_sequence() {
    sequence(|state| state.store(2, Relaxed));
}

struct Node {
    value: u32,
    next: *mut Node,
}

/// Treiber's stack.
struct Stack {
    head: AtomicPtr<Node>,
    frees: bool,
}

impl Stack {
    fn push(&self, value: u32) {
        let node = Box::into_raw(Box::new(Node {
            value,
            next: null_mut(),
        }));
        loop {
            let head = self.head.load(Relaxed);
            unsafe { (*node).next = head };
            if self
                .head
                .compare_exchange(head, node, Release, Relaxed)
                .is_ok()
            {
                return;
            }
        }
    }

    fn pop(&self) -> Option<u32> {
        loop {
            let head = self.head.load(Acquire);
            if head.is_null() {
                return None;
            }
            let next = unsafe { (*head).next };
            if self
                .head
                .compare_exchange(head, next, AcqRel, Relaxed)
                .is_ok()
            {
                let value = unsafe { (*head).value };
                if self.frees {
                    drop(unsafe { Box::from_raw(head) });
                }
                return Some(value);
            }
        }
    }
}

fn treiber(frees: bool) {
    let stack = Stack {
        head: AtomicPtr::new(null_mut()),
        frees,
    };
    stack.push(1);
    stack.push(2);
    let sum = AtomicU32::new(0);
    let pop = || {
        sum.fetch_add(stack.pop().unwrap(), Relaxed);
    };
    both(pop, pop);
    assert_eq!(sum.load(Relaxed), 3);
}

#[test]
fn passes_a_stack_that_frees_nothing() {
    treiber(false);
}

#[test]
fn races_in_a_stack_that_frees_what_others_look_at() {
    treiber(true);
}

/// A ring with one producer and one consumer.
struct Ring {
    slots: UnsafeCell<[u32; 2]>,
    head: AtomicUsize,
    tail: AtomicUsize,
    publishes: Ordering,
}

unsafe impl Sync for Ring {}

impl Ring {
    fn push(&self, value: u32) -> bool {
        let tail = self.tail.load(Relaxed);
        if tail - self.head.load(Acquire) == 2 {
            return false;
        }
        let at = tail % 2;
        unsafe { (*self.slots.get())[at] = value };
        self.tail.store(tail + 1, self.publishes);
        true
    }

    fn pop(&self) -> Option<u32> {
        let head = self.head.load(Relaxed);
        if head == self.tail.load(Acquire) {
            return None;
        }
        let value = unsafe { (*self.slots.get())[head % 2] };
        self.head.store(head + 1, Release);
        Some(value)
    }
}

fn ring(publishes: Ordering) {
    let ring = Ring {
        slots: UnsafeCell::new([0; 2]),
        head: AtomicUsize::new(0),
        tail: AtomicUsize::new(0),
        publishes,
    };
    both(
        || {
            for value in 1..=3 {
                ring.push(value);
            }
        },
        || {
            for _ in 0..2 {
                if let Some(value) = ring.pop() {
                    assert_ne!(value, 0);
                }
            }
        },
    );
}

#[test]
fn passes_a_ring() {
    ring(Release);
}

#[test]
fn races_in_a_ring_that_publishes_nothing() {
    ring(Relaxed);
}

/// A sequence lock, whose readers read while the writer may write.
#[test]
fn races_in_a_sequence_lock() {
    let (sequence, value) = (AtomicU32::new(0), Shared::new((0, 0)));
    both(
        || {
            sequence.fetch_add(1, AcqRel);
            value.set((1, 1));
            sequence.fetch_add(1, AcqRel);
        },
        || {
            let before = sequence.load(Acquire);
            let (a, b) = value.get();
            fence(Acquire);
            if before % 2 == 0 && sequence.load(Relaxed) == before {
                assert_eq!(a, b);
            }
        },
    );
    value.free();
}

/// A cell that is written once, by hand.
struct Late {
    state: AtomicU32,
    value: UnsafeCell<Option<String>>,
    early: bool,
}

unsafe impl Sync for Late {}

impl Late {
    fn set(&self, value: &str) {
        if self.state.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            return;
        }
        if self.early {
            self.state.store(2, Release);
        }
        unsafe { *self.value.get() = Some(value.to_owned()) };
        self.state.store(2, Release);
    }

    fn length(&self) -> Option<usize> {
        if self.state.load(Acquire) != 2 {
            return None;
        }
        unsafe { (*self.value.get()).as_ref().map(String::len) }
    }
}

fn late(early: bool) {
    let cell = Late {
        state: AtomicU32::new(0),
        value: UnsafeCell::new(None),
        early,
    };
    both(|| cell.set("value"), || assert_ne!(cell.length(), Some(0)));
    assert_eq!(cell.length(), Some(5));
}

#[test]
fn passes_a_cell_that_is_written_once() {
    late(false);
}

#[test]
fn races_in_a_cell_that_is_ready_too_early() {
    late(true);
}

fn takes_once(takes: impl Fn() -> bool + Sync) {
    let p = Shared::new(7);
    let free = || {
        if takes() {
            p.free();
        }
    };
    both(free, free);
}

#[test]
fn passes_freed_by_whoever_comes_first() {
    let taken = AtomicBool::new(false);
    takes_once(|| !taken.swap(true, AcqRel));
}

#[test]
fn used_by_both() {
    let taken = AtomicBool::new(false);
    let order = Mutex::new(());
    takes_once(|| {
        let _order = order.lock().unwrap();
        let is_first = !taken.load(Relaxed);
        drop(_order);
        let _order = order.lock().unwrap();
        taken.store(true, Relaxed);
        is_first
    });
}

#[test]
fn freed_by_two_boxes() {
    let p = Box::into_raw(Box::new(String::from("text")));
    let boxes = Mutex::new(unsafe { vec![Box::from_raw(p), Box::from_raw(p)] });
    let free = || drop(boxes.lock().unwrap().pop());
    both(free, free);
}

fn freed_under_a_lock(looks: bool) {
    let slot = Mutex::new(Some(Shared::new(5)));
    let p = slot.lock().unwrap().unwrap();
    both(
        || {
            let mut slot = slot.lock().unwrap();
            if let Some(p) = slot.take() {
                p.free();
            }
        },
        || {
            let slot = slot.lock().unwrap();
            if !looks || slot.is_some() {
                assert_eq!(p.get(), 5);
            }
        },
    );
}

#[test]
fn passes_freed_under_a_lock() {
    freed_under_a_lock(true);
}

#[test]
fn used_without_a_look() {
    freed_under_a_lock(false);
}

#[test]
fn used_after_a_flag() {
    let (p, freed) = (Shared::new(1), AtomicBool::new(false));
    both(
        || {
            p.free();
            freed.store(true, SeqCst);
        },
        || {
            if freed.load(SeqCst) {
                p.set(2);
            }
        },
    );
}

struct Owner(*mut u32);

unsafe impl Send for Owner {}
unsafe impl Sync for Owner {}

impl Drop for Owner {
    fn drop(&mut self) {
        assert_eq!(unsafe { *self.0 }, 1);
        drop(unsafe { Box::from_raw(self.0) });
    }
}

#[test]
fn passes_the_last_handle_frees() {
    let owner = Arc::new(Owner(Box::into_raw(Box::new(0))));
    let other = Arc::clone(&owner);
    let thread = thread::spawn(move || unsafe { *other.0 = 1 });
    drop(owner);
    thread.join().unwrap();
}

#[test]
fn races_with_the_last_handle() {
    let owner = Arc::new(Owner(Box::into_raw(Box::new(1))));
    let p = Shared(owner.0);
    let thread = thread::spawn(move || p.get());
    drop(owner);
    thread.join().unwrap();
}

#[derive(Clone, Copy, Default)]
struct Pair {
    left: u32,
    right: [u16; 4],
}

#[test]
fn passes_parts_that_don_t_overlap() {
    let p = Shared::new(Pair::default());
    let right = |at: usize| {
        let p = p;
        unsafe { (*p.0).right[at] += 1 }
    };
    thread::scope(|scope| {
        scope.spawn(move || unsafe { (*{ p }.0).left = 1 });
        scope.spawn(|| right(0));
        scope.spawn(|| right(3));
    });
    let pair = p.get();
    assert_eq!((pair.left, pair.right[0], pair.right[3]), (1, 1, 1));
    p.free();
}

#[test]
fn races_in_one_part() {
    let p = Shared::new(Pair::default());
    let right = |at: usize| {
        let p = p;
        unsafe { (*p.0).right[at] += 1 }
    };
    both(|| right(2), || right(2));
    p.free();
}

#[test]
#[allow(dangerous_implicit_autorefs)]
fn races_of_an_element_with_the_vector() {
    let mut vector = vec![1, 2];
    let p = Shared(&raw mut vector);
    both(
        || {
            let p = p;
            unsafe { (*p.0).push(3) }
        },
        || {
            let p = p;
            assert_eq!(unsafe { (*p.0)[1] }, 2);
        },
    );
}

#[test]
fn passes_where_std_orders() {
    let p = Shared::new(0);
    // A lock for readers and one writer.
    let lock = RwLock::new(());
    thread::scope(|scope| {
        scope.spawn(|| {
            let _writes = lock.write();
            p.set(1);
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let _reads = lock.read();
                assert!(p.get() < 2);
            });
        }
    });
    p.set(2);
    p.free();
}

#[test]
fn passes_what_is_sent() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || sender.send(Shared::new(1)).unwrap());
    let p = receiver.recv().unwrap();
    assert_eq!(p.get(), 1);
    p.free();
    thread.join().unwrap();
}

#[test]
fn races_with_what_is_sent() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        let p = Shared::new(1);
        sender.send(p).unwrap();
        p.set(2);
    });
    let p = receiver.recv().unwrap();
    assert_ne!(p.get(), 0);
    thread.join().unwrap();
    p.free();
}

#[test]
fn passes_after_waiting() {
    let p = Shared::new(0);
    let (ready, told) = (Mutex::new(false), Condvar::new());
    both(
        || {
            p.set(1);
            *ready.lock().unwrap() = true;
            told.notify_one();
        },
        || {
            let ready = ready.lock().unwrap();
            drop(told.wait_while(ready, |ready| !*ready).unwrap());
            assert_eq!(p.get(), 1);
        },
    );
    p.free();
}

#[test]
fn passes_at_a_barrier() {
    let (p, barrier) = (Shared::new(0), Barrier::new(2));
    both(
        || {
            p.set(1);
            barrier.wait();
        },
        || {
            barrier.wait();
            assert_eq!(p.get(), 1);
        },
    );
    p.free();
}

#[test]
fn passes_once() {
    let (p, once, cell) = (Shared::new(0), Once::new(), OnceLock::new());
    let get = || {
        once.call_once(|| p.set(1));
        assert_eq!(p.get(), 1);
        cell.get_or_init(|| Shared::new(1)).get();
    };
    both(get, get);
    p.free();
}

trait Named {
    fn name(&self) -> String;
    fn rename(&mut self);
}

impl Named for u8 {
    fn name(&self) -> String {
        self.to_string()
    }
    fn rename(&mut self) {
        *self += 1;
    }
}

#[repr(C, packed)]
struct Packed {
    small: u8,
    large: u32,
}

enum Shape {
    Named(String),
    Other,
}

struct Cursor<'a> {
    node: &'a mut Node,
    all: Vec<Box<Node>>,
}

/// All ways to write an access: they compile, and mean what they meant.
#[test]
#[allow(dangerous_implicit_autorefs)]
fn passes_however_it_is_written() {
    thread::scope(|scope| {
        scope.spawn(|| {});
    });
    let p: *mut String = Box::into_raw(Box::new(String::from("a")));
    unsafe {
        (*p).push('b');
        assert!(*p == "ab" && (*p).len() == 2, "{}", *p);
        println!("{} {:?}", *p, &*p);
        *p += "c";
        let length = (*p).clone().as_bytes()[2..].len() + (&*p).len();
        assert_eq!(length, 4);
        let string: &mut String = &mut *p;
        string.push_str((*p).clone().trim());
        *p = if (*p).is_empty() {
            String::new()
        } else {
            format!("{}d", *p)
        };
        assert_eq!(&(*p)[..2], "ab");
        let text: String = *Box::from_raw(p);
        assert_eq!(text, "abcabcd");
    }
    let boxed = Box::new(Node {
        value: 1,
        next: null_mut(),
    });
    let mut node = unsafe {
        let node = *boxed;
        node
    };
    let mut other = Node {
        value: 2,
        next: &raw mut node,
    };
    let at: *mut Node = &mut other;
    unsafe {
        (*(*at).next).value += (*at).value;
        (*(*at).next).next = at;
        assert_eq!((*(*(*at).next).next).value, 2);
        let Node { value, .. } = *at;
        let address = &raw const (*at).value;
        assert_eq!((value, address.read()), (2, *address));
        let pp = &raw mut (*at).next;
        (**pp).value <<= 1;
        assert_eq!((**pp).value, 6);
        address.cast_mut().write(std::ptr::read(address) + 1);
        assert_eq!(std::ptr::replace(address.cast_mut(), 9), 3);
        if let Some(node) = at.as_mut() {
            node.value += 1;
        }
        let mut cursor = Cursor {
            node: &mut *at,
            all: vec![Box::new(Node {
                value: 1,
                next: null_mut(),
            })],
        };
        (*cursor.node).value += 1;
        *cursor.node = Node {
            value: (*cursor.node).value,
            next: null_mut(),
        };
        cursor.all[0].value = cursor.node.value;
        let first = &mut *cursor.all[0];
        *first = Node {
            value: first.value + 1,
            next: null_mut(),
        };
        assert_eq!((*first).value, 12);
        let last = *cursor.all.pop().unwrap();
        assert_eq!(last.value, 12);
    }
    let mut shape = Shape::Named("x".into());
    let q = &raw mut shape;
    unsafe {
        match *q {
            Shape::Named(ref mut name) => name.push('y'),
            Shape::Other => unreachable!(),
        }
        match &*q {
            Shape::Named(name) if *name == "xy" => {}
            _ => unreachable!(),
        }
        if let Shape::Named(name) = &mut *q {
            *name = String::new();
        }
        assert!(matches!(*q, Shape::Named(ref name) if name.is_empty()));
        *q = Shape::Other;
        assert!(matches!(
            std::mem::replace(&mut *q, Shape::Other),
            Shape::Other
        ));
    }
    let named: *mut dyn Named = Box::into_raw(Box::new(7_u8));
    let numbers: *mut [u16] = Box::into_raw(vec![1, 2, 3].into_boxed_slice());
    let mut packed = Packed { small: 1, large: 2 };
    let r = &raw mut packed;
    unsafe {
        (*named).rename();
        assert_eq!((*named).name(), "8");
        drop(Box::from_raw(named));
        let i = 1;
        (*numbers)[i] += (*numbers)[i + 1];
        (*numbers)[0] = {
            let n = (*numbers)[2];
            n
        };
        let sum: u16 = (*numbers).iter().sum();
        assert_eq!((sum, (&*numbers).len()), (11, 3));
        for number in (*numbers).iter_mut() {
            *number += 1;
        }
        let slice = std::slice::from_raw_parts(numbers.cast::<u16>(), 3);
        assert_eq!(slice, [4, 6, 4]);
        std::ptr::copy(numbers.cast::<u16>(), numbers.cast::<u16>().add(1), 2);
        assert_eq!(*numbers.cast::<u16>().add(2), 6);
        drop(Box::from_raw(numbers));
        (*r).large += u32::from((*r).small);
        let large = (*r).large;
        assert_eq!(large, 3);
        let apply = |f: *const dyn Fn(u32) -> u32, n| (*f)(n);
        let add: *const dyn Fn(u32) -> u32 = &|n| n + 1;
        assert_eq!(apply(add, large), 4);
        let kept = std::mem::ManuallyDrop::new(5);
        let at = &raw const kept;
        assert_eq!(&**at, &5);
        let text = String::from("moved");
        assert_eq!(call_out_of(Box::new(move || drop(text))), ());
    }
    let leaked: &'static mut u32 = Box::leak(Box::new(1));
    *leaked += 1;
    let cell = std::cell::RefCell::new(1);
    let option = Some(3);
    let nothing: *const u32 = std::ptr::null();
    unsafe {
        *cell.borrow_mut() += 1;
        assert_eq!(
            (*cell.borrow(), option.as_ref(), nothing.as_ref()),
            (2, Some(&3), None)
        );
        drop(Box::from_raw(leaked));
    }
    let lock = RwLock::new(1);
    unsafe {
        *lock.write().unwrap() += *p_of(&lock);
        assert_eq!(*lock.read().unwrap(), 2);
    }
}

/// What is called is moved out of its box.
unsafe fn call_out_of<F: FnOnce()>(boxed: Box<F>) {
    (*boxed)();
}

unsafe fn p_of(_: &RwLock<u32>) -> *const u32 {
    &1
}
