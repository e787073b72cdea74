//! One session.

/// A user who is logged in.
#[derive(Clone)]
pub(super) struct Session {
    id: u32,
    user: String,
}

impl Session {
    pub(super) fn new(id: u32, user: &str) -> Self {
        assert!(!user.is_empty(), "nobody cannot log in");
        Self {
            id,
            user: user.to_owned(),
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn is(&self, id: u32) -> bool {
        self.id == id && !self.user.is_empty()
    }
}
