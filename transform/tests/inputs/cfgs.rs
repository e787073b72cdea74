//! Items that are compiled or not.
#![deny(warnings, missing_docs)]
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

#[cfg(not(test))]
use nothing::at::all::{Condvar, Mutex};
#[cfg(test)]
use std::sync::{Arc, Mutex};
#[cfg(loom)]
use loom::sync::Condvar;
#[cfg(all(test, not(loom)))]
use std::thread;
#[cfg(any(windows, all(test, feature = "never")))]
use std::sync::mpsc;

#[cfg(target_os = "none")]
mod missing;

#[cfg_attr(all(), path = "elsewhere.rs")]
#[cfg(special)]
mod moved;

struct State {
    #[cfg(test)]
    value: Mutex<u32>,
    #[cfg(loom)]
    value: loom::sync::Mutex<u32>,
}

#[deny(unused)]
#[cfg_attr(test, deny(unused_variables), allow(dead_code))]
fn update(state: &State) {
    #[cfg(loom)]
    let mut value = state.value.lock();
    #[cfg(not(loom))]
    let mut value = state.value.lock().unwrap();
    *value += match () {
        #[cfg(test)]
        () => 1,
        #[cfg(not(test))]
        () => std::sync::mpsc::channel::<u32>().1.recv().unwrap(),
    };
    #[cfg(not(test))]
    {
        std::thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    mod deep {
        use super::*;

        #[test]
        #[cfg(not(miri))]
        #[allow(clippy::all)]
        pub(super) fn cfgs() -> Result<(), std::io::Error> {
            let state = Arc::new(State { value: Mutex::new(0) });
            let other = state.clone();
            let handle = thread::spawn(move || update(&other));
            update(&state);
            handle.join().map_err(|_| std::io::Error::other("panicked"))
        }

        #[test]
        fn lonely() {}

        #[test]
        #[should_panic]
        fn panics() {
            thread::scope(|s| {
                s.spawn(|| panic!());
            });
        }

        #[test]
        #[ignore = "slow"]
        fn slow() {
            thread::scope(|s| {
                s.spawn(|| ());
            });
        }
    }
}
