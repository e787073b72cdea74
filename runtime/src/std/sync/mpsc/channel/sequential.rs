//! The channel in P̂ₖ.
//!
//! T and T' each have a view of the channel: the messages that wait to be received, and the number of senders. T' sees what it
//! does itself. T sees in addition what it has learned of T', which is always the beginning of what T' did. So the shared
//! variables are numbers, from which T knows how far it sees:
//!
//! | variable | is written by | is read by |
//! |---|---|---|
//! | the sends of T, and those of T' | a send, and the end of a sender, of that thread | whoever finds no message; T where it sends after T', as the order of the messages depends on it |
//! | the takes | a receive that gets a message | a receive; a send that finds no room |
//! | whether the receiver is gone | the end of the receiver | a send |
//!
//! Each operation is one step of its thread, and so a [`Block`]. A read of the sends of T' shows T all messages until that
//! one, which T then has without another non-local read, and likewise for takes.
//!
//! A message that T gets from T' is the value itself: it is T's from then on. A message from before the two run side by
//! side may be received by both T and T', where each sees nothing of the other: then its type has to own nothing.
//!
//! T' can't see what T sends or receives. Where it waits for that, its log ends.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::mem::{ManuallyDrop, needs_drop};

use super::{Patience, Received, Sent};
use crate::engine::waiting::For;
use crate::engine::{Handle, Line, current, limit_passed, tau, unsupported};
use crate::shared::parking::was_parked_inside;
use crate::shared::{AtomicCell, Block, hidden};
use crate::vocabulary::Site;

/// The number of a message in [`State::messages`].
type Number = usize;

/// What a thread sees of a channel.
#[derive(Clone, Default)]
struct View {
    /// The messages that wait to be received.
    queue: VecDeque<Number>,
    senders: usize,
}

/// What T' did, which T can see from some time on.
#[derive(Clone, Copy)]
enum Act {
    Send(Number),
    AddSender,
    DropSender,
}

impl Act {
    /// Whether this is one of the sends that are counted.
    const fn counts(self) -> bool {
        matches!(self, Self::Send(_) | Self::DropSender)
    }
}

struct State<T> {
    messages: Vec<Option<ManuallyDrop<T>>>,
    /// The number of messages from before two threads ran side by side.
    from_before: usize,
    /// Before two threads run side by side.
    before: View,
    under_test: Option<View>,
    interfering: Option<View>,
    /// What T' did.
    acts: Vec<Act>,
    /// The messages that T' took, in order.
    taken: Vec<Number>,
    /// How many of `acts`, and of `taken`, T has learned of.
    learned: (usize, usize),
    /// How many of the sends that are counted T has learned of.
    learned_sends: u64,
    /// Messages that T has learned to be taken before it learned that they were sent.
    known_as_taken: Vec<Number>,
    /// Whether T' has received a message that T' sent.
    has_taken_own: bool,
    /// The number of sends of T, and of T'.
    sends: [u64; 2],
}

impl<T> Default for State<T> {
    fn default() -> Self {
        Self {
            messages: Vec::new(),
            from_before: 0,
            before: View::default(),
            under_test: None,
            interfering: None,
            acts: Vec::new(),
            taken: Vec::new(),
            learned: (0, 0),
            learned_sends: 0,
            known_as_taken: Vec::new(),
            has_taken_own: false,
            sends: [0; 2],
        }
    }
}

/// A channel.
pub(super) struct Channel<T> {
    bound: Option<usize>,
    block: Block,
    /// The numbers of sends of T, and of T'.
    sends: [AtomicCell<u64>; 2],
    takes: AtomicCell<u64>,
    is_gone: AtomicCell<bool>,
    /// Whether the receiver was gone before two threads ran side by side.
    was_gone: Cell<bool>,
    state: RefCell<State<T>>,
}

// SAFETY: all threads of an execution run on one OS thread. Messages go from thread to thread, and are not shared.
unsafe impl<T: Send> Sync for Channel<T> {}
// SAFETY: all threads of an execution run on one OS thread. Messages go from thread to thread, and are not shared.
unsafe impl<T: Send> Send for Channel<T> {}

/// The index of T's sends, and of those of T'.
const OF_T: usize = 0;
const OF_T_PRIME: usize = 1;

/// What a take of T adds to the number of takes; one of T' adds 1.
const ONE_OF_T: u64 = 1 << 32;

/// What becomes of an attempt.
enum Step<R> {
    Done(R),
    /// The thread has to wait, or to give up, for this.
    Waits(For),
}

impl<T> State<T> {
    fn view(&mut self, line: Line) -> &mut View {
        match line {
            Line::Init => &mut self.before,
            Line::UnderTest => self.under_test.get_or_insert_with(|| self.before.clone()),
            Line::Interfering => self.interfering.get_or_insert_with(|| self.before.clone()),
        }
    }

