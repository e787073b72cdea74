//! All execution graphs of a small program that the axioms allow, written from the axioms: relations are matrices.
//!
//! RC11 with C++20's release sequences: Lahav, Vafeiadis, Kang, Hur, Dreyer, *Repairing Sequential Consistency in C/C++11*,
//! PLDI 2017, figure 1 and section 4.

// Matrices are written with their indices, as relations are.
#![allow(clippy::needless_range_loop)]

use std::collections::{BTreeMap, HashSet};

use seqz_explore::event::Order;
use seqz_explore::rc11::Link;

use super::program::{Next, Op, Program};

type Key = (u8, u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum What {
    Read(Option<Key>),
    Write,
    Fence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Ev {
    what: What,
    object: u32,
    order: Order,
    value: u64,
    /// A write that is one step with the read before it.
    updates: bool,
    initial: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Partial {
    threads: Vec<Vec<Ev>>,
    results: Vec<Vec<u64>>,
    mo: BTreeMap<u32, Vec<Key>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    Rc11,
    Sc,
}

/// What the oracle has found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The complete graphs.
    pub(crate) graphs: HashSet<Vec<Link>>,
    /// What the threads read in them.
    pub(crate) outcomes: HashSet<Vec<Vec<u64>>>,
    /// Whether some graph, complete or not, has a race.
    pub(crate) races: bool,
    pub(crate) failed: bool,
    /// The number of graphs, the partial ones included.
    pub(crate) seen: usize,
}

type Matrix = Vec<Vec<bool>>;

fn empty(n: usize) -> Matrix {
    vec![vec![false; n]; n]
}

fn union(all: &[&Matrix]) -> Matrix {
    let n = all[0].len();
    let mut out = empty(n);
    for one in all {
        for a in 0..n {
            for b in 0..n {
                out[a][b] |= one[a][b];
            }
        }
    }
    out
}

fn then(one: &Matrix, other: &Matrix) -> Matrix {
    let n = one.len();
    let mut out = empty(n);
    for a in 0..n {
        for b in (0..n).filter(|&b| one[a][b]) {
            for c in 0..n {
                out[a][c] |= other[b][c];
            }
        }
    }
    out
}

fn chain(all: &[&Matrix]) -> Matrix {
    let mut out = all[0].clone();
    for other in &all[1..] {
        out = then(&out, other);
    }
    out
}

fn closure(one: &Matrix) -> Matrix {
    let n = one.len();
    let mut out = one.clone();
    for b in 0..n {
        for a in 0..n {
            if out[a][b] {
                for c in 0..n {
                    let reached = out[b][c];
                    out[a][c] |= reached;
                }
            }
        }
    }
    out
}

fn maybe(one: &Matrix) -> Matrix {
    let mut out = one.clone();
    for (a, row) in out.iter_mut().enumerate() {
        row[a] = true;
    }
    out
}

fn is_irreflexive(one: &Matrix) -> bool {
    (0..one.len()).all(|a| !one[a][a])
}

fn is_acyclic(one: &Matrix) -> bool {
    is_irreflexive(&closure(one))
}

/// The relations of a graph.
struct Graph {
    events: Vec<(Option<Key>, Ev)>,
    po: Matrix,
    rf: Matrix,
    mo: Matrix,
    fr: Matrix,
    rmw: Matrix,
    hb: Matrix,
}

impl Graph {
    fn on(&self, of: impl Fn(&Ev) -> bool) -> Matrix {
        let n = self.events.len();
        let mut out = empty(n);
        for a in 0..n {
            out[a][a] = of(&self.events[a].1);
        }
        out
    }

    fn each(&self, of: impl Fn(usize, usize) -> bool) -> Matrix {
        let n = self.events.len();
        let mut out = empty(n);
        for a in 0..n {
            for b in 0..n {
                out[a][b] = of(a, b);
            }
        }
        out
    }

    fn new(partial: &Partial) -> Self {
        let mut events = Vec::new();
        let mut objects: Vec<u32> = partial
            .threads
            .iter()
            .flatten()
            .filter(|ev| ev.what != What::Fence)
            .map(|ev| ev.object)
            .collect();
        objects.sort_unstable();
        objects.dedup();
        for &object in &objects {
            let first = Ev {
                what: What::Write,
                object,
                order: Order::Relaxed,
                value: 0,
                updates: false,
                initial: true,
            };
            events.push((None, first));
        }
        for (thread, list) in (0_u8..).zip(&partial.threads) {
            for (index, ev) in (0_u32..).zip(list) {
                events.push((Some((thread, index)), *ev));
            }
        }
        let mut graph = Self {
            events,
            po: Matrix::new(),
            rf: Matrix::new(),
            mo: Matrix::new(),
            fr: Matrix::new(),
            rmw: Matrix::new(),
            hb: Matrix::new(),
        };
        let key = |a: usize| graph.events[a].0;
        let ev = |a: usize| graph.events[a].1;
        let po = graph.each(|a, b| match (key(a), key(b)) {
            (None, Some(_)) => true,
            (Some(one), Some(other)) => one.0 == other.0 && one.1 < other.1,
            _ => false,
        });
        let rf = graph.each(|a, b| match ev(b).what {
            What::Read(Some(from)) => key(a) == Some(from),
            What::Read(None) => ev(a).initial && ev(a).object == ev(b).object,
            _ => false,
        });
        let place = |a: usize| match key(a) {
            None => Some(0),
            Some(key) => partial
                .mo
                .get(&ev(a).object)
                .and_then(|list| list.iter().position(|it| *it == key).map(|at| at + 1)),
        };
        let mo = graph.each(|a, b| {
            ev(a).what == What::Write
                && ev(b).what == What::Write
                && ev(a).object == ev(b).object
                && place(a) < place(b)
        });
        let n = graph.events.len();
        let mut fr = empty(n);
        for w in 0..n {
            for r in (0..n).filter(|&r| rf[w][r]) {
                for b in (0..n).filter(|&b| mo[w][b] && b != r) {
                    fr[r][b] = true;
                }
            }
        }
        let rmw = graph.each(|a, b| match (key(a), key(b)) {
            (Some(one), Some(other)) => one.0 == other.0 && one.1 + 1 == other.1 && ev(b).updates,
            _ => false,
        });
        let atomic_write = graph.on(|ev| ev.what == What::Write && ev.order != Order::Plain);
        let atomic_read =
            graph.on(|ev| matches!(ev.what, What::Read(_)) && ev.order != Order::Plain);
        let rel = |ev: &Ev| matches!(ev.order, Order::Release | Order::AcqRel | Order::SeqCst);
        let acq = |ev: &Ev| matches!(ev.order, Order::Acquire | Order::AcqRel | Order::SeqCst);
        let rel_write = graph.on(|ev| ev.what == What::Write && rel(ev));
        let rel_fence = graph.on(|ev| ev.what == What::Fence && rel(ev));
        let acq_read = graph.on(|ev| matches!(ev.what, What::Read(_)) && acq(ev));
        let acq_fence = graph.on(|ev| ev.what == What::Fence && acq(ev));
        // Release sequences as in C++20.
        let rs = chain(&[&atomic_write, &maybe(&closure(&then(&rf, &rmw)))]);
        let begins = union(&[&rel_write, &chain(&[&rel_fence, &po, &atomic_write])]);
        let ends = union(&[&acq_read, &chain(&[&atomic_read, &po, &acq_fence])]);
        let sw = chain(&[&begins, &rs, &rf, &atomic_read, &ends]);
        let hb = closure(&union(&[&po, &sw]));
        (graph.po, graph.rf, graph.mo, graph.fr, graph.rmw, graph.hb) = (po, rf, mo, fr, rmw, hb);
        graph
    }

    fn is_consistent(&self, model: Model) -> bool {
        let (po, rf, mo, fr, rmw, hb) =
            (&self.po, &self.rf, &self.mo, &self.fr, &self.rmw, &self.hb);
        let n = self.events.len();
        let torn = then(fr, mo);
        if (0..n).any(|a| (0..n).any(|b| rmw[a][b] && torn[a][b])) {
            return false;
        }
        if model == Model::Sc {
            return is_acyclic(&union(&[po, rf, mo, fr]));
        }
        let eco = closure(&union(&[rf, mo, fr]));
        if !is_irreflexive(hb) || !is_irreflexive(&then(hb, &eco)) || !is_acyclic(&union(&[po, rf]))
        {
            return false;
        }
        let ev = |a: usize| self.events[a].1;
        let one_place = |a: usize, b: usize| {
            ev(a).what != What::Fence && ev(b).what != What::Fence && ev(a).object == ev(b).object
        };
        let away = self.each(|a, b| po[a][b] && !one_place(a, b));
        let hb_here = self.each(|a, b| hb[a][b] && one_place(a, b));
        let scb = union(&[po, &chain(&[&away, hb, &away]), &hb_here, mo, fr]);
        let sc = self.on(|ev| ev.order == Order::SeqCst);
        let fence = self.on(|ev| ev.order == Order::SeqCst && ev.what == What::Fence);
        let hb_maybe = maybe(hb);
        let psc_base = chain(&[
            &union(&[&sc, &then(&fence, &hb_maybe)]),
            &scb,
            &union(&[&sc, &then(&hb_maybe, &fence)]),
        ]);
        let psc_fence = chain(&[&fence, &union(&[hb, &chain(&[hb, &eco, hb])]), &fence]);
        is_acyclic(&union(&[&psc_base, &psc_fence]))
    }

    fn has_race(&self) -> bool {
        let n = self.events.len();
        (0..n).any(|a| {
            (0..n).any(|b| {
                let (one, other) = (&self.events[a].1, &self.events[b].1);
                a != b
                    && !one.initial
                    && !other.initial
                    && one.what != What::Fence
                    && other.what != What::Fence
                    && one.object == other.object
                    && (one.what == What::Write || other.what == What::Write)
                    && (one.order == Order::Plain || other.order == Order::Plain)
                    && self.events[a].0.map(|key| key.0) != self.events[b].0.map(|key| key.0)
                    && !self.hb[a][b]
                    && !self.hb[b][a]
            })
        })
    }
}

fn links(partial: &Partial) -> Vec<Link> {
    let mut out = Vec::new();
    for (thread, list) in (0_u8..).zip(&partial.threads) {
        for (index, ev) in (0_u32..).zip(list) {
            let node = (thread, index);
            let place = || {
                let list = &partial.mo[&ev.object];
                list.iter().position(|key| *key == node).map(|at| at as u32)
            };
            match ev.what {
                What::Fence => {}
                What::Read(from) => out.push(Link {
                    node,
                    from,
                    place: None,
                }),
                What::Write => out.push(Link {
                    node,
                    from: None,
                    place: place(),
                }),
            }
        }
    }
    out.sort_unstable();
    out
}

/// Enumerates all graphs, as far as there are not more than `most` partial ones.
pub(crate) fn enumerate(program: &Program, model: Model, most: usize) -> Option<Found> {
    let count = program.threads.len();
    let start = Partial {
        threads: vec![Vec::new(); count],
        results: vec![Vec::new(); count],
        mo: BTreeMap::new(),
    };
    let mut seen = HashSet::from([start.clone()]);
    let mut open = vec![start];
    let mut found = Found::default();
    while let Some(partial) = open.pop() {
        let mut ended = true;
        let mut blocked = false;
        for thread in 0..count {
            match program.next(thread, &partial.results[thread]) {
                Next::Done => {}
                Next::Blocked => blocked = true,
                Next::Wrong => found.failed = true,
                Next::Op(op) => {
                    ended = false;
                    for next in steps(program, &partial, thread, op) {
                        if seen.contains(&next) {
                            continue;
                        }
                        let graph = Graph::new(&next);
                        if graph.is_consistent(model) {
                            found.races |= graph.has_race();
                            seen.insert(next.clone());
                            open.push(next);
                        }
                    }
                    if seen.len() > most {
                        return None;
                    }
                }
            }
        }
        if ended && !blocked {
            found.graphs.insert(links(&partial));
            found.outcomes.insert(partial.results);
        }
    }
    found.seen = seen.len();
    Some(found)
}

/// What comes of a step of a thread, for each write to read from and each place to write to.
fn steps(program: &Program, partial: &Partial, thread: usize, op: Op) -> Vec<Partial> {
    let object = op.object().unwrap_or(0);
    let (order, failure) = match op {
        Op::Load(_, order)
        | Op::Store(_, _, order)
        | Op::Add(_, _, order)
        | Op::Swap(_, _, order)
        | Op::Fence(order) => (order, order),
        Op::Cas(_, _, _, order, failure) => (order, failure),
        Op::Lock(_) => (Order::Acquire, Order::Relaxed),
        Op::Unlock(_) => (Order::Release, Order::Release),
    };
    let ev = |what, order, value, updates| Ev {
        what,
        object,
        order,
        value,
        updates,
        initial: false,
    };
    let mut out = Vec::new();
    if let Op::Fence(_) = op {
        let mut next = partial.clone();
        next.threads[thread].push(ev(What::Fence, order, 0, false));
        next.results[thread].push(0);
        return vec![next];
    }
    let mut sources = vec![None];
    if op.reads() {
        let writes = partial.mo.get(&object);
        sources.extend(writes.into_iter().flatten().map(|&key| Some(key)));
    }
    for source in sources {
        let read = source.map_or_else(
            || program.begins_with(object),
            |(thread, index): Key| partial.threads[usize::from(thread)][index as usize].value,
        );
        let left = op.apply(read);
        if matches!(op, Op::Lock(_)) && read != 0 {
            continue;
        }
        let mut next = partial.clone();
        next.results[thread].push(if op.reads() { read } else { 0 });
        if op.reads() {
            let order = if left.is_some() { order } else { failure };
            next.threads[thread].push(ev(What::Read(source), order, read, false));
        }
        let Some(left) = left else {
            out.push(next);
            continue;
        };
        let order = if matches!(op, Op::Lock(_)) {
            Order::Relaxed
        } else {
            order
        };
        next.threads[thread].push(ev(What::Write, order, left, op.reads()));
        let key = (thread as u8, next.threads[thread].len() as u32 - 1);
        let places = partial.mo.get(&object).map_or(0, Vec::len);
        for place in 0..=places {
            let mut next = next.clone();
            next.mo.entry(object).or_default().insert(place, key);
            out.push(next);
        }
    }
    out
}
