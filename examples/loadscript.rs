//! A page that loads a script and then compiles it, while the page is left.
//!
//! Source: loadscript of the predecessor-set paper, an atomicity violation extracted from Mozilla. Of the program itself
//! the paper says nothing.
//!
//! The bug: `load` stores the script and takes it out again to compile it, in two critical sections. If the page is left
//! in between, there is nothing to compile.
//!
//! Threads: one that loads meets one that leaves. Each takes the lock after the other one has, so that the bug is not
//! k-coupled for any k.

use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Page {
    script: Mutex<Option<String>>,
}

impl Page {
    fn load(&self, source: &str) -> usize {
        *self.script.lock().unwrap() = Some(source.to_owned());
        self.compile()
    }

    /// How many statements the script has.
    fn compile(&self) -> usize {
        let script = self.script.lock().unwrap();
        let source = script.as_deref().expect("there is no script");
        source.split_terminator(';').count()
    }

    fn leave(&self) {
        *self.script.lock().unwrap() = None;
    }
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
