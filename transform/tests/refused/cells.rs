//! Memory that threads share without an event to tell of it.
use std::{cell::{Cell, RefCell}, sync::{Mutex, RwLock, Arc}, thread};
struct Inner { c: RefCell<u8> }
struct Deep { v: Vec<Option<Inner>> }
struct Raw(*mut u8);
unsafe impl Send for Raw {}
unsafe impl Sync for Plain {}
struct Plain { n: u32 }
static A: Mutex<Cell<u32>> = Mutex::new(Cell::new(0));
struct S { d: RwLock<Deep>, fine: Arc<Mutex<u8>>, own: Cell<u8> }
fn main() { let m = Mutex::new(Inner { c: RefCell::new(0) }); let _ = Arc::new(Inner { c: RefCell::new(0) }); thread::spawn(|| ()); parking_lot::Mutex::new(1); }