    /// Adds a message. Returns its number.
    fn add(&mut self, value: T, line: Line) -> Number {
        let number = self.messages.len();
        self.messages.push(Some(ManuallyDrop::new(value)));
        if line == Line::Init {
            self.from_before = number + 1;
        }
        self.view(line).queue.push_back(number);
        number
    }

    /// T learns of the first `sends` sends of T'.
    fn learn_sends(&mut self, sends: u64) {
        self.view(Line::UnderTest);
        while self.learned_sends < sends
            && let Some(&act) = self.acts.get(self.learned.0)
        {
            self.learned.0 += 1;
            self.learned_sends += u64::from(act.counts());
            let view = self.under_test.get_or_insert_default();
            match act {
                Act::Send(number) if self.known_as_taken.contains(&number) => {}
                Act::Send(number) => view.queue.push_back(number),
                Act::AddSender => view.senders += 1,
                Act::DropSender => view.senders -= 1,
            }
        }
    }

    /// T learns of what T' took, as this number of takes tells.
    fn learn_takes(&mut self, takes: u64) {
        self.view(Line::UnderTest);
        while (self.learned.1 as u64) < takes % ONE_OF_T
            && let Some(&number) = self.taken.get(self.learned.1)
        {
            self.learned.1 += 1;
            let view = self.under_test.get_or_insert_default();
            match view.queue.iter().position(|&other| other == number) {
                Some(at) => {
                    view.queue.remove(at);
                }
                None => self.known_as_taken.push(number),
            }
        }
    }
}

/// A channel is used. What each thread knows of it is not what another one begins with.
fn note_use(handle: Handle) {
    let engine = handle.get();
    if engine.is_of_several() && !engine.quiet {
        crate::engine::refuse_beside_several(handle, "a channel is used", None);
        return;
    }
    let engine = handle.get();
    engine.uses_channels |= engine.line != Line::Init;
}

impl<T> Channel<T> {
    pub(super) fn new(bound: Option<usize>) -> Self {
        Self {
            bound,
            block: Block::new(),
            sends: [AtomicCell::new(0), AtomicCell::new(0)],
            takes: AtomicCell::new(0),
            is_gone: AtomicCell::new(false),
            was_gone: Cell::new(false),
            state: RefCell::default(),
        }
    }

    /// Runs the threads that have to run before this event. Returns the line of the current thread; `None` in an execution
    /// that has been ended.
    fn enter(handle: Handle, site: Site) -> Option<Line> {
        tau::enter(handle, site);
        note_use(handle);
        (!handle.get().quiet).then(|| handle.get().line)
    }

    pub(super) fn add_sender(&self, handle: Handle) {
        note_use(handle);
        let line = handle.get().line;
        let state = &mut *self.state.borrow_mut();
        state.view(line).senders += 1;
        if line == Line::Interfering {
            state.acts.push(Act::AddSender);
        }
    }

    pub(super) fn remove_sender(&self, handle: Handle, site: Site) {
        let Some(line) = Self::enter(handle, site) else {
            return;
        };
        self.state.borrow_mut().view(line).senders -= 1;
        self.block
            .run(handle, site, || self.note_send(line, Act::DropSender, site));
    }

    /// Writes that the thread of this line has sent something, or dropped a sender.
    fn note_send(&self, line: Line, act: Act, site: Site) {
        let of = match line {
            Line::Init => return,
            Line::UnderTest => OF_T,
            Line::Interfering => OF_T_PRIME,
        };
        let number = {
            let state = &mut *self.state.borrow_mut();
            if line == Line::Interfering {
                state.acts.push(act);
            }
            state.sends[of] += 1;
            state.sends[of]
        };
        self.sends[of].store(number, site);
    }

    pub(super) fn remove_receiver(&self, handle: Handle, site: Site) {
        let Some(line) = Self::enter(handle, site) else {
            return;
        };
        if line == Line::Init {
            self.was_gone.set(true);
        } else {
            self.block.run(handle, site, || {
                // What is dropped with the receiver may be seen: then so is what the other thread has sent until now.
                if needs_drop::<T>() && self.bound != Some(0) {
                    hidden(handle, || self.look_at_sends(line, site));
                }
                self.is_gone.store(true, site);
            });
        }
        // Messages that senders wait with are the senders'.
        while self.bound != Some(0) && !handle.get().quiet {
            let message = {
                let state = &mut *self.state.borrow_mut();
                let Some(number) = state.view(line).queue.pop_front() else {
                    break;
                };
                state.messages[number].take()
            };
            // The drop of a message is the program's code, which may come here again.
            drop(message.map(ManuallyDrop::into_inner));
        }
    }

