//! Where the engine and the interpreter differ on a program.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use seqz_explore::{Dfs, Odpor, Search as Exploration, Strategy};
use seqz_runtime::check::{Bounds, Search, Trouble, machine};
use seqz_runtime::engine::Solver;
use seqz_runtime::scheduled::{Machine, Settings, witness};
use seqz_runtime::vocabulary::{BugKind, Confirmation, FailureKind};
use seqz_runtime::{Bound, Role};

use crate::interpret::Failure;
use crate::program::Program;

/// More non-local reads than any of the programs can have.
const K_MAX: usize = 40;

/// How many executions of the scheduled machine are few.
const FEW: u64 = 1_000;

/// What has been compared.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) programs: u64,
    /// Programs that the sequential program refuses.
    pub(crate) refused: u64,
    /// Roles in which the search says that all has been executed.
    exhausted: u64,
    roles: u64,
    /// Failures that the interpreter finds in a role.
    pub(crate) failures: u64,
    /// The deadlocks among them.
    deadlocks: u64,
    /// Roles in which T' alone may wait for ever.
    left: u64,
    executions: u64,
    explored: u64,
    /// Failures that are not found where the search doesn't say that it has executed all.
    missed_openly: u64,
}

/// What the search finds in one role.
#[derive(Default)]
struct Found {
    failures: BTreeSet<Failure>,
    /// The k at which each of them was found.
    smallest: BTreeMap<Failure, usize>,
    exhausted: bool,
    /// Why the program can't be run.
    refused: Option<String>,
    wrong: String,
}

/// The assertion that fails with this message; none for what follows from another thread's panic.
fn assertion(message: &str) -> Option<Failure> {
    let id = message.strip_prefix("assertion ")?;
    Some(Failure::Assertion(id.parse().ok()?))
}

impl Tally {
    /// Where the two differ, in words.
    pub(crate) fn differences(&mut self, program: &Program, explores: bool) -> String {
        let mut text = String::new();
        let program = Arc::new(program.clone());
        let all = program.interpret(None);
        self.programs += 1;
        if explores {
            for (name, seen) in [
                ("dfs", explored(&program, Dfs::new())),
                ("odpor", explored(&program, Odpor::new())),
            ] {
                let Some(seen) = seen else { continue };
                self.explored += 1;
                if seen != all.failures {
                    let _ = writeln!(text, "  {name}: {seen:?}, interpreter: {:?}", all.failures);
                }
            }
        }
        let mut refused = false;
        let roles = [Role::FIRST, Role::SECOND];
        let both = roles.map(|role| self.search(&program, role));
        let all_wanted = [0, 1].map(|thread| program.interpret(Some(thread)));
        for (thread, (role, found)) in roles.into_iter().zip(&both).enumerate() {
            text += &found.wrong;
            if let Some(why) = &found.refused {
                if std::env::var_os("SEQZ_ORACLE_WHY").is_some() {
                    println!("refused: {why}");
                }
                refused = true;
                continue;
            }
            self.roles += 1;
            self.exhausted += u64::from(found.exhausted);
            let wanted = &all_wanted[thread];
            self.failures += wanted.failures.len() as u64;
            self.deadlocks += u64::from(wanted.failures.contains(&Failure::Deadlock));
            self.left += u64::from(wanted.failures.contains(&Failure::Left));
            for failure in found.failures.difference(&all.failures) {
                let _ = writeln!(text, "  {role:?}: {failure:?} is in no interleaving");
            }
            for (failure, way) in &wanted.ways {
                let (is_found, exhausted) = if *failure == Failure::Left {
                    // The other role may tell, too.
                    let found_exhausted = both.iter().all(|found| found.exhausted);
                    let mut both = both.iter();
                    let found = both.any(|found| found.failures.contains(&Failure::Deadlock));
                    (found, found_exhausted)
                } else {
                    (found.failures.contains(failure), found.exhausted)
                };
                if is_found {
                    // What is a look at a channel, the engine counts in its own way.
                    let (k, least) = (found.smallest.get(failure), wanted.smallest[failure]);
                    let differs = *failure != Failure::Left && k != Some(&least);
                    if differs && program.channel.is_none() {
                        let _ = writeln!(
                            text,
                            "  {role:?}: {failure:?} is found at k = {k:?}, interpreter: {least}; by {way:?}"
                        );
                    }
                    continue;
                }
                if !exhausted {
                    self.missed_openly += 1;
                    if std::env::var_os("SEQZ_ORACLE_OPEN").is_none() {
                        continue;
                    }
                }
                let _ = writeln!(
                    text,
                    "  {role:?}: {failure:?} is missed (exhausted: {exhausted}); by {way:?}"
                );
            }
            for failure in &found.failures {
                let is_wanted = wanted.failures.contains(failure)
                    || *failure == Failure::Deadlock && wanted.failures.contains(&Failure::Left);
                if !is_wanted {
                    let _ = writeln!(text, "  {role:?}: {failure:?} is found, though T' sees T");
                }
            }
        }
        self.refused += u64::from(refused);
        text
    }

