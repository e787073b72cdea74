//! The methods that are compared.

use std::fmt;

use crate::model::document::Role;

/// A method.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// `seqz check`, with this thread under test.
    Check(Role),
    /// `seqz fuzz`.
    Fuzz,
    /// `seqz explore`.
    Explore {
        /// The strategy.
        strategy: String,
        /// The strategy's bound; `None`: the strategy's default.
        bound: Option<u32>,
        /// The number of workers. More than one stands for a paper's parallel variant, with `-p` after the strategy's
        /// name.
        workers: u32,
    },
}

impl Method {
    /// Returns a strategy with one worker and its default bound.
    #[must_use]
    pub fn explore(strategy: &str) -> Self {
        Self::Explore {
            strategy: strategy.to_owned(),
            bound: None,
            workers: 1,
        }
    }

    /// Reads a method's name: `check` (both threads under test), `check:first`, `fuzz`, a strategy, `icb:2` with a
    /// bound, `mcr-p` with two workers. `strategies` are the names that `seqz explore` knows. `None`: there is no such
    /// method.
    #[must_use]
    pub fn parse(name: &str, strategies: &[String]) -> Option<Vec<Self>> {
        match name {
            "check" => return Some(Role::BOTH.map(Self::Check).to_vec()),
            "check:first" => return Some(vec![Self::Check(Role::FIRST)]),
            "check:second" => return Some(vec![Self::Check(Role::SECOND)]),
            "fuzz" => return Some(vec![Self::Fuzz]),
            _ => {}
        }
        let (base, bound) = match name.split_once(':') {
            Some((base, bound)) => (base, Some(bound.parse().ok()?)),
            None => (name, None),
        };
        let known = |base: &str| strategies.iter().any(|strategy| strategy == base);
        let (strategy, workers) = match base.strip_suffix("-p") {
            Some(alone) if !known(base) => (alone, 2),
            _ => (base, 1),
        };
        known(strategy).then(|| {
            vec![Self::Explore {
                strategy: strategy.to_owned(),
                bound,
                workers,
            }]
        })
    }

    /// Returns the arguments that choose the method, which follow the harness.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        match self {
            Self::Check(role) => vec!["--thread-under-test".into(), role.name().into()],
            Self::Fuzz => Vec::new(),
            Self::Explore {
                strategy,
                bound,
                workers,
            } => {
                let mut all = vec!["--strategy".into(), strategy.clone()];
                if let Some(bound) = bound {
                    all.extend(["--bound".into(), bound.to_string()]);
                }
                if *workers > 1 {
                    all.extend(["--jobs".into(), workers.to_string()]);
                }
                all
            }
        }
    }

    /// Returns the command of `seqz` that runs the method.
    #[must_use]
    pub const fn command(&self) -> &'static str {
        match self {
            Self::Check(_) => "check",
            Self::Fuzz => "fuzz",
            Self::Explore { .. } => "explore",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check(role) => write!(f, "check:{}", role.name()),
            Self::Fuzz => write!(f, "fuzz"),
            Self::Explore {
                strategy,
                bound,
                workers,
            } => {
                write!(f, "{strategy}{}", if *workers > 1 { "-p" } else { "" })?;
                bound.map_or(Ok(()), |bound| write!(f, ":{bound}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        let known = ["dfs", "icb", "icb+dpor", "mcr"].map(String::from);
        for name in ["check:second", "fuzz", "icb+dpor", "icb:2", "mcr-p", "dfs"] {
            let [method] = Method::parse(name, &known).unwrap().try_into().unwrap();
            assert_eq!(method.to_string(), name);
        }
        assert_eq!(Method::parse("check", &known).unwrap().len(), 2);
        for name in ["", "check:third", "icb:", "icb:x", "mrc", "-p", "dfs-p:y"] {
            assert_eq!(Method::parse(name, &known), None, "{name}");
        }
    }
}
