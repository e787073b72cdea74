//! A pool of connections: `../pool.rs` with the bug taken out.
//!
//! `give_back` looks whether the pool is closed after it has taken the lock of the idle connections, which `close`
//! takes after it has closed the pool: one of the two sees the other.

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
        let mut idle = self.idle.lock().unwrap();
        if self.closed.load(Ordering::SeqCst) {
            self.disconnect(connection);
        } else {
            idle.push(connection);
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
