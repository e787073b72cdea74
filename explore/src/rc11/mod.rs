//! `rc11`: every execution that Rust's memory model allows, exactly once.
//!
//! The memory model is that of C++20 without values out of thin air: RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer, *Repairing
//! Sequential Consistency in C/C++11*, PLDI 2017) with C++20's release sequences. An execution is a graph: what each thread
//! does, which write each read reads from, and the order of the writes to each object. [`graph`] holds graphs and what
//! happens before what, [`psc`] has the axiom on what is sequentially consistent.
//!
//! The search is that of Kokologiannakis, Marmanis, Gladstein, Vafeiadis, *Truly Stateless, Optimal Dynamic Partial Order
//! Reduction*, POPL 2022. Threads run one step after the other, each the thread of the lowest number that can, and each step
//! adds a node to the graph. A read may read from any write that is there and that the axioms allow; a write may stand at any
//! place of its modification order that they allow. A read that was there before the write may read from it, too: then what
//! was added after the read, and what the write does not follow, is taken away, and the program goes on from there. Many graphs
//! would lead to the same one in this way. One is taken: that in which all that is taken away had the latest write to read
//! from, and the latest place to write to.
//!
//! No graph that has been seen is kept: what is open is a stack of graphs, one inside the other, and of choices in them. Each
//! execution repeats a graph in an order that follows program order and reads-from, with each read reading from the write
//! of the graph, and goes on from there.
//!
//! # Locks
//! A lock is an object that is held or free. Taking it is an update that acquires, giving it back a write that releases. A
//! thread that would find it held is run last; what it would have found otherwise comes out of the same choices as with
//! other updates, and needs no execution, since nothing is computed from it.
//!
//! # Plain data
//! Accesses to plain data must be ordered by happens-before, so that no choice is left in them: what is there is what was
//! last written. Two accesses that are not ordered are a [race](Strategy::race).

mod graph;
mod psc;

use crate::divergence::{Difference, Divergence};
use crate::event::{Event, Kind, Object, Order, Pending, Thread};
use crate::executor::{Pick, RunEnd, View};
use crate::strategy::{Promise, Stats, Strategy};
use graph::{Act, FREE, Graph, HELD, INITIAL, Id, Node};

/// Something else that a graph could have done.
#[derive(Clone, Copy, Debug)]
enum Choice {
    /// The read reads this value from this write.
    From(Id, u64),
    /// The write stands at this place.
    Place(usize),
    /// This read, which was there before the write, reads from the write.
    Revisit(Id),
}

/// A graph, and what is open in it.
#[derive(Clone, Debug, Default)]
struct Chain {
    graph: Graph,
    /// Choices that are to be taken, each with the node that is the last one then. Ascending.
    open: Vec<(Id, Choice)>,
}

/// What a search takes a program's orderings to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Model {
    /// What the program says.
    #[default]
    Rc11,
    /// Everything is sequentially consistent.
    Sc,
}

/// The step that was picked.
#[derive(Clone, Copy, Debug, Default)]
struct Picked {
    thread: Thread,
    pending: Pending,
}

/// An access of an execution, in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Link {
    /// The thread, and the number of its nodes before this one. An update is two nodes: a read, then a write.
    pub node: (Thread, u32),
    /// Of a read: the write that it reads from. `None`: the value that the object began with.
    pub from: Option<(Thread, u32)>,
    /// Of a write: the number of writes before it in the modification order.
    pub place: Option<u32>,
}

/// A search over the executions that the memory model allows.
#[derive(Clone, Debug, Default)]
pub struct Rc11 {
    model: Model,
    /// Whether accesses to plain data read from any write, as relaxed ones do.
    chooses_data: bool,
    chains: Vec<Chain>,
    /// The nodes with which the current execution begins, each the first one of a step.
    script: Vec<Id>,
    /// The number of events of the current execution.
    position: usize,
    /// By thread: the number of its nodes that have been done in the current execution.
    done: Vec<usize>,
    /// By object: the value that it began with in the current execution, where that is known.
    initial: Vec<Option<u64>>,
    /// By node: the event of the current execution that it is.
    events: Vec<usize>,
    picked: Picked,
    is_void: bool,
    race: Option<[usize; 2]>,
    has_raced: bool,
    has_begun: bool,
    is_over: bool,
    /// Whether something was not searched.
    lost: bool,
}

