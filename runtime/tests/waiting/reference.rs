//! Random programs over a channel, against one that is made of a mutex and a condition variable: the same can be seen.

use std::collections::VecDeque;
use std::sync::Mutex as Collected;
use std::time::Duration;

use seqz_explore::random_numbers::RandomNumbers;
use seqz_explore::{Dpor, Mcr, Promise, RvCausal};
use seqz_runtime::scheduled::Settings;
use seqz_runtime::std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use seqz_runtime::std::sync::{Condvar, Mutex};
use seqz_runtime::std::thread;

use super::{Note, explore_at_most, explore_by_values};

#[derive(Clone, Default)]
struct State {
    messages: VecDeque<(u32, u32)>,
    senders: usize,
    has_receiver: bool,
    is_receiving: bool,
    /// Tickets of those whose messages have been received.
    received: Vec<u32>,
    tickets: u32,
}

/// A channel as one would write it.
struct Reference {
    bound: Option<usize>,
    state: Mutex<State>,
    changed: Condvar,
}

impl Reference {
    fn send(&self, value: u32, waits: bool) -> String {
        let mut state = self.state.lock().unwrap();
        loop {
            if !state.has_receiver {
                return "disconnected".to_owned();
            }
            let room = match self.bound {
                None => true,
                Some(0) => std::mem::take(&mut state.is_receiving),
                Some(bound) => state.messages.len() < bound,
            };
            if room {
                state.messages.push_back((0, value));
                self.changed.notify_all();
                return "sent".to_owned();
            }
            if !waits {
                return "full".to_owned();
            }
            if self.bound == Some(0) {
                return self.hand_over(state, value);
            }
            state = self.changed.wait(state).unwrap();
        }
    }

    fn hand_over(
        &self,
        mut state: seqz_runtime::std::sync::MutexGuard<'_, State>,
        value: u32,
    ) -> String {
        state.tickets += 1;
        let ticket = state.tickets;
        state.messages.push_back((ticket, value));
        loop {
            if state.received.contains(&ticket) {
                return "sent".to_owned();
            }
            if !state.has_receiver {
                return "disconnected".to_owned();
            }
            state = self.changed.wait(state).unwrap();
        }
    }

    fn receive(&self, how: Receive) -> String {
        let mut state = self.state.lock().unwrap();
        let mut is_over = false;
        loop {
            state.is_receiving = false;
            if let Some((ticket, value)) = state.messages.pop_front() {
                state.received.push(ticket);
                self.changed.notify_all();
                return value.to_string();
            }
            if state.senders == 0 {
                return "disconnected".to_owned();
            }
            match how {
                Receive::Try => return "empty".to_owned(),
                Receive::Timeout if is_over => return "empty".to_owned(),
                Receive::Timeout => {
                    state.is_receiving = true;
                    let limit = Duration::from_millis(1);
                    let waited = self.changed.wait_timeout(state, limit).unwrap();
                    is_over = waited.1.timed_out();
                    state = waited.0;
                }
                Receive::Wait => {
                    state.is_receiving = true;
                    state = self.changed.wait(state).unwrap();
                }
            }
        }
    }

    fn remove_sender(&self) {
        self.state.lock().unwrap().senders -= 1;
        self.changed.notify_all();
    }

    fn remove_receiver(&self) {
        self.state.lock().unwrap().has_receiver = false;
        self.changed.notify_all();
    }
}

#[derive(Clone, Copy, Debug)]
enum Receive {
    Wait,
    Try,
    Timeout,
}

#[derive(Clone, Debug)]
struct Program {
    bound: Option<usize>,
    /// Per sender: messages, and whether it waits for room.
    senders: Vec<Vec<(u32, bool)>>,
    receiver: Vec<Receive>,
}

fn program(seed: u64) -> Program {
    let mut numbers = RandomNumbers::new(seed);
    let bound = [None, Some(0), Some(0), Some(1)][numbers.below(4) as usize];
    let senders = 1 + numbers.below(2);
    let senders = (0..senders)
        .map(|sender| {
            let count = 1 + numbers.below(2) as u32;
            (0..count)
                .map(|n| {
                    (
                        10 * sender as u32 + n,
                        bound.is_none() || numbers.below(3) > 0,
                    )
                })
                .collect()
        })
        .collect();
    let receiver = (0..1 + numbers.below(2))
        .map(|_| match numbers.below(4) {
            0 => Receive::Try,
            1 => Receive::Timeout,
            _ => Receive::Wait,
        })
        .collect();
    Program {
        bound,
        senders,
        receiver,
    }
}

