//! Players and an umpire: `../pingpong.rs` with the bug taken out.
//!
//! `hit` looks for the ball and hits it under one lock.

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
        if let Some(ball) = self.ball.lock().unwrap().as_mut() {
            ball.hits += 1;
        }
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