impl Rc11 {
    /// A search before its first execution.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Has the search take everything as sequentially consistent, whatever the program says.
    #[must_use]
    pub const fn strengthened(mut self) -> Self {
        self.model = Model::Sc;
        self
    }

    /// Has accesses to plain data read from any write that the axioms allow. The executor must give the chosen values to
    /// these reads. Races are not looked for.
    #[must_use]
    pub const fn choosing_data(mut self) -> Self {
        self.chooses_data = true;
        self
    }

    /// The accesses of the latest execution, each with what it reads from, or with its place.
    #[must_use]
    pub fn links(&self) -> Vec<Link> {
        let Some(Chain { graph, .. }) = self.chains.last() else {
            return Vec::new();
        };
        let name = |id: Id| (graph.node(id).thread, graph.node(id).index);
        let accesses = (0..graph.len()).filter(|&id| graph.node(id).is_access());
        let links = accesses.map(|id| {
            let node = graph.node(id);
            let reads = node.act == Act::Read && node.from != INITIAL;
            Link {
                node: name(id),
                from: reads.then(|| name(node.from)),
                place: (node.act == Act::Write).then_some(node.place),
            }
        });
        links.collect()
    }

    fn order(&self, order: Order) -> Order {
        match self.model {
            Model::Rc11 => order,
            Model::Sc => Order::SeqCst,
        }
    }

    fn graph(&mut self) -> &mut Graph {
        if self.chains.is_empty() {
            self.chains.push(Chain::default());
        }
        let last = self.chains.len() - 1;
        &mut self.chains[last].graph
    }

    fn open(&mut self, at: Id, choice: Choice) {
        if let Some(chain) = self.chains.last_mut() {
            chain.open.push((at, choice));
        }
    }

    fn value(&self, graph: &Graph, object: Object, write: Id) -> u64 {
        if write == INITIAL {
            let known = self.initial.get(object as usize).copied().flatten();
            known.unwrap_or(FREE)
        } else {
            graph.node(write).value
        }
    }

    fn note_initial(&mut self, object: Object, held: u64) {
        let at = object as usize;
        if self.initial.len() <= at {
            self.initial.resize(at + 1, None);
        }
        self.initial[at].get_or_insert(held);
    }

    /// Makes all clocks of the current graph anew, in an order with `last` at its end, which becomes the script.
    fn relate_all(&mut self, last: Id) {
        let mut order = std::mem::take(&mut self.script);
        let graph = self.graph();
        graph.linear(last, &mut order);
        graph.begin_clocks(0);
        for &id in &order {
            graph.relate(id);
        }
        order.retain(|&id| !graph.node(id).updates && !graph.node(id).waits);
        self.script = order;
    }

    /// Adds a node with its clocks. What it is, is given by the event of its thread.
    fn push(&mut self, node: Node) -> Id {
        let mut highest = node.thread;
        if let Act::Fork(child) = node.act {
            highest = highest.max(child);
        }
        let graph = self.graph();
        if !graph.has_room(highest) {
            let mut order = Vec::new();
            graph.linear(INITIAL, &mut order);
            graph.begin_clocks(usize::from(highest) + 2);
            for id in order {
                graph.relate(id);
            }
        }
        let id = graph.push(node);
        graph.relate(id);
        id
    }

    /// A node of the step that was picked.
    fn template(&self, act: Act) -> Node {
        let Picked { thread, pending } = self.picked;
        let [first, second] = match pending.kind {
            Kind::CompareExchange => [pending.order, pending.failure],
            Kind::Lock => [Order::Acquire, Order::Relaxed],
            _ => [pending.order; 2],
        };
        let orders = [self.order(first), self.order(second)];
        Node {
            thread,
            index: 0,
            act,
            object: pending.object,
            order: orders[0],
            kind: pending.kind,
            expected: pending.expected,
            orders,
            from: INITIAL,
            place: 0,
            value: 0,
            updates: false,
            waits: false,
        }
    }

