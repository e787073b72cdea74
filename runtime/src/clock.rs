//! Virtual time.
//!
//! Each thread has a clock. A clock moves where its thread sleeps or a time limit of its thread runs out, by that
//! duration and a little more, since no sleep ends in time: a thread that sleeps until a time is past that time
//! afterwards, and doesn't stand at it for ever. And a thread's clock is moved on to another thread's where the thread
//! comes after the other: by an event on the same object, unless the two events could be done in either order (both
//! only read, or add to a count), by a fork and by a join. So what a thread reads is a function of what comes before in
//! the happens-before relation, whatever else the schedule is, and is as early as it can be: nothing else takes any
//! time.
//!
//! In reality time may pass anywhere. A search tries that for waits with a time limit, which may run out whatever the
//! clocks say, but not for what a program does with the clock itself: a comparison of two times sees the least
//! difference that can be between them. So a failure that needs a slow machine is not found, and no failure is reported
//! that no machine has. Where a thread looks at its clock again, and other threads may have held it up meanwhile,
//! nothing is promised. Where a search knows that time may pass at another event than was tried, the search says so:
//! see [`Clocks::hurried`].
//!
//! **Loops that wait.** A turn that saw nothing new is as if it hadn't been made (see [`crate::loops`]), the time that
//! it slept included: that other threads can run is no reason for five hundred sleeps of the waiting thread. A waiting
//! thread that has looked at its clock may wait for a time. So the first turn that sleeps, or comes to a time limit,
//! counts: a wait for the rest of a time needs no more. And time passes where no thread can do anything else: when all
//! threads wait, the clocks of the threads that look at them *leap*, each time twice as far; and when all others have
//! slept, and so are later, the clocks of these threads move on to the first of the others' times. So a thread comes only
//! to a time limit that all other threads have let pass. How a search goes on from there is told in `scheduled::beyond`.
//!
//! A loop whose turns make no event, and look at the clock alone, waits for a time and for nothing else. The number of
//! turns that this takes is not known, so the thread's clock moves on with each turn: see [`Clocks::approach`].
//!
//! Other loops run as they are written: a thread that counts, and polls with a time limit, may come to that limit while
//! the other threads get no turn, as may happen on a busy machine. A sleep in such a loop takes its time, as all sleeps
//! do. So that such loops end, the clock also leaps for a thread that looks at its clock again and again while the
//! clock stands, or that sleeps for ever. How often the thread looks in reality is not known then, and the thread may
//! have counted, so nothing is promised. And where a thread sleeps longer and longer while others only need a turn, the
//! execution is cut before more time has passed than any machine holds a thread up.

use std::time::Duration;

use crate::vocabulary::{Class, Kind, Object};

use crate::memory::Buffer;

/// The number of looks that a thread may take at its standing clock before the clock leaps.
const STEADY: u32 = 1_000;

/// The number of sleeps of a thread after which its clock leaps.
const SLEEPS: u32 = 10_000;

/// The nanoseconds that a sleep, or a wait with a time limit, takes longer than asked for: Linux's slack for timers,
/// unless a program asks for less.
const SLACK: u64 = 50_000;

/// The nanoseconds that a wait for no time at all takes.
const AT_ONCE: u64 = 1_000;

/// The first leap, in nanoseconds.
const LEAP: u64 = 1_000_000;

/// Later leaps are no longer than the first leap times 2 to the power of this: some weeks.
const LEAPS: u32 = 31;

/// The nanoseconds for which no machine holds a thread up while another thread sleeps again and again: thirty days.
const LONGEST: u64 = 30 * 24 * 3_600 * 1_000_000_000;

/// The number of sleeps from which on a thread counts as sleeping again and again.
const AGAIN: u32 = 8;

/// A thread's clock.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    now: u64,
    /// The number of looks at the clock since the thread's last sleep; `sleeps` is the number of the thread's sleeps.
    looks: u32,
    sleeps: u32,
    leaps: u32,
    /// The number of looks at the clock in all.
    all_looks: u32,
}

/// The latest times, in nanoseconds, at which an object was written, read, added to, taken from, and upgraded.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    written: u64,
    read: u64,
    added: u64,
    taken: u64,
    upgraded: u64,
}

