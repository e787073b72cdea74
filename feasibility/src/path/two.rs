//! The path that goes on with T, and another path that is tried where the first does not go on.

use super::Path;
use crate::interference::Interference;
use crate::log::{Op, TEvent};

/// Both paths, for one log of T'.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    // The paths are behind pointers, which are quick to exchange.
    path: Box<Path>,
    spare: Box<Path>,
}

impl Paths {
    /// Resets the paths to no events. `other` says whether T' has another log.
    #[inline]
    pub(crate) fn clear(&mut self, u: &Interference, other: bool) {
        self.path.clear(u, other);
        if other {
            self.spare.clear(u, true);
        }
    }

    /// Turns the paths off: they can't handle this log of T'.
    #[inline]
    pub(crate) const fn turn_off(&mut self) {
        self.path.on = false;
        self.spare.on = false;
    }

    /// Goes on with T's next event, number `at`.
    #[inline]
    pub(crate) fn push(&mut self, u: &Interference, op: Op, source: Option<u32>, at: usize) {
        self.path.push(u, op, source, at);
    }

    /// Whether the path goes through all of T's log, which has `events` events.
    #[inline]
    pub(crate) fn is_of(&self, events: usize) -> bool {
        self.path.is_of(events)
    }

    /// Takes T's events from this one on back.
    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.path.truncate(len);
    }

    /// Whether T's log, given as `log`, is feasible; `None` where the paths can't decide.
    #[inline]
    pub(crate) fn decide(&mut self, u: &Interference, log: &[TEvent]) -> Option<bool> {
        if self.path.is_of(log.len()) {
            return Some(true);
        }
        self.decide_slowly(u, log)
    }

    #[inline]
    fn decide_slowly(&mut self, u: &Interference, log: &[TEvent]) -> Option<bool> {
        let path = &mut *self.path;
        if !path.on {
            return None;
        }
        path.refresh(u, log);
        let (before, rest) = log.split_at(path.len);
        let Some(&event) = rest.first() else {
            return Some(true);
        };
        if path.ends {
            return Some(false);
        }
        if !self.try_other(u, before, event) {
            return None;
        }
        self.change();
        self.path.follow(u, rest);
        if self.path.len == log.len() {
            return Some(true);
        }
        self.path.ends.then_some(false)
    }

    /// Whether T's log, given as `log`, would be feasible with one more event; `None` where the paths can't decide.
    #[inline]
    pub(crate) fn would(
        &mut self,
        u: &Interference,
        log: &[TEvent],
        event: TEvent,
    ) -> Option<bool> {
        let path = &mut *self.path;
        if !path.on {
            return None;
        }
        path.refresh(u, log);
        if path.len < log.len() {
            return path.ends.then_some(false);
        }
        match path.look_ahead(u, event) {
            None => self.would_otherwise(u, log, event),
            told => told,
        }
    }

    #[inline]
    fn would_otherwise(&mut self, u: &Interference, log: &[TEvent], event: TEvent) -> Option<bool> {
        let goes = self.try_other(u, log, event) && self.spare.look_ahead(u, event) == Some(true);
        goes.then(|| {
            self.change();
            true
        })
    }

    /// Whether T' can go on to this column, T doing nothing, if the path shows that.
    #[inline]
    pub(crate) fn reaches(&mut self, u: &Interference, log: &[TEvent], column: u32) -> bool {
        let path = &mut *self.path;
        if !path.on {
            return false;
        }
        path.refresh(u, log);
        path.len == log.len() && path.column <= column && path.lets_move(column)
    }

    /// Tries another path where T's next event, after the events `before`, requires a place that T' can't go to.
    #[inline]
    fn try_other(&mut self, u: &Interference, before: &[TEvent], event: TEvent) -> bool {
        let Some(ahead) = self.path.elsewhere(u, event) else {
            return false;
        };
        let other = &mut *self.spare;
        other.ahead = ahead;
        other.restart();
        other.follow(u, before);
        other.len == before.len()
    }

    /// Exchanges the paths: the other path goes on with T.
    #[inline]
    const fn change(&mut self) {
        std::mem::swap(&mut self.path, &mut self.spare);
    }
}
