//! The obstacles against the obvious: all interleavings of two threads, each replayed.

use seqz_runtime::log::LockMode;

use super::plane::{Act, Plane, Step};

/// Small numbers without a pattern (xorshift).
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % n
    }
}

/// What a step has to do with others: the write that a read sees, or the acquire that it finds, as (thread, step).
type Sees = Option<(usize, usize)>;

/// Runs the threads in this order. `None` if a lock or a thread's life does not allow it; otherwise what each step sees.
fn replay(steps: &[Vec<Step>; 2], order: &[usize]) -> Option<Vec<(usize, usize, Sees)>> {
    let mut done = [0, 0];
    let mut written: Vec<(u32, (usize, usize))> = Vec::new();
    // Locks held: lock, mode, thread, step of the acquire.
    let mut held: Vec<(u32, LockMode, usize, usize)> = Vec::new();
    let started = |done: [usize; 2], thread: usize| {
        let start = steps[1 - thread]
            .iter()
            .position(|step| step.act == Act::Start);
        start.is_none_or(|start| done[1 - thread] > start)
    };
    let mut all = Vec::new();
    for &thread in order {
        let at = done[thread];
        let Step { act, object } = steps[thread][at];
        if !started(done, thread) {
            return None;
        }
        let excludes = |mode: LockMode, held: &(u32, LockMode, usize, usize)| {
            held.0 == object && held.2 != thread && held.1.excludes(mode)
        };
        let last = written
            .iter()
            .rev()
            .find(|(x, _)| *x == object)
            .map(|(_, by)| *by);
        let mut sees = None;
        match act {
            Act::Read => sees = last,
            Act::Write => written.push((object, (thread, at))),
            Act::Update => {
                sees = last;
                written.push((object, (thread, at)));
            }
            Act::Acquire(mode) => {
                if held.iter().any(|held| excludes(mode, held)) {
                    return None;
                }
                // What overlaps is one: it goes on for as long as any part of it does.
                let since = held.iter().find(|h| h.0 == object && h.2 == thread);
                held.push((object, mode, thread, since.map_or(at, |h| h.3)));
            }
            Act::Release(mode) => {
                let mine = held
                    .iter()
                    .rposition(|h| h.0 == object && h.1 == mode && h.2 == thread);
                held.remove(mine.unwrap());
            }
            Act::FindTaken(mode) => {
                let own = held
                    .iter()
                    .any(|h| h.0 == object && h.2 == thread && h.1.excludes(mode));
                if !own {
                    // Since when, without a break.
                    let taken = held.iter().find(|held| excludes(mode, held))?;
                    sees = Some((taken.2, taken.3));
                }
            }
            Act::Join => {
                if done[1 - thread] < steps[1 - thread].len() {
                    return None;
                }
            }
            Act::Start | Act::Other => {}
        }
        all.push((thread, at, sees));
        done[thread] += 1;
    }
    all.sort_unstable();
    Some(all)
}

/// An execution of two threads.
fn execution(draw: &mut Draw) -> ([Vec<Step>; 2], Vec<usize>) {
    let mut steps = [Vec::new(), Vec::new()];
    let mut order = Vec::new();
    let length = 4 + draw.below(7);
    let starts = draw.below(4) == 0;
    let joins = draw.below(4) == 0;
    if starts {
        steps[0].push(Step {
            act: Act::Start,
            object: 0,
        });
        order.push(0);
    }
    while order.len() < length {
        let thread = draw.below(2);
        let mode = [LockMode::Exclusive, LockMode::Shared][draw.below(2)];
        let act = [
            Act::Read,
            Act::Read,
            Act::Write,
            Act::Update,
            Act::Acquire(LockMode::Exclusive),
            Act::Acquire(mode),
            Act::FindTaken(mode),
        ][draw.below(7)];
        let mut object = u32::try_from(draw.below(2)).unwrap();
        let mut act = act;
        // Half of the time something is given back, if there is anything.
        let holds = |step: &&Step| {
            let count = |act| {
                steps[thread]
                    .iter()
                    .filter(|s| s.object == step.object && s.act == act)
                    .count()
            };
            matches!(step.act, Act::Acquire(mode) if count(step.act) > count(Act::Release(mode)))
        };
        if let Some(&Step {
            act: Act::Acquire(mode),
            object: held,
        }) = steps[thread].iter().rev().find(holds)
            && draw.below(2) == 0
        {
            (act, object) = (Act::Release(mode), held);
        }
        let step = Step { act, object };
        let own = |act: Act| {
            steps[thread]
                .iter()
                .filter(|s| s.object == object && s.act == act)
                .count()
        };
        match act {
            // No thread takes a lock that it holds for itself.
            Act::Acquire(mode)
                if [LockMode::Exclusive, LockMode::Shared]
                    .into_iter()
                    .any(|held| {
                        held.excludes(mode) && own(Act::Acquire(held)) > own(Act::Release(held))
                    }) =>
            {
                continue;
            }
            _ => {}
        }
        steps[thread].push(step);
        order.push(thread);
        if replay(&steps, &order).is_none() {
            steps[thread].pop();
            order.pop();
        }
    }
    if joins {
        steps[0].push(Step {
            act: Act::Join,
            object: 0,
        });
        order.push(0);
    }
    (steps, order)
}

