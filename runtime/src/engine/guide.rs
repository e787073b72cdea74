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

use std::rc::Rc;

use super::{Engine, NONE, Paired};
use crate::ids::{Pair, Role};
use crate::log::{Op, TEvent};

/// How many decisions are turned around before an execution is given up.
const TURNS: u32 = 6;
/// How many events of T the executions may have together that are run again for that, but for the first.
const AGAIN: usize = 512;
/// How many times in a row that may bring T no further.
const IDLE: u32 = 2;
/// How many decisions are looked at for one to turn around.
const LOOKED_AT: usize = 32;
/// How much may be tried for one turn: events of T that are looked at again, and [`TRY`] for each time.
const EFFORT: usize = 512;
/// What a trial costs by itself.
const TRY: usize = 32;
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
#[derive(Clone, Debug)]
enum Order {
    /// It sees one of these writes.
    Take(Rc<[u32]>),
    /// It is local.
    Pass,
}

/// What follows when no further choice is made after some.
#[derive(Clone, Debug)]
struct Lesson {
    /// No interleaving has that, and this read should have seen
    read: u32,
    /// one of these writes.
    writes: Rc<[u32]>,
    /// How many opportunities after it the last one comes at which T may see anything.
    after: u32,
    /// How many events T has when it is at its end.
    events: usize,
}

/// A list of non-local reads.
#[derive(Clone, Debug, Default)]
struct Node {
    /// What may come next.
    children: Vec<(Pair, u32)>,
    lesson: Option<Lesson>,
}

/// What is kept from one execution to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Guide {
    /// What has been decided in this execution.
    decisions: Vec<Decision>,
    /// Sorted by read.
    orders: Vec<(u32, Order)>,
    /// How many of them lie behind.
    followed: usize,
    turns: u32,
    /// How many events T had in the execution for these bytes in which it came furthest, and how many have brought it no
    /// further since.
    furthest: usize,
    idle: u32,
    /// The tree of non-local reads; the first node is none. Empty where nothing is to be kept in mind.
    nodes: Vec<Node>,
    /// Where this execution is in it; [`NONE`] for nowhere.
    node: u32,
    /// A read has been passed over by order since the last choice.
    passed: bool,
    /// T's log, while another one is looked for on the grid.
    log: Vec<TEvent>,
    /// So many events of the grid are the log's: after them something else has been tried.
    agreed: usize,
    /// What is left of [`EFFORT`] for this turn.
    left: usize,
    /// Whose lessons they are.
    of: Option<(usize, Role, usize, Vec<u8>)>,
}

/// Which program with which inputs: a number that no other program has, and the inputs' bytes.
pub type Same<'a> = (usize, &'a [u8]);

/// What [`Guide::at`] says of a read.
pub(super) enum Advice<'a> {
    /// As the bytes say.
    Free,
    /// The read is local.
    Pass,
    /// It sees one of these writes.
    Take(&'a Rc<[u32]>),
}

impl Guide {
    /// Before the first execution for some bytes, of this program with these inputs if that can be told.
    pub(super) fn open(&mut self, role: Role, k: usize, same: Option<Same<'_>>) {
        self.orders.clear();
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
    pub(super) fn at(&mut self, read: u32, gap: Option<u32>) -> Advice<'_> {
        while let Some((next, _)) = self.orders.get(self.followed)
            && *next < read
        {
            self.followed += 1;
        }
        if self.followed == self.orders.len() && !self.lesson(read, gap) {
            return Advice::Free;
        }
        match &self.orders[self.followed] {
            (next, _) if *next > read => Advice::Free,
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
        let events = lesson.events;
        self.orders
            .push((read, Order::Take(Rc::clone(&lesson.writes))));
        self.count(events);
        true
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
        writes: &Rc<[u32]>,
        (last, events): (usize, usize),
        pairs: &[Pair],
    ) {
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
            writes: Rc::clone(writes),
            after: u32::try_from(last - decision).unwrap_or(NONE),
            events,
        });
    }
}

impl Engine {
    /// After an execution that no interleaving has: turns one of its decisions around for the next one. The answer is whether
    /// there is one to turn.
    pub(super) fn turn_around(&mut self) -> bool {
        let events = self.under_test().len();
        if self.bytes.k() == 0 || !self.guide.goes_on(events) {
            return false;
        }
        self.guide.log.clear();
        self.guide.log.extend_from_slice(self.grid.events());
        self.guide.agreed = events;
        let turned = self.turn_one_around(events);
        self.go_to(events);
        turned
    }

    fn turn_one_around(&mut self, events: usize) -> bool {
        let Some(&last) = self.guide.log.last() else {
            return false;
        };
        self.guide.left = EFFORT;
        let found = self.with_one_change().or_else(|| {
            self.guide.left = EFFORT;
            self.any_change(last.op == Op::Join)
        });
        let Some((decision, order)) = found else {
            return false;
        };
        if let Order::Take(writes) = &order
            && self.guide.can_learn(decision)
        {
            let last = self.last_allowed(decision);
            self.guide
                .learn(decision, writes, (last, events), &self.pairs);
        }
        self.guide.count(events);
        self.guide.turn(decision, order);
        true
    }

