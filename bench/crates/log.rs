//! Two threads log to one logger.

use std::sync::Mutex;
use std::thread;

use log::{LevelFilter, Log, Metadata, Record};

struct Kept(Mutex<Vec<String>>);

impl Log for Kept {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        self.0.lock().unwrap().push(record.args().to_string());
    }

    fn flush(&self) {}
}

static KEPT: Kept = Kept(Mutex::new(Vec::new()));

#[test]
fn two_threads_log() {
    log::set_logger(&KEPT).unwrap();
    log::set_max_level(LevelFilter::Info);
    let other = thread::spawn(|| log::info!("other"));
    log::info!("own");
    other.join().unwrap();
    assert_eq!(KEPT.0.lock().unwrap().len(), 2);
}
