//! Names of shared objects that are the same in every execution, and who holds which lock.

use std::collections::HashMap;

use seqz_explore::Object;

use super::arena::{self, Arena};

/// Where an object lies, told in a way that does not depend on the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Spot {
    /// In a thread's region.
    Heap(usize, usize),
    /// On a thread's stack.
    Stack(usize, usize),
    /// Anywhere else: a static.
    Fixed(usize),
}

/// Who holds a lock in the current execution.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Holders {
    generation: u32,
    /// The exclusive holder, plus one.
    pub exclusive: u16,
    /// How many hold it shared.
    pub shared: u16,
}

impl Holders {
    pub(super) const fn is_free(self) -> bool {
        self.exclusive == 0 && self.shared == 0
    }
}

/// The objects of a search.
#[derive(Debug, Default)]
pub(super) struct Objects {
    names: HashMap<Spot, Object>,
    holders: Vec<Holders>,
    generation: u32,
}

impl Objects {
    pub(super) const fn begin(&mut self, generation: u32) {
        self.generation = generation;
    }

    /// The name of the object at this address.
    pub(super) fn name(
        &mut self,
        address: usize,
        arena: &Arena,
        stacks: &[(usize, usize)],
    ) -> Object {
        let spot = spot(address, arena, stacks);
        arena::outside(|| {
            let next = Object::try_from(self.names.len()).unwrap_or(Object::MAX);
            *self.names.entry(spot).or_insert(next)
        })
    }

    pub(super) fn holders(&mut self, lock: Object) -> &mut Holders {
        let at = lock as usize;
        if at >= self.holders.len() {
            arena::outside(|| self.holders.resize(at + 1, Holders::default()));
        }
        let generation = self.generation;
        let holders = &mut self.holders[at];
        if holders.generation != generation {
            *holders = Holders {
                generation,
                ..Holders::default()
            };
        }
        holders
    }
}

fn spot(address: usize, arena: &Arena, stacks: &[(usize, usize)]) -> Spot {
    if let Some((thread, offset)) = arena.locate(address) {
        return Spot::Heap(thread, offset);
    }
    let mut ranges = stacks.iter().enumerate();
    match ranges.find(|(_, (low, top))| (*low..*top).contains(&address)) {
        Some((thread, (_, top))) => Spot::Stack(thread, top - address),
        None => Spot::Fixed(address),
    }
}

/// Whether what lies there outlives executions. Where the arena is not installed, all of the heap is taken for that.
pub(super) fn is_static(address: usize, arena: &Arena, stacks: &[(usize, usize)]) -> bool {
    matches!(spot(address, arena, stacks), Spot::Fixed(_))
}
