//! A pool of connections, which is closed while one of them is lent.
//!
//! Source: `GenericObjectPool` of Apache Commons Pool: `returnObject`, `close`.
//!
//! The bug: `give_back` looks whether the pool is closed before it takes the lock of the idle connections. If `close`
//! comes in between, the connection ends up in a pool that nobody will empty again.
//!
//! Threads: one that gives its connection back meets one that closes the pool. Two reads of the former see writes of
//! the latter: of the idle connections, which have been taken out, and of the count of open ones, after both are
//! joined.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Clone)]
struct Connection;

#[derive(Default)]
struct Pool {
    closed: AtomicBool,
    idle: Mutex<Vec<Connection>>,
    /// How many connections are open, lent ones among them.
    open: AtomicU32,
}

impl Pool {
    fn connect(&self) -> Connection {
        self.open.fetch_add(1, Ordering::SeqCst);
        Connection
    }

    fn disconnect(&self, _: Connection) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }

    fn give_back(&self, connection: Connection) {
        if self.closed.load(Ordering::SeqCst) {
            self.disconnect(connection);
        } else {
            self.idle.lock().unwrap().push(connection);
        }
    }

    fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let idle = std::mem::take(&mut *self.idle.lock().unwrap());
        for connection in idle {
            self.disconnect(connection);
        }
    }
}

#[test]
fn give_back_while_the_pool_is_closed() {
    let pool = Arc::new(Pool::default());
    let lent = pool.connect();
    pool.give_back(pool.connect());
    let user = {
        let pool = Arc::clone(&pool);
        thread::spawn(move || pool.give_back(lent))
    };
    let owner = {
        let pool = Arc::clone(&pool);
        thread::spawn(move || pool.close())
    };
    user.join().unwrap();
    owner.join().unwrap();
    let open = pool.open.load(Ordering::SeqCst);
    assert_eq!(open, 0, "a connection is open for good");
}
