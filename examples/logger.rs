//! A logger with a filter, which is taken off while something is logged.
//!
//! Source: Logger of the RV-Causal paper, a null pointer that `java.util.logging.Logger` follows (JDK-4779253).
//!
//! The bug: `log` reads the filter twice, once to see whether there is one and once to ask it.
//!
//! Threads: one that logs meets one that takes the filter off. One read of the former sees a write of the latter.

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

    fn has_filter(&self) -> bool {
        self.filter.read().unwrap().is_some()
    }

    fn filter_passes(&self, line: &str) -> bool {
        let filter = self.filter.read().unwrap();
        filter.as_ref().expect("the filter is gone").passes(line)
    }

    fn log(&self, line: &str) {
        if self.has_filter() && !self.filter_passes(line) {
            return;
        }
        self.published.fetch_add(1, Ordering::SeqCst);
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
