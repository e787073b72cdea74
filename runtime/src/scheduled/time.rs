//! What threads see of time, in searches over values and in lazy ones.
//!
//! A clock is moved on by an event after another thread's event on the same object, of any kinds: a critical section in
//! which nothing changes hands time on, and so do a store of what is there already and a write after a read. Searches
//! that leave the order of these out may miss what a thread sees of time. So an execution counts as one with **time
//! left open** if a thread looked at its clock after something by which another thread's clock, which had moved, may
//! reach it in this or in another order of the same events. What a thread sees of its own sleeping, and what forks and
//! joins hand on, is the same in all orders.

//!
//! **A thread that looks at its clock again** while others are there sees in reality how long they have held it up,
//! which is not tried: see [`is_held_up`].

use seqz_explore::threads::ThreadSet;
use seqz_explore::{Class, Kind, Object, Thread};

use super::machine::Traced;
use super::state::{Handle, State};
use crate::memory::Buffer;

/// When clocks were moved and looked at, in events of the execution.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// The number of events before each thread's clock moved by itself for the first time.
    moved: Buffer<(Thread, usize)>,
    /// The number of events before each thread's last look at its clock.
    looked: Buffer<(Thread, usize)>,
    /// The first thread that looked at its clock, and the number of events before that look.
    first: Option<(Thread, usize)>,
    /// The threads that have looked at their clocks after the first look, with which they can compare theirs.
    again: ThreadSet,
}

impl Uses {
    pub(super) fn clear(&mut self) {
        self.moved.clear();
        self.looked.clear();
        self.first = None;
        self.again = ThreadSet::EMPTY;
    }

    fn looks(&mut self, thread: Thread, events: usize) {
        if self.first.is_some() {
            self.again.insert(thread);
        } else {
            self.first = Some((thread, events));
        }
        match self.looked.iter_mut().find(|(of, _)| *of == thread) {
            Some((_, last)) => *last = events,
            None => self.looked.push((thread, events)),
        }
    }

    fn moves(&mut self, thread: Thread, events: usize) {
        if self.moved.iter().all(|&(of, _)| of != thread) {
            self.moved.push((thread, events));
        }
    }

    /// Whether a thread that has looked at its clock might have been held up by others since the first look.
    fn are_of_who_is_held_up(&self, trace: &[Traced], without: Option<Thread>) -> bool {
        let Some(first) = self.first else {
            return false;
        };
        let mut looks = self.looked.iter().copied();
        looks.any(|last| self.again.contains(last.0) && is_held_up(trace, first, last, without))
    }

    /// Whether time was left open in this execution.
    fn are_open(&self, trace: &[Traced]) -> bool {
        if self.moved.is_empty() || self.looked.is_empty() {
            return false;
        }
        let mut spread = Spread::default();
        for &(thread, from) in &self.moved {
            spread.clock(thread).own = from;
        }
        while spread.goes_on(trace) {}
        self.looked
            .iter()
            .any(|&(thread, last)| spread.clock(thread).others < last)
    }
}

/// Whether another thread may have run between two looks at a clock, as far as forks and joins tell: thread `first.0`
/// looked after `first.1` events, and thread `last.0` after `last.1`. The thread `without` is none of the program's.
fn is_held_up(
    trace: &[Traced],
    first: (Thread, usize),
    last: (Thread, usize),
    without: Option<Thread>,
) -> bool {
    /// The events and ends of threads that come before what a thread does next.
    #[derive(Clone)]
    struct Past {
        /// The number of events, by thread.
        events: Vec<u32>,
        /// The threads that are over.
        over: ThreadSet,
    }
    let named = |traced: &Traced| match traced.event.kind {
        Kind::Fork | Kind::Join => traced.event.object as usize,
        _ => usize::from(traced.event.thread),
    };
    let threads = 1 + trace.iter().map(named).max().unwrap_or(0);
    let nothing = Past {
        events: vec![0; threads],
        over: ThreadSet::EMPTY,
    };
    let mut pasts = vec![nothing.clone(); threads];
    let mut before = nothing;
    // The number of events of each thread that need not come after the second look, and the threads that can do nothing
    // more before it.
    let mut events = vec![0; threads];
    let (mut born, mut after) = (ThreadSet::only(0), ThreadSet::EMPTY);
    for number in 0..=trace.len() {
        if number == first.1 {
            before.clone_from(&pasts[usize::from(first.0)]);
        }
        if number == last.1 {
            after.insert(last.0);
        }
        let Some(Traced { event, .. }) = trace.get(number) else {
            break;
        };
        let thread = event.thread;
        let (at, other) = (usize::from(thread), event.object as usize);
        if event.kind == Kind::Join && other != at {
            let Past { events, over } = pasts[other].clone();
            let own = &mut pasts[at];
            for (own, other) in own.events.iter_mut().zip(events) {
                *own = other.max(*own);
            }
            own.over = own.over.union(over);
            if let Ok(other) = Thread::try_from(other) {
                own.over.insert(other);
                if after.contains(other) {
                    after.insert(thread);
                }
            }
        }
        if !after.contains(thread) {
            events[at] += 1;
        }
        pasts[at].events[at] = events[at];
        if event.kind == Kind::Fork
            && let Ok(child) = Thread::try_from(other)
        {
            pasts[other] = pasts[at].clone();
            if after.contains(thread) {
                after.insert(child);
            } else {
                born.insert(child);
            }
        }
    }
    born.iter().any(|thread| {
        let at = usize::from(thread);
        // A thread that waits for the looking thread does nothing meanwhile.
        thread != last.0
            && Some(thread) != without
            && !before.over.contains(thread)
            && (events[at] > before.events[at] || !after.contains(thread))
    })
}

