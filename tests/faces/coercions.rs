// Handles of types without a size, made of handles of types with one.

use std::any::Any;
use std::fmt::Debug;
use std::pin::Pin;
use std::task::{RawWaker, Waker};

use subject::sync::{Arc, Weak};
use subject::task::Wake;

trait Says {
    fn says(&self) -> u8;
    fn by_handle(self: Arc<Self>) -> u8;
}

impl Says for u8 {
    fn says(&self) -> u8 {
        *self
    }
    fn by_handle(self: Arc<Self>) -> u8 {
        *self
    }
}

struct Sleeper;

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {}
}

fn coerced() {
    let one: Arc<dyn Says> = Arc::new(1);
    let weak: Weak<dyn Says> = Arc::downgrade(&one);
    let weak: Weak<dyn Says> = Weak::<u8>::new();
    let said: u8 = one.says() + one.by_handle();
    let all: Vec<Arc<dyn Says + Send + Sync>> = vec![Arc::new(1), Arc::new(2)];
    let bytes: Arc<[u8]> = Arc::new([1, 2]);
    let called: Arc<dyn Fn(u8) -> u8 + Send + Sync> = Arc::new(|it| it + 1);
    let two = called(1);
    let any: Arc<dyn Any + Send + Sync> = Arc::new(1_u8);
    let one: Result<Arc<u8>, Arc<dyn Any + Send + Sync>> = any.downcast::<u8>();
    let nothing: Arc<dyn Debug> = Arc::<[u8; 0]>::default();
    let pinned: Pin<Arc<dyn Says>> = Arc::pin(1);
}

fn wakers() {
    let waker: Waker = Arc::new(Sleeper).into();
    let raw: RawWaker = Arc::new(Sleeper).into();
    waker.wake_by_ref();
}