    fn search(&mut self, program: &Arc<Program>, role: Role) -> Found {
        let bounds = Bounds {
            k_max: K_MAX,
            ..Bounds::default()
        };
        let again = Arc::clone(program);
        let bound = Bound {
            inputs: Vec::new(),
            program: Box::new(move || again.run()),
            safe: true,
        };
        let mut found = Found {
            exhausted: true,
            ..Found::default()
        };
        let mut machine = machine(&bounds, Solver::Grid);
        let mut search = Search::new(&bound, role, bounds);
        loop {
            match search.next_level(&mut machine, &mut |_, _| true) {
                Ok(level) => {
                    found.exhausted &= level.exhausted();
                    self.executions += level.executions;
                    for (bug, _) in machine.bugs() {
                        let failure = match bug.kind {
                            BugKind::Deadlock => Some(Failure::Deadlock),
                            _ => assertion(&bug.message),
                        };
                        if let Some(failure) = failure.filter(|_| bug.role == role) {
                            found.smallest.entry(failure).or_insert(search.k() - 1);
                        }
                    }
                    if level.executions == 0 {
                        break;
                    }
                }
                Err(Trouble::Unsupported { message, .. }) => {
                    found.refused = Some(message);
                    return found;
                }
                Err(trouble) => {
                    let _ = writeln!(found.wrong, "  {role:?}: {trouble:?}");
                    return found;
                }
            }
            if search.finished() {
                let _ = writeln!(found.wrong, "  {role:?}: there is no end of executions");
                break;
            }
        }
        for (bug, _) in machine.bugs() {
            let confirmation = witness::confirm(bug, &*bound.program);
            if !matches!(confirmation, Confirmation::Confirmed(_)) {
                let what = match confirmation {
                    Confirmation::Diverged { difference, .. } => difference,
                    other => format!("{other:?}").chars().take(40).collect(),
                };
                let _ = writeln!(
                    found.wrong,
                    "  {role:?}: {:?} ({}) of {:?} is not confirmed: {what}",
                    bug.kind, bug.message, bug.role
                );
            }
            if bug.role != role {
                continue;
            }
            match bug.kind {
                BugKind::Deadlock => {
                    found.failures.insert(Failure::Deadlock);
                }
                BugKind::Panic => found.failures.extend(assertion(&bug.message)),
                _ => {
                    let _ = writeln!(found.wrong, "  {role:?}: {bug}");
                }
            }
        }
        found
    }
}

/// What a strategy sees on the scheduled machine; nothing if it takes too many executions.
fn explored(program: &Arc<Program>, strategy: impl Strategy) -> Option<BTreeSet<Failure>> {
    let run = || program.run();
    let mut machine = Machine::new(&run, Settings::default());
    let mut exploration = Exploration::new(strategy);
    let mut seen = BTreeSet::new();
    while exploration.step(&mut machine).unwrap().is_some() {
        assert_eq!(machine.unsupported(), None);
        for failure in machine.failures() {
            match failure.kind {
                FailureKind::Panic => seen.extend(assertion(&failure.message)),
                _ => {
                    seen.insert(Failure::Deadlock);
                }
            }
        }
        if exploration.counts().executions > FEW {
            return None;
        }
    }
    Some(seen)
}
