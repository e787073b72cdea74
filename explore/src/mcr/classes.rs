//! The classes of executions that a search knows: an index of what every thread observed in each of them.
//!
//! Two executions are of one class iff every thread observed the same in both. A thread's history is a path in a tree
//! whose nodes are what it has observed so far; the index knows for each node the classes that pass through it. A
//! **partial class** is a node for each thread; a class *covers* it if it passes through all of them.
//!
//! Seeds that have not been executed are members, too: whatever comes of one passes through the seed's nodes.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::event::Thread;
use crate::hash::Mixer;
use crate::threads::MAX_THREADS;

/// A node of a thread's tree: all that the thread has observed so far.
pub(crate) type Node = u32;

/// The number of a member: of a class, or of a seed that will become a class.
pub(crate) type ClassId = u32;

/// A node for each thread, by its name.
pub(crate) type Partial = Vec<(Thread, Node)>;

#[derive(Clone, Debug)]
struct Seen {
    parent: Node,
    depth: u32,
    /// The members that pass through the node, ascending.
    members: Vec<Block>,
}

impl Seen {
    /// The block of this number, which has a member in it or will have.
    fn block(&mut self, number: u32) -> &mut Block {
        let blocks = &mut self.members;
        // Mostly it is the last one.
        let place = match blocks.last() {
            Some(last) if last.number == number => blocks.len() - 1,
            Some(last) if last.number > number => {
                blocks.partition_point(|block| block.number < number)
            }
            _ => blocks.len(),
        };
        if blocks.get(place).is_none_or(|block| block.number != number) {
            blocks.insert(place, Block { number, members: 0 });
        }
        &mut blocks[place]
    }
}

/// Which of 64 members in a row pass through a node.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    number: u32,
    members: u64,
}

impl Block {
    fn of(id: ClassId) -> (u32, u64) {
        (id / u64::BITS, 1 << (id % u64::BITS))
    }
}

/// Some of the members: a bit for each, in rows as in the blocks.
#[derive(Clone, Debug, Default)]
struct Marks {
    rows: Vec<u64>,
    count: usize,
}

impl Marks {
    fn set(&mut self, id: ClassId) {
        let (row, bit) = Block::of(id);
        let row = row as usize;
        if self.rows.len() <= row {
            self.rows.resize(row + 1, 0);
        }
        self.count += usize::from(self.rows[row] & bit == 0);
        self.rows[row] |= bit;
    }

    #[inline]
    fn row(&self, number: u32) -> u64 {
        self.rows.get(number as usize).copied().unwrap_or(0)
    }

    fn last(&self) -> Option<ClassId> {
        let number = self.rows.iter().rposition(|&row| row != 0)?;
        let row = u32::try_from(number).ok()?;
        Some(row * u64::BITS + self.rows[number].ilog2())
    }
}

/// One member.
#[derive(Clone, Debug, Default)]
struct Member {
    /// The known nodes that the member passes through: thread by thread, from the top.
    nodes: Vec<Node>,
    /// Per thread: the index in `nodes` of its first node, and the number of its nodes.
    spans: Vec<(u32, u32)>,
}

impl Member {
    /// The nodes of one thread, from the top.
    #[inline]
    fn path(&self, thread: Thread) -> &[Node] {
        match self.spans.get(usize::from(thread)) {
            Some(&(start, length)) => &self.nodes[start as usize..(start + length) as usize],
            None => &[],
        }
    }
}

/// Which members are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// All.
    All,
    /// Those that have been executed.
    Executed,
    /// Those of which all that follows is among the members, or will be: their expansion has begun.
    Begun,
}

/// All members.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    nodes: Vec<Seen>,
    children: HashMap<(Thread, Node, u64), Node, BuildHasherDefault<Mixer>>,
    members: Vec<Member>,
    executed: Marks,
    begun: Marks,
}

/// The root of all threads' trees.
pub(crate) const ROOT: Node = u32::MAX;

impl Classes {
    /// The node below `parent` at which the thread observes this.
    pub fn child(&mut self, thread: Thread, parent: Node, observation: u64) -> Node {
        let next = u32::try_from(self.nodes.len()).unwrap_or(ROOT);
        let node = *self
            .children
            .entry((thread, parent, observation))
            .or_insert(next);
        if node == next {
            let depth = 1 + self.depth(parent);
            self.nodes.push(Seen {
                parent,
                depth,
                members: Vec::new(),
            });
        }
        node
    }

    /// Returns the node that [`Self::child`] returns, if a member has ever been there.
    #[must_use]
    pub fn known_child(&self, thread: Thread, parent: Node, observation: u64) -> Option<Node> {
        self.children.get(&(thread, parent, observation)).copied()
    }

    /// Whether there is such a node.
    #[must_use]
    pub fn has(&self, node: Node) -> bool {
        node == ROOT || (node as usize) < self.nodes.len()
    }

    fn depth(&self, node: Node) -> u32 {
        if node == ROOT {
            0
        } else {
            self.nodes[node as usize].depth
        }
    }

