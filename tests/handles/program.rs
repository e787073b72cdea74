use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, JoinHandle};

/// Runs it on a thread called `w`.
fn worker<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let builder = thread::Builder::new().name("w".into());
    builder.spawn(work).unwrap()
}

/// Notes who drops it.
struct Last(Arc<AtomicUsize>);

impl Drop for Last {
    fn drop(&mut self) {
        let by_worker = thread::current().name() == Some("w");
        self.0.store(1 + usize::from(by_worker), SeqCst);
    }
}

#[test]
fn may_be_unwrapped_before_the_join() {
    let x = Arc::new(Mutex::new(5));
    let y = Arc::clone(&x);
    let w = worker(move || *y.lock().unwrap() += 1);
    let unwrapped = Arc::try_unwrap(x);
    w.join().unwrap();
    assert!(unwrapped.is_err());
}

#[test]
fn may_be_handed_to_either() {
    let x = Arc::new(5);
    let y = x.clone();
    let w = worker(move || Arc::into_inner(y));
    let here = Arc::into_inner(x);
    let there = w.join().unwrap();
    assert!(here.is_some() != there.is_some(), "one of them gets it");
    assert!(there.is_none());
}

#[test]
fn one_of_two_gets_it() {
    let x = Arc::new(5);
    let y = x.clone();
    let w = worker(move || Arc::into_inner(y).is_some());
    let here = Arc::into_inner(x).is_some();
    assert_ne!(here, w.join().unwrap());
}

#[test]
fn may_be_counted_too_early() {
    let x = Arc::new(AtomicUsize::new(0));
    let y = x.clone();
    let w = worker(move || y.store(1, SeqCst));
    if x.load(SeqCst) == 1 {
        assert_eq!(Arc::strong_count(&x), 1);
    }
    w.join().unwrap();
}

#[test]
fn may_be_upgraded_still() {
    let x = Arc::new(AtomicUsize::new(0));
    let weak = Arc::downgrade(&x);
    let w = worker(move || x.store(1, SeqCst));
    assert!(weak.upgrade().is_none());
    w.join().unwrap();
}

#[test]
fn upgraded_is_kept() {
    let x = Arc::new(AtomicUsize::new(0));
    let weak = Arc::downgrade(&x);
    let w = worker(move || drop(x));
    if let Some(x) = weak.upgrade() {
        assert_eq!(x.load(SeqCst), 0);
        assert!(weak.upgrade().is_some());
    }
    w.join().unwrap();
    assert_eq!(weak.strong_count(), 0);
}

#[test]
fn may_be_alone() {
    let mut x = Arc::new(1);
    let y = x.clone();
    let w = worker(move || *y);
    let alone = Arc::get_mut(&mut x).is_some();
    w.join().unwrap();
    assert!(!alone);
}

#[test]
fn may_be_changed_in_place() {
    let mut x = Arc::new(vec![1]);
    let y = x.clone();
    let w = worker(move || y.len());
    let before = Arc::as_ptr(&x);
    Arc::make_mut(&mut x).push(2);
    let in_place = before == Arc::as_ptr(&x);
    assert_eq!(w.join().unwrap(), 1, "the worker's has not changed");
    assert!(!in_place);
}

#[test]
fn may_be_dropped_by_the_worker() {
    let by = Arc::new(AtomicUsize::new(0));
    let x = Arc::new(Last(by.clone()));
    let y = x.clone();
    let w = worker(move || drop(y));
    drop(x);
    w.join().unwrap();
    assert_eq!(by.load(SeqCst), 1);
}

#[test]
fn dropped_once() {
    static DROPS: AtomicUsize = AtomicUsize::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPS.fetch_add(1, SeqCst);
        }
    }
    let x = Arc::new(Counted);
    let all = [0; 2].map(|_| {
        let x = Arc::clone(&x);
        thread::spawn(move || drop(x))
    });
    drop(x);
    all.map(|thread| thread.join().unwrap());
    assert_eq!(DROPS.load(SeqCst), 1);
}

trait Shape: Send + Sync {
    fn area(&self) -> usize;
    fn handles(self: Arc<Self>) -> usize;
}

impl Shape for (usize, Last) {
    fn area(&self) -> usize {
        self.0 * self.0
    }

    fn handles(self: Arc<Self>) -> usize {
        Arc::strong_count(&self)
    }
}

#[test]
fn may_be_dropped_as_a_trait_object() {
    let by = Arc::new(AtomicUsize::new(0));
    let x: Arc<dyn Shape> = Arc::new((2, Last(by.clone())));
    let y = x.clone();
    let w = worker(move || assert_eq!(y.area(), 4));
    assert!(x.clone().handles() >= 2);
    drop(x);
    w.join().unwrap();
    assert_eq!(by.load(SeqCst), 1);
}

#[test]
fn may_be_gone_in_a_cycle() {
    struct Node {
        me: Weak<Node>,
        value: usize,
    }
    let x = Arc::new_cyclic(|me| Node {
        me: me.clone(),
        value: 5,
    });
    let y = x.me.upgrade().unwrap();
    let w = worker(move || y.value);
    let weak = x.me.clone();
    drop(x);
    let is_here = weak.upgrade().is_some();
    assert_eq!(w.join().unwrap(), 5);
    assert!(is_here);
}

