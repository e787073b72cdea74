//! Names of shared objects that are the same in every execution, the holders of locks, and the queues of objects.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use seqz_explore::Object;
use seqz_explore::hash::{Mixer, mix};
use seqz_explore::waiting::Queue;

use crate::memory::arena::{self, Arena};

/// The place of an object, in a way that does not depend on the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Spot {
    /// In a thread's region.
    Heap(usize, usize),
    /// On a thread's stack.
    Stack(usize, usize),
    /// Anywhere else: a static.
    Fixed(usize),
    /// A place where another object has been in this execution: the first object there, and the number of this object
    /// among all that have been there, from 1.
    Again(Object, u32),
    /// A thread, as the object on which it parks.
    Parking(u32),
    /// The poison flag of this lock.
    Poison(Object),
}

/// The holders of a lock in the current execution.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Holders {
    generation: u32,
    /// The number of the exclusive holder, plus one; 0 if there is none.
    pub exclusive: u16,
    /// The number of threads that hold the lock shared.
    pub shared: u16,
    /// Whether the lock's poison flag is set.
    pub poisoned: bool,
    /// Whether a thread has panicked while it held the lock exclusively.
    pub was_poisoned: bool,
}

impl Holders {
    pub(super) const fn is_free(self) -> bool {
        self.exclusive == 0 && self.shared == 0
    }
}

/// The threads that wait on an object in the current execution.
#[derive(Debug, Default)]
struct Waiters {
    generation: u32,
    queue: Queue,
}

const NONE: Object = Object::MAX;

/// The offset in bytes from the start of its region up to which an object is looked up by index, and not by hash.
const NEAR: usize = 1 << 16;

/// The least distance of two objects, in bytes: each object has numbers of this size in it.
const DISTANCE: usize = size_of::<u32>();

/// The objects of a search, with what is known of them in the current execution.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// The objects near the start of their region, which nearly all are, by thread and by offset in the region;
    /// [`NONE`] where no object has come up.
    near: Vec<Vec<Object>>,
    names: HashMap<Spot, Object, BuildHasherDefault<Mixer>>,
    holders: Vec<Holders>,
    /// For each object that was the first one in its place: the latest execution in which the object has come up, and
    /// the number of objects that have been in that place in it.
    users: Vec<(u32, u32)>,
    /// A number for each object's place that is the same in all searches, by object.
    places: Vec<u64>,
    /// The latest address of each object; 0 for those that are nowhere.
    addresses: Vec<usize>,
    waiters: Vec<Waiters>,
    /// The counts of allocations whose handles are counted, by address: the execution in which the allocation was
    /// there, and its count.
    counts: HashMap<usize, (u32, Object), BuildHasherDefault<Mixer>>,
    generation: u32,
}

impl Objects {
    pub(super) const fn begin(&mut self, generation: u32) {
        self.generation = generation;
    }

    /// The count of the allocation at this address, if it has had one in this execution.
    pub(super) fn count(&self, address: usize) -> Option<Object> {
        let (generation, object) = self.counts.get(&address)?;
        (*generation == self.generation).then_some(*object)
    }

    /// Notes that this object is the count of the allocation at this address.
    pub(super) fn set_count(&mut self, address: usize, object: Object) {
        arena::outside(|| self.counts.insert(address, (self.generation, object)));
    }

    /// The allocation at this address is a new one: forgets the count of the one before.
    pub(super) fn forget_count(&mut self, address: usize) {
        self.counts.remove(&address);
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
        arena::outside(|| {
            let spot = spot(address, arena, stacks);
            let name = self.look_up(spot);
            self.addresses[name as usize] = address;
            name
        })
    }

    /// The name of an object at this address that has not been named in this execution. Another object may have been
    /// there before: a value can have been moved away.
    #[inline]
    pub(super) fn new_name(
        &mut self,
        address: usize,
        arena: &Arena,
        stacks: &[(usize, usize)],
    ) -> Object {
        let first = self.name(address, arena, stacks);
        let now = self.generation;
        match self.users.get_mut(first as usize) {
            Some((generation, count)) if *generation != now => {
                (*generation, *count) = (now, 1);
                first
            }
            _ => arena::outside(|| self.next_name(first)),
        }
    }

    /// The name of the next object in the place of `first`, which is `first` itself if that has not come up.
    #[cold]
    fn next_name(&mut self, first: Object) -> Object {
        let at = first as usize;
        if at >= self.users.len() {
            self.users.resize(at + 1, (0, 0));
        }
        let (generation, count) = &mut self.users[at];
        if *generation != self.generation {
            (*generation, *count) = (self.generation, 0);
        }
        *count += 1;
        match *count {
            1 => first,
            count => {
                let name = self.look_up(Spot::Again(first, count));
                self.addresses[name as usize] = self.address(first);
                name
            }
        }
    }

    /// The object on which a thread parks.
    pub(super) fn parking(&mut self, thread: u32) -> Object {
        arena::outside(|| self.look_up(Spot::Parking(thread)))
    }

    /// The object that stands for a lock's poison flag.
    pub(super) fn poison(&mut self, lock: Object) -> Object {
        arena::outside(|| self.look_up(Spot::Poison(lock)))
    }

    /// The address of an object that has come up in this execution; 0 if it is nowhere.
    pub(super) fn address(&self, object: Object) -> usize {
        let address = self.addresses.get(object as usize);
        address.copied().unwrap_or_default()
    }

    /// A number for an object's place that is the same in all searches.
    pub(super) fn place(&self, object: usize) -> u64 {
        self.places.get(object).copied().unwrap_or_default()
    }

    #[cold]
    fn look_up(&mut self, spot: Spot) -> Object {
        let next = Object::try_from(self.names.len()).unwrap_or(NONE);
        let name = *self.names.entry(spot).or_insert(next);
        if name == next {
            let place = self.place_of(spot);
            self.places.push(place);
            self.addresses.push(0);
        }
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

    fn place_of(&self, spot: Spot) -> u64 {
        let (kind, a, b) = match spot {
            Spot::Heap(thread, offset) => (1, thread as u64, offset as u64),
            Spot::Stack(thread, offset) => (2, thread as u64, offset as u64),
            Spot::Fixed(address) => (3, address.wrapping_sub(super::events::origin()) as u64, 0),
            Spot::Again(first, count) => (4, self.place(first as usize), u64::from(count)),
            Spot::Parking(thread) => (5, u64::from(thread), 0),
            Spot::Poison(lock) => (6, self.place(lock as usize), 0),
        };
        mix(mix(kind, a), b)
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

    /// The queue of the threads that wait on the object.
    pub(super) fn queue(&mut self, object: Object) -> &mut Queue {
        let at = object as usize;
        if at >= self.waiters.len() {
            arena::outside(|| self.waiters.resize_with(at + 1, Waiters::default));
        }
        let waiters = &mut self.waiters[at];
        if waiters.generation != self.generation {
            waiters.generation = self.generation;
            waiters.queue.clear();
        }
        &mut waiters.queue
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

/// Whether the memory at this address outlives executions. Where the arena is not installed, all of the heap is taken
/// for such memory.
pub(super) fn is_static(address: usize, arena: &Arena, stacks: &[(usize, usize)]) -> bool {
    matches!(spot(address, arena, stacks), Spot::Fixed(_))
}

/// A number for the place of this address that does not depend on the schedule.
pub(super) fn place(address: usize, arena: &Arena, stacks: &[(usize, usize)]) -> u64 {
    Objects::default().place_of(spot(address, arena, stacks))
}
