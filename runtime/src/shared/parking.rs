//! In P̂ₖ: what threads were unparked for.
//!
//! That a thread was unparked is a variable of its own. To unpark it is a write. To park is to read and, if the thread was
//! unparked, to use that up in the same step; a thread that was not can't go on before it sees that it was.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use super::AtomicCell;
use crate::engine::{Handle, limit_passed, unsupported, waiting::For};
use crate::memory::outside;
use crate::vocabulary::Site;

type Token = Arc<AtomicCell<bool>>;

thread_local! {
    /// The variables of the threads, by their numbers: those of one execution after the other.
    static TOKENS: RefCell<Vec<Token>> = const { RefCell::new(Vec::new()) };
}

/// The variable of the thread with this number.
fn token(thread: u32) -> Token {
    outside(|| {
        TOKENS.with_borrow_mut(|tokens| {
            let least = thread as usize + 1;
            if tokens.len() < least {
                tokens.resize_with(least, || Arc::new(AtomicCell::new(false)));
            }
            Arc::clone(&tokens[thread as usize])
        })
    })
}

/// The current thread waits for something else than to be unparked, where std parks it, too: for a message, for room for
/// one, or for the end of a scope's threads.
pub(crate) fn was_parked_inside(handle: Handle) {
    let engine = handle.get();
    engine.parked_inside |= 1 << engine.threads.current.min(63);
}

/// Parks the current thread, with a time limit or without.
pub(crate) fn park(handle: Handle, limit: Option<Duration>, site: Site) {
    let me = 1 << handle.get().threads.current.min(63);
    if handle.get().parked_inside & me != 0 && !handle.get().quiet {
        let message = "`park` after a wait for a channel or for the end of a scope: what the thread was unparked for may be used \
                       up there";
        unsupported(handle, message.to_owned(), Some(site));
        return;
    }
    let token = token(handle.get().threads.current);
    let use_up = || {
        let used = token.update(|is_unparked| is_unparked.then_some(false), Some(true), site);
        used.is_ok()
    };
    // A destructor of an execution that has been ended goes on, as std allows.
    while !use_up() && !handle.get().quiet {
        let Some(limit) = limit else {
            token.wait_in_p_hat(handle, For::Unpark, site);
            continue;
        };
        // The thread may be unparked while it waits.
        if !use_up() {
            limit_passed(handle, limit);
        }
        return;
    }
}

/// Unparks a thread.
pub(crate) fn unpark(thread: u32, site: Site) {
    token(thread).store(true, site);
}
