//! A thread that runs timers, and is joined by the one that shuts it down.
//!
//! Source: timerthread of the predecessor-set paper, a deadlock extracted from Mozilla. Of the program itself the paper
//! says nothing.
//!
//! The bug: `shut_down` holds the lock of the timers while it joins the thread. A timer that fires meanwhile needs it.
//!
//! Threads: the main thread shuts the timers' thread down.

use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

#[derive(Clone, Default)]
struct Timers {
    waiting: Vec<u32>,
    fired: Vec<u32>,
}

struct TimerThread {
    timers: Arc<Mutex<Timers>>,
    thread: JoinHandle<()>,
}

impl TimerThread {
    fn start(waiting: Vec<u32>) -> Self {
        let timers = Arc::new(Mutex::new(Timers {
            waiting,
            fired: Vec::new(),
        }));
        let thread = {
            let timers = Arc::clone(&timers);
            thread::spawn(move || run(&timers))
        };
        Self { timers, thread }
    }

    /// Stops the thread. The answer is what has fired.
    fn shut_down(self) -> Vec<u32> {
        let mut timers = self.timers.lock().unwrap();
        timers.waiting.clear();
        self.thread.join().unwrap();
        timers.fired.clone()
    }
}

/// Lets the timers fire, one after the other.
fn run(timers: &Mutex<Timers>) {
    loop {
        let mut timers = timers.lock().unwrap();
        let Some(timer) = timers.waiting.pop() else {
            return;
        };
        timers.fired.push(timer);
    }
}

#[test]
fn a_timer_fires_during_a_shutdown() {
    let thread = TimerThread::start(vec![1]);
    let fired = thread.shut_down();
    assert!(fired.len() <= 1, "there is one timer");
}