/// The event from which on a thread's clock may differ from the execution's beginning.
#[derive(Clone, Copy, Debug)]
struct Reached {
    /// By the thread's own sleeping, a fork or a join.
    own: usize,
    /// By an object that the thread has in common with others.
    others: usize,
}

/// How far time spreads, in any order of events of different threads.
#[derive(Debug, Default)]
struct Spread {
    threads: Vec<Reached>,
    /// The threads whose clocks may reach an object, at most two.
    objects: Vec<[Option<Thread>; 2]>,
}

impl Spread {
    fn clock(&mut self, thread: Thread) -> &mut Reached {
        let at = usize::from(thread);
        if self.threads.len() <= at {
            let never = Reached {
                own: usize::MAX,
                others: usize::MAX,
            };
            self.threads.resize(at + 1, never);
        }
        &mut self.threads[at]
    }

    fn object(&mut self, object: Object) -> &mut [Option<Thread>; 2] {
        let at = object as usize;
        if self.objects.len() <= at {
            self.objects.resize(at + 1, [None; 2]);
        }
        &mut self.objects[at]
    }

    /// Follows the trace once. Returns whether more was reached.
    fn goes_on(&mut self, trace: &[Traced]) -> bool {
        let mut more = false;
        for (number, Traced { event, .. }) in trace.iter().enumerate() {
            let thread = event.thread;
            let other = Thread::try_from(event.object).unwrap_or(Thread::MAX);
            let (from, to) = match event.kind {
                Kind::Fork => (thread, other),
                Kind::Join => (other, thread),
                kind if kind.class() == Class::None => continue,
                _ => {
                    more |= self.meets(thread, event.object, number);
                    continue;
                }
            };
            let source = *self.clock(from);
            // A child begins after its fork, and a thread has ended when it is joined.
            let at = if event.kind == Kind::Fork { 0 } else { number };
            let is_over = |since: usize| since <= number || event.kind == Kind::Join;
            let clock = self.clock(to);
            for (since, reached) in [
                (source.own, &mut clock.own),
                (source.others, &mut clock.others),
            ] {
                if since != usize::MAX && is_over(since) && at < *reached {
                    *reached = at;
                    more = true;
                }
            }
        }
        more
    }

    fn meets(&mut self, thread: Thread, object: Object, number: usize) -> bool {
        let mut more = false;
        let reaching = *self.object(object);
        let clock = self.clock(thread);
        if reaching.iter().flatten().any(|&other| other != thread) && number < clock.others {
            clock.others = number;
            more = true;
        }
        let hands_on = clock.own.min(clock.others) <= number;
        if hands_on
            && !reaching.contains(&Some(thread))
            && let Some(free) = self.object(object).iter_mut().find(|of| of.is_none())
        {
            *free = Some(thread);
            more = true;
        }
        more
    }
}

impl Handle {
    /// A thread looks at its clock.
    pub(crate) fn look_at_clock(self, thread: u32) -> u64 {
        let state = self.get();
        let now = state.clocks.look(thread);
        state.note_look_at_clock(thread);
        now
    }
}

impl State {
    fn note_look_at_clock(&mut self, thread: u32) {
        if let Ok(name) = Thread::try_from(thread) {
            let events = self.trace.len();
            self.time.looks(name, events);
            if self.settings.values && self.clocks.has_leapt(thread) {
                self.time.moves(name, events);
            }
        }
    }

    /// Whether the thread that ran last has slept again and again for longer than any of these threads, which can run,
    /// is held up.
    #[inline]
    pub(super) fn someone_is_outslept(&self, enabled: ThreadSet) -> bool {
        self.last.is_some_and(|last| {
            self.clocks.outsleeps(u32::from(last)) && self.outsleeps(last, enabled)
        })
    }

    #[cold]
    fn outsleeps(&self, last: Thread, enabled: ThreadSet) -> bool {
        enabled.iter().any(|thread| {
            // A thread that has been waiting can't have run before.
            let kind = self.pending[usize::from(thread)].kind;
            !matches!(kind, Kind::Join | Kind::Wake)
                && self
                    .clocks
                    .is_far_behind(u32::from(thread), u32::from(last))
        })
    }

    /// A thread's clock has been moved on by itself.
    pub(super) fn note_move_of_clock(&mut self, thread: u32) {
        if self.settings.values
            && let Ok(name) = Thread::try_from(thread)
        {
            self.time.moves(name, self.trace.len());
        }
    }

    /// Whether a thread might have seen in the execution how long others held it up.
    pub(super) fn may_see_others_hold_it_up(&self) -> bool {
        if !self.settings.trace {
            return false;
        }
        self.time
            .are_of_who_is_held_up(&self.trace, self.gives_tokens())
    }

    /// Whether what threads saw of time in the execution may depend on what a search over values leaves out.
    pub(super) fn leaves_time_open(&self) -> bool {
        self.time.are_open(&self.trace)
    }
}