    /// Adds a read, and chooses the latest write for it. Returns its number.
    fn add_read(&mut self) -> Id {
        let mut node = self.template(Act::Read);
        let object = node.object;
        // What is known before it has read.
        node.order = Order::Plain;
        let id = self.push(node);
        let latest = self.graph().writes(object).len();
        let least = self.graph().least_place(id);
        for place in least..latest {
            let graph = &self.chains[self.chains.len() - 1].graph;
            let from = graph.at_place(object, place);
            let value = self.value(graph, object, from);
            if node.writes_on(value) {
                let other = graph.updated_by(object, from);
                // It would have to read from somewhere else, and this one follows it.
                if other.is_some_and(|other| graph.follows(id, graph.read_of(other))) {
                    continue;
                }
            } else if node.kind == Kind::Lock {
                // The lock has been given back since.
                continue;
            }
            self.open(id, Choice::From(from, value));
        }
        self.keep_consistent(id);
        let graph = &self.chains[self.chains.len() - 1].graph;
        let from = graph.at_place(object, latest);
        let value = self.value(graph, object, from);
        let graph = self.graph();
        graph.read(id, from, value);
        graph.relate(id);
        id
    }

    /// Leaves of the open choices of a read, which is the last node, those that the axioms allow.
    fn keep_consistent(&mut self, id: Id) {
        let last = self.chains.len() - 1;
        let Chain { graph, open } = &mut self.chains[last];
        let thread = graph.node(id).thread;
        let pending = graph.pending(thread);
        let mut at = open.partition_point(|&(at, _)| at < id);
        while let Some(&(_, choice)) = open.get(at) {
            let Choice::From(from, value) = choice else {
                return;
            };
            graph.read(id, from, value);
            graph.relate(id);
            graph.set_pending(thread, &pending);
            if psc::is_consistent(graph) {
                at += 1;
            } else {
                open.remove(at);
            }
        }
    }

    /// Adds a write. Where it is one step with a read, `read` is that read.
    fn add_write(&mut self, value: u64, read: Option<Id>) -> Id {
        let mut node = self.template(Act::Write);
        let object = node.object;
        node.value = value;
        if let Some(read) = read {
            let graph = self.graph();
            let before = graph.node(read);
            node.order = match before.kind {
                Kind::Lock => Order::Relaxed,
                _ => before.order,
            };
            node.thread = before.thread;
            node.object = before.object;
            node.kind = before.kind;
            node.updates = true;
            node.place = graph.place(before.from) as u32;
        } else {
            if node.kind == Kind::Unlock {
                node.order = Order::Release;
            }
            node.place = self.graph().writes(object).len() as u32;
        }
        node.order = self.order(node.order);
        let id = self.push(node);
        if read.is_some() {
            self.is_void =
                !self.graph().stands_behind_its_read(id) || !psc::is_consistent(self.graph());
        } else {
            let last = self.chains.len() - 1;
            let chain = &mut self.chains[last];
            let latest = chain.graph.node(id).place as usize;
            let places = places(&mut chain.graph, id, None);
            for place in places {
                if place != latest {
                    chain.open.push((id, Choice::Place(place)));
                }
            }
        }
        self.open_revisits(id);
        id
    }

    /// Opens the choices in which an earlier read reads from this write, which is the last node.
    fn open_revisits(&mut self, write: Id) {
        let last = self.chains.len() - 1;
        let Chain { graph, open } = &mut self.chains[last];
        for &read in graph.uses(graph.node(write).object) {
            if graph.node(read).act == Act::Read
                && !graph.follows(write, read)
                && may_revisit(graph, write, read)
            {
                open.push((write, Choice::Revisit(read)));
            }
        }
    }

