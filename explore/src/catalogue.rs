//! All strategies, one row each: what the command line offers, what workers run, and what the pages say comes from here.
//!
//! A strategy is known by the name in its row, in messages between processes and in reports, too. Whoever meets a name
//! that is in no row has met an error.

use std::fmt;
use std::io;

use crate::executor::Executor;
use crate::mcm::OrderSolver;
use crate::mcm::query::Solver;
use crate::mcr::checkpoint::{Knowledge, Log};
use crate::search::Watcher;
use crate::{
    AnySearch, CachedDpor, Dfs, Dpor, GuidedPcb, Hapset, HbrCache, Icb, IcbDpor, LazyDpor, Mcr,
    Odpor, Part, Pcb, Pct, Pos, Promise, Random, Readers, RvCausal, Search, Strategy, Surw,
};

/// One strategy.
pub struct Entry {
    /// What it is called.
    pub name: &'static str,
    /// What it tries, in one line for those who choose among strategies.
    pub about: &'static str,
    /// What it promises when it has come to its end.
    pub ends: Ends,
    /// What may be bounded, for those that have a bound.
    pub bound: Option<Bound>,
    /// What becomes of a thread that waits in a loop.
    pub loops: Loops,
    /// What else tells it from others.
    pub traits: &'static [Trait],
}

impl Entry {
    /// Whether it has this trait.
    #[must_use]
    pub fn has(&self, wanted: Trait) -> bool {
        self.traits.contains(&wanted)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Entry {}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What a strategy promises when it has come to its end, if nothing was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// [`Promise::Exhausted`].
    Exhausted,
    /// [`Promise::ExhaustedLazily`].
    ExhaustedLazily,
    /// [`Promise::ExhaustedByValues`].
    ExhaustedByValues,
    /// [`Promise::Bounded`], or [`Promise::Exhausted`] where the bound cuts nothing off.
    ExhaustedOrBounded,
    /// [`Promise::Bounded`].
    Bounded,
    /// [`Promise::Heuristic`], or [`Promise::Exhausted`] where nothing was left out.
    Heuristic,
    /// [`Promise::Sampled`].
    Sampled,
}

impl Ends {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Exhausted => "exhausted",
            Self::ExhaustedLazily => "all states were seen",
            Self::ExhaustedByValues => "all classes were executed",
            Self::ExhaustedOrBounded => "exhausted, or up to the bound",
            Self::Bounded => "up to the bound",
            Self::Heuristic => "nothing: what is like something seen was left out",
            Self::Sampled => "nothing: schedules were drawn",
        }
    }

    /// Whether this promise is the one.
    #[must_use]
    pub const fn is_kept_by(self, promise: Promise) -> bool {
        matches!(
            (self, promise),
            (
                Self::Exhausted | Self::ExhaustedOrBounded,
                Promise::Exhausted
            ) | (Self::ExhaustedLazily, Promise::ExhaustedLazily { .. })
                | (Self::ExhaustedByValues, Promise::ExhaustedByValues { .. })
                | (
                    Self::Bounded | Self::ExhaustedOrBounded,
                    Promise::Bounded { .. }
                )
                | (Self::Heuristic, Promise::Heuristic | Promise::Exhausted)
                | (Self::Sampled, Promise::Sampled)
        )
    }
}

/// What may be bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What there may be at most so many of, in one execution.
    pub of: &'static str,
    /// How many, if nothing is said. `None`: any number.
    pub default: Option<u32>,
}

const fn preemptions(default: Option<u32>) -> Option<Bound> {
    Some(Bound {
        of: "preemptions",
        default,
    })
}

/// What becomes of a thread after a turn of a loop that waits, in which it has seen nothing new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loops {
    /// It goes no further in this execution: another one of the search has it look later.
    End,
    /// The same, where the search goes by the values that threads observe.
    EndByValues,
    /// It waits until something has changed that it has looked at.
    Wait,
}

