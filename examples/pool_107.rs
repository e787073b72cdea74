//! A pool that lends a number of connections at most.
//!
//! Source: Pool107 of the MCR paper: a bug of Apache Commons Pool, “causing more instances than allowed in the pool”
//! (POOL-107). `pool.rs` has another one.
//!
//! The bug: `lend` looks under the lock whether there may be one more, but counts the connection only when it is made,
//! which takes its time and is done without the lock.
//!
//! Threads: two borrowers, where one connection is allowed. A read of either sees the other's write: of the number of
//! connections. Of the pool's state both see that no connection is idle; taking one from an empty list is no write.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const MOST: usize = 1;

/// The other side, which allows `MOST` connections.
#[derive(Default)]
struct Database {
    connections: AtomicUsize,
}

impl Database {
    fn connect(&self) -> Connection {
        let open = self.connections.fetch_add(1, Ordering::SeqCst);
        assert!(open < MOST, "there are more connections than allowed");
        Connection
    }
}

#[derive(Clone)]
struct Connection;

#[derive(Clone, Default)]
struct State {
    idle: Vec<Connection>,
    lent: usize,
}

#[derive(Default)]
struct Pool {
    database: Database,
    state: Mutex<State>,
}

impl Pool {
    /// A connection, if there is one or there may be one more.
    fn lend(&self) -> Option<Connection> {
        let mut state = self.state.lock().unwrap();
        if let Some(connection) = state.idle.pop() {
            state.lent += 1;
            return Some(connection);
        }
        if state.lent == MOST {
            return None;
        }
        drop(state);
        let connection = self.database.connect();
        self.state.lock().unwrap().lent += 1;
        Some(connection)
    }

    fn give_back(&self, connection: Connection) {
        let mut state = self.state.lock().unwrap();
        state.lent -= 1;
        state.idle.push(connection);
    }
}

#[test]
fn two_borrowers() {
    let pool = Arc::new(Pool::default());
    let borrowers = [(); 2].map(|()| {
        let pool = Arc::clone(&pool);
        thread::spawn(move || {
            if let Some(connection) = pool.lend() {
                pool.give_back(connection);
            }
        })
    });
    for borrower in borrowers {
        borrower.join().unwrap();
    }
}
