//! The axiom on what is sequentially consistent.
//!
//! Lahav, Vafeiadis, Kang, Hur, Dreyer, *Repairing Sequential Consistency in C/C++11*, PLDI 2017: the relation psc has no
//! cycle. C++20 has taken the same axiom over.

use super::graph::{Act, Graph, Id, Node};
use crate::event::Order;

/// A set of nodes.
struct Set(Vec<u64>);

impl Set {
    fn new(graph: &Graph) -> Self {
        Self(vec![0; graph.len() as usize / 64 + 1])
    }

    fn add(&mut self, id: Id) {
        self.0[id as usize / 64] |= 1 << (id % 64);
    }

    fn has(&self, id: Id) -> bool {
        self.0[id as usize / 64] >> (id % 64) & 1 == 1
    }
}

/// Whether what is sequentially consistent has an order. `graph` has all its clocks.
pub(super) fn is_consistent(graph: &Graph) -> bool {
    if graph.strong() < 2 {
        return true;
    }
    let all = 0..graph.len();
    let strong: Vec<Id> = all
        .clone()
        .filter(|&id| graph.node(id).order == Order::SeqCst)
        .collect();
    let mut later: Vec<Vec<usize>> = Vec::with_capacity(strong.len());
    for &one in &strong {
        let is_fence = graph.node(one).act == Act::Fence;
        let mut reached = Set::new(graph);
        successors(graph, one, &mut reached);
        let mut extended = Set::new(graph);
        if is_fence {
            for next in all
                .clone()
                .filter(|&id| id != one && graph.is_before(one, id))
            {
                successors(graph, next, &mut reached);
                // hb ; eco ; hb
                each_after(graph, next, |id| extended.add(id));
            }
        }
        let is_later = |other: Id| {
            if graph.node(other).act != Act::Fence {
                return reached.has(other);
            }
            if is_fence && other != one && graph.is_before(one, other) {
                return true;
            }
            all.clone().any(|id| {
                (reached.has(id) && graph.is_before(id, other))
                    || (extended.has(id) && id != other && graph.is_before(id, other))
            })
        };
        let others = strong.iter().enumerate();
        later.push(
            others
                .filter(|&(_, &other)| is_later(other))
                .map(|(at, _)| at)
                .collect(),
        );
    }
    !has_cycle(&later)
}

/// Whether two nodes of one thread are on one object.
fn on_one_object(one: &Node, other: &Node) -> bool {
    one.is_access() && other.is_access() && one.object == other.object
}

/// Adds the nodes that come after this one in scb: program order; a step to another object, happens-before, and a step to
/// another object; happens-before on one object; modification order; from a read to what overwrites it.
fn successors(graph: &Graph, id: Id, into: &mut Set) {
    let node = graph.node(id);
    let own = graph.thread(node.thread);
    for &later in &own[node.index as usize + 1..] {
        into.add(later);
    }
    if node.is_access() {
        for &other in graph.uses(node.object) {
            if other != id && graph.is_before(id, other) {
                into.add(other);
            }
        }
        let place = match node.act {
            Act::Read => graph.place(node.from),
            Act::Write => graph.place(id),
            _ => graph.writes(node.object).len(),
        };
        for &write in &graph.writes(node.object)[place..] {
            if write != id {
                into.add(write);
            }
        }
    }
    let away = own[node.index as usize + 1..]
        .iter()
        .find(|&&later| !on_one_object(node, graph.node(later)));
    let Some(&away) = away else {
        return;
    };
    // What happens after later ones also happens after the first.
    for thread in (0..=u8::MAX).take(graph.threads()) {
        let nodes = graph.thread(thread);
        let first = nodes.partition_point(|&other| other == away || !graph.is_before(away, other));
        let Some((&first, rest)) = nodes[first..].split_first() else {
            continue;
        };
        let mut has_other = false;
        for &later in rest {
            let same = on_one_object(graph.node(first), graph.node(later));
            if has_other || !same {
                into.add(later);
            }
            // Nodes on the object of the first are reached from here on.
            has_other |= !same;
        }
    }
}

/// Tells `with` each node after this one in eco: what reads from it, overwrites it, or reads from what does.
fn each_after(graph: &Graph, id: Id, mut with: impl FnMut(Id)) {
    let node = graph.node(id);
    if !matches!(node.act, Act::Read | Act::Write) {
        return;
    }
    let place = match node.act {
        Act::Read => graph.place(node.from) + 1,
        _ => graph.place(id),
    };
    for &other in graph.uses(node.object) {
        let use_of = graph.node(other);
        let after = match use_of.act {
            Act::Read => graph.place(use_of.from) >= place,
            Act::Write => graph.place(other) >= place,
            _ => false,
        };
        if after && other != id {
            with(other);
        }
    }
}

fn has_cycle(later: &[Vec<usize>]) -> bool {
    let mut before = vec![0_usize; later.len()];
    for &to in later.iter().flatten() {
        before[to] += 1;
    }
    let mut free: Vec<usize> = (0..later.len()).filter(|&at| before[at] == 0).collect();
    let mut done = 0;
    while let Some(at) = free.pop() {
        done += 1;
        for &to in &later[at] {
            before[to] -= 1;
            if before[to] == 0 {
                free.push(to);
            }
        }
    }
    done < later.len()
}
