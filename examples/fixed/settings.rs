//! Settings behind a lock: `../settings.rs` with the bug taken out.
//!
//! The place and the size are stored in one critical section.

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
        *self.window.lock().unwrap() = Window { left, width };
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
