//! The knowledge of a search as lists of words: a search writes the lists down while it runs, and a later search reads
//! them to go on from there.

use super::classes::Partial;
use super::expand::Effort;
use super::frontier::Frontier;
use super::journal::{Aim, Change, Journal, Membership, Origin};
use super::restore::BrokenJournal;
use super::schedule::Schedule;
use crate::event::Thread;

/// Where a search writes its knowledge down: one list after another. The last lists may be lost when the process dies.
pub trait Log: Send + Sync {
    /// Takes the next list. Called while the threads' shared state is locked, so implementations must be fast.
    fn note(&mut self, words: Vec<u64>);

    /// Writes the noted lists out. Called after a run has been settled or expanded.
    fn flush(&mut self);
}

/// A journal that is written down.
pub(super) struct Written(pub(super) Box<dyn Log>);

impl Journal for Written {
    fn note(&mut self, change: &Change) {
        self.0.note(save(change));
    }

    fn flush(&mut self) {
        self.0.flush();
    }
}

/// What a search knows that goes on from where another one was. By default: nothing.
#[derive(Debug, Default)]
pub struct Knowledge {
    pub(super) frontier: Frontier,
    counts: Vec<bool>,
}

impl Knowledge {
    /// Reads knowledge from these lists. Only runs that are `counted` count as done: of other runs no record says what
    /// failed in them.
    ///
    /// # Errors
    /// When the lists do not fit together.
    pub fn read(lists: &[Vec<u64>], counted: impl Fn(u32) -> bool) -> Result<Self, BrokenJournal> {
        let changes: Option<Vec<Change>> = lists.iter().map(|words| load(words)).collect();
        let mut changes = changes.ok_or(BrokenJournal)?;
        changes.retain(|change| match change {
            Change::Expanded { run, .. } => counted(*run),
            _ => true,
        });
        let (frontier, counts) = Frontier::restore(changes)?;
        Ok(Self { frontier, counts })
    }

    /// Threads that have numbers, each with who creates it and after how many others.
    pub fn threads(&self) -> impl Iterator<Item = (Thread, Thread, u32)> {
        let threads = self.frontier.threads();
        threads.map(|(thread, (parent, nth))| (thread, parent, nth))
    }

    /// The number of runs so far, which is also the number of the next run.
    #[must_use]
    pub const fn runs(&self) -> u32 {
        self.frontier.runs()
    }

    /// Whether a run counts: it is not made again.
    #[must_use]
    pub fn counts(&self, run: u32) -> bool {
        self.counts.get(run as usize) == Some(&true)
    }
}

/// A change as a list of words.
fn save(change: &Change) -> Vec<u64> {
    let mut words = Vec::new();
    let partial = |words: &mut Vec<u64>, nodes: &Partial| {
        words.push(nodes.len() as u64);
        let nodes = nodes.iter();
        words.extend(nodes.flat_map(|&(thread, node)| [u64::from(thread), u64::from(node)]));
    };
    match change {
        Change::Thread {
            thread,
            parent,
            nth,
        } => words.extend([0, u64::from(*thread), u64::from(*parent), u64::from(*nth)]),
        Change::Node {
            thread,
            parent,
            observation,
        } => words.extend([1, u64::from(*thread), u64::from(*parent), *observation]),
        Change::Seed {
            aim,
            nodes,
            schedule,
        } => {
            words.push(2);
            words.extend(match aim {
                Aim::Class => [0, 0],
                Aim::Ending(key) => [1, *key],
                Aim::Race => [2, 0],
            });
            partial(&mut words, nodes);
            let turns = schedule.turns().iter();
            words.extend(turns.flat_map(|&(thread, times)| [u64::from(thread), u64::from(times)]));
        }
        Change::Ran {
            origin,
            member,
            leads_on,
            ends,
            key,
            lost,
            open,
        } => {
            words.push(3);
            words.extend(match origin {
                Origin::First => [0, 0],
                Origin::Seed(number) => [1, u64::from(*number)],
                Origin::Again(run) => [2, u64::from(*run)],
            });
            words.push(match member {
                Membership::Planted => 0,
                Membership::Own => 1,
                Membership::Known => 2,
            });
            words.extend([leads_on, lost, open].map(|&is| u64::from(is)));
            words.push(*key);
            partial(&mut words, ends);
        }
        Change::Expanded { run, effort } => {
            let Effort {
                flips,
                covered,
                queries,
                unknown,
            } = *effort;
            words.extend([4, u64::from(*run), flips, covered, queries, unknown]);
        }
    }
    words
}

