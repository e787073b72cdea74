//! The plane of two threads' progress: the obstacles, a path, and the places that other paths can go through.

use seqz_runtime::log::LockMode;

/// What a step does, as far as the other thread can see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Read,
    Write,
    Update,
    Acquire(LockMode),
    Release(LockMode),
    /// Finds the lock taken by the other thread.
    FindTaken(LockMode),
    /// Starts the other thread.
    Start,
    /// Waits for the other thread to end.
    Join,
    /// Does nothing that the other thread is known to see.
    Other,
}

impl Act {
    const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Update)
    }

    const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Update)
    }
}

/// One step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) act: Act,
    pub(super) object: u32,
}

/// An obstacle: a part of the plane that no path with the same reads and locks goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Both threads are inside blocks of one lock.
    Rectangle(Rectangle),
    /// A write of one thread is inside an x-live block of the other thread.
    Bar(Bar),
    /// Two steps are in the wrong order.
    Corner(Corner),
}

/// The rectangle of two blocks of one lock that exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// The number of the lock.
    pub lock: u32,
    /// For each thread, the steps that open and close its block; `None`: the block is open at the end.
    pub blocks: [(usize, Option<usize>); 2],
}

/// A write of one thread that must not come between a read of the other thread and the write that this read sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// The thread that writes: 0 or 1.
    pub writer: usize,
    /// The step that writes.
    pub write: usize,
    /// The other thread's own write at which its block opens; `None`: the block is open from the beginning.
    pub from: Option<usize>,
    /// The other thread's last read in the block.
    pub to: usize,
}

/// A step of one thread that must come before a step of the other thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corner {
    /// The thread that has to go first: 0 or 1.
    pub leader: usize,
    /// The step of that thread.
    pub first: usize,
    /// The step of the other thread.
    pub then: usize,
    /// The reason for the order.
    pub why: Why,
}

/// The reason why two steps have an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The second step is a read that sees what the first step writes.
    ReadsFrom,
    /// The second step would overwrite what a read of the leader sees.
    Overwrites,
    /// In the other order, a read of the leader would see its own write, `first`, in place of `then`.
    OwnWrite,
    /// The lock is found taken by a block that the first step opens.
    FindsTaken,
    /// The lock is found taken before the second step gives it back.
    GivesBack,
    /// The thread is started by the first step.
    Starts,
    /// The second step waits for the first one, the last of its thread.
    Joins,
}

/// The plane, the path of one execution, and the obstacles to other paths.
#[derive(Clone, Debug)]
pub struct Plane {
    /// The steps of each thread, those after the end of the path included.
    steps: [Vec<Step>; 2],
    /// For each step of the path, the thread that takes it.
    order: Vec<usize>,
    obstacles: Vec<Obstacle>,
}

impl Plane {
    /// Returns the plane of an execution in which the threads take turns in this order; a thread may have one more
    /// step, which it is about to take.
    pub(super) fn new(steps: [Vec<Step>; 2], order: Vec<usize>) -> Self {
        let mut plane = Self {
            steps,
            order,
            obstacles: Vec::new(),
        };
        let mut obstacles = plane.locks();
        plane.reads(&mut obstacles);
        plane.threads(&mut obstacles);
        plane.obstacles = obstacles;
        plane
    }

    /// Returns the number of steps of each thread, including a step that the thread is about to take.
    #[must_use]
    pub fn steps(&self) -> [usize; 2] {
        [self.steps[0].len(), self.steps[1].len()]
    }

    /// Returns the places that the execution goes through.
    #[must_use]
    pub fn path(&self) -> Vec<[usize; 2]> {
        let mut place = [0, 0];
        let mut path = vec![place];
        for &thread in &self.order {
            place[thread] += 1;
            path.push(place);
        }
        path
    }

    /// Returns the place at which the path ends.
    #[must_use]
    pub fn end(&self) -> [usize; 2] {
        let second = self.order.iter().filter(|&&thread| thread == 1).count();
        [self.order.len() - second, second]
    }

