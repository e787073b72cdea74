//! A page with a script: `../loadscript.rs` with the bug taken out.
//!
//! `load` compiles what it has loaded, and not what the page has by then.

use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Page {
    script: Mutex<Option<String>>,
}

impl Page {
    fn load(&self, source: &str) -> usize {
        *self.script.lock().unwrap() = Some(source.to_owned());
        compile(source)
    }

    fn leave(&self) {
        *self.script.lock().unwrap() = None;
    }
}

/// How many statements a script has.
fn compile(source: &str) -> usize {
    source.split_terminator(';').count()
}

#[test]
fn leave_while_a_script_is_loaded() {
    let page = Arc::new(Page::default());
    let loading = {
        let page = Arc::clone(&page);
        thread::spawn(move || page.load("a = 1; b = 2;"))
    };
    let leaving = {
        let page = Arc::clone(&page);
        thread::spawn(move || page.leave())
    };
    assert_eq!(loading.join().unwrap(), 2);
    leaving.join().unwrap();
}
