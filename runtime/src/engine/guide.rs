//! Guiding the choices that bytes make to an execution that some interleaving has.
//!
//! Bytes can choose what no interleaving has. T' may come to its end only if T sees a certain write; that shows where T
//! joins T', long after the read in question. Or T may need more non-local reads than there are choices left. So when an
//! execution turns out to be infeasible, one decision is turned around, and it is run again: a chronological search, for
//! which the log says which decision to turn. What comes of it depends on the program, its inputs and the bytes alone.
//!
//! What was found out once is kept for the next executions of the same program with the same inputs: that after certain
//! non-local reads, and no further one, T ends up so, and where it should have had one. Then the execution that fails need
//! not be run. That saves time and changes no result: see [`Guide::lesson`].

mod lists;
mod turning;

pub(super) use lists::List;
use lists::Lists;

use super::NONE;
use crate::log::TEvent;
use crate::memory::Buffer;
use crate::vocabulary::{Pair, Role};

/// How many decisions are turned around before an execution is given up.
const TURNS: u32 = 6;
/// How many events of T the executions may have together that are run again for that, but for the first.
const AGAIN: usize = 512;
/// How many times in a row that may bring T no further.
const IDLE: u32 = 2;
/// How many lists of non-local reads are kept in mind.
const NODES: usize = 4_096;
/// How many ways each of them may go on.
const CHILDREN: usize = 32;

/// An opportunity, and what was made of it.
#[derive(Clone, Copy, Debug)]
struct Decision {
    read: u32,
    /// Where its event is in the log of T.
    at: u32,
    /// What T had seen of the object before.
    seen: u32,
    taken: bool,
}

/// What is to be done at a read, whatever the bytes say.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// It sees one of these writes.
    Take(List),
    /// It is local.
    Pass,
}

/// What follows when no further choice is made after some.
#[derive(Clone, Copy, Debug)]
struct Lesson {
    /// No interleaving has that, and this read should have seen
    read: u32,
    /// one of these writes.
    writes: List,
    /// How many opportunities after it the last one comes at which T may see anything.
    after: u32,
    /// How many events T has when it is at its end.
    events: usize,
}

/// A list of non-local reads.
#[derive(Clone, Debug, Default)]
struct Node {
    /// What may come next. It grows between executions only.
    children: Vec<(Pair, u32)>,
    lesson: Option<Lesson>,
}

/// What is kept from one execution to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Guide {
    /// What has been decided in this execution.
    decisions: Buffer<Decision>,
    /// Sorted by read.
    orders: Buffer<(u32, Order)>,
    /// How many of them lie behind.
    followed: usize,
    lists: Lists,
    turns: u32,
    /// How many events T had in the execution for these bytes in which it came furthest, and how many have brought it no
    /// further since.
    furthest: usize,
    idle: u32,
    /// The tree of non-local reads; the first node is none. Empty where nothing is to be kept in mind.
    nodes: Buffer<Node>,
    /// Where this execution is in it; [`NONE`] for nowhere.
    node: u32,
    /// A read has been passed over by order since the last choice.
    passed: bool,
    /// T's log, while another one is looked for on the grid.
    log: Buffer<TEvent>,
    /// So many events of the grid are the log's: after them something else has been tried.
    agreed: usize,
    /// What is left of the effort for this turn.
    left: usize,
    /// Whose lessons they are.
    of: Option<(usize, Role, usize, Vec<u8>)>,
}

/// Which program with which inputs: a number that no other program has, and the inputs' bytes.
pub type Same<'a> = (usize, &'a [u8]);

/// What [`Guide::at`] says of a read.
pub(super) enum Advice {
    /// As the bytes say.
    Free,
    /// The read is local.
    Pass,
    /// It sees one of these writes.
    Take(List),
}

impl Guide {
    /// Before the first execution for some bytes, of this program with these inputs if that can be told.
    pub(super) fn open(&mut self, role: Role, k: usize, same: Option<Same<'_>>) {
        self.orders.clear();
        self.lists.shorten();
        self.turns = 0;
        self.furthest = 0;
        self.idle = 0;
        let known = match (&self.of, same) {
            (Some((of, under_test, reads, inputs)), Some((program, bytes))) => {
                // Comparing nothing, at the address that an empty `Vec` has, is among the slowest things that some processors can
                // be asked for: they have to take back that they looked there.
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

    /// Before each execution.
    pub(super) fn begin(&mut self) {
        self.decisions.clear();
        self.followed = 0;
        self.node = if self.nodes.is_empty() { NONE } else { 0 };
        self.passed = false;
    }

    /// Notes an opportunity.
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

    /// What to do at an opportunity, given how many more the bytes let pass; `None` for all.
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

    /// Gives the order that running on to the end and turning a decision around would give, if that is known.
    ///
    /// It is when all that is left to happen is what happened when the lesson was learned: no order lies ahead or was
    /// followed since the last choice, and the bytes let all opportunities pass.
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

    /// Whether one more decision is turned around when T is at its end after so many events.
    const fn goes_on(&self, events: usize) -> bool {
        let long = (self.turns as usize) * events > AGAIN;
        self.turns < TURNS && !long && (events > self.furthest || self.idle < IDLE)
    }

    /// Counts that.
    const fn count(&mut self, events: usize) {
        self.turns += 1;
        if events > self.furthest {
            self.furthest = events;
            self.idle = 0;
        } else {
            self.idle += 1;
        }
    }

    /// Whether this decision has been turned around.
    fn ordered(&self, read: u32) -> bool {
        self.orders.iter().any(|&(of, _)| of == read)
    }

    /// Turns a decision around: what came after it is forgotten.
    fn turn(&mut self, decision: usize, order: Order) {
        let read = self.decisions[decision].read;
        self.orders.retain(|&(of, _)| of < read);
        self.orders.push((read, order));
    }

    /// Whether what a decision leads to can be kept in mind: it was one of those after the last choice, and all of them were
    /// free.
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
