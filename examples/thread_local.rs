//! A setting that each thread caches, together with the version that it belongs to.
//!
//! Source: our own.
//!
//! The bug: `publish` counts the version up before it stores the setting. Who looks in between caches the old setting
//! under the new version, and never looks again.
//!
//! Threads: a reader meets the one that publishes. Two reads of the reader see its writes: of the version, and later of
//! the flag after which everybody should have the new setting.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

const OLD: u32 = 10;
const NEW: u32 = 20;

static VERSION: AtomicU32 = AtomicU32::new(0);
static SETTING: AtomicU32 = AtomicU32::new(OLD);
static PUBLISHED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The version and the setting that this thread saw last.
    static CACHED: Cell<(u32, u32)> = const { Cell::new((0, OLD)) };
}

fn publish(setting: u32) {
    VERSION.fetch_add(1, Ordering::SeqCst);
    SETTING.store(setting, Ordering::SeqCst);
    PUBLISHED.store(true, Ordering::SeqCst);
}

fn setting() -> u32 {
    let version = VERSION.load(Ordering::SeqCst);
    let (cached_version, cached) = CACHED.get();
    if cached_version == version {
        return cached;
    }
    let setting = SETTING.load(Ordering::SeqCst);
    CACHED.set((version, setting));
    setting
}

/// Works with the setting once, and again.
fn work() {
    assert!([OLD, NEW].contains(&setting()), "a setting out of nowhere");
    if PUBLISHED.load(Ordering::SeqCst) {
        assert_eq!(setting(), NEW, "an old setting is cached for good");
    }
}

#[test]
fn publish_while_another_works() {
    let reader = thread::spawn(work);
    let writer = thread::spawn(|| publish(NEW));
    reader.join().unwrap();
    writer.join().unwrap();
}
