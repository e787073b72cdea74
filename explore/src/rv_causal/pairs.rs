//! Read–write matching pairs: which events a seed needs for one read to return another value.
//!
//! Source: Luo, Huang and Roșu, *Systematic Concurrency Testing with Maximal Causality*, section 4.2 and Figure 4: all
//! events that must happen before the read are needed, each read among them is paired with a write of the value that it
//! had, what must happen before that write is needed, too, and so on; then a solver says whether there is an execution of
//! just these. Initial values are a write that needs nothing. Pairs that program order rules out are pruned: a write
//! that must happen after its read, or before another write of another value that must happen before the read.

use crate::mcm::model::{Cut, Model, Step};

/// An event: lane and index.
type At = (u32, u32);

/// The number of choices of pairs that are tried for one read and value. The paper tries all choices; their number can be
/// exponential.
const TRIES: u32 = 256;

/// The pairing of the reads that one seed needs.
#[derive(Debug)]
pub struct Pairs<'a> {
    model: &'a Model,
    tries: u32,
}

impl<'a> Pairs<'a> {
    /// The pairing of reads of this model, before any pair.
    #[must_use]
    pub const fn new(model: &'a Model) -> Self {
        Self { model, tries: 0 }
    }

    /// Calls `solve` with the events that are needed for the read to return a value of which the thread sees this, one
    /// choice of pairs after the other, until it says that there is a schedule.
    ///
    /// `upper`: what can be there without the read.
    pub fn construct(
        &mut self,
        read: At,
        step: &Step,
        view: u64,
        upper: &[u32],
        solve: &mut impl FnMut(&Cut) -> bool,
    ) -> bool {
        self.tries = 0;
        let cell = &self.model.cells()[step.object as usize];
        let mut needed = vec![0; upper.len()];
        self.need(&mut needed, read.0, read.1);
        let initial = step.view(cell.initial) == view;
        if initial && self.pair(&needed, &mut Vec::new(), upper, solve) {
            return true;
        }
        cell.writes.iter().any(|&write| {
            let fits = step.view(self.model.step(write).left) == view;
            if !fits || write == read || write.1 >= upper[write.0 as usize] {
                return false;
            }
            let mut needed = needed.clone();
            self.need(&mut needed, write.0, write.1 + 1);
            self.pair(&needed, &mut Vec::new(), upper, solve)
        })
    }

    /// Adds the first `count` events of a lane, and all that must happen before them.
    fn need(&self, needed: &mut Cut, lane: u32, count: u32) {
        if needed[lane as usize] < count {
            needed[lane as usize] = count;
        }
        if count == 0 {
            return;
        }
        let row = self.model.row((lane, count - 1)) * needed.len();
        let clock = &self.model.clocks()[row..row + needed.len()];
        for (needed, &before) in needed.iter_mut().zip(clock) {
            *needed = (*needed).max(before);
        }
    }

    /// Pairs the needed reads that have no write yet, and solves when there are none left.
    fn pair(
        &mut self,
        needed: &Cut,
        paired: &mut Vec<At>,
        upper: &[u32],
        solve: &mut impl FnMut(&Cut) -> bool,
    ) -> bool {
        let open = self
            .model
            .lanes()
            .iter()
            .enumerate()
            .find_map(|(at, lane)| {
                let number = u32::try_from(at).ok()?;
                let reads = lane.readers().iter().map(|&index| (number, index));
                reads
                    .take_while(|read| read.1 < needed[at])
                    .find(|read| !paired.contains(read))
            });
        let Some(read) = open else {
            self.tries += 1;
            return self.tries <= TRIES && solve(needed);
        };
        let step = *self.model.step(read);
        let cell = &self.model.cells()[step.object as usize];
        paired.push(read);
        let before_read = |write: At| self.model.must_be_before(write, read);
        let other_before = cell.writes.iter().any(|&write| {
            write != read && before_read(write) && !step.admits(self.model.step(write).left)
        });
        let mut found =
            step.admits(cell.initial) && !other_before && self.pair(needed, paired, upper, solve);
        for &write in &cell.writes {
            if found || self.tries > TRIES {
                break;
            }
            let possible = write != read
                && write.1 < upper[write.0 as usize]
                && step.admits(self.model.step(write).left)
                && !self.model.must_be_before(read, write)
                && !cell.writes.iter().any(|&other| {
                    other != read
                        && !step.admits(self.model.step(other).left)
                        && self.model.must_be_before(other, read)
                        && self.model.must_be_before(write, other)
                });
            if possible {
                let mut more = needed.clone();
                self.need(&mut more, write.0, write.1 + 1);
                let fits = more.iter().zip(upper).all(|(more, upper)| more <= upper);
                found = fits && self.pair(&more, paired, upper, solve);
            }
        }
        paired.pop();
        found
    }
}
