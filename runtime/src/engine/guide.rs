//! Guides the choices that bytes make to an execution that some interleaving has.
//!
//! Bytes can choose what no interleaving has. T' may come to its end only if T sees a certain write, which shows only
//! where T joins T', long after the read in question. Or T may need more non-local reads than there are choices left.
//! So when an execution turns out to be infeasible, one decision is *turned* (its read becomes local, or sees another
//! write), and the program is run again: a chronological search, in which the log says which decision to turn. The
//! result depends on the program, its inputs and the bytes alone.
//!
//! A *lesson* is kept for the next executions of the same program with the same inputs: how T ends after certain
//! non-local reads and no further one, and which read should have been non-local. With a lesson, the execution that
//! fails need not be run. That saves time and changes no result: see [`Guide::lesson`].

mod lists;
mod turning;

pub(super) use lists::List;
use lists::Lists;

use super::NONE;
use crate::log::TEvent;
use crate::memory::Buffer;
use crate::vocabulary::{Pair, Role};

/// The number of decisions that are turned before an execution is given up.
const TURNS: u32 = 6;
/// The number of events of T that all the repeated executions but the first may have together.
const AGAIN: usize = 512;
/// The number of times in a row that turning a decision may bring T no further.
const IDLE: u32 = 2;
/// The most lists of non-local reads that are kept.
const NODES: usize = 4_096;
/// The most continuations of each list.
const CHILDREN: usize = 32;

/// An opportunity for a non-local read, and what was decided there.
#[derive(Clone, Copy, Debug)]
struct Decision {
    read: u32,
    /// The index of the read's event in the log of T.
    at: u32,
    /// The event of T' that T had last seen of the object, or [`NONE`].
    seen: u32,
    taken: bool,
}

/// What a read has to do, whatever the bytes say.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// The read sees one of these writes.
    Take(List),
    /// The read is local.
    Pass,
}

/// What follows if no further choice is made after a list of non-local reads.
#[derive(Clone, Copy, Debug)]
struct Lesson {
    /// The read that should have been non-local, since no interleaving has the execution without that.
    read: u32,
    /// The writes of which that read should have seen one.
    writes: List,
    /// The number of opportunities from that read to the last one at which T may see anything.
    after: u32,
    /// The number of events that T has at its end.
    events: usize,
}

/// A list of non-local reads.
#[derive(Clone, Debug, Default)]
struct Node {
    /// The pairs that may come next, each with its node. Grows between executions only.
    children: Vec<(Pair, u32)>,
    lesson: Option<Lesson>,
}

/// What is kept from one execution to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Guide {
    /// The decisions of this execution, in order.
    decisions: Buffer<Decision>,
    /// The orders for this execution, sorted by read.
    orders: Buffer<(u32, Order)>,
    /// The number of orders whose read has passed.
    followed: usize,
    lists: Lists,
    turns: u32,
    /// The number of events of T in that execution for these bytes in which T came furthest; `idle` is the number of
    /// executions since then that brought T no further.
    furthest: usize,
    idle: u32,
    /// The tree of lists of non-local reads; the first node is the empty list. Has no node where nothing is to be kept.
    nodes: Buffer<Node>,
    /// The node of this execution's list so far, or [`NONE`].
    node: u32,
    /// Whether a read has been made local by an order since the last choice.
    passed: bool,
    /// T's log, while another log is tried on the grid.
    log: Buffer<TEvent>,
    /// The number of the grid's first events that are those of `log`; the events after them are a trial's.
    agreed: usize,
    /// The effort that is left for this turn: see [`turning`].
    left: usize,
    /// What the lessons are of: the program's number, the role, k, and the inputs' bytes.
    of: Option<(usize, Role, usize, Vec<u8>)>,
}

/// What identifies a program with its inputs: a number that no other program has, and the inputs' bytes.
pub type Same<'a> = (usize, &'a [u8]);

/// What [`Guide::at`] says of a read.
pub(super) enum Advice {
    /// The bytes decide.
    Free,
    /// The read is local.
    Pass,
    /// The read sees one of these writes.
    Take(List),
}

impl Guide {
    /// Makes ready for the first execution for some bytes. `same` identifies the program with its inputs, where that is
    /// known.
    pub(super) fn open(&mut self, role: Role, k: usize, same: Option<Same<'_>>) {
        self.orders.clear();
        self.lists.shorten();
        self.turns = 0;
        self.furthest = 0;
        self.idle = 0;
        let known = match (&self.of, same) {
            (Some((of, under_test, reads, inputs)), Some((program, bytes))) => {
                // A comparison of no bytes, at the address that an empty `Vec` has, is very slow on some processors,
                // which have to undo a speculative load there.
                let no_inputs = inputs.is_empty() && bytes.is_empty();
                *of == program
                    && *under_test == role
                    && *reads == k
                    && (no_inputs || inputs == bytes)
            }
            _ => false,
        };
        if !known {
            self.nodes.clear();
            self.lists.clear();
            self.of = same.map(|(program, inputs)| (program, role, k, inputs.to_vec()));
            if same.is_some() {
                self.nodes.push(Node::default());
            }
        }
    }

