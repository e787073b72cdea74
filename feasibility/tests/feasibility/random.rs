//! Random logs of two threads.

use seqz_feasibility::log::{LockMode, Log, Object, Op, TEvent};

/// SplitMix64: small, and the same on every machine.
pub(crate) struct Random(u64);

impl Random {
    /// A generator that starts from a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// True in `percent` of all cases.
    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        (!from.is_empty()).then(|| from[self.below(from.len())])
    }
}

/// A log that owns its events.
#[derive(Clone, Debug)]
pub(crate) struct Owned {
    /// The events of T.
    pub(crate) under_test: Vec<TEvent>,
    /// The events of T'.
    pub(crate) interfering: Vec<Op>,
}

impl Owned {
    /// The log.
    pub(crate) fn log(&self) -> Log<'_> {
        Log {
            under_test: &self.under_test,
            interfering: &self.interfering,
        }
    }
}

/// What a random log is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// At most this many events of T and of T'.
    pub(crate) events: (usize, usize),
    /// Objects that are read and written. Half of the locks are among them.
    pub(crate) values: usize,
    /// Locks.
    pub(crate) locks: usize,
}

type Held = Vec<(Object, LockMode)>;

fn mode(random: &mut Random) -> LockMode {
    if random.percent(60) {
        LockMode::Exclusive
    } else {
        LockMode::Shared
    }
}

/// A lock from the middle of the values on, so that a lock and a value can be one object.
fn lock(random: &mut Random, shape: Shape) -> Object {
    (shape.values / 2 + random.below(shape.locks)) as Object
}

fn may_take(held: &Held, wanted: (Object, LockMode)) -> bool {
    held.iter()
        .all(|&(l, m)| l != wanted.0 || !m.excludes(wanted.1))
}

/// The next operation of a thread that holds these locks.
fn operation(random: &mut Random, shape: Shape, held: &mut Held) -> Op {
    loop {
        let x = random.below(shape.values) as Object;
        match random.below(100) {
            0..30 => return Op::Read(x),
            30..55 => return Op::Write(x),
            55..68 => return Op::Update(x),
            68..84 if shape.locks > 0 && held.len() < 3 => {
                let wanted = (lock(random, shape), mode(random));
                if may_take(held, wanted) {
                    held.push(wanted);
                    return Op::Acquire(wanted.0, wanted.1);
                }
            }
            84.. if !held.is_empty() => {
                // Mostly the innermost one.
                let at = if random.percent(80) {
                    held.len() - 1
                } else {
                    random.below(held.len())
                };
                let (l, m) = held.remove(at);
                return Op::Release(l, m);
            }
            _ => {}
        }
    }
}

/// Any log at all: sources are picked among what could be paired, with no eye to whether it works out.
pub(crate) fn arbitrary(random: &mut Random, shape: Shape) -> Owned {
    let (m, n) = (
        1 + random.below(shape.events.0),
        random.below(shape.events.1 + 1),
    );
    let mut held = Held::new();
    let interfering: Vec<Op> = (0..n)
        .map(|_| operation(random, shape, &mut held))
        .collect();
    let mut held = Held::new();
    let mut joined = false;
    let under_test = (0..m)
        .map(|at| {
            if !joined && m - at <= 3 && random.percent(8) {
                joined = true;
                return TEvent::local(Op::Join);
            }
            if shape.locks > 0 && random.percent(5) {
                let op = Op::TryFail(lock(random, shape), mode(random));
                if let Some(source) = pick_source(random, op, &interfering) {
                    return TEvent::non_local(op, source);
                }
            }
            let op = operation(random, shape, &mut held);
            match pick_source(random, op, &interfering) {
                Some(source) if random.percent(55) => TEvent::non_local(op, source),
                _ => TEvent::local(op),
            }
        })
        .collect();
    Owned {
        under_test,
        interfering,
    }
}