    /// Takes a choice. Returns whether there is an execution that begins so.
    fn take(&mut self, at: Id, choice: Choice) -> bool {
        match choice {
            Choice::From(from, value) => {
                let graph = self.graph();
                graph.truncate(at + 1);
                graph.read(at, from, value);
                let kind = graph.node(at).kind;
                self.relate_all(at);
                if kind == Kind::Lock {
                    // There is another one that has taken the lock, which cannot stay: no execution goes on from here.
                    self.add_write(HELD, Some(at));
                    self.is_void = false;
                    return false;
                }
                true
            }
            Choice::Place(place) => {
                let graph = self.graph();
                graph.truncate(at + 1);
                graph.move_to(at, place);
                self.relate_all(INITIAL);
                true
            }
            Choice::Revisit(read) => self.revisit(at, read),
        }
    }

    /// Begins a graph in which the read reads from the write that was added last.
    fn revisit(&mut self, write: Id, read: Id) -> bool {
        let last = self.chains.len() - 1;
        let old = &self.chains[last].graph;
        let keeps = |id: Id| id <= read || id == write || id < write && old.follows(write, id);
        let (mut graph, [write, read]) = old.restricted(keeps, [write, read]);
        let value = graph.node(write).value;
        graph.read(read, write, value);
        self.chains.push(Chain {
            graph,
            open: Vec::new(),
        });
        self.relate_all(read);
        let chain = &mut self.chains[last + 1];
        let graph = &mut chain.graph;
        if graph.node(write).updates {
            let is_allowed = graph.stands_behind_its_read(write)
                && graph.least_place(read) <= graph.place(write)
                && psc::is_consistent(graph);
            if !is_allowed {
                self.chains.pop();
            }
            return is_allowed;
        }
        let mut places = places(graph, write, Some(read));
        let Some(latest) = places.pop() else {
            self.chains.pop();
            return false;
        };
        graph.move_to(write, latest);
        let others = places.into_iter();
        chain.open = others.map(|place| (write, Choice::Place(place))).collect();
        true
    }

    /// Notes that threads wait for locks which other threads hold: no other thread can go on.
    fn wait(&mut self, view: &View<'_>) {
        if self.position < self.script.len() || self.is_void {
            return;
        }
        for thread in view.live.iter() {
            let pending = *view.of(thread);
            if pending.kind == Kind::Lock && !self.waits(thread) {
                self.picked = Picked { thread, pending };
                self.note_initial(pending.object, FREE);
                self.add_read();
            }
        }
    }

    /// Whether the thread has found a lock held.
    fn waits(&mut self, thread: Thread) -> bool {
        let graph = self.graph();
        let last = graph.thread(thread).last().copied();
        last.is_some_and(|last| graph.node(last).waits)
    }

    /// The number of the next node of a thread, if the graph has it already.
    fn next(&mut self, thread: Thread) -> Option<Id> {
        let at = usize::from(thread);
        if self.done.len() <= at {
            self.done.resize(at + 1, 0);
        }
        let done = self.done[at];
        self.graph().thread(thread).get(done).copied()
    }

    /// The next node of a thread has been done.
    fn pass(&mut self, thread: Thread, id: Id) {
        self.done[usize::from(thread)] += 1;
        let at = id as usize;
        if self.events.len() <= at {
            self.events.resize(at + 1, 0);
        }
        self.events[at] = self.position;
    }

    fn differs(&self, event: &Event, expected: Kind) -> Divergence {
        Divergence {
            position: self.position,
            difference: Difference::OtherEvent {
                thread: event.thread,
                expected,
                found: event.kind,
            },
        }
    }

    /// Does the part of an event that is this node. `add` adds it where the graph does not have it.
    fn step(
        &mut self,
        event: &Event,
        is_it: impl Fn(&Node) -> bool,
        add: impl FnOnce(&mut Self) -> Id,
    ) -> Result<Id, Divergence> {
        let (id, is_new) = match self.next(event.thread) {
            Some(id) => (id, false),
            None => (add(self), true),
        };
        let node = *self.graph().node(id);
        if !is_it(&node) {
            return Err(self.differs(event, node.kind));
        }
        self.pass(event.thread, id);
        let is_last = self.position + 1 >= self.script.len();
        if node.is_access() && (is_new || is_last) && !self.chooses_data {
            self.look_for_race(id);
        }
        Ok(id)
    }

