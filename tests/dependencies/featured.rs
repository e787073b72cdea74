#[path = "../outside/name.rs"]
mod name;

pub use name::NAME;

#[cfg(feature = "counts")]
mod counts {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    static COUNT: AtomicUsize = AtomicUsize::new(0);

    pub fn count() -> usize {
        let before = COUNT.load(SeqCst);
        COUNT.store(before + 1, SeqCst);
        before
    }
}

#[cfg(feature = "counts")]
pub use counts::count;

#[cfg(feature = "absent")]
mod not_there;

#[macro_export]
macro_rules! once {
    ($value:expr) => {{
        static ONCE: ::std::sync::OnceLock<u32> = ::std::sync::OnceLock::new();
        *ONCE.get_or_init(|| $value)
    }};
}
