//! Categories of a logger in a tree, each of which has a level or takes that of its parent.
//!
//! Source: Log4J2 of the RV-Causal paper, a null pointer that log4j follows (bug 44032). The paper says no more of it.
//!
//! The bug: `effective_level` looks whether a category has a level, and then reads it, in two steps. In between the level
//! can be taken away, so that the parent's should have counted.
//!
//! Threads: one that logs meets one that sets another level and takes it away again. Two reads of the former see writes
//! of the latter: that there is a level, and that there is none.

use std::sync::{Arc, RwLock};
use std::thread;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Debug,
    Info,
}

#[derive(Default)]
struct Category {
    parent: Option<Arc<Category>>,
    level: RwLock<Option<Level>>,
}

impl Category {
    fn set_level(&self, level: Option<Level>) {
        *self.level.write().unwrap() = level;
    }

    fn has_level(&self) -> bool {
        self.level.read().unwrap().is_some()
    }

    fn level(&self) -> Option<Level> {
        *self.level.read().unwrap()
    }

    /// The level of the next category up the tree that has one.
    fn effective_level(&self) -> Option<Level> {
        let mut category = Some(self);
        while let Some(here) = category {
            if here.has_level() {
                return Some(here.level().expect("the level is gone"));
            }
            category = here.parent.as_deref();
        }
        None
    }

    fn logs(&self, level: Level) -> bool {
        self.effective_level().is_some_and(|least| level >= least)
    }
}

#[test]
fn log_while_the_level_changes() {
    let root = Arc::new(Category::default());
    root.set_level(Some(Level::Info));
    let category = Arc::new(Category {
        parent: Some(root),
        level: RwLock::default(),
    });
    let logging = {
        let category = Arc::clone(&category);
        thread::spawn(move || category.logs(Level::Info))
    };
    let debugging = {
        let category = Arc::clone(&category);
        thread::spawn(move || {
            category.set_level(Some(Level::Debug));
            category.set_level(None);
        })
    };
    assert!(
        logging.join().unwrap(),
        "all levels let information through"
    );
    debugging.join().unwrap();
}