    /// Looks for an access that no happens-before orders with this one.
    fn look_for_race(&mut self, id: Id) {
        let last = self.chains.len() - 1;
        let graph = &self.chains[last].graph;
        let node = graph.node(id);
        let writes = |node: &Node| matches!(node.act, Act::Write | Act::Data(true));
        let is_data = |node: &Node| matches!(node.act, Act::Data(_));
        let other = graph.uses(node.object).iter().find(|&&other| {
            let earlier = graph.node(other);
            earlier.thread != node.thread
                && (writes(earlier) || writes(node))
                && (is_data(earlier) || is_data(node))
                && !graph.is_before(other, id)
                && !graph.is_before(id, other)
        });
        if let Some(&other) = other
            && self.race.is_none()
        {
            self.race = Some([self.events[other as usize], self.position]);
            self.has_raced = true;
        }
    }
}

/// The numbers of two events that race, among the events of an execution in their order, each with the number of the event
/// that wrote what it read, from 1. 0 stands for what the object began with, `None` for what was written last.
#[must_use]
pub fn race(events: &[(Event, Option<u32>)]) -> Option<[usize; 2]> {
    let mut told = Rc11::new();
    told.graph();
    let mut writes: Vec<Id> = Vec::new();
    for (number, &(event, saw)) in events.iter().enumerate() {
        told.position = number;
        told.picked = Picked {
            thread: event.thread,
            pending: Pending {
                kind: event.kind,
                object: event.object,
                order: event.order,
                ..Pending::default()
            },
        };
        let act = told.act_of(&event);
        let add = |told: &mut Rc11, act: Act, from: Option<Id>, read: Option<Id>| {
            let mut node = told.template(act);
            if let Act::Data(_) = act {
                node.order = Order::Plain;
            }
            node.from = from.unwrap_or(INITIAL);
            node.updates = read.is_some();
            node.order = match (event.kind, act) {
                (Kind::Lock, Act::Write) => Order::Relaxed,
                (Kind::Unlock, _) => Order::Release,
                _ => node.order,
            };
            if act == Act::Write {
                node.place = told.graph().writes(event.object).len() as u32;
            }
            let id = told.push(node);
            told.next(event.thread);
            told.pass(event.thread, id);
            if node.is_access() {
                told.look_for_race(id);
            }
            id
        };
        let mut write = INITIAL;
        match act {
            Some(act) => {
                let id = add(&mut told, act, None, None);
                if act == Act::Write {
                    write = id;
                }
            }
            None => {
                let latest = told.graph().writes(event.object).last().copied();
                let from = match saw {
                    None => latest,
                    Some(0) => None,
                    Some(number) => writes.get(number as usize - 1).copied(),
                };
                let read = add(&mut told, Act::Read, from, None);
                if matches!(event.kind, Kind::Update | Kind::Lock) {
                    write = add(&mut told, Act::Write, None, Some(read));
                }
            }
        }
        writes.push(write);
        if told.race.is_some() {
            break;
        }
    }
    told.race
}

impl Graph {
    /// Whether the write of an update comes right after the write that its read reads from, and no other update does.
    fn stands_behind_its_read(&self, write: Id) -> bool {
        let node = self.node(write);
        let from = self.node(self.read_of(write)).from;
        if self.place(from) + 1 != self.place(write) {
            return false;
        }
        let next = self.writes(node.object).get(self.place(write));
        next.is_none_or(|&next| {
            !self.node(next).updates || self.node(self.read_of(next)).from != from
        })
    }
}

/// The places at which the axioms allow a write to stand, ascending. `read`: a read that reads from it. The write stands where
/// it stood, if the last place is the one where it stood.
fn places(graph: &mut Graph, write: Id, read: Option<Id>) -> Vec<usize> {
    let object = graph.node(write).object;
    let least = graph.least_place(write);
    let latest = graph.writes(object).len() - 1;
    let mut places = Vec::new();
    for place in least..=latest {
        if graph.node(write).place as usize != place {
            graph.move_to(write, place);
        }
        let before = graph.at_place(object, place);
        let next = graph.writes(object).get(place + 1);
        let splits = next.is_some_and(|&next| {
            graph.node(next).updates && graph.node(graph.read_of(next)).from == before
        });
        let is_seen = read.is_none_or(|read| graph.least_place(read) <= graph.place(write));
        let is_new = place == latest && read.is_none();
        if !splits && is_seen && (is_new || psc::is_consistent(graph)) {
            places.push(place);
        }
    }
    places
}

