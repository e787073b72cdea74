//! A transport of files and its stream, with a lock each.
//!
//! Source: filetransport of the predecessor-set paper, a deadlock extracted from Mozilla. Of the program itself the paper
//! says nothing.
//!
//! The bug: `read` takes the lock of the transport and then that of the stream, and `close` takes them the other way
//! round.
//!
//! Threads: one that reads meets one that closes. No read has to see the other thread's write.

use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Clone, Default)]
struct Transport {
    bytes_read: usize,
    closed: bool,
}

#[derive(Clone, Default)]
struct Stream {
    buffer: Vec<u8>,
}

#[derive(Default)]
struct File {
    transport: Mutex<Transport>,
    stream: Mutex<Stream>,
}

impl File {
    fn read(&self) -> Option<u8> {
        let mut transport = self.transport.lock().unwrap();
        if transport.closed {
            return None;
        }
        let byte = self.stream.lock().unwrap().buffer.pop();
        transport.bytes_read += usize::from(byte.is_some());
        byte
    }

    fn close(&self) {
        let mut stream = self.stream.lock().unwrap();
        stream.buffer.clear();
        self.transport.lock().unwrap().closed = true;
    }
}

#[test]
fn close_during_a_read() {
    let file = Arc::new(File::default());
    file.stream.lock().unwrap().buffer.extend(b"ab");
    let reading = {
        let file = Arc::clone(&file);
        thread::spawn(move || file.read())
    };
    let closing = {
        let file = Arc::clone(&file);
        thread::spawn(move || file.close())
    };
    reading.join().unwrap();
    closing.join().unwrap();
}