/// What tells some strategies from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trait {
    /// Its search can be [divided](Part) among workers that know nothing of each other.
    Divides,
    /// It draws schedules, each with a seed of its own, and never comes to an end by itself.
    Samples,
    /// It has to be told the values of all shared objects.
    Values,
    /// It is about lazy happens-before relations, so that these are to be counted.
    CountsLazily,
    /// It leaves out orders in which somebody who reads may come to wait behind a writer that waits.
    LeavesOutBehindWriters,
    /// No two of its executions have the same happens-before relation, in whichever parts of the search they are.
    NeverRepeats,
    /// It learns from runs before it begins, and tells events apart by the calls that led to them.
    Learns,
    /// It asks a solver what else there is in a trace.
    Asks,
    /// OS threads can help it to ask.
    Threaded,
    /// What it knows can be written down as it comes to know it, and it can go on from there.
    GoesOn,
}

/// What a search is to be like. Each strategy takes of it what it has to do with.
pub struct Config {
    /// Which part of the search.
    pub part: Part,
    /// See [`Entry::bound`]; `None`: its default.
    pub bound: Option<u32>,
    /// Where random choices begin.
    pub seed: u64,
    /// How many runs to learn from.
    pub learning_runs: u32,
    /// Whom to ask; `None`: the strategy's own solver.
    pub solver: Option<Box<dyn Solver>>,
    /// How many OS threads help to ask, if it is the strategy's own solver.
    pub helpers: usize,
    /// What to go on from.
    pub known: Knowledge,
    /// Where to write down what the search comes to know.
    pub log: Option<Box<dyn Log>>,
    /// Whether to count distinct lazy happens-before relations, too.
    pub lazy_relations: bool,
    /// Who is told when the strategy thinks.
    pub watcher: Option<Box<dyn Watcher>>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            part: Part::WHOLE,
            bound: None,
            seed: 0,
            learning_runs: 0,
            solver: None,
            helpers: 0,
            known: Knowledge::default(),
            log: None,
            lazy_relations: false,
            watcher: None,
        }
    }
}

/// What is the same for all strategies when a search begins.
struct Begin {
    lazy_relations: bool,
    watcher: Option<Box<dyn Watcher>>,
}

impl Begin {
    /// A search by this strategy.
    #[allow(clippy::unnecessary_wraps)]
    fn search<E: Executor>(
        self,
        strategy: impl Strategy + 'static,
    ) -> io::Result<Box<dyn AnySearch<E>>> {
        let mut search = Search::new(strategy);
        if self.lazy_relations {
            search = search.counting_lazy_relations();
        }
        if let Some(watcher) = self.watcher {
            search = search.watched_by(watcher);
        }
        Ok(Box::new(search))
    }
}

/// The row with this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Entry> {
    STRATEGIES.iter().find(|entry| entry.name == name)
}

/// The name of the one that is used where none is named.
pub const DEFAULT: &str = "odpor";

/// The one that is used where none is named.
///
/// # Panics
/// Never: it is in the catalogue.
#[must_use]
pub fn default() -> &'static Entry {
    named(DEFAULT).expect("the default has a row")
}

/// How many preemptions there may be where a strategy has to have a bound.
const PREEMPTIONS: u32 = 2;

/// How many priority changes there are.
const CHANGES: u32 = 3;

