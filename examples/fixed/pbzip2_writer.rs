//! A compressor's output: `../pbzip2_writer.rs` with the bug taken out.
//!
//! The buffer and its size have one lock.

use std::sync::{Arc, Mutex};
use std::thread;

/// A block of the output, in its place.
#[derive(Default)]
struct Slot {
    block: Mutex<Option<(Vec<u8>, usize)>>,
}

impl Slot {
    /// Puts a compressed block in.
    fn fill(&self, block: Vec<u8>) {
        let size = block.len();
        *self.block.lock().unwrap() = Some((block, size));
    }

    /// The block as it goes to the file, if it is there.
    fn write(&self) -> Option<Vec<u8>> {
        let (mut block, size) = self.block.lock().unwrap().clone()?;
        block.truncate(size);
        Some(block)
    }
}

#[test]
fn write_while_a_block_is_compressed() {
    let slot = Arc::new(Slot::default());
    let consumer = {
        let slot = Arc::clone(&slot);
        thread::spawn(move || slot.fill(b"3a1b".to_vec()))
    };
    let writer = {
        let slot = Arc::clone(&slot);
        thread::spawn(move || slot.write())
    };
    consumer.join().unwrap();
    if let Some(block) = writer.join().unwrap() {
        assert_eq!(block, b"3a1b", "the file is corrupted");
    }
}
