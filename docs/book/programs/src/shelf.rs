use std::cell::UnsafeCell;

/// A value that one thread writes and another one takes.
pub struct Shelf(UnsafeCell<u32>);

unsafe impl Sync for Shelf {}

impl Shelf {
    pub fn put(&self, value: u32) {
        unsafe { *self.0.get() = value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::thread;

    #[test]
    fn one_puts_and_one_takes() {
        let shelf = Shelf(UnsafeCell::new(0));
        let full = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                shelf.put(7);
                full.store(true, SeqCst);
            });
            if full.load(SeqCst) {
                assert_eq!(unsafe { *shelf.0.get() }, 7);
            }
        });
    }
}
