//! Two groups that share a room, but never at the same time: the first of a group locks the room, the last unlocks it.
//!
//! Source: `carter01_bad` of SCTBench, after the benchmarks of ESBMC.
//!
//! The bug: who enters first takes the lock of the room while it holds that of the counters. Whoever is in the room needs
//! the lock of the counters to leave it.
//!
//! Threads: one of each group. One read of either, of the counters as it enters or leaves, sees the other's write.

use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

/// How many of each group are in the room.
#[derive(Clone, Copy, Default)]
struct Inside {
    groups: [u32; 2],
}

#[derive(Default)]
struct House {
    inside: Mutex<Inside>,
    /// How often the room was used.
    room: Mutex<u32>,
}

impl House {
    /// The lock of the room, if it is this group's first one who comes.
    fn enter(&self, group: usize) -> Option<MutexGuard<'_, u32>> {
        let mut inside = self.inside.lock().unwrap();
        inside.groups[group] += 1;
        (inside.groups[group] == 1).then(|| self.room.lock().unwrap())
    }

    fn leave(&self, group: usize, room: Option<MutexGuard<'_, u32>>) {
        let mut inside = self.inside.lock().unwrap();
        inside.groups[group] -= 1;
        drop(room);
    }

    fn visit(&self, group: usize) {
        let mut room = self.enter(group);
        if let Some(uses) = room.as_deref_mut() {
            *uses += 1;
        }
        self.leave(group, room);
    }
}

#[test]
fn one_of_each_group() {
    let house = Arc::new(House::default());
    let visitors = [0, 1].map(|group| {
        let house = Arc::clone(&house);
        thread::spawn(move || house.visit(group))
    });
    for visitor in visitors {
        visitor.join().unwrap();
    }
}