    /// Makes ready for the next execution.
    pub(super) fn begin(&mut self) {
        self.decisions.clear();
        self.followed = 0;
        self.node = if self.nodes.is_empty() { NONE } else { 0 };
        self.passed = false;
    }

    /// Notes an opportunity for a non-local read.
    pub(super) fn note(&mut self, read: u32, at: usize, seen: u32) {
        let at = u32::try_from(at).unwrap_or(NONE);
        self.decisions.push(Decision {
            read,
            at,
            seen,
            taken: false,
        });
    }

    /// The latest opportunity is taken.
    pub(super) fn taken(&mut self, pair: Pair) {
        if let Some(last) = self.decisions.last_mut() {
            last.taken = true;
        }
        self.passed = false;
        self.node = self.child(self.node, pair).unwrap_or(NONE);
    }

    fn child(&self, node: u32, pair: Pair) -> Option<u32> {
        let children = &self.nodes.get(node as usize)?.children;
        children
            .iter()
            .find(|(next, _)| *next == pair)
            .map(|&(_, child)| child)
    }

    /// What to do at an opportunity, given the number of further opportunities that the bytes let pass; `None` where
    /// all pass.
    #[inline]
    pub(super) fn at(&mut self, read: u32, gap: Option<u32>) -> Advice {
        while let Some((next, _)) = self.orders.get(self.followed)
            && *next < read
        {
            self.followed += 1;
        }
        if self.followed == self.orders.len() && !self.lesson(read, gap) {
            return Advice::Free;
        }
        match self.orders[self.followed] {
            (next, _) if next > read => Advice::Free,
            (_, Order::Pass) => {
                self.passed = true;
                Advice::Pass
            }
            (_, Order::Take(writes)) => Advice::Take(writes),
        }
    }

    /// Gives the order that running on to the end and turning a decision would give, if a lesson says so.
    ///
    /// A lesson applies if the rest of the execution is what it was when the lesson was learned: no order lies ahead or
    /// was followed since the last choice, and the bytes let all opportunities pass.
    #[inline]
    fn lesson(&mut self, read: u32, gap: Option<u32>) -> bool {
        let Some(node) = self.nodes.get(self.node as usize) else {
            return false;
        };
        let Some(lesson) = &node.lesson else {
            return false;
        };
        if lesson.read != read
            || self.passed
            || !self.goes_on(lesson.events)
            || gap.is_some_and(|gap| gap <= lesson.after)
        {
            return false;
        }
        let (events, writes) = (lesson.events, lesson.writes);
        self.orders.push((read, Order::Take(writes)));
        self.count(events);
        true
    }

    /// Whether a write is on a list.
    pub(super) fn is_on(&self, list: List, write: u32) -> bool {
        self.lists.get(list).contains(&write)
    }

    /// Whether one more decision is turned, where T is at its end after `events` events.
    const fn goes_on(&self, events: usize) -> bool {
        let long = (self.turns as usize) * events > AGAIN;
        self.turns < TURNS && !long && (events > self.furthest || self.idle < IDLE)
    }

    /// Counts a turn of a decision in an execution in which T had `events` events.
    const fn count(&mut self, events: usize) {
        self.turns += 1;
        if events > self.furthest {
            self.furthest = events;
            self.idle = 0;
        } else {
            self.idle += 1;
        }
    }

    /// Whether the decision at this read has been turned.
    fn ordered(&self, read: u32) -> bool {
        self.orders.iter().any(|&(of, _)| of == read)
    }

    /// Turns a decision. Decisions after it are forgotten.
    fn turn(&mut self, decision: usize, order: Order) {
        let read = self.decisions[decision].read;
        self.orders.retain(|&(of, _)| of < read);
        self.orders.push((read, order));
    }

    /// Whether what a decision leads to can be kept as a lesson: the decision was made after the last choice, and no
    /// order was followed since that choice.
    fn can_learn(&self, decision: usize) -> bool {
        let tail = self.decisions.iter().rposition(|decision| decision.taken);
        let tail = tail.map_or(0, |last| last + 1);
        let free = |decision: &Decision| !self.ordered(decision.read);
        !self.nodes.is_empty() && decision >= tail && self.decisions[tail..].iter().all(free)
    }

    fn learn(
        &mut self,
        decision: usize,
        writes: List,
        (last, events): (usize, usize),
        pairs: &[Pair],
    ) {
        if !self.lists.keep() {
            return;
        }
        let mut node = 0;
        for &pair in pairs {
            node = match self.child(node, pair) {
                Some(child) => child,
                None if self.nodes.len() < NODES
                    && self.nodes[node as usize].children.len() < CHILDREN =>
                {
                    let child = u32::try_from(self.nodes.len()).unwrap_or(NONE);
                    self.nodes[node as usize].children.push((pair, child));
                    self.nodes.push(Node::default());
                    child
                }
                None => return,
            };
        }
        self.nodes[node as usize].lesson = Some(Lesson {
            read: self.decisions[decision].read,
            writes,
            after: u32::try_from(last - decision).unwrap_or(NONE),
            events,
        });
    }
}
