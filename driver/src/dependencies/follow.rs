//! Which dependencies a command asks to be followed.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;

use crate::error::Unfit;

/// The options by which a command names dependencies.
#[derive(Clone, Debug, Default, Args)]
pub struct FollowArgs {
    /// Follow these dependencies alone [default: all that share anything between threads]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    follow: Vec<String>,
    /// Build these dependencies as they are, and promise nothing of harnesses that reach them
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    not_followed: Vec<String>,
}

/// Which dependencies are to be followed.
#[derive(Clone, Debug, Default)]
pub struct Follow {
    /// The options; `None`: no dependency is followed.
    named: Option<FollowArgs>,
    /// The copies that turned out not to fit, by their directories.
    unfit: BTreeMap<String, Unfit>,
    /// Crates that no harness reaches, and that do not compile with copies of others unless they are copies themselves:
    /// they use what a copy implements for std's types.
    users: BTreeSet<String>,
}

impl Follow {
    /// No dependency.
    pub const NOTHING: Self = Self {
        named: None,
        unfit: BTreeMap::new(),
        users: BTreeSet::new(),
    };

    /// The dependencies that these options name.
    #[must_use]
    pub fn named(args: &FollowArgs) -> Self {
        Self {
            named: Some(args.clone()),
            unfit: BTreeMap::new(),
            users: BTreeSet::new(),
        }
    }

    /// The dependencies with these names.
    #[must_use]
    pub fn only(names: &[String]) -> Self {
        if names.is_empty() {
            return Self::NOTHING;
        }
        Self::named(&FollowArgs {
            follow: names.to_vec(),
            not_followed: Vec::new(),
        })
    }

    /// All dependencies that share anything.
    #[must_use]
    pub fn everything() -> Self {
        Self::named(&FollowArgs::default())
    }

    /// Returns this without copies that turned out not to fit. Where a crate without a copy does not compile with them, it is
    /// followed first, and the copies go if that doesn't help.
    pub(crate) fn without(mut self, unfit: &[Unfit]) -> Self {
        let users: BTreeSet<String> = unfit.iter().filter_map(|it| it.user.clone()).collect();
        let new = |it: &&Unfit| it.user.as_ref().is_some_and(|it| !self.users.contains(it));
        let (_, rest): (Vec<&Unfit>, Vec<&Unfit>) = unfit.iter().partition(new);
        let rest: Vec<_> = rest.into_iter().cloned().collect();
        self.users.extend(users);
        self.unfit
            .extend(rest.into_iter().map(|it| (it.directory.clone(), it)));
        self
    }

    /// Whether a crate is to be followed though no harness reaches it.
    pub(super) fn follows_user(&self, library: &str) -> bool {
        self.users.contains(&library.replace('-', "_"))
    }

    /// Whether a package is to be followed if it shares anything.
    pub(super) fn wants(&self, package: &str) -> bool {
        let Some(named) = &self.named else {
            return false;
        };
        let is = |name: &String| is_name(name, package);
        !named.not_followed.iter().any(is)
            && (named.follow.is_empty() || named.follow.iter().any(is))
    }

    /// Whether the options name any dependency.
    pub(crate) fn names_any(&self) -> bool {
        !self.unknown(&[]).is_empty()
    }

    /// Returns the names in the options that are the name of none of these packages.
    pub(crate) fn unknown(&self, packages: &[String]) -> Vec<&str> {
        let named = self.named.iter();
        let names = named.flat_map(|named| named.follow.iter().chain(&named.not_followed));
        names
            // An empty list names nothing.
            .filter(|name| !name.is_empty())
            .filter(|name| !packages.iter().any(|package| is_name(name, package)))
            .map(String::as_str)
            .collect()
    }

    /// Whether any dependency may be followed.
    pub(super) const fn is_asked(&self) -> bool {
        self.named.is_some()
    }

    /// Returns why the copy with this directory doesn't fit.
    pub(super) fn unfit(&self, directory: &str) -> Option<&Unfit> {
        self.unfit.get(directory)
    }
}

/// Whether a user means this package by a name: the crate may have underscores where the package has hyphens.
fn is_name(name: &str, package: &str) -> bool {
    name.replace('-', "_") == package.replace('-', "_")
}
