//! How often a search looks at an event, counted in tests alone: see `growth`.
//!
//! Whatever goes through an execution comes by what gives its events away, and is counted there, so that nobody who writes a
//! loop has to think of it.

#[cfg(test)]
thread_local! {
    static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Somebody looks at an event.
#[inline(always)]
pub(crate) fn look() {
    look_at(1);
}

/// Somebody looks at so many events.
#[inline(always)]
pub(crate) fn look_at(events: usize) {
    #[cfg(test)]
    LOOKS.with(|looks| looks.set(looks.get() + events as u64));
    #[cfg(not(test))]
    let _ = events;
}

/// How many looks this OS thread has taken.
#[cfg(test)]
pub(crate) fn taken() -> u64 {
    LOOKS.get()
}
