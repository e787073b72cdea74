//! What std allows to happen without a reason: that a wait ends though nobody has notified it, and that a weak exchange fails
//! though it finds the value that it expects.
//!
//! How often that may happen in an execution is a setting, and where: who waits in a loop looks again, but who doesn't may not
//! have thought of it. Then one more thread belongs to the execution, the harness's
//! first child, which gives so many *tokens*, one after the other; whatever may happen without a reason takes one, if there
//! is one, and happens. So it is for the schedule to say when it happens, strategies need not know of it, and a schedule
//! that is followed has it happen again.

use std::panic::Location;
use std::path::Path;

use seqz_explore::{Kind, Object};

use super::state::Handle;
use crate::vocabulary::{Place, Site};

/// What the thread that gives tokens is called.
pub const NAME: &str = "what happens without a reason";

/// Where tokens are, as a place in memory that is that of nothing else.
static PLACE: u8 = 0;

/// The tokens of an execution.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// Their name, from the first event on.
    object: Option<Object>,
    left: u32,
}

impl Handle {
    /// Starts the thread that gives tokens, if there are any.
    pub(super) fn start_spurious(self) {
        let tokens = self.get().settings.spurious;
        if tokens == 0 {
            return;
        }
        let site = Location::caller();
        let give = move || {
            for _ in 0..tokens {
                self.change_tokens(|tokens| Some(tokens + 1), site);
            }
        };
        let name = crate::memory::outside(|| NAME.to_owned());
        self.fork(Some(name), site, Box::new(give));
    }

    /// Whether what may happen here without a reason does.
    pub(crate) fn happens_without_reason(self, site: Site) -> bool {
        let settings = self.get().settings;
        if settings.spurious == 0 || self.is_ending() {
            return false;
        }
        let is_here = |place: &Place| {
            place.line == site.line()
                && place.column == site.column()
                && Path::new(site.file()).ends_with(&place.file)
        };
        if settings
            .spurious_at
            .is_some_and(|at| !at.iter().any(is_here))
        {
            return false;
        }
        self.goes_without_reason(site)
    }

    /// The same where all places are meant.
    pub(super) fn goes_without_reason(self, site: Site) -> bool {
        if self.get().settings.spurious == 0 || self.is_ending() {
            return false;
        }
        self.change_tokens(|tokens| tokens.checked_sub(1), site)
    }

    /// Changes how many there are, if that can be done; an event in either case.
    fn change_tokens(self, change: impl FnOnce(u32) -> Option<u32>, site: Site) -> bool {
        let object = match self.get().tokens.object {
            Some(object) => object,
            None => {
                let object = self.new_object(std::ptr::from_ref(&PLACE).addr());
                *self.get().tokens.object.insert(object)
            }
        };
        self.turn(Kind::Update, object, 0, site);
        let before = self.get().tokens.left;
        let after = change(before);
        let kind = match after {
            Some(after) => {
                self.get().tokens.left = after;
                Kind::Update
            }
            None => Kind::FailedUpdate,
        };
        let left = after.unwrap_or(before).into();
        self.did(kind, object, before.into(), left, site);
        after.is_some()
    }
}
