//! Execution graphs: events, program order, reads-from, modification order, and the clocks that tell what happens before
//! what.
//!
//! Nodes are numbered in the order in which they were added. Each node that is added last in its thread gets its clocks from the
//! nodes that it follows; a write that is put into the middle of the modification order changes no clock.

use crate::event::{Kind, Object, Order, Pending, Thread};
use crate::hash::mix;

/// The number of a node.
pub(super) type Id = u32;

/// The write that makes the value with which an object begins. It comes before all else.
pub(super) const INITIAL: Id = Id::MAX;

/// The value of a lock that no thread holds.
pub(super) const FREE: u64 = 0;

/// The value of a lock that a thread holds.
pub(super) const HELD: u64 = 1;

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Read,
    Write,
    /// Accesses plain data, which holds what was last written there: whether it writes.
    Data(bool),
    Fence,
    /// Creates the thread.
    Fork(Thread),
    /// Has waited for the end of the thread.
    Join(Thread),
    /// Nothing that another thread could learn of.
    Local,
}

/// A node of a graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub thread: Thread,
    /// The number of nodes of the thread before this one.
    pub index: u32,
    pub act: Act,
    pub object: Object,
    pub order: Order,
    /// What the thread announced.
    pub kind: Kind,
    /// Of a compare-exchange: the value that it expects; else see [`Pending::UNLESS_ZERO`](crate::event::Pending).
    pub expected: u64,
    /// The ordering if the node reads what lets it write, and if not.
    pub orders: [Order; 2],
    /// Of a read: the write that it reads from.
    pub from: Id,
    /// Of a write: the number of writes before it in the modification order.
    pub place: u32,
    /// Of a write: the value.
    pub value: u64,
    /// Of a write: whether it is one step with the node before it in its thread, a read.
    pub updates: bool,
    /// Of a read that takes a lock: whether it found the lock held, so that the thread waits.
    pub waits: bool,
}

impl Node {
    pub(super) const fn is_access(&self) -> bool {
        matches!(self.act, Act::Read | Act::Write | Act::Data(_))
    }

    /// Whether the node, a read, goes on to write if it reads this value.
    pub(super) const fn writes_on(&self, value: u64) -> bool {
        match self.kind {
            Kind::CompareExchange => value == self.expected,
            Kind::Update => value != 0 || self.expected != Pending::UNLESS_ZERO,
            Kind::Lock => value == FREE,
            _ => false,
        }
    }

    /// Has the node, a read, read this value from this write.
    pub(super) const fn read(&mut self, from: Id, value: u64) {
        let writes = self.writes_on(value);
        self.from = from;
        self.order = self.orders[!writes as usize];
        self.waits = matches!(self.kind, Kind::Lock) && !writes;
    }
}

/// Rows of numbers, one number for each thread in a row.
#[derive(Clone, Debug, Default)]
struct Rows(Vec<u32>);

impl Rows {
    fn row(&self, at: usize, width: usize) -> &[u32] {
        &self.0[at * width..(at + 1) * width]
    }

    fn set(&mut self, at: usize, row: &[u32]) {
        let from = at * row.len();
        if self.0.len() < from + row.len() {
            self.0.resize(from + row.len(), 0);
        }
        self.0[from..from + row.len()].copy_from_slice(row);
    }
}

fn join(into: &mut [u32], other: &[u32]) {
    for (mine, theirs) in into.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// What an execution does, as the memory model sees it.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    /// The nodes of each thread, in program order.
    threads: Vec<Vec<Id>>,
    /// The writes to each object, in modification order.
    writes: Vec<Vec<Id>>,
    /// The accesses to each object, in the order in which they were added.
    uses: Vec<Vec<Id>>,
    /// The number of nodes that are sequentially consistent.
    strong: usize,
    /// The number of threads for which clocks have room.
    width: usize,
    /// By node: the nodes that happen before it, and itself, as a number of nodes for each thread.
    before: Rows,
    /// By node: what it follows by program order and reads-from, in the same way.
    follows: Rows,
    /// By node: of a write, what happens before a read that acquires from it.
    released: Rows,
    /// By thread: what its reads would acquire with a fence.
    pending: Rows,
    /// By thread: what happens before its latest releasing fence.
    fenced: Rows,
    /// By thread: what happens before its first node, and what that follows.
    begun: Rows,
    scratch: [Vec<u32>; 3],
}

impl Graph {
    pub(super) fn len(&self) -> Id {
        self.nodes.len() as Id
    }

    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    pub(super) fn thread(&self, thread: Thread) -> &[Id] {
        self.threads
            .get(usize::from(thread))
            .map_or(&[], Vec::as_slice)
    }

