//! Generic code and traits over shared types.
use std::collections::VecDeque;
use std::fmt::Debug;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LockResult, Mutex, MutexGuard, RwLock};
use std::thread::{self, JoinHandle};

trait Counter: Send + Sync + 'static {
    const STEP: u64 = 1;
    type Cell: Default;
    fn cell(&self) -> &AtomicU64;
    fn add(&self) -> u64 {
        self.cell().fetch_add(Self::STEP, Ordering::AcqRel)
    }
}

#[derive(Default)]
struct Plain(AtomicU64);

impl Counter for Plain {
    type Cell = Mutex<u8>;
    fn cell(&self) -> &AtomicU64 {
        &self.0
    }
}

struct Queue<T> {
    items: Mutex<VecDeque<T>>,
    limit: RwLock<Option<usize>>,
}

impl<T> Queue<T> {
    fn new() -> Self {
        Queue { items: Mutex::new(VecDeque::new()), limit: RwLock::default() }
    }
    fn push(&self, item: T) -> Result<(), T> {
        let mut items = self.items.lock().unwrap();
        match *self.limit.read().unwrap() {
            Some(limit) if items.len() >= limit => Err(item),
            _ => Ok(items.push_back(item)),
        }
    }
    fn pop(&self) -> Option<T>
    where
        T: Debug,
    {
        self.items.lock().ok()?.pop_front()
    }
    fn guard(&self) -> Guard<'_, T> {
        Guard { inner: self.items.lock().unwrap() }
    }
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        self.items.lock().unwrap().clear();
    }
}

struct Guard<'a, T> {
    inner: MutexGuard<'a, VecDeque<T>>,
}

impl<'a, T> Deref for Guard<'a, T> {
    type Target = VecDeque<T>;
    fn deref(&self) -> &VecDeque<T> {
        &self.inner
    }
}

impl<T: Send> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut VecDeque<T> {
        &mut self.inner
    }
}

type Shared<T> = Arc<Queue<T>>;

struct Owner<K, V: ?Sized + 'static> {
    queue: Shared<K>,
    name: &'static V,
}

impl<K: Send + Debug + 'static> Owner<K, str> {
    fn start(self) -> JoinHandle<Option<K>> {
        thread::spawn(move || {
            let _ = self.name;
            self.queue.pop()
        })
    }
}

trait Locked {
    type Value;
    fn locked(&self) -> LockResult<MutexGuard<'_, Self::Value>>;
}

impl<T> Locked for Mutex<T> {
    type Value = T;
    fn locked(&self) -> LockResult<MutexGuard<'_, T>> {
        self.lock()
    }
}

fn drain<I>(source: I, into: &Mutex<Vec<I::Item>>)
where
    I: IntoIterator,
{
    into.lock().unwrap().extend(source);
}

fn collect<I: Iterator>(source: I) -> Mutex<Vec<I::Item>> {
    let all = Mutex::new(Vec::new());
    for item in source {
        all.lock().unwrap().push(item);
    }
    all
}

fn run<C: Counter>(counter: Arc<C>) -> impl FnOnce() -> u64 {
    move || counter.add()
}

/// Gets `Clone` from seqz: it is in a queue.
#[derive(Debug)]
struct Job {
    name: String,
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    One(u8),
    Many { all: Box<[u32]> },
}

#[test]
fn generics() {
    let counter = Arc::new(Plain::default());
    let queue: Shared<Job> = Arc::new(Queue::new());
    let owner = Owner { queue: Arc::clone(&queue), name: "näme" };
    let a = thread::spawn(run(Arc::clone(&counter)));
    let b = owner.start();
    let _ = queue.push(Job { name: "a".into(), parts: vec![Part::One(1), Part::Many { all: Box::new([1]) }] });
    let pushed: Vec<String> = Vec::from([format!("{:?}", queue.guard().front())]);
    a.join().unwrap();
    b.join().unwrap();
    queue.guard().clear();
    drain(pushed, &collect(std::iter::empty()));
    let _ = Mutex::new(3).locked().map(|value| *value);
    let _ = <Plain as Counter>::Cell::default();
}
