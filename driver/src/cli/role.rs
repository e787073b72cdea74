//! `--thread-under-test`.

use crate::check::{Task, UnderTest};
use crate::error::Error;
use crate::fuzz;
use crate::model::document::Role;
use crate::program::Harness;

/// What is to be searched of the harnesses: with each of their threads under test, or with the one that the option means.
///
/// Where a name is given, a run tells which thread has it.
pub(super) fn tasks<'a>(
    harnesses: &[&'a Harness],
    wanted: Option<&str>,
) -> Result<Vec<Task<'a>>, Error> {
    let task = |harness: &&'a Harness| {
        let under_test = match wanted {
            Some(wanted) if harness.unsupported.is_none() => match Role::named(wanted) {
                Some(role) => UnderTest::One(role),
                None if is_known(wanted, harness) => UnderTest::Named(wanted.to_owned()),
                None => return Err(unknown(wanted, harness, true)),
            },
            _ => UnderTest::Each,
        };
        Ok(Task {
            harness,
            under_test,
        })
    };
    harnesses.iter().map(task).collect()
}

/// What is to be fuzzed of the harnesses: each with the roles that its two threads have in turn.
pub(super) fn fuzzed<'a>(
    harnesses: &[&'a Harness],
    wanted: Option<&str>,
) -> Result<Vec<fuzz::Task<'a>>, Error> {
    let task = |harness: &&'a Harness| {
        let roles = match wanted {
            Some(wanted) if harness.unsupported.is_none() => vec![of(wanted, harness)?],
            _ => Role::BOTH.to_vec(),
        };
        Ok(fuzz::Task { harness, roles })
    };
    harnesses.iter().map(task).collect()
}

/// Whether the harness may have a thread of this name beside others.
fn is_known(wanted: &str, harness: &Harness) -> bool {
    let mut spawns = harness.spawns.iter();
    wanted == "main" || spawns.any(|spawn| spawn.name.as_deref() == Some(wanted))
}

/// The role that the option means for a transformation, the first thread if it isn't given.
pub(super) fn of_option(
    wanted: Option<&str>,
    harnesses: &[Harness],
    only: Option<&str>,
) -> Result<Role, Error> {
    let Some(wanted) = wanted else {
        return Ok(Role::FIRST);
    };
    let mut found = None;
    for harness in harnesses
        .iter()
        .filter(|h| only.is_none_or(|name| h.name == name))
    {
        let role = of(wanted, harness)?;
        if found.is_some_and(|other| other != role) {
            return Err(Error::Option {
                message: format!(
                    "`{wanted}` is the {} thread of one harness and the {} of another",
                    found.unwrap_or(role).name(),
                    role.name()
                ),
                help: "say which one with --harness".into(),
            });
        }
        found = Some(role);
    }
    Ok(found.unwrap_or(Role::FIRST))
}

/// The role of the thread that `wanted` names in this harness: by order, by name, or `main`, the thread that runs it.
///
/// With one thread started, the two that run side by side are the harness's own and that one; with more, they are those.
pub(super) fn of(wanted: &str, harness: &Harness) -> Result<Role, Error> {
    let own = harness.spawns.len() == 1;
    if wanted == "main" && own {
        return Ok(Role::FIRST);
    }
    // A loop may start more threads than its source shows.
    if let Some(role) = Role::named(wanted) {
        return Ok(role);
    }
    let named = harness
        .spawns
        .iter()
        .position(|spawn| spawn.name.as_deref() == Some(wanted));
    let role = named.and_then(|at| u8::try_from(at + usize::from(own)).ok());
    role.map(Role).ok_or_else(|| unknown(wanted, harness, own))
}

fn unknown(wanted: &str, harness: &Harness, main: bool) -> Error {
    let mut known = vec!["first".to_owned(), "second".to_owned()];
    if harness.spawns.len() > 2 {
        known.push("third and so on".into());
    }
    if main {
        known.push("main".into());
    }
    known.extend(harness.spawns.iter().filter_map(|spawn| spawn.name.clone()));
    Error::Option {
        message: format!(
            "`{}` has no thread `{wanted}` that could be under test",
            harness.name
        ),
        help: format!("give one of: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::document::Site;
    use crate::program::{HarnessKind, Spawn};

    fn harness(names: &[Option<&str>]) -> Harness {
        Harness {
            not_followed: Vec::new(),
            idle_functions: std::collections::BTreeSet::new(),
            lone: Vec::new(),
            name: "h".into(),
            kind: HarnessKind::Test,
            site: Site {
                file: "a.rs".into(),
                line: 1,
                column: 1,
                text: String::new(),
            },
            parameters: Vec::new(),
            spawns: names
                .iter()
                .map(|name| Spawn {
                    file: "src/lib.rs".to_owned(),
                    line: 1,
                    name: name.map(str::to_owned),
                    scoped: false,
                })
                .collect(),
            ignored: false,
            unsupported: None,
        }
    }

    #[test]
    fn one_thread_runs_beside_the_harness() {
        let harness = harness(&[Some("worker")]);
        assert_eq!(of("main", &harness).unwrap(), Role::FIRST);
        assert_eq!(of("worker", &harness).unwrap(), Role::SECOND);
        assert_eq!(of("second", &harness).unwrap(), Role::SECOND);
    }

    #[test]
    fn two_threads_run_beside_each_other() {
        let harness = harness(&[Some("a"), Some("b")]);
        assert_eq!(of("a", &harness).unwrap(), Role::FIRST);
        assert_eq!(of("b", &harness).unwrap(), Role::SECOND);
        assert!(of("main", &harness).is_err());
        assert!(of("c", &harness).is_err());
    }

    #[test]
    fn more_threads_have_numbers_too() {
        let harness = harness(&[Some("a"), None, Some("c")]);
        assert_eq!(of("c", &harness).unwrap(), Role(2));
        assert_eq!(of("third", &harness).unwrap(), Role(2));
        assert!(of("main", &harness).is_err());
    }
}
