//! A session of an FTP server: `../ftp.rs` with the bugs taken out.
//!
//! `send` asks for each connection every time it uses it, and gives up when it is gone.

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

    /// Sends a file; `None` if the session is closed before the end.
    fn send(&self, file: &[u8]) -> Option<()> {
        if !self.connected.load(Ordering::SeqCst) {
            return None;
        }
        for block in file.chunks(4) {
            let mut data = self.data.lock().unwrap();
            data.as_mut()?.extend_from_slice(block);
        }
        let mut control = self.control.lock().unwrap();
        let peer = control.as_mut()?;
        peer.extend_from_slice(b"226 Transfer complete\r\n");
        Some(())
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
