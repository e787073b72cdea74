#!/usr/bin/env run-cargo-script
//! Œuvre: positions stay right behind text that isn't ASCII.
use std::sync::{Arc, Mutex, atomic::{AtomicI32, Ordering}};	use std::thread;

struct Länge { größe: AtomicI32, inner: Mutex<Vec<i32>> }

/* 日本語 */ static mut ÜBER: i32 = 0; /* /* nested 🦀 */ */

#[test] fn positions() {
    let a = Arc::new(Länge { größe: AtomicI32::new(0), inner: Mutex::new(vec![]) }); let b = Arc::clone(&a);
    /* é */ let h = thread::spawn(move || { "🦀🦀"; b.größe.fetch_add(1, Ordering::SeqCst); let mut guard = b.inner.lock().unwrap(); guard.push(1); unsafe { ÜBER += 1 } });
    let x = "多字节" ; /* – */ a./* between */größe
        // a comment before the name
        ./* 2 */store(3, Ordering::SeqCst); let _ = x; println!("ä{}", unsafe { ÜBER }); let _ = *a.inner.lock().unwrap() == [];
    h.join().unwrap();
}
