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

/// What a thread has observed so far.
pub type Node = u32;

/// A class, or a seed that will be one.
pub type ClassId = u32;

/// A node for each thread, by its name.
pub type Partial = Vec<(Thread, Node)>;

#[derive(Clone, Debug)]
struct Seen {
    parent: Node,
    depth: u32,
    /// The members that pass through it, ascending.
    members: Vec<Block>,
    /// How many they are.
    count: u32,
    /// Of how many of them the expansion has begun.
    begun: u32,
}

impl Seen {
    const fn count(&self, among: Among) -> u32 {
        match among {
            Among::All | Among::Executed => self.count,
            Among::Begun => self.begun,
        }
    }
}

/// Which of 64 members in a row pass through a node.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    number: u32,
    all: u64,
    /// Those of them whose expansion has begun.
    begun: u64,
}

impl Block {
    fn of(id: ClassId) -> (u32, u64) {
        (id / u64::BITS, 1 << (id % u64::BITS))
    }

    #[inline]
    const fn members(&self, among: Among) -> u64 {
        match among {
            Among::All | Among::Executed => self.all,
            Among::Begun => self.begun,
        }
    }
}

/// One member.
#[derive(Clone, Debug, Default)]
struct Member {
    /// The nodes that it passes through, as far as it is known: from the top, thread by thread.
    nodes: Vec<Node>,
    /// By thread: where its nodes begin, and how many they are.
    spans: Vec<(u32, u32)>,
    executed: bool,
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
    begun: Vec<ClassId>,
}

/// The root of all threads' trees.
pub const ROOT: Node = u32::MAX;

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
                count: 0,
                begun: 0,
            });
        }
        node
    }

    /// The same, if any member has ever been there.
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

    /// The nodes from the top to this one.
    fn path_to(&self, node: Node, path: &mut Vec<Node>) {
        let start = path.len();
        let mut at = node;
        while at != ROOT {
            path.push(at);
            at = self.nodes[at as usize].parent;
        }
        path[start..].reverse();
    }

    fn member(&self, ends: &[(Thread, Node)]) -> Member {
        let mut member = Member::default();
        for &(thread, end) in ends {
            let at = usize::from(thread);
            if member.spans.len() <= at {
                member.spans.resize(at + 1, (0, 0));
            }
            let start = member.nodes.len();
            self.path_to(end, &mut member.nodes);
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

    /// A new member, known as far as these nodes.
    pub fn insert(&mut self, ends: &[(Thread, Node)]) -> ClassId {
        let id = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
        self.members.push(Member::default());
        self.enter(id, ends);
        id
    }

    /// A member goes as far as this.
    pub fn extend(&mut self, id: ClassId, ends: &[(Thread, Node)]) {
        self.enter(id, ends);
    }

    /// A member has been executed.
    pub fn executed(&mut self, id: ClassId) {
        self.members[id as usize].executed = true;
    }

    /// Enters a member in the nodes that it is not known to pass through.
    fn enter(&mut self, id: ClassId, ends: &[(Thread, Node)]) {
        let member = self.member(ends);
        let known = std::mem::take(&mut self.members[id as usize]);
        for &(thread, _) in ends {
            let path = member.path(thread);
            // A member only ever goes further than it did.
            for &node in &path[known.path(thread).len().min(path.len())..] {
                let bit = Block::of(id).1;
                let block = self.block(node, id);
                let is_new = block.all & bit == 0;
                block.all |= bit;
                self.nodes[node as usize].count += u32::from(is_new);
            }
        }
        self.members[id as usize] = member;
    }

    /// All that follows from a member is among the members, or will be.
    pub fn begun(&mut self, id: ClassId) {
        let nodes = std::mem::take(&mut self.members[id as usize].nodes);
        for &node in &nodes {
            self.block(node, id).begun |= Block::of(id).1;
            self.nodes[node as usize].begun += 1;
        }
        self.members[id as usize].nodes = nodes;
        self.begun.push(id);
    }

    /// The block of a node that has a member in it or will have.
    fn block(&mut self, node: Node, id: ClassId) -> &mut Block {
        let blocks = &mut self.nodes[node as usize].members;
        let (number, _) = Block::of(id);
        // Mostly it is the last one.
        let place = match blocks.last() {
            Some(last) if last.number == number => blocks.len() - 1,
            Some(last) if last.number > number => {
                blocks.partition_point(|block| block.number < number)
            }
            _ => blocks.len(),
        };
        if blocks.get(place).is_none_or(|block| block.number != number) {
            let block = Block {
                number,
                ..Block::default()
            };
            blocks.insert(place, block);
        }
        &mut blocks[place]
    }

    /// A member that covers all these nodes, if there is one: a late one rather than an early one, which is more likely
    /// to be close to what is being looked at.
    #[must_use]
    pub fn covering(&self, nodes: &[(Thread, Node)], among: Among) -> Option<ClassId> {
        let mut lists: [&[Block]; MAX_THREADS] = [&[]; MAX_THREADS];
        let (mut count, mut least) = (0, u32::MAX);
        for &(_, node) in nodes.iter().filter(|&&(_, node)| node != ROOT) {
            let seen = &self.nodes[node as usize];
            lists[count] = &seen.members;
            if seen.count(among) < least {
                least = seen.count(among);
                lists.swap(0, count);
            }
            count += 1;
        }
        let Some((rarest, others)) = lists[..count].split_first_mut() else {
            // Every member covers nothing.
            return match among {
                Among::Begun => self.begun.last().copied(),
                _ => (0..u32::try_from(self.members.len()).unwrap_or(u32::MAX))
                    .find(|&id| among == Among::All || self.members[id as usize].executed),
            };
        };
        if least == 0 {
            return None;
        }
        while let Some((block, mut before)) = rarest.split_last() {
            let mut members = block.members(among);
            for list in others.iter_mut() {
                if members == 0 {
                    break;
                }
                // What comes after this block is not looked at again.
                *list = up_to(list, block.number);
                members = match list.last() {
                    Some(last) if last.number == block.number => members & last.members(among),
                    Some(last) => {
                        before = up_to(before, last.number);
                        0
                    }
                    None => return None,
                };
            }
            while members != 0 {
                let bit = u64::BITS - 1 - members.leading_zeros();
                let id = block.number * u64::BITS + bit;
                if among != Among::Executed || self.members[id as usize].executed {
                    return Some(id);
                }
                members &= !(1 << bit);
            }
            *rarest = before;
        }
        None
    }

    /// How many nodes of a path a member passes through.
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

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is none.
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
