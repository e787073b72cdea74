//! The maximal causal model of an execution with random turns.

use seqz_explore::mcm::Model;
use seqz_explore::mcm::model::Terms;
use seqz_explore::observation::{Comparison, Integer, Test};
use seqz_explore::random_numbers::RandomNumbers;
use seqz_explore::threads::ThreadSet;
use seqz_explore::{Event, Executor, Kind, Outcome, Pick, Scheduler, View};

/// Draws turns, and notes what comes of them.
struct Recorder<'a> {
    numbers: &'a mut RandomNumbers,
    model: Model,
    events: Vec<Event>,
    parked: ThreadSet,
    timed: ThreadSet,
    last: Option<u8>,
    live: ThreadSet,
    /// The number of events that the execution may have.
    bound: usize,
    /// At one in this number of scheduling points, on average, the thread is drawn anew.
    turns: u64,
}

impl Scheduler for Recorder<'_> {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        self.live = view.live;
        if self.events.len() >= self.bound {
            return Pick::Abandon;
        }
        if let Some(last) = self.last.take()
            && view.live.contains(last)
            && !view.enabled.contains(last)
            && matches!(view.of(last).kind, Kind::Read | Kind::CompareExchange)
        {
            self.parked.insert(last);
        }
        let stays = view.last.filter(|&last| view.enabled.contains(last));
        let thread = match stays {
            Some(last) if self.numbers.below(self.turns) != 0 => last,
            _ => {
                let enabled: Vec<u8> = view.enabled.iter().collect();
                enabled[self.numbers.below(enabled.len() as u64) as usize]
            }
        };
        let pending = view.of(thread);
        if pending.kind == Kind::Wake && pending.expected != 0 {
            self.timed.insert(thread);
        }
        Pick::Run(thread)
    }

    fn ran(&mut self, event: &Event) {
        let terms = Terms {
            parked: self.parked.contains(event.thread),
            timed: self.timed.contains(event.thread),
        };
        self.parked.remove(event.thread);
        self.timed.remove(event.thread);
        self.last = Some(event.thread);
        self.events.push(*event);
        self.model.push(event, terms);
    }

    fn blocked(&mut self, view: &View<'_>) {
        for thread in view.live.iter() {
            let pending = view.of(thread);
            self.model
                .finish(thread, Some((pending.kind, pending.object)));
        }
    }
}

/// The model of one execution of at most `bound` events. `tests`: some reads observe less than the value.
pub(crate) fn model(
    executor: &mut impl Executor,
    numbers: &mut RandomNumbers,
    bound: usize,
    tests: bool,
) -> Model {
    let turns = 1 + numbers.below(6);
    let mut recorder = Recorder {
        numbers,
        model: Model::default(),
        events: Vec::new(),
        parked: ThreadSet::EMPTY,
        timed: ThreadSet::EMPTY,
        last: None,
        live: ThreadSet::EMPTY,
        bound,
        turns,
    };
    let end = executor.run(&mut recorder);
    let Recorder {
        numbers,
        mut model,
        events,
        live,
        ..
    } = recorder;
    if matches!(end.outcome, Outcome::Abandoned | Outcome::Truncated) {
        live.iter().for_each(|thread| model.cut(thread));
    }
    for (at, event) in events.iter().enumerate() {
        if tests && event.kind.observes() && event.kind.has_value() && numbers.below(4) == 0 {
            model.learn(at, test(numbers, event));
        }
    }
    model.seal();
    model
}

fn test(numbers: &mut RandomNumbers, event: &Event) -> Test {
    let constant = if event.kind == Kind::Update {
        i128::from(event.found)
    } else {
        i128::from(numbers.below(3))
    };
    let integer = Integer {
        bits: 8,
        signed: false,
    };
    let op = match numbers.below(5) {
        0 => return Test::Unobserved,
        1 => Comparison::Less,
        2 => Comparison::NotEqual,
        3 => return Test::ThisOrAll { constant, integer },
        _ => Comparison::Equal,
    };
    Test::Compared {
        op,
        constant,
        integer,
    }
}
