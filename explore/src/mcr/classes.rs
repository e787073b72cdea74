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
    members: Vec<ClassId>,
}

/// One member.
#[derive(Clone, Debug)]
struct Member {
    /// How far it is known, by thread.
    ends: Partial,
    executed: bool,
}

/// All members.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    nodes: Vec<Seen>,
    children: HashMap<(Thread, Node, u64), Node, BuildHasherDefault<Mixer>>,
    members: Vec<Member>,
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

    /// Whether the path to `end` passes through `node`.
    fn passes(&self, end: Node, node: Node) -> bool {
        let depth = self.depth(node);
        let mut at = end;
        while self.depth(at) > depth {
            at = self.nodes[at as usize].parent;
        }
        at == node
    }

    /// Whether the paths to `ends` pass through all of these nodes.
    #[must_use]
    pub fn are_below(&self, ends: &[(Thread, Node)], nodes: &[(Thread, Node)]) -> bool {
        nodes.iter().all(|&(thread, node)| {
            node == ROOT
                || ends
                    .iter()
                    .any(|&(other, end)| other == thread && self.passes(end, node))
        })
    }

    /// A new member, known as far as these nodes.
    pub fn insert(&mut self, ends: Partial) -> ClassId {
        let id = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
        for &(_, end) in &ends {
            self.pass(id, end, ROOT);
        }
        self.members.push(Member {
            ends,
            executed: false,
        });
        id
    }

    /// A member goes as far as this.
    pub fn extend(&mut self, id: ClassId, ends: Partial) {
        let known = std::mem::take(&mut self.members[id as usize].ends);
        for &(thread, end) in &ends {
            let before = known.iter().find(|&&(other, _)| other == thread);
            self.pass(id, end, before.map_or(ROOT, |&(_, before)| before));
        }
        self.members[id as usize].ends = ends;
    }

    /// A member has been executed.
    pub fn executed(&mut self, id: ClassId) {
        self.members[id as usize].executed = true;
    }

    /// Enters a member in the nodes from `end` up to `known`.
    fn pass(&mut self, id: ClassId, end: Node, known: Node) {
        let stop = self.depth(known);
        let mut at = end;
        while self.depth(at) > stop {
            let node = &mut self.nodes[at as usize];
            if let Err(place) = node.members.binary_search(&id) {
                node.members.insert(place, id);
            }
            at = node.parent;
        }
    }

    /// A member that covers all these nodes, if there is one. `executed`: only members that have been.
    #[must_use]
    pub fn covering(&self, nodes: &[(Thread, Node)], executed: bool) -> Option<ClassId> {
        let rarest = nodes
            .iter()
            .filter(|&&(_, node)| node != ROOT)
            .min_by_key(|&&(_, node)| self.nodes[node as usize].members.len());
        let covers = |id: &ClassId| {
            let member = &self.members[*id as usize];
            (member.executed || !executed)
                && nodes.iter().all(|&(thread, node)| {
                    node == ROOT
                        || member
                            .ends
                            .iter()
                            .any(|&(other, end)| other == thread && self.passes(end, node))
                })
        };
        match rarest {
            Some(&(_, node)) => self.nodes[node as usize]
                .members
                .iter()
                .copied()
                .find(covers),
            None => (0..u32::try_from(self.members.len()).unwrap_or(u32::MAX)).find(covers),
        }
    }

    /// How far a member is known.
    #[must_use]
    pub fn ends(&self, id: ClassId) -> &[(Thread, Node)] {
        &self.members[id as usize].ends
    }

    /// Whether a member passes through this node.
    #[must_use]
    pub fn is_through(&self, id: ClassId, thread: Thread, node: Node) -> bool {
        node == ROOT
            || self.members[id as usize]
                .ends
                .iter()
                .any(|&(other, end)| other == thread && self.passes(end, node))
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
