//! Time that passes for threads that wait in loops, and what comes after it.
//!
//! A thread that has made an idle turn in which it looked at its clock may wait for a time. The thread's clock moves on
//! while the thread stands there (see [`crate::clock`]):
//! - where no thread can do anything else, to a time that the thread may wait for;
//! - where all others that could go on are later by their clocks, since they have slept: to the first of these times. In
//!   reality the thread looks again and again meanwhile, and finds everything else as it was.
//!
//! Then the thread looks again, which is an event of its own. The rule depends on the events so far alone, and on no search, so
//! that a schedule that was written down leads to the same times.
//!
//! **Beyond a search.** Where threads go no further after an idle turn ([`Idle::Ends`](super::Idle::Ends)), none of them
//! can go on after this, as where the thread goes on depends on what *all* others have done: no strategy that leaves out
//! orders of independent events could follow that. So such an execution is over for its strategy. But the program is not
//! over, and what comes of it counts: the machine itself runs the rest, with turns for all threads. That rest is one of many,
//! and the executions of such searches promise nothing already (see [`Clocks::hurry`](crate::clock::Clocks::hurry)).

use seqz_explore::View;
use seqz_explore::fair::Fair;
use seqz_explore::threads::ThreadSet;

use super::state::{Handle, State};

/// The rest of an execution, which the machine runs by itself.
#[derive(Debug)]
pub(super) struct Beyond {
    /// The number of events that the strategy was told of.
    told: usize,
    /// Schedules the rest.
    pub(super) turns: Fair,
}

impl Beyond {
    /// Of what was learned at these events, in the order of their numbers, what the strategy has been told the events of.
    pub(super) fn told<'a, T>(
        beyond: Option<&Self>,
        learned: &'a [(usize, T)],
    ) -> &'a [(usize, T)] {
        let Some(beyond) = beyond else {
            return learned;
        };
        &learned[..learned.partition_point(|&(number, _)| number < beyond.told)]
    }
}

impl Handle {
    /// No thread can run, as far as the search's strategy knows. The execution may go on all the same, beyond the search,
    /// where time passes for a thread that waits for that: the strategy learns that its execution is over. Returns whether
    /// the execution goes on.
    #[cold]
    pub(super) fn go_beyond(self) -> bool {
        let state = self.get();
        let (Some(scheduler), true) = (state.scheduler, state.goes_on_beyond()) else {
            return false;
        };
        let view = View {
            pending: &state.pending,
            live: state.live,
            enabled: ThreadSet::EMPTY,
            last: state.last,
            resting: state.resting,
        };
        // SAFETY: the scheduler outlives the execution, and is called by the machine's own code only.
        unsafe { &mut *scheduler }.blocked(&view);
        state.note_stopped();
        state.beyond = Some(Box::new(Beyond {
            told: state.steps as usize,
            turns: Fair::default(),
        }));
        state.stale = true;
        true
    }
}

impl State {
    /// Time passes for threads that wait for a time, as far as what other threads could do allows.
    #[cold]
    pub(super) fn let_time_pass(&mut self) {
        let mut waiters = ThreadSet::EMPTY;
        for thread in self.live.intersection(self.timed).iter() {
            if self.is_as_it_was(thread) {
                waiters.insert(thread);
            }
        }
        if waiters.is_empty() {
            return;
        }
        let mut earliest = None::<u64>;
        for other in self.live.difference(waiters).iter() {
            if self.could_go_on(other) {
                let now = self.clocks.now(u32::from(other));
                earliest = Some(earliest.map_or(now, |earliest| earliest.min(now)));
            }
        }
        let Some(earliest) = earliest else {
            self.leap(waiters);
            return;
        };
        for thread in waiters.iter() {
            let number = u32::from(thread);
            if self.clocks.now(number) < earliest {
                self.clocks.move_on(number, earliest);
                self.comes_in_time(thread);
            }
        }
    }

    /// These threads wait for a time, and no thread can go on.
    fn leap(&mut self, waiters: ThreadSet) {
        if !waiters.intersection(self.in_time).is_empty() || !self.waits_for_time() {
            return;
        }
        for thread in waiters.iter() {
            let slept = self.slots[usize::from(thread)].turning.slept;
            if self.clocks.leap_for(u32::from(thread), slept) {
                self.comes_in_time(thread);
            }
        }
    }

    fn comes_in_time(&mut self, thread: u8) {
        self.in_time.insert(thread);
        self.stale = true;
        self.note_move_of_clock(u32::from(thread));
    }

    /// Whether a live thread could go on, whatever the search does with threads that wait in loops.
    pub(super) fn could_go_on(&mut self, thread: u8) -> bool {
        !(self.parked.contains(thread) && self.is_as_it_was(thread)) && self.can_be_done(thread)
    }

    /// No thread can run, as far as the strategy knows. Returns whether one could, since time has passed.
    fn goes_on_beyond(&mut self) -> bool {
        let parked = self.live.intersection(self.parked);
        self.beyond.is_none()
            && self.unsupported.is_none()
            && !self.live.intersection(self.timed).is_empty()
            && !self.may_have_been_seen(parked)
            && (!self.live.intersection(self.in_time).is_empty() || self.waits_for_time())
    }
}
