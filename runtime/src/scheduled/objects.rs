//! Names of shared objects that are the same in every execution, and who holds which lock.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use seqz_explore::Object;
use seqz_explore::hash::Mixer;

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

const NONE: Object = Object::MAX;

/// Objects further than this from the start of their region are looked up by hash.
const NEAR: usize = 1 << 16;

/// No two objects are closer to each other: each has numbers of this size in it.
const DISTANCE: usize = size_of::<u32>();

/// The objects of a search.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// By thread, and by offset in its region: those near the region's start, which nearly all are. [`NONE`] for those
    /// that have not come up.
    near: Vec<Vec<Object>>,
    names: HashMap<Spot, Object, BuildHasherDefault<Mixer>>,
    holders: Vec<Holders>,
    generation: u32,
}

impl Objects {
    pub(super) const fn begin(&mut self, generation: u32) {
        self.generation = generation;
    }

    /// The name of the object at this address.
    #[inline]
    pub(super) fn name(
        &mut self,
        address: usize,
        arena: &Arena,
        stacks: &[(usize, usize)],
    ) -> Object {
        if let Some((thread, offset)) = arena.locate(address)
            && let Some(near) = self.near.get(thread)
            && let Some(&name) = near.get(offset / DISTANCE)
            && name != NONE
        {
            return name;
        }
        arena::outside(|| self.look_up(spot(address, arena, stacks)))
    }

    #[cold]
    fn look_up(&mut self, spot: Spot) -> Object {
        let next = Object::try_from(self.names.len()).unwrap_or(NONE);
        let name = *self.names.entry(spot).or_insert(next);
        if let Spot::Heap(thread, offset) = spot
            && offset < NEAR
        {
            if thread >= self.near.len() {
                self.near.resize_with(thread + 1, Vec::new);
            }
            let near = &mut self.near[thread];
            let at = offset / DISTANCE;
            if at >= near.len() {
                near.resize(at + 1, NONE);
            }
            near[at] = name;
        }
        name
    }

    #[inline]
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
