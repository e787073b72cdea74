//! A transport of files and its stream: `../filetransport.rs` with the bug taken out.
//!
//! `close` takes the locks in the order of `read`.

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
        let mut transport = self.transport.lock().unwrap();
        self.stream.lock().unwrap().buffer.clear();
        transport.closed = true;
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
