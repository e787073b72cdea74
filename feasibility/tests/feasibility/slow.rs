//! An obvious grid: every prefix of T' by itself, every place and step looked at one at a time, every constraint written
//! down as the paper has it. For logs that are too large for all interleavings.

use seqz_feasibility::log::{LockMode, Log, Object, Op};

/// Per prefix of T': whether T can be at its end when T' has done exactly that much.
pub(crate) fn reachable(log: &Log<'_>) -> Vec<bool> {
    (0..=log.interfering.len())
        .map(|cut| reachable_at(log, cut))
        .collect()
}

struct Block {
    lock: Object,
    mode: LockMode,
    acquire: usize,
    /// The last place inside.
    last: usize,
}

struct Live {
    object: Object,
    /// The first place inside.
    first: usize,
    /// The last read.
    read: usize,
}

fn reachable_at(log: &Log<'_>, cut: usize) -> bool {
    let t = log.under_test;
    let t_ops: Vec<Op> = t.iter().map(|event| event.op).collect();
    let u = &log.interfering[..cut];
    let (m, n) = (t.len(), cut);
    let mut bad_place = vec![vec![false; n + 1]; m + 1];
    let mut bad_t = vec![vec![false; n + 1]; m];
    let mut bad_u = vec![vec![false; m + 1]; n];
    let u_blocks = blocks(u);
    for mine in blocks(&t_ops) {
        for other in &u_blocks {
            if mine.lock == other.lock && mine.mode.excludes(other.mode) {
                for row in &mut bad_place[mine.acquire + 1..=mine.last] {
                    row[other.acquire + 1..=other.last].fill(true);
                }
            }
        }
    }
    let sources: Vec<bool> = t.iter().map(|event| event.source.is_some()).collect();
    for live in live(&t_ops, &sources) {
        for (step, op) in u.iter().enumerate() {
            if op.writes() == Some(live.object) && live.first <= live.read {
                bad_u[step][live.first..=live.read].fill(true);
            }
        }
    }
    for live in live(u, &vec![false; n]) {
        for (step, op) in t_ops.iter().enumerate() {
            if op.writes() == Some(live.object) && live.first <= live.read {
                bad_t[step][live.first..=live.read].fill(true);
            }
        }
    }
    for (at, event) in t.iter().enumerate() {
        if event.op == Op::Join {
            if cut < log.interfering.len() {
                return false;
            }
            bad_t[at][..n].fill(true);
        }
        let Some(source) = event.source.map(|source| source as usize) else {
            continue;
        };
        if source >= cut {
            return false;
        }
        bad_t[at][..=source].fill(true);
        match event.op {
            Op::TryFail(..) => {
                let block = u_blocks.iter().find(|block| block.acquire == source);
                let last = block.expect("the source is an acquire").last;
                bad_t[at][last + 1..].fill(true);
            }
            op => {
                let x = op.reads();
                let next = (source + 1..n).find(|&step| u[step].writes() == x);
                if let Some(next) = next {
                    bad_u[next][..=at].fill(true);
                }
                let own = t_ops[..at].iter().rposition(|op| op.writes() == x);
                if let Some(own) = own {
                    bad_u[source][..=own].fill(true);
                }
            }
        }
    }
    let mut reached = vec![vec![false; n + 1]; m + 1];
    reached[0][0] = true;
    for i in 0..=m {
        for j in 0..=n {
            let from_above = i > 0 && reached[i - 1][j] && !bad_t[i - 1][j];
            let from_left = j > 0 && reached[i][j - 1] && !bad_u[j - 1][i];
            reached[i][j] |= from_above || from_left;
            reached[i][j] &= !bad_place[i][j];
        }
    }
    reached[m][n]
}

fn blocks(ops: &[Op]) -> Vec<Block> {
    let mut open: Vec<Block> = Vec::new();
    let mut closed = Vec::new();
    for (at, &op) in ops.iter().enumerate() {
        match op {
            Op::Acquire(lock, mode) => open.push(Block {
                lock,
                mode,
                acquire: at,
                last: ops.len(),
            }),
            Op::Release(lock, mode) => {
                let block = open
                    .iter()
                    .rposition(|block| (block.lock, block.mode) == (lock, mode))
                    .expect("released what is held");
                closed.push(Block {
                    last: at,
                    ..open.remove(block)
                });
            }
            _ => {}
        }
    }
    closed.extend(open);
    closed
}

/// The x-live blocks of a thread, as places. Those that a non-local read starts begin right after it.
fn live(ops: &[Op], non_local: &[bool]) -> Vec<Live> {
    let mut all: Vec<Live> = Vec::new();
    let mut current: Vec<(Object, usize)> = Vec::new();
    let mut start = |all: &mut Vec<Live>, object, first, read| {
        current.retain(|&(x, _)| x != object);
        current.push((object, all.len()));
        all.push(Live {
            object,
            first,
            read,
        });
        current.clone()
    };
    let mut now: Vec<(Object, usize)> = Vec::new();
    for (at, op) in ops.iter().enumerate() {
        if let Op::Read(x) | Op::Update(x) = *op {
            if non_local[at] {
                now = start(&mut all, x, at + 1, at);
            } else if let Some(&(_, block)) = now.iter().find(|&&(y, _)| y == x) {
                all[block].read = at;
            } else {
                now = start(&mut all, x, 0, at);
            }
        }
        if let Some(x) = op.writes() {
            now = start(&mut all, x, at + 1, at);
        }
    }
    all
}
