//! What std allows to happen without a reason: that a wait ends without a notification, and that a weak exchange fails
//! though it finds the value that it expects.
//!
//! How often that may happen in an execution is a setting, and so are the places: a thread that waits in a loop looks
//! again, but code without a loop may not have been written for it. Then one more thread belongs to the execution, the
//! harness's first child, which gives that number of *tokens*, one after the other. An operation that may happen
//! without a reason takes a token if there is one, and then happens. So the schedule says when it happens, strategies
//! need not know of it, and a schedule that is followed has it happen again.

use std::panic::Location;
use std::path::Path;

use seqz_explore::{Kind, Object, Pending, Thread};

use super::state::{Handle, State};
use crate::vocabulary::{Place, REASONLESS, Site};

/// The address that stands for the tokens as an object; no other object has it.
static PLACE: u8 = 0;

/// The tokens of an execution.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// The object that the tokens are, from the first event on.
    object: Option<Object>,
    /// The number of tokens that have been given and not been taken.
    left: u32,
}

impl State {
    /// The thread that gives tokens, if there is one. It is none of the program's.
    pub(super) fn gives_tokens(&self) -> Option<Thread> {
        (self.settings.spurious > 0).then_some(1)
    }
}

impl Handle {
    /// Starts the thread that gives tokens, if the setting allows any.
    pub(super) fn start_spurious(self) {
        let tokens = self.get().settings.spurious;
        if tokens == 0 {
            return;
        }
        let site = Location::caller();
        let give = move || {
            for _ in 0..tokens {
                self.change_tokens(0, |tokens| Some(tokens + 1), site);
            }
        };
        let name = crate::memory::outside(|| REASONLESS.to_owned());
        self.fork(Some(name), site, Box::new(give));
    }

    /// Whether what may happen at this place without a reason happens now.
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

    /// Whether what may happen without a reason happens now, at a place that the setting of places does not concern.
    pub(super) fn goes_without_reason(self, site: Site) -> bool {
        if self.get().settings.spurious == 0 || self.is_ending() {
            return false;
        }
        // Where no token is there, the operation only sees that.
        self.change_tokens(Pending::UNLESS_ZERO, |tokens| tokens.checked_sub(1), site)
    }

    /// Changes the number of tokens, if `change` allows it; this is an event in either case, and announced with `expected`.
    /// Returns whether the number was changed.
    fn change_tokens(
        self,
        expected: u64,
        change: impl FnOnce(u32) -> Option<u32>,
        site: Site,
    ) -> bool {
        let object = match self.get().tokens.object {
            Some(object) => object,
            None => {
                let object = self.new_object(std::ptr::from_ref(&PLACE).addr());
                *self.get().tokens.object.insert(object)
            }
        };
        self.turn(Kind::Update, object, expected, site);
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
