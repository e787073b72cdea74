//! Programs of two or three rounds over shared bytes.

/// The number of shared bytes: the first ones are atomics, the last one is under a mutex.
pub(crate) const BYTES: usize = 3;
/// The byte that the mutex protects.
pub(crate) const PROTECTED: usize = BYTES - 1;

/// What a thread does. A thread has one local, which is 0 when it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stmt {
    /// The local becomes what the byte is.
    Load(usize),
    /// The byte becomes this.
    Store(usize, u8),
    /// The byte becomes the local and this.
    StoreLocal(usize, u8),
    /// The local becomes what the byte was, to which this is added, in one step.
    Add(usize, u8),
    /// The next statement is left out unless the local is this.
    If(u8),
    /// Fails, as the number says, if the local is this. Fails on the threads under test alone.
    Never(u32, u8),
}

/// A round: what its two threads do, and what main does after it.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    pub(crate) first: Vec<Stmt>,
    pub(crate) second: Vec<Stmt>,
    /// Main is the round's first thread itself, and spawns the other one alone.
    pub(crate) main_is_first: bool,
    /// Main joins the second thread first.
    pub(crate) second_first: bool,
    pub(crate) after: Vec<Stmt>,
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) rounds: Vec<Round>,
}

pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    fn byte(&mut self) -> usize {
        usize::try_from(self.below(BYTES as u64)).expect("it is small")
    }

    fn value(&mut self) -> u8 {
        u8::try_from(self.below(3)).expect("it is small")
    }
}

fn list(random: &mut Random, most: u64, next_id: &mut u32) -> Vec<Stmt> {
    let mut all = Vec::new();
    for _ in 0..1 + random.below(most) {
        let stmt = match random.below(9) {
            0 | 1 => Stmt::Load(random.byte()),
            2 | 3 => Stmt::Store(random.byte(), random.value()),
            4 => Stmt::StoreLocal(random.byte(), random.value()),
            5 => Stmt::Add(random.byte(), 1 + random.value() % 2),
            6 => Stmt::If(random.value()),
            _ => {
                all.push(Stmt::Load(random.byte()));
                *next_id += 1;
                Stmt::Never(*next_id, random.value())
            }
        };
        all.push(stmt);
    }
    all
}

pub(crate) fn generate(random: &mut Random) -> Program {
    let mut id = 0;
    let rounds = 2 + random.below(5) / 4;
    let rounds = (0..rounds)
        .map(|_| {
            let first = list(random, 3, &mut id);
            let second = list(random, 3, &mut id);
            let after = if random.below(3) == 0 {
                list(random, 2, &mut id)
            } else {
                Vec::new()
            };
            // Main is a thread of its own from its first shared access on.
            let begins = |list: &[Stmt]| {
                matches!(
                    list.first(),
                    Some(Stmt::Load(_) | Stmt::Store(..) | Stmt::StoreLocal(..) | Stmt::Add(..))
                )
            };
            Round {
                main_is_first: random.below(3) == 0 && begins(&first),
                second_first: random.below(2) == 0,
                first,
                second,
                after,
            }
        })
        .collect();
    Program { rounds }
}
