//! A pool that keeps a number of idle connections at most, and closes what it is given beyond that.
//!
//! Source: Pool of the RV-Causal paper, a failing assertion in Apache Commons Pool (POOL-120). The paper says no more of
//! it; this is a limit that isn't kept, as there is one for each of the pool's settings.
//!
//! The bug: `give_back` compares the number of idle connections with the limit, and adds the connection in a second
//! critical section.
//!
//! Threads: two that give a connection back. One read of either, of the idle connections as it adds its own, sees the
//! other's write.

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

    fn is_full(&self) -> bool {
        self.state.lock().unwrap().idle.len() >= MOST_IDLE
    }

    fn give_back(&self, connection: Connection) {
        if self.is_full() {
            self.closed.lock().unwrap().push(connection.id);
        } else {
            self.state.lock().unwrap().idle.push_back(connection);
        }
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