    /// The number of threads, as far as they have nodes.
    pub(super) fn threads(&self) -> usize {
        self.threads.len()
    }

    pub(super) fn writes(&self, object: Object) -> &[Id] {
        self.writes.get(object as usize).map_or(&[], Vec::as_slice)
    }

    pub(super) fn uses(&self, object: Object) -> &[Id] {
        self.uses.get(object as usize).map_or(&[], Vec::as_slice)
    }

    /// The number of nodes that are sequentially consistent.
    pub(super) fn strong(&self) -> usize {
        self.strong
    }

    /// The place of a write in the modification order, counted from 1; that of the initial write is 0.
    pub(super) fn place(&self, write: Id) -> usize {
        if write == INITIAL {
            0
        } else {
            self.node(write).place as usize + 1
        }
    }

    /// The write at this place of the modification order.
    pub(super) fn at_place(&self, object: Object, place: usize) -> Id {
        match place.checked_sub(1) {
            None => INITIAL,
            Some(at) => self.writes(object)[at],
        }
    }

    /// Whether one node happens before another one, or is it.
    pub(super) fn is_before(&self, one: Id, other: Id) -> bool {
        let node = self.node(one);
        let clock = self.before.row(other as usize, self.width);
        clock[usize::from(node.thread)] > node.index
    }

    /// Whether a node follows another one by program order and reads-from, or is it.
    pub(super) fn follows(&self, later: Id, one: Id) -> bool {
        let node = self.node(one);
        let clock = self.follows.row(later as usize, self.width);
        clock[usize::from(node.thread)] > node.index
    }

    /// The read of which a write that updates is one step.
    pub(super) fn read_of(&self, write: Id) -> Id {
        let Node { thread, index, .. } = *self.node(write);
        self.threads[usize::from(thread)][index as usize - 1]
    }

    /// The write that follows a read as one step with it.
    pub(super) fn update_of(&self, read: Id) -> Option<Id> {
        let Node { thread, index, .. } = *self.node(read);
        let next = *self.threads[usize::from(thread)].get(index as usize + 1)?;
        self.node(next).updates.then_some(next)
    }

    /// The update that reads from this write, and so stands right behind it.
    pub(super) fn updated_by(&self, object: Object, write: Id) -> Option<Id> {
        let next = *self.writes(object).get(self.place(write))?;
        let updates = self.node(next).updates && self.node(self.read_of(next)).from == write;
        updates.then_some(next)
    }

