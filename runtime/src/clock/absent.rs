//! Clocks where the runtime is built without the scheduler: the program sees the system's, which move by themselves.

use std::time::Duration;

/// The clocks of all threads: nothing is known of them.
#[derive(Debug, Default)]
pub(crate) struct Clocks {}

impl Clocks {
    /// Whether looks at the clock are noticed.
    pub(crate) const NOTICES_LOOKS: bool = false;

    /// Another execution begins.
    #[inline]
    pub(crate) const fn begin(&self) {}

    /// The time is not known.
    #[inline]
    pub(crate) const fn now(&self, _thread: u32) -> u64 {
        0
    }

    /// Looks are not noticed.
    #[inline]
    pub(crate) const fn looks(&self, _thread: u32) -> u32 {
        0
    }

    /// Not called: a thread looks at the system's clock.
    pub(crate) const fn look(&self, _thread: u32) -> u64 {
        0
    }

    /// The thread doesn't sleep.
    pub(crate) const fn pass(&self, _thread: u32, _duration: Duration) {}

    /// The clock moves by itself, so that it may end any loop.
    #[inline]
    pub(crate) const fn approach(
        &self,
        _thread: u32,
        _began: u64,
        _before: u64,
        _looked: bool,
    ) -> bool {
        true
    }

    /// No thread sleeps.
    #[inline]
    pub(crate) const fn outsleeps(&self, _thread: u32) -> bool {
        false
    }

    /// What time does is not noted.
    pub(crate) const fn hurry(&self) {}

    /// Looks are not noticed.
    pub(crate) const fn will_be_beside_others(&self, _over: u32) {}

    /// Looks are not noticed.
    pub(crate) const fn others_may_have_run(&self, _threads: u32) -> bool {
        false
    }

    /// Looks are not noticed.
    pub(crate) const fn is_beside_others(&self) -> bool {
        false
    }

    /// What time does is not noted.
    pub(crate) const fn hurried(&self) -> bool {
        false
    }

    /// All threads have the same clock.
    #[inline]
    pub(crate) const fn follow(&self, _thread: u32, _other: u32) {}

    /// All threads have the same clock.
    #[inline]
    pub(crate) const fn follow_all(&self, _thread: u32) {}
}