    /// The last decision from this one on at which T may see anything that it has not seen.
    fn last_allowed(&mut self, first: usize) -> usize {
        for index in (first + 1..self.guide.decisions.len()).rev() {
            let decision = self.guide.decisions[index];
            let event = self.guide.log.get(decision.at as usize);
            let Some(Op::Read(x) | Op::Update(x)) = event.map(|event| event.op) else {
                return index;
            };
            self.go_to(decision.at as usize);
            let mut reader = self.grid.reader(x);
            let mut next = self.objects[x as usize].last_write;
            while let Some(&Paired { event, previous }) = self.writes.get(next as usize)
                && event != decision.seen
            {
                // As a read, since an update may turn out to be one: that asks for less.
                if reader.could_see(event, false) {
                    return index;
                }
                next = previous;
            }
        }
        first
    }

    /// Has the grid hold the first events of T, so many.
    fn go_to(&mut self, at: usize) {
        self.grid.truncate(at.min(self.guide.agreed));
        for before in self.grid.len()..at {
            self.grid.push(self.guide.log[before]);
        }
        self.guide.agreed = at;
    }

    /// The decisions, the latest first, with the number of choices made before each.
    fn latest_decisions(&self) -> Vec<(usize, Decision, usize)> {
        let mut taken = 0;
        let mut all = Vec::with_capacity(self.guide.decisions.len());
        for (index, &decision) in self.guide.decisions.iter().enumerate() {
            all.push((index, decision, taken));
            taken += usize::from(decision.taken);
        }
        let free = |(_, decision, _): &(usize, Decision, usize)| {
            !self.guide.ordered(decision.read) && (decision.at as usize) < self.guide.log.len()
        };
        let mut latest: Vec<_> = all.into_iter().rev().filter(free).collect();
        latest.truncate(LOOKED_AT);
        latest
    }

    /// The latest decision with which, turned around, T could do all else that it did.
    fn with_one_change(&mut self) -> Option<(usize, Order)> {
        let full = self.pairs.len() == self.bytes.k();
        for (index, decision, _) in self.latest_decisions() {
            let event = self.guide.log[decision.at as usize];
            let (Op::Read(_) | Op::Update(_)) = event.op else {
                // A lock that is taken instead is given back later on, and the other way round.
                continue;
            };
            if decision.taken && self.would_do(decision, TEvent::local(event.op), true) {
                return Some((index, Order::Pass));
            }
            if decision.taken || !full {
                let writes = self.writes_with(decision, |engine, event| {
                    engine.would_do(decision, event, true)
                });
                if !writes.is_empty() {
                    return Some((index, Order::Take(writes.into())));
                }
            }
        }
        None
    }

    /// The latest decision that can be turned around at all.
    fn any_change(&mut self, at_join: bool) -> Option<(usize, Order)> {
        let k = self.bytes.k();
        for (index, decision, before) in self.latest_decisions() {
            let event = self.guide.log[decision.at as usize];
            let possible = |engine: &mut Self, event: TEvent| {
                engine.would_do(decision, event, false)
                    && (!at_join || engine.grid.lets_other_end())
            };
            if decision.taken {
                let local = match event.op {
                    Op::TryFail(lock, mode) => Op::Acquire(lock, mode),
                    op => op,
                };
                if possible(self, TEvent::local(local)) {
                    return Some((index, Order::Pass));
                }
            }
            if before < k {
                let writes = self.writes_with(decision, possible);
                if !writes.is_empty() {
                    return Some((index, Order::Take(writes.into())));
                }
            }
        }
        None
    }

    /// Whether T could do `event` instead of what it did, and all that it did later, if `rest`. Leaves the grid there.
    fn would_do(&mut self, decision: Decision, event: TEvent, rest: bool) -> bool {
        let at = decision.at as usize;
        let later = if rest { &self.guide.log[at + 1..] } else { &[] };
        let Some(left) = self.guide.left.checked_sub(TRY + later.len()) else {
            return false;
        };
        self.guide.left = left;
        self.go_to(at);
        self.grid.push(event);
        if rest {
            if !self.grid.feasible() {
                return false;
            }
            for &later in &self.guide.log[at + 1..] {
                self.grid.push(later);
            }
        }
        self.grid.feasible()
    }

    /// The writes that the read could see instead.
    fn writes_with(
        &mut self,
        decision: Decision,
        mut possible: impl FnMut(&mut Self, TEvent) -> bool,
    ) -> Vec<u32> {
        let op = self.guide.log[decision.at as usize].op;
        let mut next = match op {
            Op::Read(x) | Op::Update(x) => self.objects[x as usize].last_write,
            Op::Acquire(lock, _) => self.objects[lock as usize].last_acquire,
            _ => NONE,
        };
        let mut all = Vec::new();
        while next != NONE {
            let Paired { event, previous } = self.writes[next as usize];
            if event == decision.seen {
                break;
            }
            let fits = match (op, self.interfering[event as usize]) {
                (Op::Acquire(lock, mode), Op::Acquire(_, other)) => {
                    other.excludes(mode).then_some(Op::TryFail(lock, mode))
                }
                _ => Some(op),
            };
            // What it saw led to where it is.
            if let Some(op) = fits
                && self.guide.log[decision.at as usize].source != Some(event)
                && possible(self, TEvent::non_local(op, event))
            {
                all.push(next);
            }
            next = previous;
        }
        all
    }
}
