//! A logger with a filter: `../logger.rs` with the bug taken out.
//!
//! `log` reads the filter once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};
use std::thread;

/// Lets lines through that begin with it.
#[derive(Clone)]
struct Filter(&'static str);

impl Filter {
    fn passes(&self, line: &str) -> bool {
        line.starts_with(self.0)
    }
}

struct Logger {
    filter: RwLock<Option<Filter>>,
    published: AtomicUsize,
}

impl Logger {
    fn set_filter(&self, filter: Option<Filter>) {
        *self.filter.write().unwrap() = filter;
    }

    fn passes(&self, line: &str) -> bool {
        let filter = self.filter.read().unwrap();
        filter.as_ref().is_none_or(|filter| filter.passes(line))
    }

    fn log(&self, line: &str) {
        if self.passes(line) {
            self.published.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[test]
fn log_while_the_filter_is_taken_off() {
    let logger = Arc::new(Logger {
        filter: RwLock::new(Some(Filter("net:"))),
        published: AtomicUsize::new(0),
    });
    let logging = {
        let logger = Arc::clone(&logger);
        thread::spawn(move || logger.log("net: connected"))
    };
    let setting = {
        let logger = Arc::clone(&logger);
        thread::spawn(move || logger.set_filter(None))
    };
    logging.join().unwrap();
    setting.join().unwrap();
    let published = logger.published.load(Ordering::SeqCst);
    assert_eq!(published, 1, "the line passes with and without the filter");
}
