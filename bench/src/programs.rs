//! The programs that seqz and its peers are compared on, over the concurrency items of each tool.
//!
//! They note a failure instead of panicking: both peers stop at the first panic, and a panic costs more than an execution.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Executions of the current measurement.
pub(crate) static EXECUTIONS: AtomicU64 = AtomicU64::new(0);
/// Failures that they noted.
pub(crate) static FAILURES: AtomicU64 = AtomicU64::new(0);

/// The programs, over the concurrency items of one tool.
macro_rules! programs {
    ($tool:ident, $root:path) => {
        pub(crate) mod $tool {
            use super::{EXECUTIONS, FAILURES, Relaxed};
            use tool::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering::SeqCst};
            use tool::sync::{Arc, Mutex};
            use tool::thread;
            use $root as tool;

            struct Driver {
                pending_io: AtomicI32,
                stopping_flag: AtomicBool,
                stopping_event: AtomicBool,
                stopped: AtomicBool,
            }

            impl Driver {
                fn release(&self) {
                    if self.pending_io.fetch_sub(1, SeqCst) == 1 {
                        self.stopping_event.store(true, SeqCst);
                    }
                }

                fn add(&self) {
                    if self.stopping_flag.load(SeqCst) {
                        return;
                    }
                    self.pending_io.fetch_add(1, SeqCst);
                    if self.stopped.load(SeqCst) {
                        FAILURES.fetch_add(1, Relaxed);
                    }
                    self.release();
                }

                fn stop(&self) {
                    self.stopping_flag.store(true, SeqCst);
                    self.release();
                    if self.stopping_event.load(SeqCst) {
                        self.stopped.store(true, SeqCst);
                    }
                }
            }

            pub(crate) fn bluetooth() {
                EXECUTIONS.fetch_add(1, Relaxed);
                let driver = Arc::new(Driver {
                    pending_io: AtomicI32::new(1),
                    stopping_flag: AtomicBool::new(false),
                    stopping_event: AtomicBool::new(false),
                    stopped: AtomicBool::new(false),
                });
                let other = driver.clone();
                let add = thread::spawn(move || other.add());
                let other = driver.clone();
                let stop = thread::spawn(move || other.stop());
                add.join().unwrap();
                stop.join().unwrap();
            }

            pub(crate) fn counter() {
                EXECUTIONS.fetch_add(1, Relaxed);
                let count = Arc::new(AtomicU32::new(0));
                let threads = [0, 1].map(|_| {
                    let count = count.clone();
                    thread::spawn(move || {
                        let seen = count.load(SeqCst);
                        count.store(seen + 1, SeqCst);
                    })
                });
                for thread in threads {
                    thread.join().unwrap();
                }
                if count.load(SeqCst) != 2 {
                    FAILURES.fetch_add(1, Relaxed);
                }
            }

            /// Two transfers between accounts that each have a lock: money is missing in between.
            pub(crate) fn account() {
                EXECUTIONS.fetch_add(1, Relaxed);
                let accounts = Arc::new([Mutex::new(100_i64), Mutex::new(100_i64)]);
                let threads = [0, 1].map(|from| {
                    let accounts = accounts.clone();
                    thread::spawn(move || {
                        *accounts[from].lock().unwrap() -= 10;
                        *accounts[1 - from].lock().unwrap() += 10;
                    })
                });
                let first = *accounts[0].lock().unwrap();
                let second = *accounts[1].lock().unwrap();
                if first + second != 200 {
                    FAILURES.fetch_add(1, Relaxed);
                }
                for thread in threads {
                    thread.join().unwrap();
                }
            }

            /// Three threads that count under a lock.
            pub(crate) fn lock() {
                EXECUTIONS.fetch_add(1, Relaxed);
                let count = Arc::new(Mutex::new(0));
                let threads = [0, 1, 2].map(|_| {
                    let count = count.clone();
                    thread::spawn(move || *count.lock().unwrap() += 1)
                });
                for thread in threads {
                    thread.join().unwrap();
                }
                if *count.lock().unwrap() != 3 {
                    FAILURES.fetch_add(1, Relaxed);
                }
            }

            /// Three threads that twice count under a lock, and then without one.
            #[allow(
                dead_code,
                reason = "too large for the exhaustive searches of the peers"
            )]
            pub(crate) fn lock_and_race() {
                EXECUTIONS.fetch_add(1, Relaxed);
                let shared = Arc::new((Mutex::new(0), AtomicU32::new(0)));
                let threads = [0, 1, 2].map(|_| {
                    let shared = shared.clone();
                    thread::spawn(move || {
                        for _ in 0..2 {
                            *shared.0.lock().unwrap() += 1;
                            let seen = shared.1.load(SeqCst);
                            shared.1.store(seen + 1, SeqCst);
                        }
                    })
                });
                for thread in threads {
                    thread.join().unwrap();
                }
                if *shared.0.lock().unwrap() != 6 {
                    FAILURES.fetch_add(1, Relaxed);
                }
            }
        }
    };
}

programs!(seqz, seqz_runtime::std);
programs!(loom, loom);
programs!(shuttle, shuttle);
