//! Threads that wait in a loop.

use super::{Abort, Engine, Handle, Line, Site, abort};
use crate::log::Object;

/// Finds threads that wait by looking again and again.
///
/// A thread that repeats reads which cannot change by what it does itself is cut after some idle turns. For T this loses
/// nothing when the loop only waits: a later turn can see no more than an earlier one. The cut is counted and reported,
/// because a loop may count its turns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spin {
    /// Idle turns so far.
    turns: u32,
    /// Digest of the reads since the last hint.
    reads: u64,
    /// The digest at the last hint.
    last_turn: u64,
    last_read: Option<(Object, usize, u64)>,
    repeated: u32,
    /// All of this is to be forgotten: that is done when it is next asked for.
    over: bool,
}

impl Spin {
    /// The thread did something that others can see, or saw something new.
    #[inline]
    pub(crate) fn progress(&mut self) {
        self.over = true;
    }

    #[inline]
    fn forget(&mut self) {
        if self.over {
            *self = Self::default();
        }
    }

    /// The thread read; the answer is whether it has read the same again too often.
    #[inline]
    fn repeats(&mut self, object: Object, site: Site, value: u64, bound: u32) -> bool {
        self.forget();
        let place = std::ptr::from_ref(site).addr();
        let this = Some((object, place, value));
        self.reads = (self.reads ^ value ^ (u64::from(object) << 32) ^ place as u64)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        if self.last_read == this {
            self.repeated += 1;
        } else {
            self.last_read = this;
            self.repeated = 0;
        }
        self.repeated >= bound
    }

    /// The thread yields, sleeps, or says that it spins; the answer is whether it has done so idly too often.
    fn idles(&mut self, bound: u32) -> bool {
        self.forget();
        if self.reads != 0 && self.reads == self.last_turn {
            self.turns += 1;
        } else {
            self.turns = 0;
        }
        self.last_turn = std::mem::take(&mut self.reads);
        self.turns >= bound
    }
}

/// Cuts the current line when it only repeats a read.
#[inline]
pub(crate) fn read(handle: Handle, object: Object, site: Site, value: u64) {
    let engine = handle.get();
    let bound = engine.idle_bound(engine.limits.idle_reads);
    if engine.spin.repeats(object, site, value, bound) {
        cut_spinning(handle);
    }
}

/// `yield_now`, `sleep`, `spin_loop`.
pub(crate) fn hint(handle: Handle) {
    let engine = handle.get();
    if engine.quiet || engine.line == Line::Init {
        return;
    }
    let bound = engine.idle_bound(engine.limits.idle_turns);
    if engine.spin.idles(bound) {
        cut_spinning(handle);
    }
}

impl Engine {
    /// T' is run once whatever it does, so that it can be let wait for longer; each turn of T is a choice.
    #[inline]
    fn idle_bound(&self, of_t: u32) -> u32 {
        if self.line == Line::Interfering {
            of_t.saturating_mul(64)
        } else {
            of_t
        }
    }
}

#[cold]
fn cut_spinning(handle: Handle) {
    abort(handle, Abort::Waiting);
}
