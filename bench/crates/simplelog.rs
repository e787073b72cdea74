//! Two threads log to one buffer.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::thread;

use simplelog::{Config, LevelFilter, WriteLogger};

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn two_threads_log() {
    let buffer = Buffer::default();
    WriteLogger::init(LevelFilter::Info, Config::default(), buffer.clone()).unwrap();
    let other = thread::spawn(|| log::info!("other"));
    log::info!("own");
    other.join().unwrap();
    let text = String::from_utf8(buffer.0.lock().unwrap().clone()).unwrap();
    assert_eq!(text.lines().count(), 2);
}
