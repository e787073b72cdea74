//! The calls that threads are in, as numbers that events can have.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use seqz_explore::hash::Mixer;

use super::events::site_number;
use super::state::Handle;
use crate::memory::outside;
use crate::vocabulary::Site;

/// The numbers of lists of call sites. They are the same in all executions of a search that has met the lists in the
/// same order; another search has numbers of its own.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    numbers: HashMap<Vec<u32>, u32, BuildHasherDefault<Mixer>>,
}

impl Contexts {
    /// The number of a list of calls: from 1, and 0 for the empty list.
    fn number(&mut self, calls: &[u32]) -> u32 {
        if calls.is_empty() {
            return 0;
        }
        if let Some(&number) = self.numbers.get(calls) {
            return number;
        }
        let number = u32::try_from(self.numbers.len() + 1).unwrap_or(u32::MAX);
        self.numbers.insert(calls.to_vec(), number);
        number
    }
}

impl Handle {
    /// The current thread makes a call. Returns the number of calls that the thread was in before it.
    pub(crate) fn enter_call(self, site: Site) -> usize {
        let state = self.get();
        let current = state.current;
        let Some(slot) = state.slots.get_mut(current) else {
            return 0;
        };
        let depth = slot.calls.len();
        if state.settings.call_depth > 0 {
            outside(|| slot.calls.push(site_number(site)));
        }
        depth
    }

    /// The current thread is back from a call; `depth` is the number of calls that the thread was in before it.
    pub(crate) fn leave_call(self, depth: usize) {
        let state = self.get();
        let current = state.current;
        if let Some(slot) = state.slots.get_mut(current) {
            slot.calls.truncate(depth);
        }
    }

    /// The number of the list of the innermost calls, at most `call_depth`, that the current thread is in.
    #[inline]
    pub(super) fn context(self) -> u32 {
        let state = self.get();
        let depth = state.settings.call_depth as usize;
        if depth == 0 {
            return 0;
        }
        let calls = &state.slots[state.current].calls;
        let last = &calls[calls.len().saturating_sub(depth)..];
        outside(|| state.contexts.number(last))
    }
}