    /// Returns the obstacles to other paths.
    #[must_use]
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    fn locks(&self) -> Vec<Obstacle> {
        let mut obstacles = Vec::new();
        let [first, second] = [0, 1].map(|thread| blocks(&self.steps[thread]));
        for a in &first {
            for b in &second {
                if a.lock == b.lock && a.mode.excludes(b.mode) {
                    obstacles.push(Obstacle::Rectangle(Rectangle {
                        lock: a.lock,
                        blocks: [(a.open, a.close), (b.open, b.close)],
                    }));
                }
            }
        }
        obstacles
    }

    fn reads(&self, obstacles: &mut Vec<Obstacle>) {
        let path = self.path();
        let mut live: Vec<Bar> = Vec::new();
        for (turn, &reader) in self.order.iter().enumerate() {
            let place = path[turn];
            let read = place[reader];
            let Step { act, object } = self.steps[reader][read];
            if let Act::FindTaken(mode) = act {
                self.found_taken(reader, read, object, mode, place, obstacles);
                continue;
            }
            if !act.reads() {
                continue;
            }
            let other = 1 - reader;
            let writes = |thread: usize, before: usize| {
                let mut steps = (0..before).rev();
                let step = |at: usize| self.steps[thread][at];
                steps.find(|&at| step(at).act.writes() && step(at).object == object)
            };
            let own = writes(reader, read);
            let foreign = writes(other, place[other]);
            let time = |thread: usize, step: usize| {
                let mut turns = self.order.iter().enumerate();
                let turn = turns.by_ref().filter(|(_, t)| **t == thread).nth(step);
                turn.map(|(turn, _)| turn)
            };
            let sees = foreign
                .filter(|&foreign| own.is_none_or(|own| time(reader, own) < time(other, foreign)));
            let mut corner = |leader, first, then, why| {
                obstacles.push(Obstacle::Corner(Corner {
                    leader,
                    first,
                    then,
                    why,
                }));
            };
            if let Some(write) = sees {
                corner(other, write, read, Why::ReadsFrom);
                let next = (write + 1..self.steps[other].len()).find(|&at| {
                    let step = self.steps[other][at];
                    step.act.writes() && step.object == object
                });
                if let Some(next) = next {
                    corner(reader, read, next, Why::Overwrites);
                }
                if let Some(own) = own {
                    corner(reader, own, write, Why::OwnWrite);
                }
                continue;
            }
            for (write, step) in self.steps[other].iter().enumerate() {
                if !step.act.writes() || step.object != object {
                    continue;
                }
                let bar = Bar {
                    writer: other,
                    write,
                    from: own,
                    to: read,
                };
                // An x-live block reaches to the last of its reads.
                let same = |old: &&mut Bar| {
                    Bar {
                        to: bar.to,
                        ..**old
                    } == bar
                };
                match live.iter_mut().find(same) {
                    Some(old) => old.to = read,
                    None => live.push(bar),
                }
            }
        }
        obstacles.extend(live.into_iter().map(Obstacle::Bar));
    }

    fn found_taken(
        &self,
        reader: usize,
        at: usize,
        lock: u32,
        mode: LockMode,
        place: [usize; 2],
        obstacles: &mut Vec<Obstacle>,
    ) {
        let inside = |block: &Block, done: usize| {
            block.lock == lock
                && block.open < done
                && block.close.is_none_or(|close| done <= close)
                && block.mode.excludes(mode)
        };
        let own = blocks(&self.steps[reader]);
        if own.iter().any(|block| inside(block, place[reader])) {
            // The thread has locked itself out.
            return;
        }
        let other = 1 - reader;
        let now = place[other];
        let theirs = holds(&blocks(&self.steps[other]), lock, mode);
        let mut theirs = theirs.into_iter();
        let Some((open, close)) =
            theirs.find(|(open, close)| *open < now && close.is_none_or(|close| now <= close))
        else {
            return;
        };
        obstacles.push(Obstacle::Corner(Corner {
            leader: other,
            first: open,
            then: at,
            why: Why::FindsTaken,
        }));
        if let Some(close) = close {
            obstacles.push(Obstacle::Corner(Corner {
                leader: reader,
                first: at,
                then: close,
                why: Why::GivesBack,
            }));
        }
    }