/// Returns all orders in which threads with these numbers of steps can take turns.
fn orders(left: [usize; 2], so_far: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
    if left == [0, 0] {
        all.push(so_far.clone());
    }
    for thread in 0..2 {
        if left[thread] > 0 {
            let mut rest = left;
            rest[thread] -= 1;
            so_far.push(thread);
            orders(rest, so_far, all);
            so_far.pop();
        }
    }
}

fn keeps_clear(plane: &Plane, order: &[usize]) -> bool {
    let mut place = [0, 0];
    for &thread in order {
        if !plane.lets(thread, place) {
            return false;
        }
        place[thread] += 1;
        if !plane.allows(place) {
            return false;
        }
    }
    true
}

#[test]
fn a_path_keeps_clear_of_all_obstacles_exactly_when_it_has_the_same_reads_and_locks() {
    let mut draw = Draw(0x5eed_5eed_1234_5678);
    let (mut same, mut other, mut obstacles) = (0_u32, 0_u32, [0_u32; 3]);
    for _ in 0..1500 {
        let (steps, order) = execution(&mut draw);
        let plane = Plane::new(steps.clone(), order.clone());
        for obstacle in plane.obstacles() {
            obstacles[match obstacle {
                super::Obstacle::Rectangle(_) => 0,
                super::Obstacle::Bar(_) => 1,
                super::Obstacle::Corner(_) => 2,
            }] += 1;
        }
        let [m, n] = plane.end();
        assert_eq!([m, n], [steps[0].len(), steps[1].len()]);
        let mine = replay(&steps, &order).unwrap();
        let mut all = Vec::new();
        orders([m, n], &mut Vec::new(), &mut all);
        let mut open = vec![vec![false; m + 1]; n + 1];
        for path in &all {
            let equal = replay(&steps, path).as_ref() == Some(&mine);
            assert_eq!(
                keeps_clear(&plane, path),
                equal,
                "{steps:?}\n{order:?}\n{path:?}\n{:?}",
                plane.obstacles()
            );
            if equal {
                same += 1;
                let mut place = [0, 0];
                open[0][0] = true;
                for &thread in path {
                    place[thread] += 1;
                    open[place[1]][place[0]] = true;
                }
            } else {
                other += 1;
            }
        }
        assert_eq!(plane.open(), open, "{steps:?}\n{order:?}");
    }
    // All of it has been there, and often.
    assert!(same > 5_000 && other > 50_000, "{same} {other}");
    assert!(obstacles.iter().all(|&n| n > 200), "{obstacles:?}");
}

#[test]
fn two_blocks_that_cross_leave_a_place_to_be_stuck_in() {
    let lock = |object: u32| Step {
        act: Act::Acquire(LockMode::Exclusive),
        object,
    };
    let plane = Plane::new([vec![lock(0), lock(1)], vec![lock(1), lock(0)]], vec![0, 1]);
    assert_eq!(plane.end(), [1, 1]);
    assert_eq!(plane.obstacles().len(), 2);
    assert!(plane.allows([1, 1]));
    assert!(!plane.allows([2, 1]));
    assert!(!plane.allows([1, 2]));
}
