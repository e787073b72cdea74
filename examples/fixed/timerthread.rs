//! A thread that runs timers: `../timerthread.rs` with the bug taken out.
//!
//! `shut_down` gives the lock back before it joins the thread.

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
        self.timers.lock().unwrap().waiting.clear();
        self.thread.join().unwrap();
        self.timers.lock().unwrap().fired.clone()
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
