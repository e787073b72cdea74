//! Random programs of two threads that publish, look at and free blocks of memory, and share a cell, with orderings of any
//! kind, held against an interpreter that walks all interleavings and knows blocks and happens-before.

use std::collections::BTreeSet;

/// A generator of random numbers.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    fn flips(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// What an ordering promises.
#[derive(Clone, Copy, Debug)]
struct Order {
    acquires: bool,
    releases: bool,
}

/// What threads do one after the other.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// Puts a new block into the slot.
    Publishes(Order),
    /// Reads what is behind the slot.
    Looks(Order),
    /// Writes what is behind the slot.
    Changes(Order),
    /// Empties the slot and frees the block.
    Takes(Order),
    /// Frees the block and leaves the slot as it is.
    Frees(Order),
    /// Accesses the cell, in a critical section of a spin lock.
    Locked {
        writes: bool,
        lock: Order,
    },
    /// Accesses the cell.
    Bare {
        writes: bool,
    },
    Sets(Order),
    /// Accesses the cell if the flag is set.
    IfSet {
        writes: bool,
        flag: Order,
    },
}

pub(crate) struct Program {
    /// Whether there is a block in the slot at first.
    begins: bool,
    /// Whether the last block is freed at the end.
    ends: bool,
    threads: [Vec<Op>; 2],
}

impl Program {
    pub(crate) fn draw(random: &mut Random) -> Self {
        let memory = random.flips();
        let mut thread = || {
            let length = 1 + random.below(3);
            (0..length).map(|_| op(random, memory)).collect()
        };
        let threads = [thread(), thread()];
        Self {
            begins: random.flips(),
            ends: random.flips(),
            threads,
        }
    }

    /// The text of a test.
    pub(crate) fn text(&self, name: &str) -> String {
        let threads = self.threads.each_ref().map(|thread| {
            let calls = thread.iter().map(|op| op.text());
            format!("&|w| {{ {} }}", calls.collect::<Vec<_>>().join(" "))
        });
        format!(
            "#[test]\nfn {name}() {{\n    run({}, {}, [{}]);\n}}\n",
            self.begins,
            self.ends,
            threads.join(", ")
        )
    }

    /// The kinds of faults of all interleavings.
    pub(crate) fn faults(&self) -> BTreeSet<&'static str> {
        let mut all = BTreeSet::new();
        let steps = self.threads.each_ref().map(|ops| {
            let steps = ops.iter().flat_map(|op| op.steps());
            steps.collect::<Vec<Step>>()
        });
        walk(&steps, &State::begin(self.begins), self.ends, &mut all);
        all
    }
}

pub(crate) const HEAD: &str = "
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering, Ordering::*};
use std::thread;

struct World {
    slot: AtomicPtr<u32>,
    flag: AtomicBool,
    lock: AtomicBool,
    cell: UnsafeCell<u32>,
}

unsafe impl Sync for World {}

impl World {
    fn access(&self, writes: bool) {
        unsafe {
            if writes {
                *self.cell.get() += 1;
            } else {
                let _seen = *self.cell.get();
            }
        }
    }

    fn publishes(&self, order: Ordering) {
        self.slot.store(Box::into_raw(Box::new(1)), order);
    }

    fn looks(&self, order: Ordering) {
        let p = self.slot.load(order);
        if !p.is_null() {
            let _seen = unsafe { *p };
        }
    }

    fn changes(&self, order: Ordering) {
        let p = self.slot.load(order);
        if !p.is_null() {
            unsafe { *p = 2 };
        }
    }

    fn frees(&self, order: Ordering) {
        let p = self.slot.load(order);
        if !p.is_null() {
            drop(unsafe { Box::from_raw(p) });
        }
    }

    fn takes(&self, order: Ordering) {
        let p = self.slot.swap(null_mut(), order);
        if !p.is_null() {
            drop(unsafe { Box::from_raw(p) });
        }
    }

    fn locked(&self, writes: bool, take: Ordering, give: Ordering) {
        while self.lock.compare_exchange(false, true, take, Relaxed).is_err() {}
        self.access(writes);
        self.lock.store(false, give);
    }

    fn sets(&self, order: Ordering) {
        self.flag.store(true, order);
    }

    fn if_set(&self, writes: bool, order: Ordering) {
        if self.flag.load(order) {
            self.access(writes);
        }
    }
}

type Does<'a> = &'a (dyn Fn(&World) + Sync);