/// Whether this graph is the one from which the read comes to read from the write: the read, and all that is taken away, had
/// the latest choice.
fn may_revisit(graph: &Graph, write: Id, read: Id) -> bool {
    let taken = (read + 1..write).filter(|&id| !graph.follows(write, id));
    let mut all = std::iter::once(read).chain(taken);
    all.all(|id| {
        let is_previous =
            |other: Id| other != write && (other <= id || graph.follows(write, other));
        let node = graph.node(id);
        match node.act {
            Act::Read => {
                let later = &graph.writes(node.object)[graph.place(node.from)..];
                !later.iter().any(|&other| is_previous(other))
            }
            Act::Write => {
                let later = &graph.writes(node.object)[graph.place(id)..];
                let mut uses = graph.uses(node.object).iter();
                !later.iter().any(|&other| is_previous(other))
                    && !uses.any(|&other| {
                        let of = graph.node(other);
                        of.act == Act::Read && of.from == id && is_previous(other)
                    })
            }
            _ => true,
        }
    })
}

impl Strategy for Rc11 {
    fn begin(&mut self) -> bool {
        self.position = 0;
        self.done.clear();
        self.is_void = false;
        self.race = None;
        if !std::mem::replace(&mut self.has_begun, true) {
            self.graph();
            return true;
        }
        loop {
            let Some(chain) = self.chains.last_mut() else {
                self.is_over = true;
                return false;
            };
            let Some((at, choice)) = chain.open.pop() else {
                self.chains.pop();
                continue;
            };
            if self.take(at, choice) {
                // What an object begins with may depend on what its maker has read.
                self.initial.fill(None);
                return true;
            }
        }
    }

    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        if self.is_void {
            return Ok(Pick::Abandon);
        }
        let thread = match self.script.get(self.position) {
            Some(&id) => {
                let node = *self.graph().node(id);
                let expected = Pending {
                    kind: node.kind,
                    object: match node.act {
                        Act::Fork(thread) | Act::Join(thread) => Object::from(thread),
                        _ => node.object,
                    },
                    ..Pending::default()
                };
                let announced =
                    Divergence::check_announced(self.position, node.thread, &expected, view);
                if announced.is_err() && self.has_raced {
                    return Ok(self.lose());
                }
                announced?;
                node.thread
            }
            None => {
                let mut enabled = view.enabled.iter();
                match enabled.find(|&thread| !self.waits(thread)) {
                    Some(thread) => thread,
                    None => {
                        self.wait(view);
                        return Ok(Pick::Abandon);
                    }
                }
            }
        };
        self.picked = Picked {
            thread,
            pending: *view.of(thread),
        };
        Ok(Pick::Run(thread))
    }

    fn source(&mut self, held: u64) -> u64 {
        let Picked { thread, pending } = self.picked;
        if self.is_data(pending.order) {
            return held;
        }
        self.note_initial(pending.object, held);
        let id = match self.next(thread) {
            Some(id) => id,
            None => self.add_read(),
        };
        let graph = &self.chains[self.chains.len() - 1].graph;
        self.value(graph, pending.object, graph.node(id).from)
    }

    fn ran(&mut self, event: &Event) -> Result<(), Divergence> {
        let done = self.take_event(event);
        self.position += 1;
        if done.is_err() && self.has_raced {
            self.lose();
            return Ok(());
        }
        done
    }

    fn is_void(&self) -> bool {
        self.is_void
    }

    fn is_latest(&self, event: usize) -> bool {
        let Some(Chain { graph, .. }) = self.chains.last() else {
            return true;
        };
        (0..graph.len()).all(|id| {
            let node = graph.node(id);
            let is_it = self.events.get(id as usize) == Some(&event) && node.act == Act::Read;
            !is_it || graph.place(node.from) == graph.writes(node.object).len()
        })
    }

    fn saw(&self, event: usize) -> Option<u32> {
        let Chain { graph, .. } = self.chains.last()?;
        let is_it = |id: &Id| self.events.get(*id as usize) == Some(&event);
        let mut reads = (0..graph.len()).filter(|&id| graph.node(id).act == Act::Read);
        let from = graph.node(reads.find(is_it)?).from;
        Some(match self.events.get(from as usize) {
            Some(&event) if from != INITIAL => u32::try_from(event + 1).unwrap_or(u32::MAX),
            _ => 0,
        })
    }

    fn race(&self) -> Option<[usize; 2]> {
        self.race
    }

    fn relation(&self) -> Option<u64> {
        self.chains.last().map(|chain| chain.graph.hash())
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.wait(view);
    }

    fn end(&mut self, _end: &RunEnd) {}

    fn report(&self) -> Stats {
        Stats::new(if self.is_over && !self.lost {
            Promise::ExhaustedWeakly
        } else {
            Promise::Unfinished
        })
    }
}