impl Times {
    /// Notes an event of this kind at the time `now`. Returns the time after the event: no earlier than that of any
    /// event that must have come before.
    fn meet(&mut self, kind: Kind, now: u64) -> u64 {
        let Self {
            written,
            read,
            added,
            taken,
            upgraded,
        } = *self;
        // The cases of `Class::conflicts`, except that threads that take and give back a lock in shared mode hand on no
        // time to each other.
        let (now, kept) = match kind.class() {
            Class::None => return now,
            Class::Read | Class::Acquire | Class::Release => {
                let changed = written.max(added).max(taken).max(upgraded);
                (now.max(changed), &mut self.read)
            }
            Class::Add => (now.max(written).max(read).max(upgraded), &mut self.added),
            Class::Take => {
                let others = written.max(read).max(taken).max(upgraded);
                (now.max(others), &mut self.taken)
            }
            Class::Upgrade => {
                let others = written.max(read).max(added).max(taken);
                (now.max(others), &mut self.upgraded)
            }
            Class::Modify => {
                let all = written.max(read).max(added).max(taken).max(upgraded);
                (now.max(all), &mut self.written)
            }
        };
        *kept = now.max(*kept);
        now
    }
}

/// The clocks of all threads, in nanoseconds since the execution's beginning.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    /// Whether some clock has moved, or was looked at.
    used: bool,
    /// Whether some clock has moved.
    moving: bool,
    /// Whether time has passed for a thread that might have counted meanwhile, or might have passed where that was not
    /// tried.
    hurried: bool,
    /// The number of threads that were over for certain at the first look at a clock that another thread could come
    /// beside; `None` before that look.
    beside: Option<u32>,
    threads: Buffer<Clock>,
    objects: Buffer<Times>,
}

impl Clocks {
    /// Whether looks at the clock are noticed.
    pub(crate) const NOTICES_LOOKS: bool = true;

    /// Another execution begins.
    #[inline]
    pub(crate) fn begin(&mut self) {
        if self.used {
            self.used = false;
            self.moving = false;
            self.hurried = false;
            self.beside = None;
            self.threads.clear();
            self.objects.clear();
        }
    }

    fn clock(&mut self, thread: u32) -> &mut Clock {
        self.used = true;
        let at = thread as usize;
        if self.threads.len() <= at {
            self.threads.resize(at + 1, Clock::default());
        }
        &mut self.threads[at]
    }

    /// A thread looks at its clock.
    pub(crate) fn look(&mut self, thread: u32) -> u64 {
        let clock = self.clock(thread);
        clock.all_looks = clock.all_looks.wrapping_add(1);
        clock.looks += 1;
        if clock.looks > STEADY {
            self.leap(thread);
            self.hurried = true;
        }
        self.clock(thread).now
    }

    /// The time of a thread's clock, in nanoseconds, without a look by the program.
    #[inline]
    pub(crate) fn now(&self, thread: u32) -> u64 {
        if !self.moving {
            return 0;
        }
        let clock = self.threads.get(thread as usize);
        clock.map_or(0, |clock| clock.now)
    }

    /// Puts a thread's clock back to what it was before a turn of a loop that is as if it hadn't been made. Returns by
    /// how many nanoseconds.
    #[inline]
    pub(crate) fn put_back(&mut self, thread: u32, before: u64) -> u64 {
        if !self.moving {
            return 0;
        }
        let Some(clock) = self.threads.get_mut(thread as usize) else {
            return 0;
        };
        let by = clock.now.saturating_sub(before);
        clock.now -= by;
        by
    }

    /// A thread has slept, or a time limit of its own has run out.
    pub(crate) fn pass(&mut self, thread: u32, duration: Duration) {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let slack = if nanoseconds == 0 { AT_ONCE } else { SLACK };
        let clock = self.clock(thread);
        clock.sleeps += 1;
        clock.looks = 0;
        clock.now = clock.now.saturating_add(nanoseconds).saturating_add(slack);
        let weary = clock.sleeps > SLEEPS;
        self.moving = true;
        if weary {
            self.leap(thread);
            self.hurried = true;
        }
    }

    /// A turn of a loop is over, and nothing but the thread's clock could end the loop. If the clock stands where it
    /// stood `before` the turn, or the turn `looked` at something else, too, in vain, the clock moves on by an eighth
    /// of what has passed since the loop `began`: so the clock comes to any time soon, and not much later. Returns
    /// whether the clock is not yet past all times that a program could wait for.
    pub(crate) fn approach(&mut self, thread: u32, began: u64, before: u64, looked: bool) -> bool {
        self.moving = true;
        let clock = self.clock(thread);
        if clock.now.saturating_sub(began) > LEAP << LEAPS {
            return false;
        }
        clock.looks = 0;
        if looked || clock.now <= before || clock.sleeps > STEADY {
            let by = (before.saturating_sub(began) / 8).max(AT_ONCE);
            clock.now = clock.now.max(before.saturating_add(by));
        }
        clock.sleeps = clock.sleeps.min(STEADY + 1);
        true
    }

    /// Whether a thread has slept again and again, and so for longer than any machine holds a thread up.
    #[inline]
    pub(crate) fn outsleeps(&self, thread: u32) -> bool {
        self.moving
            && self
                .threads
                .get(thread as usize)
                .is_some_and(|clock| clock.sleeps >= AGAIN && clock.now > LONGEST)
    }

