//! A pool of idle connections: `../pool_120.rs` with the bug taken out.
//!
//! `give_back` compares and adds under one lock.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread;

const MOST_IDLE: usize = 1;

#[derive(Clone)]
struct Connection {
    id: usize,
}

#[derive(Clone, Default)]
struct State {
    idle: VecDeque<Connection>,
    made: usize,
}

#[derive(Default)]
struct Pool {
    state: Mutex<State>,
    closed: Mutex<Vec<usize>>,
}

impl Pool {
    /// The connection that has been idle for the longest time, or a new one.
    fn lend(&self) -> Connection {
        let mut state = self.state.lock().unwrap();
        state.idle.pop_front().unwrap_or_else(|| {
            state.made += 1;
            Connection { id: state.made }
        })
    }

    fn give_back(&self, connection: Connection) {
        let mut state = self.state.lock().unwrap();
        if state.idle.len() < MOST_IDLE {
            state.idle.push_back(connection);
            return;
        }
        drop(state);
        self.closed.lock().unwrap().push(connection.id);
    }
}

#[test]
fn two_returns() {
    let pool = Arc::new(Pool::default());
    let lent = [(); 2].map(|()| pool.lend());
    let users = lent.map(|connection| {
        let pool = Arc::clone(&pool);
        thread::spawn(move || pool.give_back(connection))
    });
    for user in users {
        user.join().unwrap();
    }
    let idle = pool.state.lock().unwrap().idle.len();
    assert!(idle <= MOST_IDLE, "too many connections are idle");
}
