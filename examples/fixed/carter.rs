//! Two groups and a room: `../carter.rs` with the bug taken out.
//!
//! Who enters first takes the lock of the room before it takes that of the counters, which nobody holds for long.

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
    /// The lock of the room.
    fn enter(&self, group: usize) -> MutexGuard<'_, u32> {
        let room = self.room.lock().unwrap();
        self.inside.lock().unwrap().groups[group] += 1;
        room
    }

    fn leave(&self, group: usize, room: MutexGuard<'_, u32>) {
        let mut inside = self.inside.lock().unwrap();
        inside.groups[group] -= 1;
        drop(room);
    }

    fn visit(&self, group: usize) {
        let mut room = self.enter(group);
        *room += 1;
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
