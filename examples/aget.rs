//! A download in segments, a thread each, with a count of all bytes that have been written.
//!
//! Source: aget of the predecessor-set paper: a data race on `bwritten`, which the threads that download share with the
//! one that shows the progress. The file is in memory.
//!
//! The bug: `BYTES_WRITTEN` is a `static mut` that every thread adds to, with nothing to order them. The count is too
//! small when two of them do it at once.
//!
//! Threads: one for each segment, two or four. Of two, one read of either, of the local file, sees the
//! other's write.

use std::sync::{Arc, Mutex};
use std::thread;

static mut BYTES_WRITTEN: usize = 0;

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
            // SAFETY: none. Another thread may be here too.
            unsafe { BYTES_WRITTEN += written };
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