    /// Whether one thread is behind another by more time than any machine holds a thread up.
    pub(crate) fn is_far_behind(&self, thread: u32, other: u32) -> bool {
        self.now(thread).saturating_add(LONGEST) < self.now(other)
    }

    /// Notes that a thread waits in a loop for a time, among other things, while others could go on: the thread may
    /// come to that time sooner than was tried.
    pub(crate) fn hurry(&mut self) {
        self.used = true;
        self.hurried = true;
    }

    /// Notes that a clock is looked at when another thread is there, or may still come; this number of threads is over
    /// for certain, the one that looks among them.
    pub(crate) fn will_be_beside_others(&mut self, over: u32) {
        self.used = true;
        self.beside.get_or_insert(over);
    }

    /// Whether a clock was looked at when another thread was there, or might still come.
    pub(crate) const fn is_beside_others(&self) -> bool {
        self.beside.is_some()
    }

    /// Whether one of this number of threads may have run since a clock was looked at.
    pub(crate) fn others_may_have_run(&self, threads: u32) -> bool {
        self.beside.is_some_and(|over| threads > over)
    }

    /// Whether, in this execution, time might also have passed at other events, and the program might have noticed.
    pub(crate) const fn hurried(&self) -> bool {
        self.hurried
    }

    fn leap(&mut self, thread: u32) {
        self.moving = true;
        let clock = self.clock(thread);
        clock.now = clock.now.saturating_add(LEAP << clock.leaps.min(LEAPS));
        clock.leaps += 1;
    }

    /// Whether a thread's clock has leapt.
    pub(crate) fn has_leapt(&mut self, thread: u32) -> bool {
        self.clock(thread).leaps > 0
    }

    /// The number of times that a thread has looked at its clock.
    #[inline]
    pub(crate) fn looks(&self, thread: u32) -> u32 {
        if !self.used {
            return 0;
        }
        let clock = self.threads.get(thread as usize);
        clock.map_or(0, |clock| clock.all_looks)
    }

    /// A thread waits in a loop that looks at its clock, and no other thread ends the loop: the thread's clock is moved
    /// on by what its turn has `slept`, and leaps, unless the clock has leapt often enough for any time limit. Returns
    /// whether the clock leaps.
    pub(crate) fn leap_for(&mut self, thread: u32, slept: u64) -> bool {
        if !self.may_leap(thread) {
            return false;
        }
        let clock = self.clock(thread);
        clock.now = clock.now.saturating_add(slept);
        self.leap(thread);
        true
    }

    /// Whether the thread's clock has not yet leapt often enough for any time limit.
    pub(crate) fn may_leap(&mut self, thread: u32) -> bool {
        self.clock(thread).leaps <= 2 * LEAPS
    }

    /// A thread has come after all that another one has done so far: the other thread created the thread, or the thread
    /// has joined the other.
    #[inline]
    pub(crate) fn follow(&mut self, thread: u32, other: u32) {
        if self.moving {
            let other = self.clock(other).now;
            self.move_on(thread, other);
        }
    }

    /// A thread has come after all that all other threads have done so far.
    #[inline]
    pub(crate) fn follow_all(&mut self, thread: u32) {
        if self.moving {
            let latest = self.threads.iter().map(|clock| clock.now).max();
            self.move_on(thread, latest.unwrap_or(0));
        }
    }

    /// A thread's clock is no earlier than this.
    #[cold]
    #[inline(never)]
    pub(crate) fn move_on(&mut self, thread: u32, to: u64) {
        let clock = self.clock(thread);
        clock.now = clock.now.max(to);
    }

    /// Notes an event of a thread, which moves the thread's clock on to the events that must have come before.
    #[inline]
    pub(crate) fn event(&mut self, thread: u32, kind: Kind, object: Object) {
        if self.moving {
            self.meet(thread, kind, object);
        }
    }

