//! A program one of whose variables is plain data, with a detector of data races: vector clocks, kept as plainly as can be.

use std::collections::HashMap;

use seqz_explore::{
    Class, Event, Executor, Kind, Learned, Object, Outcome, Pick, RunEnd, Scheduler, Thread, View,
};

use super::{Model, Program};

/// The variable that is plain data.
const PLAIN: Object = 0;

type Clock = Vec<u32>;

fn join(into: &mut Clock, other: &Clock) {
    if into.len() < other.len() {
        into.resize(other.len(), 0);
    }
    for (own, &other) in into.iter_mut().zip(other) {
        *own = (*own).max(other);
    }
}

/// What orders what in one execution.
#[derive(Default)]
struct Detector {
    threads: HashMap<Thread, Clock>,
    /// Per object: the clock of what changed it last, and of all that touched it since or then.
    objects: HashMap<Object, (Clock, Clock)>,
    /// Accesses to the plain variable: who, at which count of its own, and whether it changed it.
    accesses: Vec<(Thread, u32, bool)>,
    raced: bool,
}

impl Detector {
    fn ran(&mut self, event: &Event) {
        let thread = event.thread;
        let mut clock = self.threads.remove(&thread).unwrap_or_default();
        let index = usize::from(thread);
        if clock.len() <= index {
            clock.resize(index + 1, 0);
        }
        clock[index] += 1;
        let other = event.object as Thread;
        match event.kind {
            Kind::Fork => join(self.threads.entry(other).or_default(), &clock),
            Kind::Join => join(&mut clock, &self.threads[&other]),
            kind if event.object == PLAIN && kind.class() != Class::None => {
                let changes = kind.class() == Class::Modify;
                self.raced |= self.accesses.iter().any(|&(by, at, changed)| {
                    let known = clock.get(usize::from(by)).copied().unwrap_or(0);
                    by != thread && (changes || changed) && known < at
                });
                self.accesses.push((thread, clock[index], changes));
            }
            kind => {
                let (modified, all) = self.objects.entry(event.object).or_default();
                match kind.class() {
                    Class::None => {}
                    Class::Modify => {
                        join(&mut clock, all);
                        modified.clone_from(&clock);
                        all.clone_from(&clock);
                    }
                    _ => {
                        join(&mut clock, modified);
                        join(all, &clock);
                    }
                }
            }
        }
        self.threads.insert(thread, clock);
    }
}

/// Runs a program and fails where there is a data race, and nowhere else.
pub(crate) struct Racy<'a>(Model<'a>);

impl<'a> Racy<'a> {
    pub(crate) fn new(program: &'a Program) -> Self {
        Self(Model::new(program))
    }
}

impl Executor for Racy<'_> {
    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
        let mut watching = Watching(scheduler, Detector::default());
        let end = self.0.run(&mut watching);
        assert_ne!(end.outcome, Outcome::Truncated);
        RunEnd {
            failures: watching.1.raced.then_some(1).into_iter().collect(),
            ..end
        }
    }

    fn learned(&self) -> Learned<'_> {
        Learned {
            plain: &[PLAIN],
            ..Learned::default()
        }
    }
}

struct Watching<'a, S>(&'a mut S, Detector);

impl<S: Scheduler> Scheduler for Watching<'_, S> {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        self.0.pick(view)
    }

    fn ran(&mut self, event: &Event) {
        self.1.ran(event);
        self.0.ran(event);
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.0.blocked(view);
    }
}