    /// Makes room for a thread and an object.
    fn make_room(&mut self, thread: Thread, object: Object) {
        let (thread, object) = (usize::from(thread), object as usize);
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Vec::new);
        }
        if self.writes.len() <= object {
            self.writes.resize_with(object + 1, Vec::new);
            self.uses.resize_with(object + 1, Vec::new);
        }
    }

    /// Whether clocks have room for this thread. If not, all clocks have to be made anew.
    pub(super) fn has_room(&self, thread: Thread) -> bool {
        usize::from(thread) < self.width
    }

    /// Adds a node at the end of its thread. A write has its place already. The clocks are not made yet.
    pub(super) fn push(&mut self, mut node: Node) -> Id {
        let id = self.len();
        let object = if node.is_access() { node.object } else { 0 };
        self.make_room(node.thread, object);
        let thread = &mut self.threads[usize::from(node.thread)];
        node.index = thread.len() as u32;
        thread.push(id);
        self.strong += usize::from(node.order == Order::SeqCst);
        self.nodes.push(node);
        if node.is_access() {
            self.uses[object as usize].push(id);
        }
        if node.act == Act::Write {
            self.insert(id, node.place as usize);
        }
        id
    }

    fn insert(&mut self, write: Id, at: usize) {
        let object = self.node(write).object as usize;
        self.writes[object].insert(at, write);
        self.number(object, at);
    }

    fn number(&mut self, object: usize, from: usize) {
        for (at, &write) in self.writes[object].iter().enumerate().skip(from) {
            self.nodes[write as usize].place = at as u32;
        }
    }

    /// Moves a write to another place of the modification order.
    pub(super) fn move_to(&mut self, write: Id, at: usize) {
        let Node { object, place, .. } = *self.node(write);
        self.writes[object as usize].remove(place as usize);
        self.number(object as usize, place as usize);
        self.insert(write, at);
    }

    /// Has a read read this value from this write.
    pub(super) fn read(&mut self, id: Id, from: Id, value: u64) {
        self.strong -= usize::from(self.node(id).order == Order::SeqCst);
        self.nodes[id as usize].read(from, value);
        self.strong += usize::from(self.node(id).order == Order::SeqCst);
    }

    /// Takes the latest nodes away.
    pub(super) fn truncate(&mut self, length: Id) {
        while self.len() > length {
            let id = self.len() - 1;
            let node = *self.node(id);
            self.threads[usize::from(node.thread)].pop();
            if node.is_access() {
                self.uses[node.object as usize].pop();
            }
            if node.act == Act::Write {
                let object = node.object as usize;
                self.writes[object].remove(node.place as usize);
                self.number(object, node.place as usize);
            }
            self.strong -= usize::from(node.order == Order::SeqCst);
            self.nodes.pop();
        }
    }

    /// The graph of the nodes for which `keeps` says so, which must be closed under program order and reads-from. Also
    /// returns the new number of the node `of`.
    pub(super) fn restricted(&self, keeps: impl Fn(Id) -> bool, of: [Id; 2]) -> (Self, [Id; 2]) {
        let mut names = vec![INITIAL; self.nodes.len()];
        let mut count = 0;
        for id in 0..self.len() {
            if keeps(id) {
                names[id as usize] = count;
                count += 1;
            }
        }
        let name = |id: Id| names.get(id as usize).copied().unwrap_or(INITIAL);
        let map = |ids: &Vec<Id>| -> Vec<Id> {
            let kept = ids.iter().map(|&id| name(id));
            kept.filter(|&id| id != INITIAL).collect()
        };
        let mut graph = Self {
            threads: self.threads.iter().map(map).collect(),
            writes: self.writes.iter().map(map).collect(),
            uses: self.uses.iter().map(map).collect(),
            ..Self::default()
        };
        for (id, node) in (0..).zip(&self.nodes) {
            if name(id) != INITIAL {
                graph.strong += usize::from(node.order == Order::SeqCst);
                graph.nodes.push(Node {
                    from: name(node.from),
                    ..*node
                });
            }
        }
        for object in 0..graph.writes.len() {
            graph.number(object, 0);
        }
        (graph, of.map(name))
    }

    /// The nodes in an order that follows program order and reads-from, with `last` at the end. The write of an update
    /// comes right after its read.
    pub(super) fn linear(&self, last: Id, out: &mut Vec<Id>) {
        out.clear();
        let mut done = vec![false; self.nodes.len()];
        let mut open = Vec::new();
        for id in (0..self.len())
            .filter(|&id| id != last)
            .chain((last != INITIAL).then_some(last))
        {
            open.push(id);
            while let Some(&id) = open.last() {
                if done[id as usize] {
                    open.pop();
                    continue;
                }
                let waits_for = |other: Option<Id>| other.filter(|&other| !done[other as usize]);
                if let Some(other) =
                    waits_for(self.previous(id)).or_else(|| waits_for(self.source(id)))
                {
                    open.push(other);
                    continue;
                }
                open.pop();
                for id in [
                    Some(id),
                    self.update_of(id)
                        .filter(|_| self.node(id).act == Act::Read),
                ]
                .into_iter()
                .flatten()
                {
                    done[id as usize] = true;
                    out.push(id);
                }
            }
        }
    }

    /// The node before it in its thread, or the fork of the thread.
    fn previous(&self, id: Id) -> Option<Id> {
        let Node { thread, index, .. } = *self.node(id);
        match index.checked_sub(1) {
            Some(before) => Some(self.threads[usize::from(thread)][before as usize]),
            None => {
                let is_fork = |node: &Node| node.act == Act::Fork(thread);
                self.nodes.iter().position(is_fork).map(|at| at as Id)
            }
        }
    }

    /// What a read reads from, or the last node of the thread that was waited for.
    fn source(&self, id: Id) -> Option<Id> {
        let node = self.node(id);
        match node.act {
            Act::Read => Some(node.from).filter(|&from| from != INITIAL),
            Act::Join(thread) => self.thread(thread).last().copied(),
            _ => None,
        }
    }

    /// Begins to make all clocks anew, with room for this many threads.
    pub(super) fn begin_clocks(&mut self, width: usize) {
        self.width = self.width.max(width).max(self.threads.len());
        for rows in [&mut self.pending, &mut self.fenced, &mut self.begun] {
            rows.0.clear();
            rows.0.resize(self.width * self.width * 2, 0);
        }
        for rows in [&mut self.before, &mut self.follows, &mut self.released] {
            rows.0.resize(self.width * self.nodes.len(), 0);
        }
    }

    /// Makes the clocks of a node, which come from the nodes that it follows.
    pub(super) fn relate(&mut self, id: Id) {
        let node = *self.node(id);
        let (width, thread, at) = (self.width, usize::from(node.thread), id as usize);
        let [mut before, mut follows, mut released] = std::mem::take(&mut self.scratch);
        before.clear();
        follows.clear();
        match node.index.checked_sub(1) {
            Some(previous) => {
                let previous = self.threads[thread][previous as usize] as usize;
                before.extend_from_slice(self.before.row(previous, width));
                follows.extend_from_slice(self.follows.row(previous, width));
            }
            None => {
                before.extend_from_slice(self.begun.row(2 * thread, width));
                follows.extend_from_slice(self.begun.row(2 * thread + 1, width));
            }
        }
        before[thread] = node.index + 1;
        follows[thread] = node.index + 1;
        released.clear();
        released.resize(width, 0);
        match node.act {
            Act::Read if node.from != INITIAL => {
                let from = node.from as usize;
                join(&mut follows, self.follows.row(from, width));
                let gained = self.released.row(from, width);
                if node.order.acquires() {
                    join(&mut before, gained);
                } else if node.order != Order::Plain {
                    let pending = &mut self.pending.0[thread * width..(thread + 1) * width];
                    join(pending, gained);
                }
            }
            Act::Write if node.order != Order::Plain => {
                if node.order.releases() {
                    join(&mut released, &before);
                } else {
                    join(&mut released, self.fenced.row(thread, width));
                }
                if node.updates {
                    let from = self.node(self.read_of(id)).from;
                    if from != INITIAL {
                        join(&mut released, self.released.row(from as usize, width));
                    }
                }
            }
            Act::Fence => {
                if node.order.acquires() {
                    join(&mut before, self.pending.row(thread, width));
                }
                if node.order.releases() {
                    self.fenced.set(thread, &before);
                }
            }
            Act::Fork(child) => {
                self.begun.set(2 * usize::from(child), &before);
                self.begun.set(2 * usize::from(child) + 1, &follows);
            }
            Act::Join(other) => {
                let other = usize::from(other);
                let last = self.threads.get(other).and_then(|ids| ids.last());
                match last {
                    Some(&last) => {
                        join(&mut before, self.before.row(last as usize, width));
                        join(&mut follows, self.follows.row(last as usize, width));
                    }
                    None => {
                        join(&mut before, self.begun.row(2 * other, width));
                        join(&mut follows, self.begun.row(2 * other + 1, width));
                    }
                }
            }
            _ => {}
        }
        self.before.set(at, &before);
        self.follows.set(at, &follows);
        self.released.set(at, &released);
        self.scratch = [before, follows, released];
    }

    /// What the reads of a thread would acquire with a fence.
    pub(super) fn pending(&self, thread: Thread) -> Vec<u32> {
        self.pending.row(usize::from(thread), self.width).to_vec()
    }

    /// Puts back what the reads of a thread would acquire with a fence.
    pub(super) fn set_pending(&mut self, thread: Thread, row: &[u32]) {
        self.pending.set(usize::from(thread), row);
    }

    /// The first place of the modification order that a node may read from, or behind which it may write: what happens
    /// before the node has written, or seen, that place. `id` is the last node of its thread, and has clocks.
    pub(super) fn least_place(&self, id: Id) -> usize {
        let mut least = 0;
        let object = self.node(id).object;
        for &other in self.uses(object) {
            let node = self.node(other);
            if other != id && !matches!(node.act, Act::Data(_)) && self.is_before(other, id) {
                let write = if node.act == Act::Write {
                    other
                } else {
                    node.from
                };
                least = least.max(self.place(write));
            }
        }
        least
    }

    /// A hash that no other graph has: what each thread does, what it reads from, and the modification orders.
    pub(super) fn hash(&self) -> u64 {
        let name = |id: Id| {
            if id == INITIAL {
                return u64::MAX;
            }
            let Node { thread, index, .. } = *self.node(id);
            u64::from(thread) << 32 | u64::from(index)
        };
        let mut sum = 0_u64;
        for (id, node) in (0..).zip(&self.nodes) {
            let what = match node.act {
                Act::Read => mix(1, name(node.from)),
                Act::Write => mix(mix(2, u64::from(node.place)), node.value),
                Act::Fence => 3,
                Act::Data(writes) => mix(7, u64::from(writes)),
                Act::Fork(thread) => mix(4, u64::from(thread)),
                Act::Join(thread) => mix(5, u64::from(thread)),
                Act::Local => 6,
            };
            let object = if node.is_access() { node.object } else { 0 };
            sum = sum.wrapping_add(mix(mix(name(id), what), u64::from(object)));
        }
        sum
    }
}
