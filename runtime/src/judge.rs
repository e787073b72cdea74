//! Judges the panics of an execution: which panics are failures, and of which kind.
//!
//! The test's own result decides, as under `cargo test`. So a panic ends its thread and nothing else. A thread that
//! joins it gets the payload, and if the harness goes on from there and ends well, nothing has failed. A panic *counts*
//! - if it is the harness's own. Where the harness only passes on the payload that a join gave it (by `unwrap`, by
//!   `resume_unwind`, or as the end of a scope), the panics that the harness passes on count in its place;
//! - if its thread was let go, or no thread had joined that thread when the harness ended well: a *detached* thread's
//!   panic;
//! - if no thread had joined its thread when the harness failed, waited for ever, or left the process. Whether the
//!   harness would have handled this panic is not known, so the panic is marked as a [bystander](Counted::bystander)'s.
//!
//! Where the execution was [left](Extent::Left) before its end, a thread that still ran may have been about to join the
//! panicked thread and to go on. So for such an execution, only what is certain counts: how the harness has ended, and
//! panics of threads that were let go.
//!
//! A panic of a thread that unwraps a lock which another thread has poisoned tells nothing new beside the other
//! thread's panic, if the other panic counts for as much. Where it is not known whether the other panic counts (the
//! harness might have joined its thread later), the following panic is reported if the other one is not reported in the
//! end: see [`Counted::follows`].

use std::any::Any;

use crate::memory::outside;
use crate::vocabulary::Place;

/// What std's `unwrap` and `expect` say of a thread's payload.
const OF_A_PAYLOAD: &str = "Any { .. }";

/// What std's `unwrap` and `expect` say of a poisoned lock.
const OF_POISON: &str = "PoisonError { .. }";

/// The most caught payloads that are recognised when they are resumed, and the most panics under way in a thread.
const CAUGHT: usize = 64;

/// A panic on its way to the top of its thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raised {
    pub(crate) message: String,
    pub(crate) place: Option<Place>,
    /// When the panic began, in the unit of the machine that keeps the panics: a moment's number in P̂ₖ, the number of
    /// events on the scheduled machine.
    pub(crate) at: usize,
    /// The panics that this panic passes on, as indices in [`Panics::over`].
    causes: Vec<usize>,
}

/// A panic that has reached the top of its thread.
#[derive(Clone, Debug)]
pub(crate) struct Panicked {
    pub(crate) thread: u32,
    pub(crate) raised: Raised,
    /// Whether a thread has joined the panicked thread, and so knows of the panic.
    is_known: bool,
    /// Whether a scope has waited for the thread, and passed on another panic.
    is_waited_for: bool,
}

/// How the harness ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The harness ended well.
    Passed,
    /// The harness ended with a panic of its own thread.
    Panicked,
    /// The harness ended with a result that is a failure.
    Failed,
    /// The harness has not ended: it waits for ever, the process was ended, or the execution was left before.
    Open,
}

/// How far an execution has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// To its end: no thread goes on.
    Whole,
    /// Not to its end: threads would have gone on, and the execution was given up or cut.
    Left,
}

/// A panic that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// The panic's index in [`Panics::over`].
    pub(crate) panic: usize,
    /// Whether the panic is a detached thread's.
    pub(crate) detached: bool,
    /// Whether the harness may have been about to join the panicked thread when something else kept the harness from
    /// joining.
    pub(crate) bystander: bool,
    /// The places of panics that poisoned the lock that this panic's thread unwraps, where it is not known whether
    /// those panics are failures. If one of those panics is reported, this panic tells nothing new.
    pub(crate) follows: Vec<Place>,
}

/// How much a panic that counts proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    /// Nothing by itself: see [`Counted::bystander`].
    Bystander,
    /// A failure, unless detached panics are none.
    Detached,
    /// A failure.
    Failure,
}

impl Counted {
    const fn weight(&self) -> Weight {
        match self {
            Self {
                bystander: true, ..
            } => Weight::Bystander,
            Self { detached: true, .. } => Weight::Detached,
            _ => Weight::Failure,
        }
    }
}

