//! Models, queries and verdicts as lists of words, for solvers in another process.

use super::model::{Model, Step, Terms};
use super::query::{Goal, Query, Sight, Verdict};
use crate::event::{Class, Event, Kind, Object, Thread};
use crate::observation::{Comparison, Integer, Test};
use crate::transition::Transition;

const COMPARISONS: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::LessOrEqual,
    Comparison::Greater,
    Comparison::GreaterOrEqual,
];

/// All that solvers look at of a model that is [sealed](Model::seal).
#[must_use]
pub fn of_model(model: &Model) -> Vec<u64> {
    let mut words = vec![model.lanes().len() as u64];
    words.extend(model.lanes().iter().map(|lane| u64::from(lane.thread)));
    words.push(model.len() as u64);
    for &at in model.order() {
        let (step, thread) = (model.step(at), model.lane_at(at.0).thread);
        let object = name(model, step.kind, step.object);
        let terms = u64::from(step.parked) << 1 | u64::from(step.timed);
        words.extend([u64::from(thread), step.kind as u64, object]);
        words.extend([step.found, step.left, terms]);
        match step.test {
            None => words.push(0),
            Some(Test::Unobserved) => words.push(1),
            Some(Test::Compared {
                op,
                constant,
                integer,
            }) => {
                words.extend([2, op as u64]);
                words.extend(of_constant(constant, integer));
            }
            Some(Test::ThisOrAll { constant, integer }) => {
                words.push(3);
                words.extend(of_constant(constant, integer));
            }
        }
    }
    words.push(model.transitions().len() as u64);
    for &(at, transition) in model.transitions() {
        words.push(u64::from(at));
        words.extend(transition.to_words());
    }
    let first = |lane: u32, step: &Step| {
        let first = (lane, step.refused_since);
        (step.refused_since != Step::ALWAYS).then(|| u64::from(model.step(first).at))
    };
    let steps = model.order().iter().map(|&at| (at.0, model.step(at)));
    let after = steps.filter_map(|(lane, step)| Some([u64::from(step.at), first(lane, step)?]));
    let after: Vec<_> = after.collect();
    words.push(after.len() as u64);
    words.extend(after.into_iter().flatten());
    for (number, lane) in (0..).zip(model.lanes()) {
        match lane.waits {
            _ if lane.ended => words.push(0),
            None => words.push(1),
            Some(step) if step.refused_since != Step::ALWAYS => {
                words.extend([3, first(number, &step).unwrap_or_default()]);
            }
            Some(step) => {
                words.extend([2, step.kind as u64, name(model, step.kind, step.object)]);
            }
        }
    }
    words
}

/// A constant that values are compared with, and its type.
#[allow(clippy::cast_possible_truncation)]
fn of_constant(constant: i128, integer: Integer) -> [u64; 3] {
    let constant = constant.cast_unsigned();
    let of_type = u64::from(integer.bits) << 1 | u64::from(integer.signed);
    [constant as u64, (constant >> 64) as u64, of_type]
}

/// The object's name in the program; of fork and join, the thread's.
fn name(model: &Model, kind: Kind, object: u32) -> u64 {
    if matches!(kind, Kind::Fork | Kind::Join) {
        u64::from(model.lane_at(object).thread)
    } else if kind.class() == Class::None {
        0
    } else {
        u64::from(model.cells()[object as usize].object)
    }
}

/// The model that these words are of.
#[must_use]
pub fn to_model(words: &[u64]) -> Option<Model> {
    let mut words = Words(words);
    let mut model = Model::default();
    let threads: Vec<Thread> = (0..words.next()?)
        .map(|_| words.number())
        .collect::<Option<_>>()?;
    for &thread in &threads {
        model.enter(thread);
    }
    for at in 0..words.next()? {
        let event = Event {
            thread: words.number()?,
            kind: words.kind()?,
            object: words.number::<Object>()?,
            found: words.next()?,
            left: words.next()?,
            ..Event::default()
        };
        let terms = words.next()?;
        model.push(
            &event,
            Terms {
                parked: terms & 2 != 0,
                timed: terms & 1 != 0,
            },
        );
        let test = match words.next()? {
            0 => continue,
            1 => Test::Unobserved,
            3 => {
                let (constant, integer) = words.constant()?;
                Test::ThisOrAll { constant, integer }
            }
            _ => {
                let op = *COMPARISONS.get(words.number::<u32>()? as usize)?;
                let (constant, integer) = words.constant()?;
                Test::Compared {
                    op,
                    constant,
                    integer,
                }
            }
        };
        model.learn(usize::try_from(at).ok()?, test);
    }
    for _ in 0..words.next()? {
        let at = words.number()?;
        let transition = [words.next()?, words.next()?, words.next()?];
        model.change(at, Transition::from_words(transition)?);
    }
    for _ in 0..words.next()? {
        model.refuse(words.number()?, words.number()?);
    }
    for thread in threads {
        match words.next()? {
            0 => model.finish(thread, None),
            1 => model.cut(thread),
            3 => {
                model.finish(thread, Some((Kind::Join, Object::from(thread))));
                model.stop(thread, words.number()?);
            }
            _ => {
                let waits = (words.kind()?, words.number::<Object>()?);
                model.finish(thread, Some(waits));
            }
        }
    }
    model.seal();
    words.0.is_empty().then_some(model)
}

