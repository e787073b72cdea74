//! How often a search looks at an event, counted in tests alone: see `growth`.
//!
//! Every loop over the events of an execution gets the events from a few functions, and these functions count. So the
//! author of a new loop needs no count of its own.

#[cfg(test)]
thread_local! {
    static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts one look at an event.
#[inline(always)]
pub(crate) fn look() {
    look_at(1);
}

/// Counts one look at each of `events` events.
#[inline(always)]
pub(crate) fn look_at(events: usize) {
    #[cfg(test)]
    LOOKS.with(|looks| looks.set(looks.get() + events as u64));
    #[cfg(not(test))]
    let _ = events;
}

/// The number of looks that this OS thread has taken.
#[cfg(test)]
pub(crate) fn taken() -> u64 {
    LOOKS.get()
}