/// What is known of one thread.
#[derive(Clone, Debug, Default)]
struct Thread {
    /// The panics under way, the latest last: a panic of a destructor comes after the panic that its thread unwinds
    /// for.
    under_way: Vec<Raised>,
    /// Whether a scope waits for its threads before the thread's panic goes on.
    is_held: bool,
    /// The panic whose payload the thread was given last.
    given: Option<usize>,
    /// The panics that the thread's next panic passes on.
    blamed: Vec<usize>,
    let_go: bool,
    has_poisoned: bool,
}

/// The panics of one execution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Panics {
    over: Vec<Panicked>,
    threads: Vec<Thread>,
    /// Caught payloads that the program holds: address, and the payload's panic.
    caught: Vec<(usize, Raised)>,
}

impl Thread {
    /// Notes that one more panic is under way.
    fn begin(&mut self, raised: Raised) {
        // A panic that a dependency has caught is still in the list, since dependencies don't report what they catch.
        if self.under_way.len() >= CAUGHT {
            self.under_way.remove(0);
        }
        self.under_way.push(raised);
    }
}

/// The payload's text, if the payload is a text.
pub(crate) fn text(payload: &(dyn Any + Send)) -> Option<&str> {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

/// What a report tells of a payload.
pub(crate) fn message(payload: &(dyn Any + Send)) -> &str {
    text(payload).unwrap_or("the panic's payload is not a text")
}

fn address(payload: &(dyn Any + Send)) -> usize {
    std::ptr::from_ref(payload).addr()
}

impl Panics {
    /// Makes ready for the next execution.
    #[inline]
    pub(crate) fn begin(&mut self) {
        if !self.threads.is_empty() || !self.over.is_empty() {
            self.clear();
        }
    }

    #[cold]
    fn clear(&mut self) {
        outside(|| {
            self.over.clear();
            self.threads.clear();
            self.caught.clear();
        });
    }

    /// All panics that have reached the top of their threads, in order.
    pub(crate) fn over(&self) -> &[Panicked] {
        &self.over
    }

    fn thread(&mut self, thread: u32) -> &mut Thread {
        let at = thread as usize;
        if self.threads.len() <= at {
            outside(|| self.threads.resize_with(at + 1, Thread::default));
        }
        &mut self.threads[at]
    }

    /// Notes that a scope waits for its threads before the panic that is under way in this thread goes on, or that the
    /// scope has waited.
    pub(crate) fn hold(&mut self, thread: u32, holds: bool) {
        self.thread(thread).is_held = holds;
    }

    /// Whether a panic is under way in a thread, and has not come to the thread's top.
    pub(crate) fn is_under_way(&self, thread: u32) -> bool {
        let thread = self.threads.get(thread as usize);
        thread.is_some_and(|thread| !thread.under_way.is_empty())
    }

    /// Whether a scope holds the thread's panic until the scope's threads have ended.
    pub(crate) fn is_held(&self, thread: u32) -> bool {
        let thread = self.threads.get(thread as usize);
        thread.is_some_and(|thread| thread.is_held)
    }

    /// Takes the thread's panic that was under way, which does not come to the thread's top.
    pub(crate) fn take(&mut self, thread: u32) -> Raised {
        self.thread(thread).under_way.pop().unwrap_or_default()
    }

    /// Notes that a thread begins to panic.
    pub(crate) fn raise(&mut self, thread: u32, message: &str, place: Option<Place>, at: usize) {
        outside(|| {
            let this = self.thread(thread);
            let mut causes = std::mem::take(&mut this.blamed);
            if causes.is_empty() && message.ends_with(OF_A_PAYLOAD) {
                causes.extend(this.given);
            }
            this.begin(Raised {
                message: message.to_owned(),
                place: place.clone(),
                at,
                causes,
            });
        });
    }

    /// Notes that a thread resumes a panic with a payload: that of a panic which it has caught or has been given, or a
    /// payload of its own making.
    pub(crate) fn resume(
        &mut self,
        thread: u32,
        payload: &(dyn Any + Send),
        place: Option<Place>,
        at: usize,
    ) {
        outside(|| {
            let known = self.caught.iter().rev().find(|(held, raised)| {
                *held == address(payload) && text(payload).is_none_or(|it| it == raised.message)
            });
            let raised = known.map_or_else(
                || Raised {
                    message: message(payload).to_owned(),
                    place: place.clone(),
                    at,
                    causes: Vec::new(),
                },
                |(_, raised)| raised.clone(),
            );
            self.thread(thread).begin(raised);
        });
    }

    /// Notes that the program has caught a payload.
    pub(crate) fn catch(&mut self, thread: u32, payload: &(dyn Any + Send)) {
        outside(|| {
            if let Some(raised) = self.thread(thread).under_way.pop() {
                self.keep(address(payload), raised);
            }
        });
    }

    fn keep(&mut self, address: usize, raised: Raised) {
        if self.caught.len() >= CAUGHT {
            self.caught.remove(0);
        }
        self.caught.push((address, raised));
    }

    /// A panic has reached the top of its thread; `at` says when. Returns the panic's index in [`Panics::over`].
    pub(crate) fn reach_the_top(&mut self, thread: u32, at: usize) -> usize {
        outside(|| {
            let raised = std::mem::take(&mut self.thread(thread).under_way).pop();
            let raised = raised.unwrap_or_else(|| Raised {
                message: "the thread was unwound without a panic message".to_owned(),
                at,
                ..Raised::default()
            });
            self.over.push(Panicked {
                thread,
                raised,
                is_known: false,
                is_waited_for: false,
            });
        });
        self.over.len() - 1
    }

    /// The latest panic that ended this thread.
    fn of(&self, thread: u32) -> Option<usize> {
        self.over.iter().rposition(|over| over.thread == thread)
    }

    /// Whether the thread ended with a panic, and no thread has joined it.
    pub(crate) fn has_panicked_unseen(&self, thread: u32) -> bool {
        self.of(thread).is_some_and(|at| !self.over[at].is_known)
    }

    /// Notes that thread `by` has joined thread `of`, and has been given its payload.
    pub(crate) fn join(&mut self, by: u32, of: u32, payload: &(dyn Any + Send)) {
        let Some(at) = self.of(of) else { return };
        self.over[at].is_known = true;
        outside(|| {
            self.thread(by).given = Some(at);
            let passed_on = Raised {
                causes: vec![at],
                ..self.over[at].raised.clone()
            };
            self.keep(address(payload), passed_on);
        });
    }

    /// Notes that the next panic of thread `by` passes on the panics of the threads `of`, for which `by` has waited, as
    /// a scope does.
    pub(crate) fn blame(&mut self, by: u32, of: &[u32]) {
        outside(|| {
            let all: Vec<usize> = of.iter().filter_map(|&thread| self.of(thread)).collect();
            for &at in &all {
                self.over[at].is_known = true;
            }
            self.thread(by).blamed = all;
        });
    }

    /// Notes that a scope whose own body has panicked has waited for these threads.
    pub(crate) fn wait_for(&mut self, threads: &[u32]) {
        for &thread in threads {
            if let Some(at) = self.of(thread) {
                self.over[at].is_waited_for = true;
            }
        }
    }

    /// Notes that no thread can join this thread any more.
    pub(crate) fn let_go(&mut self, thread: u32) {
        self.thread(thread).let_go = true;
    }

    /// Notes that the thread has poisoned a lock.
    pub(crate) fn poison(&mut self, thread: u32) {
        self.thread(thread).has_poisoned = true;
    }

    /// The execution is over, and panics that scopes hold will not come to the top of their threads.
    pub(crate) fn stop(&mut self) {
        for thread in 0..u32::try_from(self.threads.len()).unwrap_or(0) {
            if self.is_held(thread) {
                self.reach_the_top(thread, 0);
            }
        }
    }

    /// The places of panics whose threads have been joined.
    pub(crate) fn handled(&self) -> impl Iterator<Item = &Place> {
        let known = self.over.iter().filter(|over| over.is_known);
        known.filter_map(|over| over.raised.place.as_ref())
    }

    /// The panics that count, in order.
    pub(crate) fn judge(&self, end: End, extent: Extent) -> Vec<Counted> {
        let mut counted: Vec<Counted> = Vec::new();
        let own = |at: &usize| self.over[*at].thread == 0;
        if (end == End::Panicked || (end == End::Open && extent == Extent::Whole))
            && let Some(at) = (0..self.over.len()).rev().find(own)
        {
            self.count(at, false, end == End::Open, &mut counted);
        }
        for (at, over) in self.over.iter().enumerate() {
            let is_over = over.is_waited_for && end == End::Passed;
            if over.thread == 0 || over.is_known || is_over {
                continue;
            }
            let thread = self.threads.get(over.thread as usize);
            let let_go = thread.is_some_and(|thread| thread.let_go);
            let detached = end == End::Passed || let_go;
            if let_go || extent == Extent::Whole {
                self.count(at, detached, !detached, &mut counted);
            }
        }
        counted.sort_by_key(|counted| counted.panic);
        if counted.iter().any(|counted| self.is_of_poison(counted)) {
            self.follow_from_poison(&mut counted);
        }
        counted
    }

    fn is_of_poison(&self, counted: &Counted) -> bool {
        let raised = &self.over[counted.panic].raised;
        raised.message.ends_with(OF_POISON)
    }

    /// Leaves out panics that only follow from the panic by which another thread has poisoned a lock, and marks panics
    /// that may follow from one.
    fn follow_from_poison(&self, counted: &mut Vec<Counted>) {
        let certain: Vec<(u32, Weight)> = counted
            .iter()
            .map(|counted| (self.over[counted.panic].thread, counted.weight()))
            .filter(|&(thread, weight)| weight > Weight::Bystander && self.has_poisoned(thread))
            .collect();
        counted.retain(|counted| {
            let of = self.over[counted.panic].thread;
            let mut certain = certain.iter();
            let follows =
                certain.any(|&(thread, weight)| thread != of && weight >= counted.weight());
            !(follows && self.is_of_poison(counted))
        });
        for counted in counted {
            if self.is_of_poison(counted) {
                counted.follows = self.may_be_causes(self.over[counted.panic].thread);
            }
        }
    }

    fn has_poisoned(&self, thread: u32) -> bool {
        let thread = self.threads.get(thread as usize);
        thread.is_some_and(|thread| thread.has_poisoned)
    }

    /// The places of panics by which other threads than this one have poisoned locks, and that no thread has handled so
    /// far.
    fn may_be_causes(&self, of: u32) -> Vec<Place> {
        let mut places = Vec::new();
        for (thread, known) in (0..).zip(&self.threads) {
            if thread == of || !known.has_poisoned {
                continue;
            }
            // Not all panics come to the top of their threads before an execution is left.
            let raised = match self.of(thread) {
                Some(at) if self.over[at].is_known => None,
                Some(at) => Some(&self.over[at].raised),
                None => known.under_way.first(),
            };
            let roots = raised.map(|raised| self.roots(raised)).unwrap_or_default();
            places.extend(roots.iter().filter_map(|raised| raised.place.clone()));
        }
        places
    }

    /// The panics at the root of a panic: those that it passes on, or itself.
    fn roots<'a>(&'a self, raised: &'a Raised) -> Vec<&'a Raised> {
        if raised.causes.is_empty() {
            return vec![raised];
        }
        let causes = raised.causes.iter();
        causes
            .flat_map(|&cause| self.roots(&self.over[cause].raised))
            .collect()
    }

    /// Counts the panics at the root of a panic.
    fn count(&self, at: usize, detached: bool, bystander: bool, counted: &mut Vec<Counted>) {
        let causes = &self.over[at].raised.causes;
        for &cause in causes {
            self.count(cause, detached, bystander, counted);
        }
        if !causes.is_empty() {
            return;
        }
        match counted.iter_mut().find(|counted| counted.panic == at) {
            Some(known) => {
                known.detached &= detached;
                known.bystander &= bystander;
            }
            None => counted.push(Counted {
                panic: at,
                detached,
                bystander,
                follows: Vec::new(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: [End; 4] = [End::Passed, End::Panicked, End::Failed, End::Open];

    /// Makes a thread panic with this message.
    fn panics(panics: &mut Panics, thread: u32, message: &str) -> usize {
        panics.raise(thread, message, None, 0);
        panics.reach_the_top(thread, 0)
    }

    /// Makes a thread panic with this message in this line.
    fn panics_at(panics: &mut Panics, thread: u32, message: &str, line: u32) -> usize {
        panics.raise(thread, message, Some(place(line)), 0);
        panics.reach_the_top(thread, 0)
    }

    fn place(line: u32) -> Place {
        Place {
            file: "a.rs".to_owned(),
            line,
            column: 1,
        }
    }

    /// The counted panic, following from the panics in these lines.
    fn after(counted: Counted, lines: &[u32]) -> Counted {
        Counted {
            follows: lines.iter().map(|&line| place(line)).collect(),
            ..counted
        }
    }

    fn counted(panic: usize, detached: bool, bystander: bool) -> Counted {
        Counted {
            panic,
            detached,
            bystander,
            follows: Vec::new(),
        }
    }

    #[test]
    fn what_is_joined_and_handled_does_not_count() {
        let mut all = Panics::default();
        panics(&mut all, 1, "handled");
        all.join(0, 1, &"handled");
        assert_eq!(all.judge(End::Passed, Extent::Whole), []);
        let own = panics(&mut all, 0, "own");
        assert_eq!(
            all.judge(End::Panicked, Extent::Whole),
            [counted(own, false, false)]
        );
        // Whether the panic would have come to the top of its thread is not known.
        assert_eq!(
            all.judge(End::Open, Extent::Whole),
            [counted(own, false, true)]
        );
    }

    #[test]
    fn what_is_passed_on_counts_in_the_place_of_who_passes_it_on() {
        let unwrap = "called `Result::unwrap()` on an `Err` value: Any { .. }";
        let mut all = Panics::default();
        let root = panics(&mut all, 2, "root");
        all.join(1, 2, &"root");
        panics(&mut all, 1, unwrap);
        all.join(0, 1, &String::from(unwrap));
        panics(&mut all, 0, unwrap);
        assert_eq!(
            all.judge(End::Panicked, Extent::Whole),
            [counted(root, false, false)]
        );
        // Resumed, and a scope's end.
        for scope in [false, true] {
            let mut all = Panics::default();
            let first = panics(&mut all, 1, "first");
            let second = panics(&mut all, 2, "second");
            let payload: Box<dyn Any + Send> = Box::new("second");
            all.join(0, 2, &*payload);
            if scope {
                all.blame(0, &[1]);
                all.raise(0, "a scoped thread panicked", None, 9);
            } else {
                all.resume(0, &*payload, None, 9);
            }
            all.reach_the_top(0, 9);
            let expected = if scope {
                vec![counted(first, false, false)]
            } else {
                vec![counted(first, false, true), counted(second, false, false)]
            };
            assert_eq!(all.judge(End::Panicked, Extent::Whole), expected);
        }
    }

    #[test]
    fn a_payload_of_ones_own_is_a_panic_of_ones_own() {
        let mut all = Panics::default();
        panics(&mut all, 1, "handled");
        all.join(0, 1, &"handled");
        all.resume(0, &"another", None, 3);
        let own = all.reach_the_top(0, 3);
        assert_eq!(all.over()[own].raised.message, "another");
        assert_eq!(
            all.judge(End::Panicked, Extent::Whole),
            [counted(own, false, false)]
        );
    }

    #[test]
    fn who_is_not_joined_is_detached_or_a_bystander() {
        let mut all = Panics::default();
        let at = panics(&mut all, 1, "alone");
        assert_eq!(
            all.judge(End::Passed, Extent::Whole),
            [counted(at, true, false)]
        );
        assert_eq!(
            all.judge(End::Failed, Extent::Whole),
            [counted(at, false, true)]
        );
        // Another thread may still have joined this one, if only a thread that the harness has left behind.
        for end in ENDS {
            assert_eq!(all.judge(end, Extent::Left), [], "{end:?}");
        }
        all.let_go(1);
        for end in ENDS {
            for extent in [Extent::Whole, Extent::Left] {
                let counted = [counted(at, true, false)];
                assert_eq!(all.judge(end, extent), counted, "{end:?}, {extent:?}");
            }
        }
    }

    #[test]
    fn the_harness_has_ended_as_it_has_however_far_the_others_come() {
        let mut all = Panics::default();
        let root = panics(&mut all, 1, "root");
        all.join(0, 1, &"root");
        all.resume(0, &"root", None, 3);
        all.reach_the_top(0, 3);
        for extent in [Extent::Whole, Extent::Left] {
            assert_eq!(
                all.judge(End::Panicked, extent),
                [counted(root, false, false)]
            );
        }
        // A scope holds the panic: whether the panic comes to the top is not known.
        let mut all = Panics::default();
        panics(&mut all, 0, "held");
        assert_eq!(all.judge(End::Open, Extent::Left), []);
    }

    #[test]
    fn what_follows_from_poison_says_nothing_beside_its_cause() {
        let poisoned = "called `Result::unwrap()` on an `Err` value: PoisonError { .. }";
        let mut all = Panics::default();
        let first = panics_at(&mut all, 1, "first", 7);
        all.poison(1);
        let second = panics(&mut all, 2, poisoned);
        // Whether the cause is reported is not known.
        assert_eq!(
            all.judge(End::Failed, Extent::Whole),
            [
                counted(first, false, true),
                after(counted(second, false, true), &[7])
            ]
        );
        assert_eq!(
            all.judge(End::Passed, Extent::Whole),
            [counted(first, true, false)]
        );
        // The cause is handled: what follows is all there is.
        all.join(0, 1, &"first");
        assert_eq!(
            all.judge(End::Failed, Extent::Whole),
            [counted(second, false, true)]
        );
    }

    #[test]
    fn what_the_harness_fails_of_stands_beside_a_panic_that_it_might_have_handled() {
        let poisoned = "called `Result::expect()`: PoisonError { .. }";
        let mut all = Panics::default();
        let cause = panics_at(&mut all, 1, "first", 7);
        all.poison(1);
        let own = panics(&mut all, 0, poisoned);
        let own = after(counted(own, false, false), &[7]);
        // Other threads would have gone on: only the harness's panic is certain.
        assert_eq!(
            all.judge(End::Panicked, Extent::Left),
            std::slice::from_ref(&own)
        );
        assert_eq!(
            all.judge(End::Panicked, Extent::Whole),
            [counted(cause, false, true), own.clone()]
        );
        // Detached panics can be declared to be no bugs.
        all.let_go(1);
        assert_eq!(
            all.judge(End::Panicked, Extent::Whole),
            [counted(cause, true, false), own]
        );
    }

    #[test]
    fn what_follows_from_poison_follows_from_what_is_at_its_root_and_from_what_is_not_over() {
        let poisoned = "called `Result::unwrap()` on an `Err` value: PoisonError { .. }";
        let unwrap = "called `Result::unwrap()` on an `Err` value: Any { .. }";
        let mut all = Panics::default();
        panics_at(&mut all, 1, "root", 7);
        all.join(2, 1, &"root");
        panics_at(&mut all, 2, unwrap, 8);
        all.poison(2);
        all.raise(3, "still unwinds", Some(place(9)), 0);
        all.poison(3);
        // The thread has poisoned the lock that it unwraps by an earlier panic of its own, which it has caught.
        all.poison(0);
        let own = panics(&mut all, 0, poisoned);
        assert_eq!(
            all.judge(End::Panicked, Extent::Left),
            [after(counted(own, false, false), &[7, 9])]
        );
    }
}