/// A query.
#[must_use]
pub fn of_query(query: &Query<'_>) -> Vec<u64> {
    let bounds = query.lower.iter().chain(query.upper);
    let mut words: Vec<u64> = bounds.map(|&at| u64::from(at)).collect();
    match query.goal {
        Goal::Reached => words.push(0),
        Goal::Stuck => words.push(1),
        Goal::Both(one, other) => words.extend([2, u64::from(one), u64::from(other)]),
        Goal::Next(lane, sight) => {
            let sight = match sight {
                Sight::Value(view) => [3, view],
                Sight::Refused => [4, 0],
                Sight::Notified(notified) => [5, u64::from(notified)],
                Sight::Outcome(outcome) => [6, outcome],
            };
            words.extend([sight[0], u64::from(lane), sight[1]]);
        }
    }
    words
}

/// The lower bound, the upper bound and the goal of the query that these words are about a model.
#[must_use]
pub fn to_query(model: &Model, words: &[u64]) -> Option<(Vec<u32>, Vec<u32>, Goal)> {
    let mut words = Words(words);
    let mut cut = || -> Option<Vec<u32>> {
        let lanes = model.lanes().iter();
        let at = lanes.map(|lane| words.number().filter(|&at: &u32| at <= lane.len()));
        at.collect()
    };
    let (lower, upper) = (cut()?, cut()?);
    let lane = |words: &mut Words<'_>| {
        let lane: u32 = words.number()?;
        ((lane as usize) < model.lanes().len()).then_some(lane)
    };
    let goal = match words.next()? {
        0 => Goal::Reached,
        1 => Goal::Stuck,
        2 => Goal::Both(lane(&mut words)?, lane(&mut words)?),
        what => {
            let lane = lane(&mut words)?;
            let word = words.next()?;
            Goal::Next(
                lane,
                match what {
                    3 => Sight::Value(word),
                    4 => Sight::Refused,
                    5 => Sight::Notified(word != 0),
                    6 => Sight::Outcome(word),
                    _ => return None,
                },
            )
        }
    };
    words.0.is_empty().then_some((lower, upper, goal))
}

/// A verdict.
#[must_use]
pub fn of_verdict(verdict: &Verdict) -> Vec<u64> {
    match verdict {
        Verdict::Infeasible => vec![0],
        Verdict::Unknown => vec![1],
        Verdict::Feasible(witness) => {
            let lanes = witness.iter().map(|&lane| u64::from(lane));
            std::iter::once(2).chain(lanes).collect()
        }
    }
}

/// The verdict that these words are.
#[must_use]
pub fn to_verdict(words: &[u64]) -> Option<Verdict> {
    let (what, lanes) = words.split_first()?;
    Some(match what {
        0 => Verdict::Infeasible,
        1 => Verdict::Unknown,
        _ => {
            let lanes = lanes.iter().map(|&lane| u32::try_from(lane).ok());
            Verdict::Feasible(lanes.collect::<Option<_>>()?)
        }
    })
}

struct Words<'a>(&'a [u64]);

impl Words<'_> {
    fn next(&mut self) -> Option<u64> {
        let (&word, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(word)
    }

    fn number<N: TryFrom<u64>>(&mut self) -> Option<N> {
        self.next()?.try_into().ok()
    }

    fn kind(&mut self) -> Option<Kind> {
        Kind::ALL.get(self.number::<u32>()? as usize).copied()
    }

    /// See [`of_constant`].
    fn constant(&mut self) -> Option<(i128, Integer)> {
        let low = u128::from(self.next()?);
        let constant = low | u128::from(self.next()?) << 64;
        let of_type = self.number::<u32>()?;
        let integer = Integer {
            bits: u8::try_from(of_type >> 1).ok()?,
            signed: of_type & 1 != 0,
        };
        Some((constant.cast_signed(), integer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_enums() {
        for (number, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
        }
        for (number, comparison) in COMPARISONS.into_iter().enumerate() {
            assert_eq!(comparison as usize, number);
        }
    }
}
