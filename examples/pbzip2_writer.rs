//! A compressor's output: a buffer and its size, which consumers fill and a writer empties.
//!
//! Source: pbz2 f of the predecessor-set paper: a bug of pbzip2 that the authors found, a race over `OutputBuffer.buf`
//! and `OutputBuffer.bufSize` between consumers and the writer.
//!
//! The bug: the buffer and its size are stored one after the other, each under its own lock, and so are they read. The
//! writer can meet the new buffer and the old size.
//!
//! Threads: a consumer meets the writer. One read of the writer, of the buffer, sees the consumer's write.

use std::sync::{Arc, Mutex};
use std::thread;

/// A block of the output, in its place.
#[derive(Default)]
struct Slot {
    buffer: Mutex<Option<Vec<u8>>>,
    size: Mutex<usize>,
}

impl Slot {
    /// Puts a compressed block in.
    fn fill(&self, block: Vec<u8>) {
        let size = block.len();
        *self.buffer.lock().unwrap() = Some(block);
        *self.size.lock().unwrap() = size;
    }

    /// The block as it goes to the file, if it is there.
    fn write(&self) -> Option<Vec<u8>> {
        let mut block = self.buffer.lock().unwrap().clone()?;
        block.truncate(*self.size.lock().unwrap());
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
