//! Who is logged in.

use std::sync::Mutex;

mod session;

use crate::ids;
use session::Session;

static SESSIONS: Mutex<Vec<Session>> = Mutex::new(Vec::new());

/// Logs a user in, and returns the number of the session.
pub fn log_in(user: &str) -> u32 {
    let session = Session::new(ids::next_id(), user);
    let mut sessions = SESSIONS.lock().unwrap();
    assert!(
        sessions.iter().all(|other| !other.is(session.id())),
        "two sessions have the same number"
    );
    let id = session.id();
    sessions.push(session);
    id
}
