//! Schedules of seeds, in little memory: seeds wait for long, and a schedule seldom switches threads.

use crate::event::Thread;

/// The threads to run, event by event: each thread with the number of its events in a row, in two bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule(Box<[(Thread, u8)]>);

impl FromIterator<Thread> for Schedule {
    fn from_iter<I: IntoIterator<Item = Thread>>(threads: I) -> Self {
        let mut turns: Vec<(Thread, u8)> = Vec::new();
        for thread in threads {
            match turns.last_mut() {
                Some((last, times)) if *last == thread && *times < u8::MAX => *times += 1,
                _ => turns.push((thread, 1)),
            }
        }
        Self(turns.into())
    }
}

impl Schedule {
    /// A schedule of these threads, each with the number of its events in a row.
    #[must_use]
    pub fn of_turns(turns: Vec<(Thread, u8)>) -> Self {
        Self(turns.into())
    }

    /// The threads, each with the number of its events in a row.
    #[must_use]
    pub fn turns(&self) -> &[(Thread, u8)] {
        &self.0
    }

    /// The threads to run, one per event.
    pub fn iter(&self) -> impl Iterator<Item = Thread> {
        self.0
            .iter()
            .flat_map(|&(thread, times)| std::iter::repeat_n(thread, usize::from(times)))
    }
}

/// How far a schedule has been followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Follower {
    turn: usize,
    times: u8,
}

impl Follower {
    /// Returns the next thread. `None`: the schedule is at its end.
    pub(crate) fn next(&mut self, schedule: &Schedule) -> Option<Thread> {
        let &(thread, times) = schedule.0.get(self.turn)?;
        self.times += 1;
        if self.times >= times {
            *self = Self {
                turn: self.turn + 1,
                times: 0,
            };
        }
        Some(thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_followed_is_what_was_said() {
        for threads in [
            vec![],
            vec![7; 1000],
            vec![3],
            vec![1, 1, 1],
            vec![1, 2, 2, 1, 3, 3, 3, 1],
        ] {
            let schedule: Schedule = threads.iter().copied().collect();
            assert_eq!(schedule.iter().collect::<Vec<_>>(), threads);
            let mut at = Follower::default();
            let followed: Vec<_> = std::iter::from_fn(|| at.next(&schedule)).collect();
            assert_eq!(followed, threads);
            assert_eq!(at.next(&schedule), None);
            assert_eq!(Schedule::of_turns(schedule.turns().to_vec()), schedule);
        }
    }
}
