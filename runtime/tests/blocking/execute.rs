//! The same programs on seqz's runtime: plain Rust over the runtime's `sync` and `thread`, as a transformed program is.

use std::time::Duration;

use seqz_runtime::std::sync::atomic::{AtomicU8, Ordering::SeqCst};
use seqz_runtime::std::sync::mpsc::{
    Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, TrySendError, channel,
    sync_channel,
};
use seqz_runtime::std::sync::{Arc, Barrier, Condvar, Mutex, MutexGuard, Once, OnceLock};
use seqz_runtime::std::thread::{self, Thread};

use crate::program::{ATOMICS, Assert, EMPTY, GONE, LOCALS, Program, Stmt};

struct Shared {
    atomics: [AtomicU8; ATOMICS],
    mutex: Mutex<u8>,
    condvar: Condvar,
    barrier: Barrier,
    once: Once,
    cell: OnceLock<u8>,
}

#[derive(Clone)]
enum Tx {
    Unbounded(Sender<u8>),
    Bounded(SyncSender<u8>),
}

/// The ends of the channel that a thread has, in the order in which it drops them.
#[derive(Default)]
struct Ends {
    tx: Option<Tx>,
    rx: Option<Receiver<u8>>,
}

impl Program {
    fn ends(&self) -> [Ends; 2] {
        let mut ends = [Ends::default(), Ends::default()];
        let Some(shape) = self.channel else {
            return ends;
        };
        let (tx, rx) = match shape.bound {
            None => {
                let (tx, rx) = channel();
                (Tx::Unbounded(tx), rx)
            }
            Some(bound) => {
                let (tx, rx) = sync_channel(bound);
                (Tx::Bounded(tx), rx)
            }
        };
        ends[shape.receiver].rx = Some(rx);
        match shape.senders {
            [true, true] => {
                ends[0].tx = Some(tx.clone());
                ends[1].tx = Some(tx);
            }
            [true, false] => ends[0].tx = Some(tx),
            [false, true] => ends[1].tx = Some(tx),
            [false, false] => {}
        }
        ends
    }

    /// Runs the program once.
    pub(crate) fn run(self: &std::sync::Arc<Self>) {
        let shared = Arc::new(Shared {
            atomics: [AtomicU8::new(0), AtomicU8::new(0)],
            mutex: Mutex::new(0),
            condvar: Condvar::new(),
            barrier: Barrier::new(2),
            once: Once::new(),
            cell: OnceLock::new(),
        });
        let [first, second] = self.ends();
        let spawn = |index: usize, ends: Ends, other: Option<Thread>| {
            let (program, shared) = (self.clone(), Arc::clone(&shared));
            thread::spawn(move || body(&shared, &program.threads[index], ends, other.as_ref()))
        };
        let mut locals = if self.main_goes_on {
            let handle = spawn(1, second, Some(thread::current()));
            let other = handle.thread().clone();
            let mut locals = body(&shared, &self.threads[0], first, Some(&other)).to_vec();
            locals.extend(handle.join().unwrap());
            locals
        } else {
            let first = spawn(0, first, None);
            let other = first.thread().clone();
            let second = spawn(1, second, Some(other));
            let mut locals = first.join().unwrap().to_vec();
            locals.extend(second.join().unwrap());
            locals
        };
        locals.extend(shared.atomics.iter().map(|x| x.load(SeqCst)));
        for assert in &self.after {
            check(*assert, &locals);
        }
    }
}

/// Failures are told apart by their places.
fn check(assert: Assert, locals: &[u8]) {
    if !assert.fails(locals) {
        return;
    }
    match assert.id {
        0 => panic!("assertion 0"),
        1 => panic!("assertion 1"),
        2 => panic!("assertion 2"),
        3 => panic!("assertion 3"),
        4 => panic!("assertion 4"),
        _ => panic!("assertion 5"),
    }
}

const LIMIT: Duration = Duration::from_millis(1);

