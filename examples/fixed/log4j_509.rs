//! A category and its appenders: `../log4j_509.rs` with the bug taken out.
//!
//! `call_appenders` takes the lock once.

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
        let mut appenders = self.appenders.lock().unwrap();
        let Some(appenders) = appenders.as_mut() else {
            return 0;
        };
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
