//! The ways in which the programs are run.

/// Who runs them.
pub(crate) struct Method {
    /// The strategy, as workers know it; or [`CHECK`].
    pub(crate) name: &'static str,
    /// It draws schedules at random.
    pub(crate) samples: bool,
    /// Of how many programs in a hundred it must be able to promise something.
    pub(crate) at_least: usize,
}

/// `seqz check`, without what it goes on with.
pub(crate) const CHECK: &str = "check";

const fn exhausts(name: &'static str, at_least: usize) -> Method {
    Method {
        name,
        samples: false,
        at_least,
    }
}

const fn samples(name: &'static str) -> Method {
    Method {
        name,
        samples: true,
        at_least: 0,
    }
}

/// All that there are, with [`MORE_METHODS`].
pub(crate) const METHODS: &[Method] = &[
    exhausts("odpor", 60),
    exhausts("dpor", 60),
    exhausts("dfs", 30),
    exhausts("lazy-hbr+dpor", 60),
    exhausts("lazy-dpor", 60),
    exhausts("mcr", 60),
    samples("random"),
    exhausts(CHECK, 0),
];

/// Those that are run where `SEQZ_WHOLE_METHOD` asks for them.
pub(crate) const MORE_METHODS: &[Method] = &[
    exhausts("icb", 20),
    exhausts("icb+dpor", 30),
    exhausts("hbr-cache", 50),
    exhausts("lazy-hbr", 50),
    exhausts("hbr-cache+dpor", 60),
    exhausts("rv-causal", 0),
    samples("pct"),
    samples("surw"),
    samples("pos"),
    exhausts("pcb", 0),
    exhausts("hapset", 0),
    exhausts("hapset+pcb", 0),
];
