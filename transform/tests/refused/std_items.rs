//! Items of std, and crates, that can't be run yet, by every way of naming them.
use std::sync::{Condvar, Mutex, mpsc::{self, channel}, *};
use std::cell::*;
use std as s;
type Wait = s::sync::Barrier;
mod hidden { pub use std::sync::Once as One; }
struct Cellular(UnsafeCell<u32>);
macro_rules! m { () => { std::sync::OnceLock::<u8>::new() }; }
fn wait(c: &Condvar) {}
#[test]
fn t() {
    let (tx, rx) = channel();
    let h = std::thread::spawn(move || { tx.send(1).unwrap(); std::thread::park(); });
    let b: Wait = Barrier::new(2);
    if h.is_finished() {}
    h.thread().unpark();
    let _ = hidden::One::new();
    let l = LazyLock::new(|| 3);
    include!("x.rs");
    let _ = std::sync::atomic::AtomicU32::from_ptr(std::ptr::null_mut());
    parking_lot::Mutex::new(1);
}