fn pick_source(random: &mut Random, op: Op, interfering: &[Op]) -> Option<u32> {
    let all: Vec<u32> = (0..interfering.len())
        .filter(|&at| pairs(op, interfering[at]))
        .map(|at| at as u32)
        .collect();
    random.pick(&all)
}

/// Whether an event of T can be paired with one of T'.
pub(crate) fn pairs(op: Op, with: Op) -> bool {
    match (op, with) {
        (Op::Read(x) | Op::Update(x), Op::Write(y) | Op::Update(y)) => x == y,
        (Op::TryFail(x, mode), Op::Acquire(y, other)) => x == y && mode.excludes(other),
        _ => false,
    }
}

/// The log of a run: two threads take turns at random, and each event is one that can happen there. So the log is
/// feasible, until `damage` of its sources are exchanged for others.
pub(crate) fn run(random: &mut Random, shape: Shape, damage: usize) -> Owned {
    let (m, n) = shape.events;
    let mut under_test: Vec<TEvent> = Vec::new();
    let mut interfering: Vec<Op> = Vec::new();
    let (mut held_t, mut held_u) = (Held::new(), Held::new());
    // Per value: the latest writer (true for T'), and whether what T' and T expect is what is there.
    let mut writer: Vec<Option<u32>> = vec![None; shape.values + shape.locks];
    let mut local_to_t = vec![true; shape.values + shape.locks];
    let mut local_to_u = vec![true; shape.values + shape.locks];
    while under_test.len() < m || interfering.len() < n {
        let t = interfering.len() == n || (under_test.len() < m && random.percent(50));
        let (mine, other) = if t {
            (&mut held_t, &held_u)
        } else {
            (&mut held_u, &held_t)
        };
        let before = mine.clone();
        let op = operation(random, shape, mine);
        if let Op::Acquire(l, mode) = op
            && !may_take(other, (l, mode))
        {
            *mine = before;
            if t && random.percent(50) {
                let open = open_block(&interfering, l, mode);
                under_test.push(TEvent::non_local(Op::TryFail(l, mode), open));
            }
            continue;
        }
        let x = op.reads().or(op.writes()).map(|x| x as usize);
        if t {
            let mut source = None;
            if let (Some(x), Some(_)) = (x, op.reads()) {
                if !local_to_t[x] {
                    // Few non-local reads, as the method has it; T leaves most of what it can't see alone.
                    if random.percent(60) {
                        continue;
                    }
                    source = writer[x];
                }
                local_to_t[x] = true;
            }
            if let (Some(x), Some(_)) = (x, op.writes()) {
                local_to_t[x] = true;
                local_to_u[x] = false;
            }
            under_test.push(TEvent { op, source });
        } else {
            if let (Some(x), Some(_)) = (x, op.reads())
                && !local_to_u[x]
            {
                continue;
            }
            if let (Some(x), Some(_)) = (x, op.writes()) {
                writer[x] = Some(interfering.len() as u32);
                local_to_t[x] = false;
                local_to_u[x] = true;
            }
            interfering.push(op);
        }
    }
    for _ in 0..damage {
        let reads: Vec<usize> = (0..m)
            .filter(|&at| under_test[at].source.is_some())
            .collect();
        if let Some(at) = random.pick(&reads) {
            under_test[at].source = pick_source(random, under_test[at].op, &interfering);
        }
    }
    Owned {
        under_test,
        interfering,
    }
}

/// The acquire of a block of this lock that T' is in and that excludes the mode.
fn open_block(interfering: &[Op], lock: Object, mode: LockMode) -> u32 {
    let mut open: Vec<(usize, LockMode)> = Vec::new();
    for (at, op) in interfering.iter().enumerate() {
        match *op {
            Op::Acquire(l, held) if l == lock => open.push((at, held)),
            Op::Release(l, held) if l == lock => {
                let block = open.iter().rposition(|&(_, mode)| mode == held);
                open.remove(block.expect("released what is held"));
            }
            _ => {}
        }
    }
    let block = open.iter().find(|(_, held)| held.excludes(mode));
    block.expect("the lock is held").0 as u32
}