    /// Reads what the other thread has sent. T learns of it; T' sees nothing of T.
    fn look_at_sends(&self, line: Line, site: Site) {
        match line {
            Line::Init => {}
            Line::Interfering => {
                self.sends[OF_T].load(site);
            }
            Line::UnderTest => {
                let sends = self.sends[OF_T_PRIME].load(site);
                self.state.borrow_mut().learn_sends(sends);
            }
        }
    }

    /// Reads how many messages have been taken. T learns of those that T' took.
    fn look_at_takes(&self, line: Line, site: Site) {
        if line == Line::Init {
            return;
        }
        let takes = self.takes.load(site);
        if line == Line::UnderTest {
            self.state.borrow_mut().learn_takes(takes);
        }
    }

    /// Whether T' has sent or taken something that T has not learned of.
    fn may_learn(&self) -> (bool, bool) {
        let state = self.state.borrow();
        let (acts, taken) = state.learned;
        (
            state.acts[acts..].iter().any(|act| act.counts()),
            taken < state.taken.len(),
        )
    }

    /// Sends a message, with or without waiting for room.
    pub(super) fn send(&self, handle: Handle, value: T, patience: Patience, site: Site) -> Sent<T> {
        if self.bound == Some(0) && patience != Patience::Endless {
            let message = "`try_send` on a channel without room for a message: the sequential program has no event for it";
            unsupported(handle, message.to_owned(), Some(site));
            return Sent::Full(value);
        }
        if self.bound.is_some() && patience == Patience::Endless {
            was_parked_inside(handle);
        }
        let mut value = Some(value);
        loop {
            let Some(line) = Self::enter(handle, site) else {
                // No receiver comes for the message any more.
                return value.map_or(Sent::Yes, Sent::Disconnected);
            };
            let step = self.block.run(handle, site, || {
                self.try_send(handle, line, &mut value, site)
            });
            let what = match (step, value.take()) {
                (Step::Done(true), _) | (_, None) => break,
                (Step::Done(false), Some(value)) => return Sent::Disconnected(value),
                (Step::Waits(what), Some(kept)) => {
                    value = Some(kept);
                    what
                }
            };
            if patience != Patience::Endless {
                return value.map_or(Sent::Yes, Sent::Full);
            }
            self.wait(handle, what, site);
        }
        if self.bound == Some(0) {
            self.hand_over(handle, site);
        }
        Sent::Yes
    }

    /// Whether the message was sent, or there is no receiver.
    fn try_send(
        &self,
        handle: Handle,
        line: Line,
        value: &mut Option<T>,
        site: Site,
    ) -> Step<bool> {
        let is_gone = line != Line::Init && hidden(handle, || self.is_gone.load(site));
        if is_gone || self.was_gone.get() {
            if line != Line::Init {
                // The step's event: that the receiver is gone is all that the thread sees.
                self.is_gone.load(site);
            }
            return Step::Done(false);
        }
        if line == Line::UnderTest {
            if self.state.borrow().has_taken_own {
                let message = "both threads send to a channel from which the interfering thread receives what it sent itself: \
                               the sequential program has no order for the messages";
                unsupported(handle, message.to_owned(), Some(site));
            }
            if self.bound.is_some() && self.state.borrow().sends[OF_T_PRIME] > 0 {
                let message = "both threads send to a channel with a bound: in the sequential program, no message of the thread \
                               under test is in the interfering thread's way";
                unsupported(handle, message.to_owned(), Some(site));
            }
            if self.may_learn().0 {
                hidden(handle, || self.look_at_sends(line, site));
            }
        }
        if let Some(bound) = self.bound.filter(|&bound| bound > 0) {
            let is_full = || self.state.borrow_mut().view(line).queue.len() >= bound;
            if is_full() {
                self.look_at_takes(line, site);
                if is_full() {
                    return Step::Waits(For::Room);
                }
            }
        }
        if let Some(value) = value.take() {
            let number = self.state.borrow_mut().add(value, line);
            self.note_send(line, Act::Send(number), site);
        }
        Step::Done(true)
    }

    /// With a bound of 0: waits until a message that has been sent is taken.
    fn hand_over(&self, handle: Handle, site: Site) {
        while let Some(line) = Self::enter(handle, site) {
            let is_taken = {
                let state = &mut *self.state.borrow_mut();
                state.view(line).queue.is_empty()
            };
            if is_taken {
                return;
            }
            self.wait(handle, For::Room, site);
        }
    }