    #[cold]
    fn meet(&mut self, thread: u32, kind: Kind, object: Object) {
        match kind {
            Kind::Local => {}
            Kind::Fork => self.follow(object, thread),
            Kind::Join => self.follow(thread, object),
            _ => {
                let at = object as usize;
                if self.objects.len() <= at {
                    self.objects.resize(at + 1, Times::default());
                }
                let now = self.clock(thread).now;
                let now = self.objects[at].meet(kind, now);
                self.clock(thread).now = now;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn who_comes_after_another_one_sees_no_earlier_time() {
        let mut clocks = Clocks::default();
        clocks.begin();
        clocks.pass(1, SECOND);
        clocks.event(1, Kind::Write, 7);
        assert_eq!(clocks.look(2), 0);
        clocks.event(2, Kind::Read, 7);
        let slept = clocks.look(1);
        assert!(slept > 1_000_000_000, "a sleep takes longer than it was to");
        assert_eq!(clocks.look(2), slept);
        // A thread that writes after a read may not be earlier than the read either.
        clocks.event(3, Kind::Write, 8);
        clocks.event(2, Kind::Read, 8);
        clocks.event(4, Kind::Read, 8);
        assert_eq!(clocks.look(4), 0, "reads have no order");
        clocks.event(3, Kind::Write, 8);
        assert_eq!(clocks.look(3), slept);
        clocks.event(0, Kind::Join, 1);
        assert_eq!(clocks.look(0), slept);
        clocks.begin();
        assert_eq!(clocks.look(0), 0);
    }

    #[test]
    fn what_may_be_done_in_either_order_hands_no_time_on() {
        let ways = [
            (Kind::Add, Kind::Add),
            (Kind::Add, Kind::Take),
            (Kind::Take, Kind::Add),
            (Kind::Upgrade, Kind::Upgrade),
            (Kind::TryLockFailed, Kind::TryLockFailed),
            (Kind::TryLockSharedFailed, Kind::TryLockFailed),
            (Kind::UnlockShared, Kind::TryLockShared),
            (Kind::TryLockShared, Kind::UnlockShared),
        ];
        let handed_on = |one: Kind, other: Kind| {
            let mut clocks = Clocks::default();
            clocks.begin();
            clocks.pass(1, SECOND);
            clocks.event(1, one, 7);
            clocks.event(2, other, 7);
            clocks.look(2) != 0
        };
        for (one, other) in ways {
            assert!(!one.class().conflicts(other.class()));
            assert!(!handed_on(one, other), "{one:?} {other:?}");
        }
        let others = [
            (Kind::Take, Kind::Take),
            (Kind::Add, Kind::Read),
            (Kind::Read, Kind::Add),
            (Kind::Take, Kind::Update),
            (Kind::Take, Kind::Upgrade),
            (Kind::Upgrade, Kind::Take),
            (Kind::Upgrade, Kind::Add),
            (Kind::Upgrade, Kind::Read),
            (Kind::TryLockFailed, Kind::Unlock),
            (Kind::Lock, Kind::TryLockFailed),
            (Kind::UnlockShared, Kind::Lock),
        ];
        for (one, other) in others {
            assert!(handed_on(one, other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_loop_until_a_time_has_come_ends() {
        let mut clocks = Clocks::default();
        let mut looks = 0;
        while clocks.look(0) < 3_600 * 1_000_000_000 {
            looks += 1;
        }
        assert!(looks < 1_100);
        assert!(clocks.hurried(), "it might have looked more often");
        assert!(clocks.looks(0) > looks);
        assert_eq!(clocks.looks(1), 0, "that thread has not looked");
        let leaps = (0..1_000).take_while(|_| clocks.leap_for(0, 0));
        assert!(leaps.count() < 100, "no more than any time limit takes");
    }

    #[test]
    fn who_sleeps_until_a_time_sleeps_once() {
        for limit in [Duration::from_nanos(1), Duration::from_millis(100), SECOND] {
            let mut clocks = Clocks::default();
            let left =
                |clocks: &mut Clocks| limit.checked_sub(Duration::from_nanos(clocks.look(0)));
            let mut rounds = 0;
            while let Some(left) = left(&mut clocks) {
                clocks.pass(0, left);
                rounds += 1;
            }
            assert_eq!(rounds, 1, "{limit:?}");
            assert!(!clocks.hurried());
        }
    }

    #[test]
    fn sleeps_take_their_time_however_many_they_are() {
        let mut clocks = Clocks::default();
        for _ in 0..5_000 {
            clocks.pass(0, Duration::from_millis(1));
            clocks.look(0);
        }
        let slept = Duration::from_nanos(clocks.look(0));
        assert!(slept > 5 * SECOND && slept < 6 * SECOND, "{slept:?}");
        assert!(!clocks.hurried());
        while clocks.look(0) < 1 << 60 {
            clocks.pass(0, Duration::ZERO);
        }
        assert!(clocks.hurried(), "that was no sleep");
    }

    #[test]
    fn who_only_waits_for_a_time_is_not_much_later() {
        for limit in [1, 1_000_000, 50_000_000, 3_600_000_000_000_u64] {
            let mut clocks = Clocks::default();
            clocks.pass(0, SECOND);
            let began = clocks.look(0);
            let mut turns = 0;
            while clocks.look(0) - began < limit {
                let before = clocks.now(0);
                assert!(clocks.approach(0, began, before, false));
                turns += 1;
            }
            let late = clocks.look(0) - began - limit;
            assert!(late <= limit / 8 + AT_ONCE, "{limit}: {late}");
            assert!(turns < 300 && !clocks.hurried());
            while clocks.approach(0, began, clocks.now(0), true) {
                turns += 1;
            }
            assert!(turns < 600, "it is past all times");
        }
    }
}
