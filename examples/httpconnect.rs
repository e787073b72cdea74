//! A request over HTTP, whose answer can come before the connection has been noted.
//!
//! Source: httpconnect of the predecessor-set paper, an order violation extracted from Mozilla. Of the program itself the
//! paper says nothing.
//!
//! The bug: `connect` sends the request and then notes the connection. When the answer comes in between, it belongs to no
//! connection.
//!
//! Threads: one that connects meets one that waits on the network. One read of the latter, of the wire, sees a write of
//! the former.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Sent,
    Answered,
}

#[derive(Default)]
struct Client {
    /// Requests on their way.
    wire: Mutex<Vec<u32>>,
    connections: Mutex<BTreeMap<u32, State>>,
}

impl Client {
    fn connect(&self, id: u32) {
        self.wire.lock().unwrap().push(id);
        self.connections.lock().unwrap().insert(id, State::Sent);
    }

    /// Takes what has come in.
    fn poll(&self) {
        let Some(id) = self.wire.lock().unwrap().pop() else {
            return;
        };
        let mut connections = self.connections.lock().unwrap();
        let state = connections.get_mut(&id).expect("no connection is answered");
        *state = State::Answered;
    }
}

#[test]
fn an_answer_comes_early() {
    let client = Arc::new(Client::default());
    let connecting = {
        let client = Arc::clone(&client);
        thread::spawn(move || client.connect(1))
    };
    let polling = {
        let client = Arc::clone(&client);
        thread::spawn(move || client.poll())
    };
    connecting.join().unwrap();
    polling.join().unwrap();
}