fn body(shared: &Shared, list: &[Stmt], mut ends: Ends, other: Option<&Thread>) -> [u8; LOCALS] {
    let mut locals = [0; LOCALS];
    let mut held: Option<MutexGuard<'_, u8>> = None;
    let taken = "valid programs hold the lock here";
    let mut skips = false;
    for stmt in list {
        if std::mem::take(&mut skips) {
            continue;
        }
        match *stmt {
            Stmt::Unless { local, value } => skips = locals[local] == value,
            Stmt::Load { x, into } => locals[into] = shared.atomics[x].load(SeqCst),
            Stmt::Store { x, value } => shared.atomics[x].store(value, SeqCst),
            Stmt::Add { x, into } => locals[into] = shared.atomics[x].fetch_add(1, SeqCst),
            Stmt::Lock => held = Some(shared.mutex.lock().unwrap()),
            Stmt::Unlock => held = None,
            Stmt::Get { into } => locals[into] = **held.as_ref().expect(taken),
            Stmt::Put { value } => **held.as_mut().expect(taken) = value,
            Stmt::Wait => {
                held = Some(shared.condvar.wait(held.take().expect(taken)).unwrap());
            }
            Stmt::WaitWhile => {
                let guard = held.take().expect(taken);
                held = Some(
                    shared
                        .condvar
                        .wait_while(guard, |value| *value == 0)
                        .unwrap(),
                );
            }
            Stmt::WaitTimeout { into } => {
                let guard = held.take().expect(taken);
                let (guard, result) = shared.condvar.wait_timeout(guard, LIMIT).unwrap();
                locals[into] = u8::from(result.timed_out());
                held = Some(guard);
            }
            Stmt::NotifyOne => shared.condvar.notify_one(),
            Stmt::NotifyAll => shared.condvar.notify_all(),
            Stmt::Park => thread::park(),
            Stmt::ParkTimeout => thread::park_timeout(LIMIT),
            Stmt::UnparkOther => other.expect("valid programs have it").unpark(),
            Stmt::UnparkSelf => thread::current().unpark(),
            Stmt::Barrier { into } => locals[into] = u8::from(shared.barrier.wait().is_leader()),
            Stmt::CallOnce { x, value } => {
                shared
                    .once
                    .call_once(|| shared.atomics[x].store(value, SeqCst));
            }
            Stmt::IsCompleted { into } => locals[into] = u8::from(shared.once.is_completed()),
            Stmt::AwaitOnce => shared.once.wait(),
            Stmt::AwaitCell { into } => locals[into] = *shared.cell.wait(),
            Stmt::Set { value, into } => locals[into] = u8::from(shared.cell.set(value).is_ok()),
            Stmt::GetCell { into } => locals[into] = shared.cell.get().copied().unwrap_or(EMPTY),
            Stmt::GetOrInit { value, x, into } => {
                locals[into] = *shared.cell.get_or_init(|| {
                    shared.atomics[x].store(value, SeqCst);
                    value
                });
            }
            Stmt::Send { value, into } => {
                let sent = match &ends.tx {
                    Some(Tx::Unbounded(tx)) => tx.send(value).is_ok(),
                    Some(Tx::Bounded(tx)) => tx.send(value).is_ok(),
                    None => continue,
                };
                locals[into] = if sent { 1 } else { GONE };
            }
            Stmt::TrySend { value, into } => {
                let Some(Tx::Bounded(tx)) = &ends.tx else {
                    continue;
                };
                locals[into] = match tx.try_send(value) {
                    Ok(()) => 1,
                    Err(TrySendError::Full(_)) => EMPTY,
                    Err(TrySendError::Disconnected(_)) => GONE,
                };
            }
            Stmt::Recv { into } => {
                let Some(rx) = &ends.rx else { continue };
                locals[into] = rx.recv().unwrap_or(GONE);
            }
            Stmt::TryRecv { into } => {
                let Some(rx) = &ends.rx else { continue };
                locals[into] = match rx.try_recv() {
                    Ok(value) => value,
                    Err(TryRecvError::Empty) => EMPTY,
                    Err(TryRecvError::Disconnected) => GONE,
                };
            }
            Stmt::RecvTimeout { into } => {
                let Some(rx) = &ends.rx else { continue };
                locals[into] = match rx.recv_timeout(LIMIT) {
                    Ok(value) => value,
                    Err(RecvTimeoutError::Timeout) => EMPTY,
                    Err(RecvTimeoutError::Disconnected) => GONE,
                };
            }
            Stmt::DropSender => drop(ends.tx.take()),
            Stmt::DropReceiver => drop(ends.rx.take()),
            Stmt::Assert(assert) => check(assert, &locals),
        }
    }
    locals
}