#[test]
fn may_be_disconnected_by_the_worker() {
    let (send, receive) = channel::<u32>();
    let receive: Arc<Mutex<Receiver<u32>>> = Arc::new(Mutex::new(receive));
    let other = Arc::clone(&receive);
    let w = worker(move || drop(other));
    drop(receive);
    let sent = send.send(1);
    w.join().unwrap();
    assert!(sent.is_err());
}

#[test]
fn certain_after_the_join() {
    let x = Arc::new(Mutex::new(0));
    let y = Arc::clone(&x);
    let w = worker(move || *y.lock().unwrap() += 1);
    *x.lock().unwrap() += 1;
    w.join().unwrap();
    assert_eq!(Arc::strong_count(&x), 1);
    assert_eq!(Arc::try_unwrap(x).unwrap().into_inner().unwrap(), 2);
}

#[test]
fn certain_while_somebody_keeps_it() {
    let by = Arc::new(AtomicUsize::new(0));
    let x = Arc::new(Last(by.clone()));
    let weak = Arc::downgrade(&x);
    let y = x.clone();
    let w = worker(move || {
        y.0.fetch_add(4, SeqCst);
        weak.upgrade().is_some()
    });
    x.0.fetch_add(8, SeqCst);
    assert!(w.join().unwrap());
    drop(x);
    assert_eq!(by.load(SeqCst), 1);
}

#[test]
fn certain_in_one_thread() {
    let x = Arc::new(AtomicUsize::new(0));
    let own = Arc::new(7);
    let y = x.clone();
    let w = worker(move || y.fetch_add(1, SeqCst));
    let again = own.clone();
    assert_eq!(Arc::strong_count(&own), 2);
    drop(again);
    assert_eq!(Arc::into_inner(own), Some(7));
    x.fetch_add(1, SeqCst);
    w.join().unwrap();
}

/// Wakes a thread, and notes in what it shares who drops it.
struct Unparks(thread::Thread, Last);

impl Wake for Unparks {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end, parked where it waits.
fn block_on<F: Future>(future: F, by: &Arc<AtomicUsize>) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unparks(thread::current(), Last(by.clone()))));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// What somebody else will put in, and who is to be woken then.
#[derive(Default)]
struct Slot {
    value: Mutex<Option<u32>>,
    waker: Mutex<Option<Waker>>,
}

impl Slot {
    fn put(&self, value: u32) {
        *self.value.lock().unwrap() = Some(value);
        if let Some(waker) = self.waker.lock().unwrap().take() {
            waker.wake();
        }
    }

    fn take(&self) -> Poll<u32> {
        let value = self.value.lock().unwrap().take();
        value.map_or(Poll::Pending, Poll::Ready)
    }

    fn wakes(&self, context: &Context<'_>) {
        *self.waker.lock().unwrap() = Some(context.waker().clone());
    }
}

#[test]
fn woken() {
    let slot = Arc::new(Slot::default());
    let other = slot.clone();
    let w = worker(move || other.put(3));
    let taken = poll_fn(move |context| {
        slot.wakes(context);
        slot.take()
    });
    assert_eq!(block_on(taken, &Arc::default()), 3);
    w.join().unwrap();
}

#[test]
fn may_sleep_on() {
    let slot = Arc::new(Slot::default());
    let other = slot.clone();
    let w = worker(move || other.put(3));
    let taken = poll_fn(move |context| {
        let taken = slot.take();
        if taken.is_pending() {
            slot.wakes(context);
        }
        taken
    });
    assert_eq!(block_on(taken, &Arc::default()), 3);
    w.join().unwrap();
}

#[test]
fn may_be_dropped_by_who_wakes() {
    let slot = Arc::new(Slot::default());
    let by = Arc::new(AtomicUsize::new(0));
    let other = slot.clone();
    let w = worker(move || other.put(3));
    let taken = poll_fn(|context| {
        slot.wakes(context);
        slot.take()
    });
    assert_eq!(block_on(taken, &by), 3);
    drop(slot);
    w.join().unwrap();
    assert_ne!(by.load(SeqCst), 2);
}

/// Counts how often it is woken, with and without its handle.
#[derive(Default)]
struct Wakes(AtomicUsize, AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.1.fetch_add(1, SeqCst);
    }
}

#[test]
fn certain_of_wakers() {
    let wakes = Arc::new(Wakes::default());
    let waker: Waker = wakes.clone().into();
    let another = waker.clone();
    assert_eq!(Arc::strong_count(&wakes), 3);
    assert!(waker.will_wake(&another));
    assert!(!waker.will_wake(&Arc::new(Wakes::default()).into()));
    let other = wakes.clone();
    let w = worker(move || {
        another.wake_by_ref();
        another.wake();
        other.0.load(SeqCst)
    });
    wakes.1.fetch_add(1, SeqCst);
    assert_eq!(w.join().unwrap(), 1);
    assert_eq!(Arc::strong_count(&wakes), 2);
    waker.wake();
    assert_eq!(Arc::strong_count(&wakes), 1);
    assert_eq!((wakes.0.load(SeqCst), wakes.1.load(SeqCst)), (2, 2));
}