    fn threads(&self, obstacles: &mut Vec<Obstacle>) {
        let end = self.end();
        for thread in 0..2 {
            let other = 1 - thread;
            for (at, step) in self.steps[thread].iter().enumerate() {
                let corner = match step.act {
                    Act::Start if !self.steps[other].is_empty() => Corner {
                        leader: thread,
                        first: at,
                        then: 0,
                        why: Why::Starts,
                    },
                    Act::Join if end[other] > 0 => Corner {
                        leader: other,
                        first: self.steps[other].len() - 1,
                        then: at,
                        why: Why::Joins,
                    },
                    _ => continue,
                };
                obstacles.push(Obstacle::Corner(corner));
            }
        }
    }

    /// Whether both threads may be at this place.
    pub(super) fn allows(&self, place: [usize; 2]) -> bool {
        self.obstacles.iter().all(|obstacle| match obstacle {
            Obstacle::Rectangle(rectangle) => {
                let inside = |thread: usize| {
                    let (open, close) = rectangle.blocks[thread];
                    place[thread] > open && close.is_none_or(|close| place[thread] <= close)
                };
                !(inside(0) && inside(1))
            }
            Obstacle::Corner(corner) => {
                place[corner.leader] > corner.first || place[1 - corner.leader] <= corner.then
            }
            Obstacle::Bar(_) => true,
        })
    }

    /// Whether a thread may take its next step at this place, wherever the step leads.
    pub(super) fn lets(&self, thread: usize, place: [usize; 2]) -> bool {
        self.obstacles.iter().all(|obstacle| match obstacle {
            Obstacle::Bar(bar) => {
                let other = place[1 - thread];
                bar.writer != thread
                    || bar.write != place[thread]
                    || other > bar.to
                    || bar.from.is_some_and(|from| other <= from)
            }
            _ => true,
        })
    }

    /// Returns the places, by row, that lie on some path with the same reads and locks, from the beginning to the end
    /// of this path.
    #[must_use]
    pub fn open(&self) -> Vec<Vec<bool>> {
        let [m, n] = self.end();
        let mut reached = vec![vec![false; m + 1]; n + 1];
        let mut leads = reached.clone();
        for y in 0..=n {
            for x in 0..=m {
                reached[y][x] = self.allows([x, y])
                    && ((x == 0 && y == 0)
                        || (x > 0 && reached[y][x - 1] && self.lets(0, [x - 1, y]))
                        || (y > 0 && reached[y - 1][x] && self.lets(1, [x, y - 1])));
            }
        }
        for y in (0..=n).rev() {
            for x in (0..=m).rev() {
                leads[y][x] = reached[y][x]
                    && ((x == m && y == n)
                        || (x < m && leads[y][x + 1] && self.lets(0, [x, y]))
                        || (y < n && leads[y + 1][x] && self.lets(1, [x, y])));
            }
        }
        leads
    }
}

/// A critical section of a lock.
struct Block {
    lock: u32,
    mode: LockMode,
    open: usize,
    close: Option<usize>,
}

fn blocks(steps: &[Step]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match step.act {
            Act::Acquire(mode) => blocks.push(Block {
                lock: step.object,
                mode,
                open: at,
                close: None,
            }),
            Act::Release(mode) => {
                let open = blocks.iter_mut().rev().find(|block| {
                    block.lock == step.object && block.mode == mode && block.close.is_none()
                });
                if let Some(block) = open {
                    block.close = Some(at);
                }
            }
            _ => {}
        }
    }
    blocks
}

/// Returns the steps from which and to which a thread holds the lock in a way that excludes this mode: shared blocks
/// may overlap.
fn holds(blocks: &[Block], lock: u32, mode: LockMode) -> Vec<(usize, Option<usize>)> {
    let mut holds: Vec<(usize, Option<usize>)> = Vec::new();
    for block in blocks {
        if block.lock != lock || !block.mode.excludes(mode) {
            continue;
        }
        match holds.last_mut() {
            Some((_, close)) if close.is_none_or(|close| block.open < close) => {
                *close = close.and_then(|close| block.close.map(|other| other.max(close)));
            }
            _ => holds.push((block.open, block.close)),
        }
    }
    holds
}