impl Rc11 {
    /// The program went another way, as it may once it has raced: what would have come of this is not searched.
    const fn lose(&mut self) -> Pick {
        self.lost = true;
        self.is_void = true;
        Pick::Abandon
    }

    /// What an event does that is one node; `None` for one that reads an atomic or takes a lock.
    fn act_of(&mut self, event: &Event) -> Option<Act> {
        let thread = Thread::try_from(event.object).unwrap_or(Thread::MAX);
        Some(match event.kind {
            Kind::Read | Kind::Write if self.is_data(event.order) => {
                Act::Data(event.kind == Kind::Write)
            }
            Kind::Read | Kind::FailedUpdate | Kind::Update | Kind::Lock => return None,
            Kind::Write | Kind::Unlock => Act::Write,
            Kind::Fork => Act::Fork(thread),
            Kind::Join => Act::Join(thread),
            Kind::Fence => Act::Fence,
            Kind::Local | Kind::Begin | Kind::End => Act::Local,
            _ => {
                // What else threads could learn by this is not known here.
                self.lost = true;
                Act::Local
            }
        })
    }

    /// Has the graph have what this event has done.
    fn take_event(&mut self, event: &Event) -> Result<(), Divergence> {
        let object = event.object;
        let is = |act: Act| {
            move |node: &Node| node.act == act && (!node.is_access() || node.object == object)
        };
        match event.kind {
            Kind::Read | Kind::Write if self.is_data(event.order) => {
                let act = Act::Data(event.kind == Kind::Write);
                self.step(event, is(act), |this| {
                    let mut node = this.template(act);
                    node.order = Order::Plain;
                    this.push(node)
                })?;
            }
            Kind::Read | Kind::FailedUpdate => {
                self.step(event, is(Act::Read), Self::add_read)?;
            }
            Kind::Write | Kind::Unlock => {
                let value = if event.kind == Kind::Unlock {
                    FREE
                } else {
                    self.note_initial(object, event.found);
                    event.left
                };
                let is_it = |node: &Node| is(Act::Write)(node) && node.value == value;
                self.step(event, is_it, |this| this.add_write(value, None))?;
            }
            Kind::Update | Kind::Lock => {
                let value = if event.kind == Kind::Lock {
                    self.note_initial(object, FREE);
                    HELD
                } else {
                    event.left
                };
                let read = self.step(event, is(Act::Read), Self::add_read)?;
                let is_it = |node: &Node| is(Act::Write)(node) && node.value == value;
                self.step(event, is_it, |this| this.add_write(value, Some(read)))?;
            }
            _ => {
                let act = self.act_of(event).unwrap_or(Act::Local);
                self.step(event, is(act), |this| {
                    let mut node = this.template(act);
                    if act != Act::Fence {
                        node.order = Order::Plain;
                    }
                    this.push(node)
                })?;
            }
        }
        Ok(())
    }

    /// Whether an access of this ordering is one to plain data that is no choice.
    fn is_data(&self, order: Order) -> bool {
        order == Order::Plain && !self.chooses_data
    }
}
