//! A logger's category with its list of appenders, which is taken away while something is logged.
//!
//! Source: Log4J1 of the RV-Causal paper, a null pointer that log4j follows (bug 509): a category and the appenders that
//! are attached to it.
//!
//! The bug: `call_appenders` looks whether there is a list, and then takes the lock again to go through it. Between the
//! two `remove_all_appenders` takes it away.
//!
//! Threads: one that logs meets one that removes the appenders. One read of the former, when it goes through the list,
//! sees a write of the latter.

use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Clone, Default)]
struct Appender {
    lines: Vec<String>,
}

#[derive(Default)]
struct Category {
    appenders: Mutex<Option<Vec<Appender>>>,
}

impl Category {
    fn add_appender(&self, appender: Appender) {
        let mut appenders = self.appenders.lock().unwrap();
        appenders.get_or_insert_default().push(appender);
    }

    fn remove_all_appenders(&self) -> Option<Vec<Appender>> {
        self.appenders.lock().unwrap().take()
    }

    /// Logs a line; the answer is to how many appenders.
    fn call_appenders(&self, line: &str) -> usize {
        if self.appenders.lock().unwrap().is_none() {
            return 0;
        }
        let mut appenders = self.appenders.lock().unwrap();
        let appenders = appenders.as_mut().expect("the appenders are gone");
        for appender in appenders.iter_mut() {
            appender.lines.push(line.to_owned());
        }
        appenders.len()
    }
}

#[test]
fn log_while_the_appenders_are_removed() {
    let category = Arc::new(Category::default());
    category.add_appender(Appender::default());
    let logging = {
        let category = Arc::clone(&category);
        thread::spawn(move || category.call_appenders("started"))
    };
    let closing = {
        let category = Arc::clone(&category);
        thread::spawn(move || category.remove_all_appenders())
    };
    let called = logging.join().unwrap();
    let appenders = closing.join().unwrap().unwrap_or_default();
    let logged: usize = appenders.iter().map(|appender| appender.lines.len()).sum();
    assert_eq!(logged, called, "a line is lost");
}