/// Makes the catalogue of its rows, and what begins a search by the strategy of a row.
macro_rules! strategies {
    ($(Row {
        name: $name:literal,
        about: $about:literal,
        ends: $ends:expr,
        bound: $bound:expr,
        loops: $loops:expr,
        traits: $traits:expr,
        search: |$config:ident, $begin:ident| $search:expr $(,)?
    }),* $(,)?) => {
        /// All of them, in the order in which they are listed.
        pub static STRATEGIES: &[Entry] = &[$(Entry {
            name: $name,
            about: $about,
            ends: $ends,
            bound: $bound,
            loops: $loops,
            traits: $traits,
        }),*];

        /// A search by this strategy.
        ///
        /// # Errors
        /// When the system has no threads, for those that are to have helpers.
        pub fn search<E: Executor>(
            entry: &Entry,
            mut config: Config,
        ) -> io::Result<Box<dyn AnySearch<E>>> {
            let begin = Begin {
                lazy_relations: config.lazy_relations,
                watcher: config.watcher.take(),
            };
            match entry.name {
                $($name => {
                    let ($config, $begin) = (config, begin);
                    $search
                })*
                other => Err(io::Error::other(format!("there is no strategy `{other}`"))),
            }
        }
    };
}

strategies![
    Row {
        name: "dfs",
        about: "Every order, one by one",
        ends: Ends::Exhausted,
        bound: None,
        loops: Loops::End,
        traits: &[Trait::Divides],
        search: |config, begin| begin.search(Dfs::part(config.part)),
    },
    Row {
        name: "random",
        about: "Any thread, at every step",
        ends: Ends::Sampled,
        bound: None,
        loops: Loops::Wait,
        traits: &[Trait::Samples],
        search: |config, begin| begin.search(Random::new(config.seed)),
    },
    Row {
        name: "pct",
        about: "Random priorities, which change at a few random steps",
        ends: Ends::Sampled,
        bound: Some(Bound {
            of: "priority changes",
            default: Some(CHANGES),
        }),
        loops: Loops::Wait,
        traits: &[Trait::Samples],
        search: |config, begin| begin
            .search(Pct::new(config.seed, config.bound.unwrap_or(CHANGES))),
    },
    Row {
        name: "pos",
        about: "Partial-order sampling: random priorities of events",
        ends: Ends::Sampled,
        bound: None,
        loops: Loops::Wait,
        traits: &[Trait::Samples],
        search: |config, begin| begin.search(Pos::new(config.seed)),
    },
    Row {
        name: "surw",
        about: "Selectively uniform random walk",
        ends: Ends::Sampled,
        bound: None,
        loops: Loops::Wait,
        traits: &[Trait::Samples],
        search: |config, begin| begin.search(Surw::new(config.seed)),
    },
    Row {
        name: "icb",
        about: "Every order with 0 preemptions, then 1, 2, …",
        ends: Ends::ExhaustedOrBounded,
        bound: preemptions(None),
        loops: Loops::Wait,
        traits: &[],
        search: |config, begin| begin.search(Icb::new(config.bound)),
    },
    Row {
        name: "pcb",
        about: "Every order within a preemption bound",
        ends: Ends::ExhaustedOrBounded,
        bound: preemptions(Some(PREEMPTIONS)),
        loops: Loops::Wait,
        traits: &[],
        search: |config, begin| begin.search(Pcb::new(config.bound.unwrap_or(PREEMPTIONS))),
    },
    Row {
        name: "dpor",
        about: "Every order up to that of independent events, at least once",
        ends: Ends::Exhausted,
        bound: None,
        loops: Loops::End,
        traits: &[],
        search: |_config, begin| begin.search(Readers::new(Dpor::new())),
    },
    Row {
        name: "icb+dpor",
        about: "The same with 0 preemptions, then 1, 2, …",
        ends: Ends::ExhaustedOrBounded,
        bound: preemptions(None),
        loops: Loops::End,
        traits: &[],
        search: |config, begin| begin.search(IcbDpor::new(config.bound)),
    },
    Row {
        name: "odpor",
        about: "Every order up to that of independent events, exactly once",
        ends: Ends::Exhausted,
        bound: None,
        loops: Loops::End,
        traits: &[Trait::Divides, Trait::NeverRepeats],
        search: |config, begin| {
            let strategy = Odpor::part(config.part);
            if config.part.is_whole() {
                begin.search(Readers::new(strategy))
            } else {
                begin.search(Readers::told(strategy))
            }
        },
    },
    Row {
        name: "hbr-cache",
        about: "Every order, but none twice after the same happens-before relation",
        ends: Ends::Exhausted,
        bound: None,
        loops: Loops::End,
        traits: &[Trait::CountsLazily],
        search: |_config, begin| begin.search(Readers::new(HbrCache::new())),
    },
    Row {
        name: "lazy-hbr",
        about: "The same with the lazy happens-before relation, which leaves out the order of lock operations",
        ends: Ends::ExhaustedLazily,
        bound: None,
        loops: Loops::End,
        traits: &[Trait::Values, Trait::CountsLazily],
        search: |_config, begin| begin.search(HbrCache::lazy()),
    },
    Row {
        name: "hbr-cache+dpor",
        about: "The same as dpor, which comes to no happens-before relation twice, to see that it is so",
        ends: Ends::Exhausted,
        bound: None,
        loops: Loops::End,
        traits: &[Trait::CountsLazily],
        search: |_config, begin| begin.search(Readers::new(CachedDpor::new())),
    },
    Row {
        name: "lazy-hbr+dpor",
        about: "As dpor, but no order twice after the same lazy happens-before relation",
        ends: Ends::ExhaustedLazily,
        bound: None,
        loops: Loops::End,
        traits: &[Trait::Values, Trait::CountsLazily],
        search: |_config, begin| begin.search(CachedDpor::lazy()),
    },
    Row {
        name: "lazy-dpor",
        about: "Every order up to that of independent events, and of critical sections that share nothing",
        ends: Ends::ExhaustedLazily,
        bound: None,
        loops: Loops::End,
        traits: &[
            Trait::Values,
            Trait::CountsLazily,
            Trait::LeavesOutBehindWriters,
        ],
        search: |_config, begin| begin.search(LazyDpor::new()),
    },
    Row {
        name: "mcr",
        about: "Every class of orders in which all threads observe the same values, exactly once",
        ends: Ends::ExhaustedByValues,
        bound: None,
        loops: Loops::EndByValues,
        traits: &[
            Trait::Values,
            Trait::LeavesOutBehindWriters,
            Trait::Asks,
            Trait::Threaded,
            Trait::GoesOn,
        ],
        search: |config, begin| {
            let Config { known, log, .. } = config;
            match config.solver {
                None => {
                    let strategy = Mcr::from(known, OrderSolver::default());
                    begin.search(strategy.keeping(log).with_helpers(config.helpers)?)
                }
                Some(solver) => begin.search(Mcr::from(known, solver).keeping(log)),
            }
        },
    },
    Row {
        name: "rv-causal",
        about: "The same, by matching reads with writes: at least once",
        ends: Ends::ExhaustedByValues,
        bound: None,
        loops: Loops::EndByValues,
        traits: &[Trait::Values, Trait::LeavesOutBehindWriters, Trait::Asks],
        search: |config, begin| {
            let own = || Box::new(OrderSolver::default()) as Box<dyn Solver>;
            begin.search(RvCausal::with(config.solver.unwrap_or_else(own)))
        },
    },
    Row {
        name: "hapset",
        about: "Those orders of two statements that have not been seen: predecessor sets guide dpor",
        ends: Ends::Heuristic,
        bound: None,
        loops: Loops::Wait,
        traits: &[Trait::Learns],
        search: |config, begin| begin.search(Hapset::new(config.learning_runs, config.seed)),
    },
    Row {
        name: "hapset+pcb",
        about: "The same within a preemption bound",
        ends: Ends::Heuristic,
        bound: preemptions(Some(PREEMPTIONS)),
        loops: Loops::Wait,
        traits: &[Trait::Learns],
        search: |config, begin| {
            let bound = config.bound.unwrap_or(PREEMPTIONS);
            begin.search(GuidedPcb::new(bound, config.learning_runs, config.seed))
        },
    },
];
