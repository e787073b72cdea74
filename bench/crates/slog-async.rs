//! A drain that a thread of the crate serves.

extern crate slog;
extern crate slog_async;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use slog::{Drain, Logger, Never, OwnedKVList, Record, info, o};
use slog_async::Async;

struct Count(Arc<AtomicUsize>);

impl Drain for Count {
    type Ok = ();
    type Err = Never;

    fn log(&self, _: &Record<'_>, _: &OwnedKVList) -> Result<(), Never> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[test]
fn all_is_written_at_the_end() {
    let count = Arc::new(AtomicUsize::new(0));
    let drain = Async::new(Count(count.clone())).build().fuse();
    let log = Logger::root(drain, o!());
    info!(log, "first");
    info!(log, "second");
    drop(log);
    assert_eq!(count.load(Ordering::SeqCst), 2);
}