fn run(begins: bool, ends: bool, threads: [Does; 2]) {
    let first = if begins { Box::into_raw(Box::new(1)) } else { null_mut() };
    let world = World {
        slot: AtomicPtr::new(first),
        flag: AtomicBool::new(false),
        lock: AtomicBool::new(false),
        cell: UnsafeCell::new(0),
    };
    thread::scope(|scope| {
        for thread in threads {
            let world = &world;
            scope.spawn(move || thread(world));
        }
    });
    if ends {
        world.frees(Relaxed);
    }
}
";

fn op(random: &mut Random, memory: bool) -> Op {
    // Orderings are right more often than not.
    let mut order = |acquires: bool, releases: bool| Order {
        acquires: acquires && random.below(4) != 0,
        releases: releases && random.below(4) != 0,
    };
    let (loads, stores, updates) = (order(true, false), order(false, true), order(true, true));
    let writes = random.flips();
    match (memory, random.below(5)) {
        (true, 0) => Op::Publishes(stores),
        (true, 1) => Op::Looks(loads),
        (true, 2) => Op::Changes(loads),
        (true, 3) => Op::Takes(updates),
        (true, _) => Op::Frees(loads),
        (false, 0 | 1) => Op::Locked {
            writes,
            lock: updates,
        },
        (false, 2) if random.below(3) == 0 => Op::Bare { writes },
        (false, 2 | 3) => Op::Sets(stores),
        (false, _) => Op::IfSet {
            writes,
            flag: loads,
        },
    }
}

impl Order {
    const fn of_load(self) -> &'static str {
        if self.acquires { "Acquire" } else { "Relaxed" }
    }

    const fn of_store(self) -> &'static str {
        if self.releases { "Release" } else { "Relaxed" }
    }

    const fn of_update(self) -> &'static str {
        match (self.acquires, self.releases) {
            (true, true) => "AcqRel",
            (true, false) => "Acquire",
            (false, true) => "Release",
            (false, false) => "Relaxed",
        }
    }
}

impl Op {
    fn text(self) -> String {
        match self {
            Self::Publishes(order) => format!("w.publishes({});", order.of_store()),
            Self::Looks(order) => format!("w.looks({});", order.of_load()),
            Self::Changes(order) => format!("w.changes({});", order.of_load()),
            Self::Frees(order) => format!("w.frees({});", order.of_load()),
            Self::Takes(order) => format!("w.takes({});", order.of_update()),
            Self::Locked { writes, lock } => {
                let (take, give) = (lock.of_load(), lock.of_store());
                format!("w.locked({writes}, {take}, {give});")
            }
            Self::Bare { writes } => format!("w.access({writes});"),
            Self::Sets(order) => format!("w.sets({});", order.of_store()),
            Self::IfSet { writes, flag } => format!("w.if_set({writes}, {});", flag.of_load()),
        }
    }

    fn steps(self) -> Vec<Step> {
        match self {
            Self::Locked { writes, lock } => vec![Step::Lock { writes, lock }, Step::Unlock(lock)],
            op => vec![Step::Op(op)],
        }
    }
}

/// What a thread does in one turn: an event, and what comes before its next one.
#[derive(Clone, Copy)]
enum Step {
    Op(Op),
    Lock { writes: bool, lock: Order },
    Unlock(Order),
}

type Clock = [u32; 3];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Cell,
    Block(usize),
}

#[derive(Clone, Copy)]
struct Access {
    place: Place,
    thread: usize,
    step: u32,
    writes: bool,
}

/// Which atomic: the slot, the flag, the lock.
#[derive(Clone, Copy)]
enum Atomic {
    Slot,
    Flag,
    Lock,
}

#[derive(Clone)]
struct State {
    next: [usize; 2],
    /// Of the two threads, and of the one around.
    clocks: [Clock; 3],
    released: [Clock; 3],
    slot: Option<usize>,
    flag: bool,
    locked: bool,
    /// Whether each block lives.
    blocks: Vec<bool>,
    accesses: Vec<Access>,
    faults: BTreeSet<&'static str>,
}

fn join(into: &mut Clock, other: Clock) {
    for (mine, theirs) in into.iter_mut().zip(other) {
        *mine = (*mine).max(theirs);
    }
}

impl State {
    fn begin(begins: bool) -> Self {
        let mut state = Self {
            next: [0; 2],
            clocks: [[0; 3]; 3],
            released: [[0; 3]; 3],
            slot: None,
            flag: false,
            locked: false,
            blocks: Vec::new(),
            accesses: Vec::new(),
            faults: BTreeSet::new(),
        };
        for thread in 0..3 {
            state.clocks[thread][thread] = 1;
        }
        if begins {
            state.slot = Some(state.allocates(2));
        }
        let first = state.clocks[2];
        state.clocks[..2]
            .iter_mut()
            .for_each(|clock| join(clock, first));
        state
    }

