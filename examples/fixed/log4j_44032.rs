//! Categories of a logger in a tree: `../log4j_44032.rs` with the bug taken out.
//!
//! `effective_level` reads the level of a category once.

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

    fn level(&self) -> Option<Level> {
        *self.level.read().unwrap()
    }

    /// The level of the next category up the tree that has one.
    fn effective_level(&self) -> Option<Level> {
        let mut category = Some(self);
        while let Some(here) = category {
            if let Some(level) = here.level() {
                return Some(level);
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
