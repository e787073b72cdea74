//! A session of an FTP server that is closed while a file is being sent.
//!
//! Source: the FTPNET program of Razavi, Farzan and Holzer (2012), in which they found two bugs, both "due to ignoring
//! the situations in which a connection can be closed before a file transformation is completed".
//!
//! The bugs: `send` takes for granted that the data connection is still there for each block, and that the control
//! connection is still there for the reply.
//!
//! Threads: `send` meets `quit`. For each bug one read of `send`, of a connection that is gone, sees the write of `quit`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// What the peer has got.
type Connection = Vec<u8>;

struct Session {
    connected: AtomicBool,
    control: Mutex<Option<Connection>>,
    data: Mutex<Option<Connection>>,
}

impl Session {
    fn new() -> Self {
        Self {
            connected: AtomicBool::new(true),
            control: Mutex::new(Some(Connection::new())),
            data: Mutex::new(Some(Connection::new())),
        }
    }

    fn send(&self, file: &[u8]) {
        if !self.connected.load(Ordering::SeqCst) {
            return;
        }
        for block in file.chunks(4) {
            let mut data = self.data.lock().unwrap();
            let peer = data.as_mut().expect("the data connection is closed");
            peer.extend_from_slice(block);
        }
        let mut control = self.control.lock().unwrap();
        let peer = control.as_mut().expect("the control connection is closed");
        peer.extend_from_slice(b"226 Transfer complete\r\n");
    }

    fn quit(&self) {
        self.connected.store(false, Ordering::SeqCst);
        self.control.lock().unwrap().take();
        self.data.lock().unwrap().take();
    }
}

#[test]
fn quit_during_a_transfer() {
    let session = Arc::new(Session::new());
    let sending = {
        let session = Arc::clone(&session);
        thread::spawn(move || session.send(b"abcdef"))
    };
    let quitting = {
        let session = Arc::clone(&session);
        thread::spawn(move || session.quit())
    };
    sending.join().unwrap();
    quitting.join().unwrap();
}