    fn allocates(&mut self, thread: usize) -> usize {
        self.blocks.push(true);
        let block = self.blocks.len() - 1;
        self.access(thread, Place::Block(block), true);
        block
    }

    fn access(&mut self, thread: usize, place: Place, writes: bool) {
        if let Place::Block(block) = place
            && !self.blocks[block]
        {
            self.faults.insert("use_after_free");
        }
        let clock = self.clocks[thread];
        let races = self.accesses.iter().any(|other| {
            other.place == place
                && other.thread != thread
                && (other.writes || writes)
                && other.step > clock[other.thread]
        });
        if races {
            self.faults.insert("data_race");
        }
        self.accesses.push(Access {
            place,
            thread,
            step: clock[thread],
            writes,
        });
    }

    fn frees(&mut self, thread: usize, block: usize) {
        self.access(thread, Place::Block(block), true);
        self.blocks[block] = false;
    }

    fn loads(&mut self, thread: usize, atomic: Atomic, order: Order) {
        if order.acquires {
            let released = self.released[atomic as usize];
            join(&mut self.clocks[thread], released);
        }
    }

    fn stores(&mut self, thread: usize, atomic: Atomic, order: Order) {
        self.released[atomic as usize] = if order.releases {
            self.clocks[thread]
        } else {
            [0; 3]
        };
        self.clocks[thread][thread] += 1;
    }

    fn updates(&mut self, thread: usize, atomic: Atomic, order: Order) {
        self.loads(thread, atomic, order);
        if order.releases {
            let clock = self.clocks[thread];
            join(&mut self.released[atomic as usize], clock);
        }
        self.clocks[thread][thread] += 1;
    }

    /// Whether the step can be made, which then has been made.
    fn make(&mut self, thread: usize, step: Step) -> bool {
        match step {
            Step::Lock { writes, lock } => {
                if self.locked {
                    return false;
                }
                self.locked = true;
                let taken = Order {
                    releases: false,
                    ..lock
                };
                self.updates(thread, Atomic::Lock, taken);
                self.access(thread, Place::Cell, writes);
            }
            Step::Unlock(order) => {
                self.locked = false;
                self.stores(thread, Atomic::Lock, order);
            }
            Step::Op(op) => self.operate(thread, op),
        }
        true
    }

    fn operate(&mut self, thread: usize, op: Op) {
        match op {
            Op::Publishes(order) => {
                let block = self.allocates(thread);
                self.slot = Some(block);
                self.stores(thread, Atomic::Slot, order);
            }
            Op::Looks(order) | Op::Changes(order) | Op::Frees(order) => {
                self.loads(thread, Atomic::Slot, order);
                let Some(block) = self.slot else { return };
                match op {
                    Op::Frees(_) => self.frees(thread, block),
                    Op::Changes(_) => self.access(thread, Place::Block(block), true),
                    _ => self.access(thread, Place::Block(block), false),
                }
            }
            Op::Takes(order) => {
                let block = self.slot.take();
                self.updates(thread, Atomic::Slot, order);
                if let Some(block) = block {
                    self.frees(thread, block);
                }
            }
            Op::Bare { writes } => self.access(thread, Place::Cell, writes),
            Op::Sets(order) => {
                self.flag = true;
                self.stores(thread, Atomic::Flag, order);
            }
            Op::IfSet { writes, flag } => {
                self.loads(thread, Atomic::Flag, flag);
                if self.flag {
                    self.access(thread, Place::Cell, writes);
                }
            }
            Op::Locked { .. } => unreachable!("it is two steps"),
        }
    }
}

fn walk(steps: &[Vec<Step>; 2], state: &State, ends: bool, all: &mut BTreeSet<&'static str>) {
    let mut is_over = true;
    for thread in 0..2 {
        let Some(step) = steps[thread].get(state.next[thread]) else {
            continue;
        };
        is_over = false;
        let mut state = state.clone();
        if state.make(thread, *step) {
            state.next[thread] += 1;
            walk(steps, &state, ends, all);
        }
    }
    if is_over {
        let mut state = state.clone();
        let joined = state.clocks;
        joined
            .iter()
            .for_each(|clock| join(&mut state.clocks[2], *clock));
        if let (true, Some(block)) = (ends, state.slot) {
            state.frees(2, block);
        }
        all.extend(state.faults);
    }
}
