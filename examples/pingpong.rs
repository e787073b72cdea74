//! Players and an umpire, who takes the ball off the table.
//!
//! Source: the ping-pong of the IBM benchmark of concurrent programs with bugs (Eytani, Ur 2004), where a null pointer
//! is followed.
//!
//! The bug: `hit` makes sure that there is a ball, and then takes the lock again to hit it. The umpire can take it away
//! in between.
//!
//! Threads: two players or five, and the main thread, which is the umpire.

use std::sync::{Arc, Mutex};
use std::thread;

struct Ball {
    hits: u32,
}

struct Table {
    ball: Mutex<Option<Ball>>,
}

impl Table {
    fn hit(&self) {
        if self.ball.lock().unwrap().is_none() {
            return;
        }
        let hits = self.ball.lock().unwrap().as_mut().map(|ball| {
            ball.hits += 1;
            ball.hits
        });
        hits.expect("the ball is gone");
    }

    /// Takes the ball, and says how often it was hit.
    fn take_ball(&self) -> Option<u32> {
        self.ball.lock().unwrap().take().map(|ball| ball.hits)
    }
}

fn rally(names: &[&str]) {
    let table = Arc::new(Table {
        ball: Mutex::new(Some(Ball { hits: 0 })),
    });
    let players: Vec<_> = names
        .iter()
        .map(|name| {
            let table = Arc::clone(&table);
            thread::Builder::new()
                .name((*name).to_owned())
                .spawn(move || table.hit())
                .unwrap()
        })
        .collect();
    table.take_ball();
    for player in players {
        player.join().unwrap();
    }
}

#[test]
fn a_rally() {
    rally(&["ping", "pong"]);
}

#[test]
fn five_players() {
    rally(&["ping", "pong", "pang", "peng", "pung"]);
}