/// Words, one after another.
struct Words<'w>(&'w [u64]);

impl Words<'_> {
    fn next(&mut self) -> Option<u64> {
        let (&word, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(word)
    }

    fn small<N: TryFrom<u64>>(&mut self) -> Option<N> {
        self.next()?.try_into().ok()
    }

    fn flag(&mut self) -> Option<bool> {
        match self.next()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn partial(&mut self) -> Option<Partial> {
        let length: usize = self.small()?;
        // Each takes two words, so a length that promises more is a lie, and is not allocated for.
        if length > self.0.len() / 2 {
            return None;
        }
        (0..length)
            .map(|_| Some((self.small()?, self.small()?)))
            .collect()
    }
}

/// The change that these words are. `None`: they are none.
fn load(words: &[u64]) -> Option<Change> {
    let mut words = Words(words);
    let change = match words.next()? {
        0 => Change::Thread {
            thread: words.small()?,
            parent: words.small()?,
            nth: words.small()?,
        },
        1 => Change::Node {
            thread: words.small()?,
            parent: words.small()?,
            observation: words.next()?,
        },
        2 => Change::Seed {
            aim: match (words.next()?, words.next()?) {
                (0, 0) => Aim::Class,
                (1, key) => Aim::Ending(key),
                (2, 0) => Aim::Race,
                _ => return None,
            },
            nodes: words.partial()?,
            schedule: {
                let mut turns = Vec::new();
                while !words.0.is_empty() {
                    turns.push((words.small()?, words.small()?));
                }
                Schedule::of_turns(turns)
            },
        },
        3 => Change::Ran {
            origin: match (words.next()?, words.small()?) {
                (0, 0) => Origin::First,
                (1, number) => Origin::Seed(number),
                (2, run) => Origin::Again(run),
                _ => return None,
            },
            member: match words.next()? {
                0 => Membership::Planted,
                1 => Membership::Own,
                2 => Membership::Known,
                _ => return None,
            },
            leads_on: words.flag()?,
            lost: words.flag()?,
            open: words.flag()?,
            key: words.next()?,
            ends: words.partial()?,
        },
        4 => Change::Expanded {
            run: words.small()?,
            effort: Effort {
                flips: words.next()?,
                covered: words.next()?,
                queries: words.next()?,
                unknown: words.next()?,
            },
        },
        _ => return None,
    };
    words.0.is_empty().then_some(change)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change of each kind, in each of its forms.
    fn changes() -> Vec<Change> {
        let nodes = vec![(1, 7), (200, u32::MAX)];
        let mut all = vec![
            Change::Thread {
                thread: 3,
                parent: 1,
                nth: 70_000,
            },
            Change::Node {
                thread: 3,
                parent: u32::MAX,
                observation: u64::MAX,
            },
            Change::Expanded {
                run: 5,
                effort: Effort {
                    flips: 1,
                    covered: 2,
                    queries: 3,
                    unknown: 4,
                },
            },
        ];
        for aim in [Aim::Class, Aim::Ending(9), Aim::Race] {
            for threads in [vec![], vec![0, 0, 1]] {
                all.push(Change::Seed {
                    aim,
                    nodes: nodes.clone(),
                    schedule: threads.into_iter().collect(),
                });
            }
        }
        for origin in [Origin::First, Origin::Seed(8), Origin::Again(9)] {
            for member in [Membership::Planted, Membership::Own, Membership::Known] {
                for flag in 0..3 {
                    all.push(Change::Ran {
                        origin,
                        member,
                        leads_on: flag == 0,
                        ends: nodes.clone(),
                        key: 11,
                        lost: flag == 1,
                        open: flag == 2,
                    });
                }
            }
        }
        all
    }

    #[test]
    fn what_is_saved_is_loaded() {
        for change in changes() {
            assert_eq!(load(&save(&change)), Some(change));
        }
    }

    #[test]
    fn what_is_torn_or_longer_is_no_change() {
        for change in changes() {
            let mut words = save(&change);
            words.push(0);
            // A schedule goes on to the end, in pairs of words.
            assert_eq!(load(&words), None, "{change:?}");
            words.truncate(words.len() - 2);
            assert_ne!(load(&words), Some(change));
        }
        assert_eq!(load(&[]), None);
        assert_eq!(load(&[2, 0, 0, u64::MAX]), None);
    }
}