/// A sender of either kind.
enum End {
    Unbounded(Sender<u32>),
    Bounded(SyncSender<u32>),
}

impl End {
    fn send(&self, value: u32, waits: bool) -> String {
        use std::sync::mpsc::TrySendError::{Disconnected, Full};
        let failed = |is_ok: bool| if is_ok { "sent" } else { "disconnected" };
        let outcome = match self {
            Self::Unbounded(end) => failed(end.send(value).is_ok()),
            Self::Bounded(end) if waits => failed(end.send(value).is_ok()),
            Self::Bounded(end) => match end.try_send(value) {
                Ok(()) => "sent",
                Err(Full(_)) => "full",
                Err(Disconnected(_)) => "disconnected",
            },
        };
        outcome.to_owned()
    }
}

fn receive(receiver: &Receiver<u32>, how: Receive) -> String {
    use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
    let result = match how {
        Receive::Wait => receiver.recv().map_err(|_| "disconnected"),
        Receive::Try => receiver.try_recv().map_err(|error| match error {
            TryRecvError::Empty => "empty",
            TryRecvError::Disconnected => "disconnected",
        }),
        Receive::Timeout => {
            let limit = Duration::from_millis(1);
            receiver.recv_timeout(limit).map_err(|error| match error {
                RecvTimeoutError::Timeout => "empty",
                RecvTimeoutError::Disconnected => "disconnected",
            })
        }
    };
    result.map_or_else(str::to_owned, |value| value.to_string())
}

/// What each party sees, the receiver last.
type Seen = Collected<Vec<Vec<String>>>;

fn see(seen: &Seen, party: usize, outcome: String) {
    seen.lock().unwrap()[party].push(outcome);
}

fn run_reference(program: &Program, seen: &Seen) {
    let state = State {
        senders: program.senders.len(),
        has_receiver: true,
        ..State::default()
    };
    let channel = &Reference {
        bound: program.bound,
        state: Mutex::new(state),
        changed: Condvar::new(),
    };
    thread::scope(|scope| {
        for (party, messages) in program.senders.iter().enumerate() {
            scope.spawn(move || {
                for &(value, waits) in messages {
                    see(seen, party, channel.send(value, waits));
                }
                channel.remove_sender();
            });
        }
        for &how in &program.receiver {
            see(seen, program.senders.len(), channel.receive(how));
        }
        channel.remove_receiver();
    });
}

fn run_own(program: &Program, seen: &Seen) {
    let count = program.senders.len();
    let (ends, receiver): (Vec<End>, _) = match program.bound {
        None => {
            let (sender, receiver) = channel();
            let ends = (0..count).map(|_| End::Unbounded(sender.clone()));
            (ends.collect(), receiver)
        }
        Some(bound) => {
            let (sender, receiver) = sync_channel(bound);
            let ends = (0..count).map(|_| End::Bounded(sender.clone()));
            (ends.collect(), receiver)
        }
    };
    thread::scope(|scope| {
        for (party, (messages, end)) in program.senders.iter().zip(ends).enumerate() {
            scope.spawn(move || {
                for &(value, waits) in messages {
                    see(seen, party, end.send(value, waits));
                }
            });
        }
        for &how in &program.receiver {
            see(seen, count, receive(&receiver, how));
        }
        drop(receiver);
    });
}

fn run(program: &Program, is_reference: bool) -> impl Fn(Note<'_>) {
    move |note| {
        let seen = Collected::new(vec![Vec::new(); program.senders.len() + 1]);
        if is_reference {
            run_reference(program, &seen);
        } else {
            run_own(program, &seen);
        }
        note(format!("{:?}", seen.lock().unwrap()));
    }
}

#[test]
fn channels_do_what_those_of_a_mutex_and_a_condition_variable_do() {
    let mut compared = 0;
    for seed in 0..100 {
        let program = program(seed);
        let by_order = |is_reference| {
            let (settings, promise) = (Settings::default(), Promise::Exhausted);
            let run = run(&program, is_reference);
            explore_at_most(1_000, Dpor::new(), settings, promise, run)
        };
        let (Some(own), Some(reference)) = (by_order(false), by_order(true)) else {
            continue;
        };
        compared += 1;
        assert_eq!(own, reference, "{program:?}");
        let by_values = explore_by_values(Mcr::new(), run(&program, false));
        assert_eq!(by_values, own, "mcr, {program:?}");
        let by_pairs = explore_by_values(RvCausal::new(), run(&program, false));
        assert_eq!(by_pairs, own, "rv-causal, {program:?}");
    }
    assert!(compared > 40, "{compared} programs");
}
