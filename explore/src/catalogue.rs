//! All strategies, one row each. The command line's choices, the workers' searches and the pages' tables come from here.
//!
//! A strategy is known by the name in its row, in messages between processes and in reports, too. A name that is in no
//! row is an error.

use std::fmt;
use std::io;

use crate::executor::Executor;
use crate::mcm::OrderSolver;
use crate::mcm::query::Solver;
use crate::mcr::checkpoint::{Knowledge, Log};
use crate::search::Watcher;
use crate::{
    AnySearch, CachedDpor, Dfs, Dpor, GuidedPcb, Hapset, HbrCache, Icb, IcbDpor, LazyDpor, Mcr,
    Odpor, Part, Pcb, Pct, Pos, Promise, Random, Rc11, Readers, RvCausal, Search, Strategy, Surw,
};

/// One strategy.
pub struct Entry {
    /// The strategy's name, as on the command line.
    pub name: &'static str,
    /// What the strategy tries, in one line that helps to choose among strategies.
    pub about: &'static str,
    /// What the strategy promises at the end of its search.
    pub ends: Ends,
    /// What the strategy can bound in an execution. `None`: the strategy has no bound.
    pub bound: Option<Bound>,
    /// How the strategy deals with a thread that waits in a loop.
    pub loops: Loops,
    /// What else tells the strategy from other strategies.
    pub traits: &'static [Trait],
}

impl Entry {
    /// Whether the strategy has this trait.
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

/// What a strategy promises at the end of its search, if nothing was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// [`Promise::Exhausted`].
    Exhausted,
    /// [`Promise::ExhaustedLazily`].
    ExhaustedLazily,
    /// [`Promise::ExhaustedByValues`].
    ExhaustedByValues,
    /// [`Promise::ExhaustedWeakly`].
    ExhaustedWeakly,
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
    /// Returns the promise in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Exhausted => "exhausted",
            Self::ExhaustedLazily => "all states were seen",
            Self::ExhaustedByValues => "all classes were executed",
            Self::ExhaustedWeakly => "exhausted, under Rust's memory model",
            Self::ExhaustedOrBounded => "exhausted, or up to the bound",
            Self::Bounded => "up to the bound",
            Self::Heuristic => "nothing: what is like something seen was left out",
            Self::Sampled => "nothing: schedules were drawn",
        }
    }

    /// Whether this promise is one that the strategy may end with.
    #[must_use]
    pub const fn is_kept_by(self, promise: Promise) -> bool {
        matches!(
            (self, promise),
            (
                Self::Exhausted | Self::ExhaustedOrBounded,
                Promise::Exhausted
            ) | (Self::ExhaustedLazily, Promise::ExhaustedLazily { .. })
                | (Self::ExhaustedByValues, Promise::ExhaustedByValues { .. })
                | (Self::ExhaustedWeakly, Promise::ExhaustedWeakly)
                | (
                    Self::Bounded | Self::ExhaustedOrBounded,
                    Promise::Bounded { .. }
                )
                | (Self::Heuristic, Promise::Heuristic | Promise::Exhausted)
                | (Self::Sampled, Promise::Sampled)
        )
    }
}

/// A bound on an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What the bound limits the number of, in one execution.
    pub of: &'static str,
    /// The bound where none is given. `None`: no bound.
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
    /// The thread goes no further in this execution: in another execution of the search the thread looks later.
    End,
    /// The thread goes no further in this execution, in a search that goes by the values that threads observe.
    EndByValues,
    /// The thread waits until an object that the thread has looked at has changed.
    Wait,
}

/// What tells some strategies from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trait {
    /// Its search can be [divided](Part) among workers that know nothing of each other.
    Divides,
    /// The strategy draws schedules, each with a seed of its own, and its search never ends by itself.
    Samples,
    /// The strategy needs the values of all shared objects.
    Values,
    /// The strategy is about lazy happens-before relations, so reports count these relations.
    CountsLazily,
    /// The strategy leaves out orders in which a reader may come to wait behind a writer that waits.
    LeavesOutBehindWriters,
    /// No two of its executions have the same happens-before relation, in whichever parts of the search they are.
    NeverRepeats,
    /// The strategy learns from runs before its search, and tells events apart by the calls that led to the events.
    Learns,
    /// The strategy asks a solver which other executions a trace implies.
    Asks,
    /// Further OS threads can ask the strategy's solver at the same time.
    Threaded,
    /// The strategy can write its knowledge down as the search goes on, and a later search can go on from there.
    GoesOn,
    /// The strategy goes through the executions of the memory model, and not only through the orders of the events.
    Weak,
}

/// The settings of a search. Each strategy uses those that concern it.
pub struct Config {
    /// The part of the search to make.
    pub part: Part,
    /// The bound: see [`Entry::bound`]. `None`: the bound's default.
    pub bound: Option<u32>,
    /// The seed of all random choices.
    pub seed: u64,
    /// The number of runs to learn from before the search.
    pub learning_runs: u32,
    /// The solver to ask. `None`: the strategy's own solver.
    pub solver: Option<Box<dyn Solver>>,
    /// The number of further OS threads that ask the strategy's own solver.
    pub helpers: usize,
    /// The knowledge of an earlier search, from which this search goes on.
    pub known: Knowledge,
    /// Where the search writes its knowledge down as it goes on.
    pub log: Option<Box<dyn Log>>,
    /// Whether to count distinct lazy happens-before relations, too.
    pub lazy_relations: bool,
    /// Is told when the strategy computes.
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

/// The settings that all strategies share when a search begins.
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

/// The strategy of a search under the memory model, for which there is no other one.
pub static RC11: Entry = Entry {
    name: "rc11",
    about: "Every execution that Rust's memory model allows, exactly once",
    ends: Ends::ExhaustedWeakly,
    bound: None,
    loops: Loops::End,
    traits: &[Trait::NeverRepeats, Trait::Weak],
};

/// Returns the row with this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Entry> {
    let mut all = STRATEGIES.iter().chain([&RC11]);
    all.find(|entry| entry.name == name)
}

/// The name of the strategy that is used where none is named.
pub const DEFAULT: &str = "odpor";

/// Returns the strategy that is used where none is named.
///
/// # Panics
/// Never: the catalogue has a row with the name [`DEFAULT`].
#[must_use]
pub fn default() -> &'static Entry {
    named(DEFAULT).expect("the default has a row")
}

/// The bound on preemptions of strategies that have to have a bound, where none is given.
const PREEMPTIONS: u32 = 2;

/// The number of priority changes of `pct`, where none is given.
const CHANGES: u32 = 3;

/// Makes the catalogue from its rows, and the function that begins a search by a row's strategy.
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
        /// All strategies, in the order in which they are listed.
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
        /// When the system has no threads, for strategies that are to have helpers.
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
                "rc11" => begin.search(Rc11::new()),
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
