//! Random queries about a model.

use seqz_explore::Kind;
use seqz_explore::mcm::{Cut, Goal, Model, Query, Sight, Step};
use seqz_explore::random_numbers::RandomNumbers;

/// A query that owns its bounds.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) lower: Cut,
    pub(crate) upper: Cut,
    pub(crate) goal: Goal,
}

impl Asked {
    /// Whether a prefix of the trace is an answer: the event observes what it did.
    pub(crate) fn is_of_the_trace(&self, model: &Model) -> bool {
        let Goal::Next(lane, Sight::Value(view)) = self.goal else {
            return false;
        };
        let index = self.upper[lane as usize];
        let steps = &model.lane_at(lane).steps;
        let observes = |step: &Step| step.view(step.found) == view;
        self.lower
            .iter()
            .enumerate()
            .all(|(at, &lower)| lower == 0 || at == lane as usize)
            && steps.get(index as usize).is_some_and(observes)
    }

    pub(crate) fn query(&self) -> Query<'_> {
        Query {
            lower: &self.lower,
            upper: &self.upper,
            goal: self.goal,
        }
    }
}

fn below(numbers: &mut RandomNumbers, bound: u32) -> u32 {
    numbers.below(u64::from(bound)) as u32
}

/// Any bounds and any goal.
pub(crate) fn query(model: &Model, numbers: &mut RandomNumbers) -> Asked {
    let mut upper = model.whole();
    for at in &mut upper {
        if below(numbers, 3) == 0 {
            *at = below(numbers, *at + 1);
        }
    }
    if below(numbers, 2) == 0 {
        model.close(&mut upper);
    }
    let mut lower: Cut = upper.iter().map(|_| 0).collect();
    for (lower, upper) in lower.iter_mut().zip(&upper) {
        if below(numbers, 3) == 0 {
            *lower = below(numbers, *upper + 1);
        }
    }
    let goal = match below(numbers, 8) {
        0 => Goal::Reached,
        1 | 2 => Goal::Stuck,
        3 => both(model, numbers, &mut lower, &mut upper),
        _ => next(model, numbers, &mut lower, &mut upper),
    };
    Asked { lower, upper, goal }
}

/// Two threads' next events can be next.
fn both(model: &Model, numbers: &mut RandomNumbers, lower: &mut Cut, upper: &mut Cut) -> Goal {
    let lanes = lower.len() as u32;
    let one = below(numbers, lanes);
    let other = below(numbers, lanes);
    for lane in [one, other] {
        let length = model.lane_at(lane).len();
        let index = (below(numbers, length + 1) + below(numbers, 2)).min(length);
        (lower[lane as usize], upper[lane as usize]) = (index, index);
    }
    Goal::Both(one, other)
}

/// A thread's next event observes something.
fn next(model: &Model, numbers: &mut RandomNumbers, lower: &mut Cut, upper: &mut Cut) -> Goal {
    let mut places = Vec::new();
    for (lane, of) in (0..).zip(model.lanes()) {
        let steps = (0..).zip(&of.steps).filter(|(_, step)| step.observes());
        places.extend(steps.map(|(index, step)| (lane, index, *step)));
        places.extend(of.waits.map(|step| (lane, of.len(), step)));
    }
    if places.is_empty() {
        return Goal::Reached;
    }
    let (lane, index, step) = places[below(numbers, places.len() as u32) as usize];
    let Some(sight) = sight(model, numbers, &step) else {
        return Goal::Reached;
    };
    if below(numbers, 2) == 0 && index < model.lane_at(lane).len() {
        *upper = model.without((lane, index));
        lower
            .iter_mut()
            .zip(upper.iter())
            .for_each(|(at, upper)| *at = (*at).min(*upper));
    }
    lower[lane as usize] = index;
    upper[lane as usize] = index;
    Goal::Next(lane, sight)
}

fn sight(model: &Model, numbers: &mut RandomNumbers, step: &Step) -> Option<Sight> {
    match step.kind {
        Kind::Wake => return Some(Sight::Notified(below(numbers, 2) == 0)),
        Kind::Join => return None,
        _ if step.tries() && below(numbers, 2) == 0 => return Some(Sight::Refused),
        _ => {}
    }
    let cell = &model.cells()[step.object as usize];
    let left = cell.writes.iter().map(|&write| model.step(write).left);
    let values: Vec<u64> = left.chain([cell.initial, 77]).collect();
    let value = values[below(numbers, values.len() as u32) as usize];
    Some(Sight::Value(step.view(value)))
}

/// A read observes another value, or the one that it does, with everything before it as it was.
pub(crate) fn flip(model: &Model, numbers: &mut RandomNumbers) -> Asked {
    loop {
        let lane = below(numbers, model.lanes().len() as u32);
        let readers = model.lane_at(lane).readers();
        if readers.is_empty() {
            continue;
        }
        let index = readers[below(numbers, readers.len() as u32) as usize];
        let step = *model.step((lane, index));
        let Some(sight) = sight(model, numbers, &step) else {
            continue;
        };
        let upper = model.without((lane, index));
        let mut lower = vec![0; upper.len()];
        lower[lane as usize] = index;
        let goal = Goal::Next(lane, sight);
        return Asked { lower, upper, goal };
    }
}
