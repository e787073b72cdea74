//! Random programs whose threads wait in loops.

use seqz_explore::random_numbers::RandomNumbers;

/// Atomics of a program.
pub(crate) const ATOMICS: usize = 2;
/// Locks of a program.
pub(crate) const LOCKS: usize = 2;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// `a.store(v)`
    Store(usize, u8),
    /// Notes `a.fetch_add(v)`.
    Add(usize, u8),
    /// Notes `a.load()`.
    Load(usize),
    /// `*m.lock() = v`
    Put(usize, u8),
    /// Notes `*m.lock()`.
    Look(usize),
    /// Notes what is behind the lock, or that it could not be taken.
    Try(usize),
    /// `while a.load() != v {}`
    WaitFor(usize, u8),
    /// `while a.load() <= v {}`
    WaitForMore(usize, u8),
    /// `while a.load() != v || b.load() != v {}`
    WaitForBoth(u8),
    /// `while a.compare_exchange(v, w).is_err() {}`
    Exchange(usize, u8, u8),
    /// `while a.swap(v) == v {}`
    Swap(usize, u8),
    /// `while *m.lock() != v {}`
    WaitLocked(usize, u8),
    /// `loop { if let Ok(g) = m.try_lock() { if *g == v { break } } }`
    WaitTrying(usize, u8),
    /// `loop { if let Ok(g) = m.try_lock() { *g += v; break } }`
    PutTrying(usize, u8),
    /// `while a.load() != v { b.store(w) }`
    WaitStoring(usize, u8, u8),
    /// Takes both locks, the second one while it holds the first.
    Nested(usize),
    /// `let g = m.lock(); while a.load() != v {}`
    WaitHolding(usize, usize, u8),
}

impl Op {
    /// Whether it is a loop in which a lock may be had for a while by trying, and given back.
    pub(crate) const fn tries_in_loop(self) -> bool {
        matches!(self, Self::WaitTrying(..))
    }

    fn random(random: &mut RandomNumbers) -> Self {
        let mut below = |n: usize| random.below(n as u64) as usize;
        let (a, m) = (below(ATOMICS), usize::from(below(4) == 0));
        // What somebody waits for is often put there.
        let mut value = || u8::from(below(5) > 0) + u8::from(below(4) == 0);
        let (v, w) = (value(), value());
        match below(20) {
            0..=3 => Self::Store(a, v),
            4 => Self::Add(a, 1),
            5 => Self::Load(a),
            6..=8 => Self::Put(m, v),
            9 => Self::Look(m),
            10 | 11 => Self::Try(m),
            12 if below(3) == 0 => Self::WaitForMore(a, v),
            12 => Self::WaitFor(a, v),
            13 => Self::WaitForBoth(v.max(1)),
            14 => Self::Exchange(a, v, w),
            15 => Self::Swap(a, v),
            16 => Self::WaitLocked(m, v),
            17 => Self::WaitTrying(m, v),
            18 => Self::PutTrying(m, v),
            _ => match below(3) {
                0 => Self::WaitStoring(a, v, w),
                1 => Self::Nested(m),
                _ => Self::WaitHolding(m, a, v),
            },
        }
    }
}

/// The threads beside the harness, which joins them.
pub(crate) type Program = Vec<Vec<Op>>;

pub(crate) fn generate(random: &mut RandomNumbers) -> Program {
    let threads = 2 + usize::from(random.below(3) == 0);
    let most = if threads == 2 { 4 } else { 2 };
    (0..threads)
        .map(|_| {
            let count = 1 + random.below(most);
            (0..count).map(|_| Op::random(random)).collect()
        })
        .collect()
}
