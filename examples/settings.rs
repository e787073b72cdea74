//! Settings behind a lock that nearly all only take to read them.
//!
//! Source: folklore; critical sections that only read are the second case of the paper on the lazy happens-before
//! relation: in which order they come makes no difference.
//!
//! The bug: the one who moves a window stores the place and the size in two critical sections.
//!
//! Threads: three that draw, which read both at once, and one that moves.

use std::sync::{Arc, Mutex};
use std::thread;

const SCREEN: u32 = 100;

#[derive(Clone, Copy)]
struct Window {
    left: u32,
    width: u32,
}

struct Settings {
    window: Mutex<Window>,
}

impl Settings {
    fn draw(&self) {
        let Window { left, width } = *self.window.lock().unwrap();
        assert!(left + width <= SCREEN, "the window is not on the screen");
    }

    fn shift(&self, left: u32, width: u32) {
        self.window.lock().unwrap().left = left;
        self.window.lock().unwrap().width = width;
    }
}

#[test]
fn three_draw() {
    let settings = Arc::new(Settings {
        window: Mutex::new(Window {
            left: 0,
            width: SCREEN,
        }),
    });
    let drawing = [(); 3].map(|()| {
        let settings = Arc::clone(&settings);
        thread::spawn(move || settings.draw())
    });
    let moving = {
        let settings = Arc::clone(&settings);
        thread::spawn(move || settings.shift(40, 60))
    };
    for thread in drawing {
        thread.join().unwrap();
    }
    moving.join().unwrap();
}
