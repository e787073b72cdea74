//! Threads that hand things on through a queue of bounded size, with a lock and two condition variables.

use seqz_explore::threads::ThreadSet;
use seqz_explore::waiting::Queue as Waiters;
use seqz_explore::{
    Event, Executor, Kind, Object, Outcome, Pending, Pick, RunEnd, Scheduler, View,
};

const LOCK: Object = 0;
/// What those who put things in wait for, and what those who take things out wait for.
const NOT_FULL: Object = 1;
const NOT_EMPTY: Object = 2;

/// The number of things that the queue has room for.
const ROOM: usize = 8;

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Enter,
    Wait,
    LetGo,
    Wake,
    Tell,
    Leave,
}

/// The first half of the threads put things in, the others take things out.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    threads: u8,
    rounds: usize,
    things: usize,
    is_held: bool,
    changes: u64,
    waiters: [Waiters; 2],
    stages: Vec<(Stage, usize)>,
    pending: Vec<Pending>,
}

impl Queue {
    /// The number of events of a thing.
    pub(crate) const EVENTS: usize = 6;

    /// Threads, an even number, each of which does this `rounds` times.
    pub(crate) fn new(threads: u8, rounds: usize) -> Self {
        Self {
            threads,
            rounds,
            things: 0,
            is_held: false,
            changes: 0,
            waiters: [Waiters::new(), Waiters::new()],
            stages: Vec::new(),
            pending: Vec::new(),
        }
    }

    fn puts(&self, thread: u8) -> bool {
        thread < self.threads / 2
    }

    fn announce(&mut self, thread: u8) {
        let (own, other) = match self.puts(thread) {
            true => (NOT_FULL, NOT_EMPTY),
            false => (NOT_EMPTY, NOT_FULL),
        };
        let (kind, object) = match self.stages[usize::from(thread)].0 {
            Stage::Enter => (Kind::Lock, LOCK),
            Stage::Wait => (Kind::Wait, own),
            Stage::LetGo | Stage::Leave => (Kind::Unlock, LOCK),
            Stage::Wake => (Kind::Wake, own),
            Stage::Tell => (Kind::Notify, other),
        };
        self.pending[usize::from(thread)] = Pending {
            kind,
            object,
            ..Pending::default()
        };
    }

    fn is_enabled(&self, thread: u8) -> bool {
        let pending = &self.pending[usize::from(thread)];
        match pending.kind {
            Kind::Lock => !self.is_held,
            Kind::Wake => self.waiters[pending.object as usize - 1].covers(thread),
            _ => true,
        }
    }

    /// Does what the thread has announced. Returns whether the thread is over.
    fn run_thread(&mut self, thread: u8) -> (Event, bool) {
        let at = usize::from(thread);
        let Pending { kind, object, .. } = self.pending[at];
        let mut event = Event {
            thread,
            kind,
            object,
            found: self.changes,
            left: self.changes,
            ..Event::default()
        };
        if kind.is_waiting() {
            (event.found, event.left) = (u64::from(kind == Kind::Wake), 0);
            self.waiters[object as usize - 1].follow(&event);
        }
        let (stage, done) = self.stages[at];
        self.stages[at] = match stage {
            Stage::Enter => {
                self.is_held = true;
                let must_wait = match self.puts(thread) {
                    true => self.things == ROOM,
                    false => self.things == 0,
                };
                (if must_wait { Stage::Wait } else { Stage::Tell }, done)
            }
            Stage::Wait => (Stage::LetGo, done),
            Stage::LetGo => {
                self.is_held = false;
                (Stage::Wake, done)
            }
            Stage::Wake => (Stage::Enter, done),
            Stage::Tell => {
                match self.puts(thread) {
                    true => self.things += 1,
                    false => self.things -= 1,
                }
                (Stage::Leave, done)
            }
            Stage::Leave => {
                self.is_held = false;
                self.changes += 1;
                event.left = self.changes;
                (Stage::Enter, done + 1)
            }
        };
        (event, self.stages[at].1 == self.rounds)
    }
}

impl Executor for Queue {
    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
        *self = Self::new(self.threads, self.rounds);
        self.stages = vec![(Stage::Enter, 0); usize::from(self.threads)];
        self.pending = vec![Pending::default(); usize::from(self.threads)];
        let mut live: ThreadSet = (0..self.threads).collect();
        for thread in 0..self.threads {
            self.announce(thread);
        }
        let mut last = None;
        let outcome = loop {
            if live.is_empty() {
                break Outcome::Completed;
            }
            let enabled: ThreadSet = live.iter().filter(|&it| self.is_enabled(it)).collect();
            let view = View {
                pending: &self.pending,
                live,
                enabled,
                last,
                resting: ThreadSet::EMPTY,
            };
            if enabled.is_empty() {
                scheduler.blocked(&view);
                break Outcome::Blocked;
            }
            let Pick::Run(thread) = scheduler.pick(&view) else {
                break Outcome::Abandoned;
            };
            let (event, is_over) = self.run_thread(thread);
            last = Some(thread);
            if is_over {
                live.remove(thread);
            } else {
                self.announce(thread);
            }
            scheduler.ran(&event);
        };
        RunEnd {
            outcome,
            state: 0,
            failures: Vec::new(),
        }
    }
}