    /// A member that ends so. Mostly it has most of its nodes in common with one that is like it, and is copied.
    fn member(&self, ends: &[(Thread, Node)], like: &Member) -> Member {
        let mut member = Member::default();
        member.nodes.reserve_exact(like.nodes.len() + ends.len());
        let mut own = Vec::new();
        for &(thread, end) in ends {
            let at = usize::from(thread);
            if member.spans.len() <= at {
                member.spans.resize(at + 1, (0, 0));
            }
            let path = like.path(thread);
            let mut node = end;
            while !self.is_on(path, node) {
                own.push(node);
                node = self.nodes[node as usize].parent;
            }
            let start = member.nodes.len();
            let common = self.depth(node) as usize;
            member.nodes.extend_from_slice(&path[..common]);
            member.nodes.extend(own.drain(..).rev());
            let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
            member.spans[at] = (number(start), number(member.nodes.len() - start));
        }
        member
    }

    /// Whether a path from the top passes through a node.
    #[must_use]
    pub fn is_on(&self, path: &[Node], node: Node) -> bool {
        node == ROOT || path.get(self.depth(node) as usize - 1) == Some(&node)
    }

    /// A new member, known as far as these nodes, and one that may have most of them in common with it.
    pub fn insert(&mut self, ends: &[(Thread, Node)], near: Option<ClassId>) -> ClassId {
        let id = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
        let member = match near {
            Some(near) => self.member(ends, &self.members[near as usize]),
            None => self.member(ends, &Member::default()),
        };
        self.members.push(Member::default());
        self.enter(id, member);
        id
    }

    /// A member goes as far as this.
    pub fn extend(&mut self, id: ClassId, ends: &[(Thread, Node)]) {
        let member = self.member(ends, &self.members[id as usize]);
        self.enter(id, member);
    }

    /// Enters a member in the nodes that it is not known to pass through.
    fn enter(&mut self, id: ClassId, member: Member) {
        let known = std::mem::replace(&mut self.members[id as usize], member);
        let (number, bit) = Block::of(id);
        for (at, &(start, length)) in self.members[id as usize].spans.iter().enumerate() {
            let before = known.spans.get(at).map_or(0, |&(_, length)| length);
            // A member only ever goes further than it did.
            for place in start + before.min(length)..start + length {
                let node = self.members[id as usize].nodes[place as usize];
                self.nodes[node as usize].block(number).members |= bit;
            }
        }
    }

    /// A member has been executed.
    pub fn executed(&mut self, id: ClassId) {
        self.executed.set(id);
    }

    /// All that follows from a member is among the members, or will be.
    pub fn begun(&mut self, id: ClassId) {
        self.begun.set(id);
    }

    /// The number of members for which [`Self::begun`] has been called.
    #[must_use]
    pub const fn begun_so_far(&self) -> usize {
        self.begun.count
    }

    /// A member that covers all these nodes, if there is one: a late one rather than an early one, which is more likely
    /// to be close to what is being looked at.
    #[must_use]
    pub fn covering(&self, nodes: &[(Thread, Node)], among: Among) -> Option<ClassId> {
        let marks = match among {
            Among::All => None,
            Among::Executed => Some(&self.executed),
            Among::Begun => Some(&self.begun),
        };
        let mut lists: [&[Block]; MAX_THREADS] = [&[]; MAX_THREADS];
        let mut count = 0;
        for &(_, node) in nodes.iter().filter(|&&(_, node)| node != ROOT) {
            let list = self.nodes[node as usize].members.as_slice();
            // The shortest come first: they tell soonest that there is none.
            let mut at = count;
            while at > 0 && lists[at - 1].len() > list.len() {
                lists[at] = lists[at - 1];
                at -= 1;
            }
            lists[at] = list;
            count += 1;
        }
        let Some((rarest, others)) = lists[..count].split_first_mut() else {
            // Every member covers nothing.
            let last = u32::try_from(self.members.len()).ok()?.checked_sub(1);
            return marks.map_or(last, Marks::last);
        };
        while let Some((block, mut before)) = rarest.split_last() {
            let mut members = block.members;
            if let Some(marks) = marks {
                members &= marks.row(block.number);
            }
            for list in others.iter_mut() {
                if members == 0 {
                    break;
                }
                // What comes after this block is not looked at again.
                *list = up_to(list, block.number);
                members = match list.last() {
                    Some(last) if last.number == block.number => members & last.members,
                    Some(last) => {
                        before = up_to(before, last.number);
                        0
                    }
                    None => return None,
                };
            }
            if members != 0 {
                return Some(block.number * u64::BITS + members.ilog2());
            }
            *rarest = before;
        }
        None
    }

    /// The number of nodes of a path that a member passes through.
    #[must_use]
    pub fn common(&self, id: ClassId, thread: Thread, path: &[Node]) -> usize {
        let member = self.members[id as usize].path(thread);
        let length = member.len().min(path.len());
        let (mut low, mut high) = (0, length);
        while low < high {
            let middle = low + (high - low) / 2;
            if member[middle] == path[middle] {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

/// The blocks as far as this number. Mostly there are few after it, so they are looked for from the end.
fn up_to(blocks: &[Block], number: u32) -> &[Block] {
    let (mut after, mut start) = (1, blocks.len());
    while start > 0 && blocks[start - 1].number > number {
        start = start.saturating_sub(after);
        after *= 2;
    }
    let end = blocks[start..].partition_point(|block| block.number <= number);
    &blocks[..start + end]
}
