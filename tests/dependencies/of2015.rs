extern crate core;

use std::sync::{Arc, Mutex};
use std::sync::atomic::*;

pub mod jobs {
    use std::sync::mpsc::{channel, Receiver, Sender};
    use std::thread;

    pub type Job = Box<FnMut() -> u32 + Send>;

    pub fn worker() -> (Sender<Job>, Receiver<u32>) {
        let (to, jobs) = channel::<Job>();
        let (done, from) = channel();
        thread::spawn(move || for mut job in jobs { let _ = done.send(job()); });
        (to, from)
    }
}

pub fn shared() -> Arc<Mutex<Vec<u32>>> {
    let async = Vec::new();
    Arc::new(Mutex::new(async))
}

pub fn flag() -> ::std::sync::Arc<AtomicBool> {
    ::std::sync::Arc::new(ATOMIC_BOOL_INIT)
}

#[allow(deprecated)]
const ATOMIC_BOOL_INIT: AtomicBool = ::core::sync::atomic::AtomicBool::new(false);
