//! A download in segments: `../aget.rs` with the bug taken out.
//!
//! The count is atomic.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

static BYTES_WRITTEN: AtomicUsize = AtomicUsize::new(0);

const REMOTE: &[u8] = b"The quick brown fox jumps over the lazy dog.";
const CHUNK: usize = 16;

struct Segment {
    start: usize,
    end: usize,
}

impl Segment {
    /// Divides a file into `n` segments.
    fn divide(length: usize, n: usize) -> impl Iterator<Item = Self> {
        (0..n).map(move |i| Self {
            start: length * i / n,
            end: length * (i + 1) / n,
        })
    }

    fn download(&self, local: &Mutex<Vec<u8>>) {
        let mut at = self.start;
        while at < self.end {
            let chunk = at..self.end.min(at + CHUNK);
            let written = chunk.len();
            local.lock().unwrap()[chunk.clone()].copy_from_slice(&REMOTE[chunk]);
            BYTES_WRITTEN.fetch_add(written, Ordering::SeqCst);
            at += written;
        }
    }
}

fn download(segments: usize) {
    let local = Arc::new(Mutex::new(vec![0; REMOTE.len()]));
    let threads: Vec<_> = Segment::divide(REMOTE.len(), segments)
        .map(|segment| {
            let local = Arc::clone(&local);
            thread::spawn(move || segment.download(&local))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*local.lock().unwrap(), REMOTE);
}

#[test]
fn two_segments() {
    download(2);
}

#[test]
fn four_segments() {
    download(4);
}
