//! The ways in which the programs are run.

use seqz_explore::catalogue::STRATEGIES;

/// Who runs them.
pub(crate) struct Method {
    /// The strategy's name in the catalogue; or [`CHECK`].
    pub(crate) name: &'static str,
    /// Of how many programs in a hundred it must be able to promise something.
    pub(crate) at_least: usize,
}

/// `seqz check`, without what it goes on with.
pub(crate) const CHECK: &str = "check";

/// Those that are always run.
const ALWAYS: [&str; 8] = [
    "odpor",
    "dpor",
    "dfs",
    "lazy-hbr+dpor",
    "lazy-dpor",
    "mcr",
    "random",
    CHECK,
];

/// What the strategies must be able to promise, each of so many programs in a hundred. The others: nothing.
const AT_LEAST: [(&str, usize); 11] = [
    ("odpor", 60),
    ("dpor", 60),
    ("dfs", 30),
    ("lazy-hbr+dpor", 60),
    ("lazy-dpor", 60),
    ("mcr", 60),
    ("icb", 20),
    ("icb+dpor", 30),
    ("hbr-cache", 50),
    ("lazy-hbr", 50),
    ("hbr-cache+dpor", 60),
];

/// Those with this text in their names, in the order in which they are run. `None`: those that are always run.
pub(crate) fn methods(named: Option<&str>) -> Vec<Method> {
    let others = STRATEGIES.iter().map(|entry| entry.name);
    let others = others.filter(|name| named.is_some() && !ALWAYS.contains(name));
    let names = ALWAYS.into_iter().chain(others);
    let methods = names.filter(|name| name.contains(named.unwrap_or_default()));
    methods
        .map(|name| {
            let at_least = AT_LEAST.iter().find(|(of, _)| *of == name);
            let at_least = at_least.map_or(0, |(_, at_least)| *at_least);
            Method { name, at_least }
        })
        .collect()
}
