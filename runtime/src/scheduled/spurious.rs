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

use super::state::Handle;
use crate::shared::AtomicCell;
use crate::vocabulary::{Place, Site};

/// What the thread that gives tokens is called.
pub const NAME: &str = "what happens without a reason";

static TOKENS: AtomicCell<u32> = AtomicCell::new(0);

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
                let _ = TOKENS.update(|tokens| Some(tokens + 1), None, site);
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
        TOKENS
            .update(|tokens| tokens.checked_sub(1), None, site)
            .is_ok()
    }
}
