//! Programs of three or four threads that run side by side, over shared bytes and locks.

/// The number of shared bytes that are atomics.
pub(crate) const ATOMICS: usize = 2;
/// The number of bytes that a mutex protects each.
pub(crate) const PROTECTED: usize = 2;

/// What a thread does. A thread has one local, which is 0 when it begins.
#[derive(Clone, Debug)]
pub(crate) enum Stmt {
    /// The local becomes what the atomic is.
    Load(usize),
    /// The atomic becomes this.
    Store(usize, u8),
    /// The atomic becomes the local and this.
    StoreLocal(usize, u8),
    /// The local becomes what the atomic was, to which this is added, in one step.
    Add(usize, u8),
    /// Takes this mutex, does the statements under it, and gives the mutex back.
    Hold(usize, Vec<Stmt>),
    /// Does the same if the mutex is free; otherwise the local becomes 7.
    Try(usize, Vec<Stmt>),
    /// The local becomes what this mutex, which the thread holds, protects.
    Get(usize),
    /// What this mutex, which the thread holds, protects becomes this.
    Put(usize, u8),
    /// The next statement is left out unless the local is this.
    If(u8),
    /// Fails, as the number says, if the local is this. Fails on the thread under test alone, which main goes on as.
    Never(u32, u8),
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// What each thread does, in the order of their creation.
    pub(crate) threads: Vec<Vec<Stmt>>,
    /// Main is the first of the threads itself, and spawns the others.
    pub(crate) main_is_first: bool,
    /// The threads that main joins, in this order, each with what main does after that. What main does there begins with an
    /// access of something shared.
    pub(crate) joins: Vec<(usize, Vec<Stmt>)>,
}

pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % bound as u64).expect("it is small")
    }

    fn value(&mut self) -> u8 {
        u8::try_from(self.below(3)).expect("it is small")
    }
}

/// How much is generated, and of what kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// The most statements of a thread.
    pub(crate) most: usize,
    /// How many of ten statements are about locks.
    pub(crate) locks: usize,
}

fn list(random: &mut Random, shape: Shape, held: &mut Vec<usize>, id: &mut u32) -> Vec<Stmt> {
    let mut all = Vec::new();
    for _ in 0..1 + random.below(shape.most) {
        if random.below(10) < shape.locks {
            let lock = random.below(PROTECTED);
            let tries = random.below(4) == 0;
            if held.contains(&lock) {
                all.push(if random.below(2) == 0 {
                    Stmt::Get(lock)
                } else {
                    Stmt::Put(lock, random.value())
                });
                continue;
            }
            held.push(lock);
            let inner = Shape {
                most: shape.most.min(2),
                ..shape
            };
            let body = list(random, inner, held, id);
            held.pop();
            all.push(if tries {
                Stmt::Try(lock, body)
            } else {
                Stmt::Hold(lock, body)
            });
            continue;
        }
        let stmt = match random.below(9) {
            0 | 1 => Stmt::Load(random.below(ATOMICS)),
            2 | 3 => Stmt::Store(random.below(ATOMICS), random.value()),
            4 => Stmt::StoreLocal(random.below(ATOMICS), random.value()),
            5 => Stmt::Add(random.below(ATOMICS), 1 + random.value() % 2),
            6 => Stmt::If(random.value()),
            _ => {
                all.push(match held.last() {
                    Some(&lock) if random.below(2) == 0 => Stmt::Get(lock),
                    _ => Stmt::Load(random.below(ATOMICS)),
                });
                *id += 1;
                Stmt::Never(*id, random.value())
            }
        };
        all.push(stmt);
    }
    all
}

const fn accesses(stmt: &Stmt) -> bool {
    !matches!(stmt, Stmt::If(_) | Stmt::Never(..))
}

pub(crate) fn generate(random: &mut Random, threads: usize, shape: Shape) -> Program {
    let mut id = 0;
    let mut lists: Vec<Vec<Stmt>> = (0..threads)
        .map(|_| list(random, shape, &mut Vec::new(), &mut id))
        .collect();
    // Main is a thread of its own from its first shared access on.
    let main_is_first = random.below(3) == 0;
    if main_is_first && !accesses(&lists[0][0]) {
        lists[0].insert(0, Stmt::Load(0));
    }
    let mut left: Vec<usize> = (usize::from(main_is_first)..threads).collect();
    let mut joins = Vec::new();
    while !left.is_empty() {
        let next = left.remove(random.below(left.len()));
        let mut after = Vec::new();
        if random.below(4) == 0 {
            after = list(random, Shape { most: 2, ..shape }, &mut Vec::new(), &mut id);
            if !accesses(&after[0]) {
                after.insert(0, Stmt::Load(1));
            }
        }
        joins.push((next, after));
    }
    Program {
        threads: lists,
        main_is_first,
        joins,
    }
}