    /// Waits until another thread has done this.
    fn wait(&self, handle: Handle, what: For, site: Site) {
        was_parked_inside(handle);
        match (what, handle.get().line) {
            (_, Line::Init) => self.takes.wait_in_p_hat(handle, what, site),
            (For::Message, Line::UnderTest) => {
                self.sends[OF_T_PRIME].wait_in_p_hat(handle, what, site);
            }
            (For::Message, Line::Interfering) => {
                self.sends[OF_T].wait_in_p_hat(handle, what, site);
            }
            _ => self
                .takes
                .wait_for_either(handle, what, &self.is_gone, site),
        }
    }

    /// Receives a message, with or without waiting for one.
    pub(super) fn receive(&self, handle: Handle, patience: Patience, site: Site) -> Received<T> {
        if patience != Patience::None {
            was_parked_inside(handle);
        }
        loop {
            let Some(line) = Self::enter(handle, site) else {
                // No thread sends any more.
                return Received::Disconnected;
            };
            let step = self
                .block
                .run(handle, site, || self.try_receive(handle, line, site));
            let what = match step {
                Step::Done(received) => return received,
                Step::Waits(what) => what,
            };
            match patience {
                Patience::None => return Received::Empty,
                Patience::Endless => self.wait(handle, what, site),
                Patience::Limited(limit) => {
                    if !self.is_woken(handle, line, site) {
                        limit_passed(handle, limit);
                        return Received::Empty;
                    }
                }
            }
        }
    }

    /// The thread wakes from a wait that has a time limit. Returns whether something has come until then.
    fn is_woken(&self, handle: Handle, line: Line, site: Site) -> bool {
        let known = self.state.borrow().learned_sends;
        self.block
            .run(handle, site, || self.look_at_sends(line, site));
        self.state.borrow().learned_sends != known
    }

    fn try_receive(&self, handle: Handle, line: Line, site: Site) -> Step<Received<T>> {
        let next = || self.state.borrow_mut().view(line).queue.front().copied();
        if line == Line::UnderTest && self.may_learn().1 {
            hidden(handle, || self.look_at_takes(line, site));
        }
        let mut number = next();
        if number.is_none() {
            let is_known = line == Line::UnderTest && {
                let state = self.state.borrow();
                state
                    .under_test
                    .as_ref()
                    .is_some_and(|view| view.senders == 0)
            };
            if is_known && !self.may_learn().0 {
                // All senders are known to be gone: another look tells nothing new, and is the step's only event.
                self.look_at_sends(line, site);
            } else {
                self.look_at_sends(line, site);
                number = next();
            }
        }
        let Some(number) = number else {
            let is_over = self.state.borrow_mut().view(line).senders == 0;
            return if is_over {
                Step::Done(Received::Disconnected)
            } else {
                Step::Waits(For::Message)
            };
        };
        if line == Line::Interfering && number >= self.state.borrow().from_before {
            // T has sent nothing before, or the message would be T's.
            self.state.borrow_mut().has_taken_own = true;
            hidden(handle, || self.look_at_sends(line, site));
        }
        self.take(handle, line, number, site)
    }

    /// Takes the message with this number, which is the next one.
    fn take(&self, handle: Handle, line: Line, number: Number, site: Site) -> Step<Received<T>> {
        let value = {
            let state = &mut *self.state.borrow_mut();
            state.view(line).queue.pop_front();
            let is_shared = line == Line::Interfering && number < state.from_before;
            if line == Line::Interfering {
                state.taken.push(number);
            }
            match &state.messages[number] {
                // T may receive it, too.
                Some(message) if is_shared && !needs_drop::<T>() => {
                    // SAFETY: the message owns nothing, so that its bits can be given away twice: to T', and to T in an
                    // execution in which T sees nothing of that.
                    Some(unsafe { std::ptr::read(&raw const **message) })
                }
                _ => state.messages[number].take().map(ManuallyDrop::into_inner),
            }
        };
        let one = match line {
            Line::Init => None,
            Line::UnderTest => Some(ONE_OF_T),
            Line::Interfering => Some(1),
        };
        if let Some(one) = one {
            let taken = self.takes.update(|takes| Some(takes + one), None, site);
            debug_assert!(taken.is_ok());
        }
        let Some(value) = value else {
            let message = "both threads receive this message, each without seeing that of the other, and it can't be copied";
            unsupported(handle, message.to_owned(), Some(site));
            return Step::Done(Received::Empty);
        };
        Step::Done(Received::Message(value))
    }
}

impl<T> Drop for Channel<T> {
    fn drop(&mut self) {
        // What is left here was sent after the receiver went, in what T has seen of it: it was never sent.
        if let Some(handle) = current() {
            let state = std::mem::take(self.state.get_mut());
            let left = state.messages.into_iter().flatten();
            let left: Vec<T> = left.map(ManuallyDrop::into_inner).collect();
            handle.give_up(left);
        }
    }
}
