//! Runs a program through the enumeration of P̂ₖ, and tells where that differs from the interpreter's results.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::rc::Rc;

use seqz_runtime::engine::{Bug, Ending, Limits, Machine, Solver};
use seqz_runtime::feasibility::{Interleaving, Step, validate};
use seqz_runtime::log::{Log, TEvent};
use seqz_runtime::vocabulary::BugKind;
use seqz_runtime::{Bound, Pair, ReadId, Role as EngineRole, WriteId};

use crate::compile::Role;
use crate::execute::Harness;
use crate::interpret::{Behaviours, End, Failure, Pairs};
use crate::judges::{Complaints, Judged, Judges};
use crate::program::Program;
use crate::replay::replay;
use crate::search::{self, Summary};

/// More executions than any program of the generator's size has.
const TOO_MANY: usize = 100_000;

/// What the engine says of one choice of non-local reads.
#[derive(Debug)]
struct Node {
    ending: Ending,
    failures: BTreeSet<Failure>,
}

/// All that the engine says of a program in a role.
#[derive(Debug, Default)]
struct Observed {
    nodes: BTreeMap<Pairs, Node>,
    /// Failures that T' has by itself: the other role's.
    of_interfering: BTreeSet<Failure>,
    /// The smallest k at which T fails of a lock that T' has poisoned.
    of_poison: Option<usize>,
    /// What is wrong whatever the interpreter says.
    wrong: Vec<String>,
}

impl Observed {
    fn findings(&self) -> BTreeMap<Failure, usize> {
        let mut least = BTreeMap::new();
        for (pairs, node) in &self.nodes {
            for &failure in &node.failures {
                let k = least.entry(failure).or_insert(pairs.len());
                *k = pairs.len().min(*k);
            }
        }
        least
    }
}

impl Observed {
    fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for pairs in self.nodes.keys() {
            let k = pairs.len();
            summary
                .executions
                .resize(summary.executions.len().max(k + 1), 0);
            summary.executions[k] += 1;
        }
        for (failure, k) in self.findings() {
            let kind = match failure {
                Failure::Assertion(_) => BugKind::Panic,
                Failure::Deadlock | Failure::Relock => BugKind::Deadlock,
            };
            let least = summary.smallest.entry(kind).or_insert(k);
            *least = k.min(*least);
        }
        if let Some(k) = self.of_poison {
            let least = summary.smallest.entry(BugKind::Panic).or_insert(k);
            *least = k.min(*least);
        }
        summary
    }
}

/// The engine with all judges of feasibility.
pub(crate) struct Engine {
    machine: Machine,
    complaints: Complaints,
    /// The logs that the engine has asked about.
    pub(crate) judged: Judged,
    /// How many executions there were.
    pub(crate) executions: usize,
}

impl Engine {
    /// An engine. There can be one at a time.
    pub(crate) fn new() -> Self {
        let complaints = Rc::new(RefCell::new(Vec::new()));
        let judged = Judged::default();
        let heard = Rc::clone(&complaints);
        let solver = Solver::Compare {
            other: Box::new(Judges::new(Rc::clone(&complaints), Rc::clone(&judged))),
            differs: Box::new(move |log, by_grid, verdict| {
                let message =
                    format!("incremental grid says {by_grid}, the judges {verdict:?}\n{log:#?}");
                heard.borrow_mut().push(message);
            }),
        };
        Self {
            machine: Machine::new(Limits::default(), solver),
            complaints,
            judged,
            executions: 0,
        }
    }

    /// Where the engine and the interpreter differ on the program, in words; empty if nowhere.
    pub(crate) fn differences(&mut self, program: &Program, expected: &[Behaviours; 2]) -> String {
        let harness = Harness::new(program);
        let bound = Bound {
            inputs: Vec::new(),
            program: Box::new(move || harness.run()),
            safe: program.safe,
        };
        let mut text = String::new();
        let expected = &without_what_nobody_waits_for(program, expected);
        let observed = Role::ALL.map(|role| self.enumerate(program, &bound, role));
        for (index, role) in Role::ALL.into_iter().enumerate() {
            let (expected, other, observed) =
                (&expected[index], &expected[1 - index], &observed[index]);
            let mut differences = differences(expected, other, observed);
            differences += &search::differences(
                &mut self.machine,
                &bound,
                engine_role(role),
                &observed.summary(),
            );
            if !differences.is_empty() {
                let _ = writeln!(text, "T is {role:?}:\n{differences}");
            }
        }
        for complaint in self.complaints.borrow_mut().drain(..) {
            let _ = writeln!(text, "{complaint}");
        }
        text
    }

    /// Every choice of non-local reads that executions reveal, from none on.
    fn enumerate(&mut self, program: &Program, bound: &Bound, role: Role) -> Observed {
        let mut observed = Observed::default();
        let engine_role = engine_role(role);
        self.machine.forget();
        let mut open: Vec<Vec<Pair>> = vec![Vec::new()];
        while let Some(pairs) = open.pop() {
            self.executions += 1;
            self.machine.forget_bugs();
            let ran = self.machine.run(engine_role, &pairs, true, bound);
            let Ok(ending) = ran else {
                observed
                    .wrong
                    .push("T' did something else than before".to_owned());
                break;
            };
            let mut failures = BTreeSet::new();
            for (bug, _) in self.machine.bugs() {
                let own = bug.role == engine_role;
                if let Err(why) = confirm(bug, bound) {
                    observed.wrong.push(why);
                }
                if is_of_poison(&bug.message) {
                    if own {
                        let k = observed.of_poison.unwrap_or(pairs.len());
                        observed.of_poison = Some(k.min(pairs.len()));
                    }
                    continue;
                }
                match judge(program, role, own, bug) {
                    Ok(failure) if own => failures.insert(failure),
                    Ok(failure) => observed.of_interfering.insert(failure),
                    Err(why) => {
                        observed.wrong.push(why);
                        true
                    }
                };
            }
            for next in self.machine.revealed().pairs() {
                open.push(pairs.iter().copied().chain([next]).collect());
            }
            let name = plain(&pairs);
            if observed
                .nodes
                .insert(name.clone(), Node { ending, failures })
                .is_some()
            {
                observed.wrong.push(format!("{name:?} was executed twice"));
            }
            if observed.nodes.len() > TOO_MANY {
                observed
                    .wrong
                    .push("there's no end of executions".to_owned());
                break;
            }
        }
        observed
    }
}

/// Where no schedule leaves the harness waiting (an assertion of its own ends it before, always), threads that are stuck beside
/// it are no failure: the process ends with the harness. The interpreter doesn't know what comes after a failure.
#[cfg(feature = "scheduler")]
fn without_what_nobody_waits_for(program: &Program, all: &[Behaviours; 2]) -> [Behaviours; 2] {
    let is_stuck = |failure: &Failure| matches!(failure, Failure::Relock | Failure::Deadlock);
    let mut all = all.clone();
    let mut findings = all.iter().flat_map(|found| found.traces.keys());
    if !findings.any(is_stuck) || crate::schedules::can_hang(program) {
        return all;
    }
    for found in &mut all {
        found.traces.retain(|failure, _| !is_stuck(failure));
        for ends in found.ends.values_mut() {
            ends.retain(|end| !matches!(end, End::Failed(failure) if is_stuck(failure)));
        }
    }
    all
}

/// Without a scheduler there is nobody to ask, and what can be stuck is told.
#[cfg(not(feature = "scheduler"))]
fn without_what_nobody_waits_for(_program: &Program, all: &[Behaviours; 2]) -> [Behaviours; 2] {
    all.clone()
}

/// Whether a thread fails only since another one has failed under a lock. The interpreter takes that for an end and no failure;
/// whether it is one depends on what becomes of the other thread's panic.
pub(crate) fn is_of_poison(message: &str) -> bool {
    message.ends_with("PoisonError { .. }")
}

fn engine_role(role: Role) -> EngineRole {
    match role {
        Role::First => EngineRole::FIRST,
        Role::Second => EngineRole::SECOND,
    }
}

fn plain(pairs: &[Pair]) -> Pairs {
    pairs
        .iter()
        .map(|&(ReadId(read), WriteId(write))| (read, write))
        .collect()
}

/// Runs the program itself, with real concurrency, in the order of the bug's interleaving.
#[cfg(feature = "scheduler")]
fn confirm(bug: &Bug, bound: &Bound) -> Result<(), String> {
    use seqz_runtime::vocabulary::Confirmation;
    match seqz_runtime::scheduled::witness::confirm(bug, &*bound.program) {
        Confirmation::Confirmed(_) => Ok(()),
        other => Err(format!("not confirmed: {other:#?}\n{bug}")),
    }
}

#[cfg(not(feature = "scheduler"))]
fn confirm(_bug: &Bug, _bound: &Bound) -> Result<(), String> {
    Ok(())
}

/// Checks a bug's proof: the interleaving has to be one of the log, and one of the program that ends in the failure.
fn judge(program: &Program, role: Role, own: bool, bug: &Bug) -> Result<Failure, String> {
    let failure = match bug.kind {
        BugKind::Panic => {
            let id = bug
                .message
                .strip_prefix("assertion ")
                .and_then(|id| id.parse().ok());
            Failure::Assertion(id.ok_or_else(|| format!("a panic of no assertion: {bug:#?}"))?)
        }
        BugKind::Deadlock if bug.message.contains("holds itself") => Failure::Relock,
        BugKind::Deadlock => Failure::Deadlock,
        other => return Err(format!("{other:?} in a program that has none: {bug:#?}")),
    };
    let under_test: Vec<TEvent> = bug
        .under_test
        .iter()
        .map(|event| TEvent {
            op: event.op,
            source: event.source,
        })
        .collect();
    let interfering: Vec<_> = bug.interfering.iter().map(|event| event.op).collect();
    let log = Log {
        under_test: &under_test,
        interfering: &interfering,
    };
    let interleaving = Interleaving(bug.interleaving.clone());
    validate(&log, &interleaving)
        .map_err(|why| format!("{failure:?}: no interleaving of its log: {why}\n{bug:#?}"))?;

    let role = match (own, role) {
        (true, role) => role,
        (false, Role::First) => Role::Second,
        (false, Role::Second) => Role::First,
    };
    // Blocks that are open at the start are logged, and that the spawned thread starts inside of them. They're in the
    // interpreter's first state.
    let mut opening: [usize; 2] = match (&program.held_from_start, role) {
        (None, _) => [0, 0],
        (Some(_), Role::First) => [2, 1],
        (Some(_), Role::Second) => [1, 2],
    };
    let order: Vec<bool> = bug
        .interleaving
        .iter()
        .map(|step| matches!(step, Step::UnderTest(_)))
        .filter(|&under_test| {
            let left = &mut opening[usize::from(!under_test)];
            let logged = *left == 0;
            *left = left.saturating_sub(1);
            logged
        })
        .collect();
    let (end, pairs) = replay(program, role, &order)
        .map_err(|why| format!("{failure:?}: no interleaving of the program: {why}\n{bug:#?}"))?;
    if end != Some(End::Failed(failure)) {
        return Err(format!(
            "{failure:?}: its interleaving ends in {end:?}\n{bug:#?}"
        ));
    }
    if pairs != plain(&bug.pairs) {
        return Err(format!(
            "{failure:?}: its interleaving has the pairs {pairs:?}\n{bug:#?}"
        ));
    }
    Ok(failure)
}

/// Where the engine's results for a role differ from the interpreter's (`other`: those for the other role).
fn differences(expected: &Behaviours, other: &Behaviours, observed: &Observed) -> String {
    let mut text = String::new();
    let (wanted, found) = (expected.findings(), observed.findings());
    if wanted != found {
        let _ = writeln!(
            text,
            "  failures and smallest k: interpreter {wanted:?}, engine {found:?}"
        );
        for (failure, (k, trace)) in &expected.traces {
            if found.get(failure) != Some(k) {
                let _ = writeln!(text, "  {failure:?} by the interpreter, k = {k}:");
                for step in trace {
                    let _ = writeln!(text, "    {step}");
                }
            }
        }
    }
    for failure in &observed.of_interfering {
        if other.findings().get(failure) != Some(&0) {
            let _ = writeln!(
                text,
                "  {failure:?} of T' alone is none of the other role at k = 0"
            );
        }
    }
    let nothing = BTreeSet::new();
    for (pairs, node) in &observed.nodes {
        let ends = expected.ends.get(pairs).unwrap_or(&nothing);
        let failures: BTreeSet<Failure> = ends
            .iter()
            .filter_map(|end| match end {
                End::Failed(failure) => Some(*failure),
                End::Passed => None,
            })
            .collect();
        // That an execution which meets a deadlock could also pass is nothing that the engine tells.
        let right = failures == node.failures
            && match &node.ending {
                Ending::Passed => ends.contains(&End::Passed),
                Ending::Bug => {
                    !failures.is_empty()
                        || !observed.of_interfering.is_empty()
                        || observed.of_poison.is_some()
                }
                Ending::Infeasible | Ending::Stuck => !ends.contains(&End::Passed),
                _ => false,
            };
        if !right {
            let _ = writeln!(
                text,
                "  at {pairs:?}: interpreter {ends:?}, engine {node:?}"
            );
        }
    }
    for (pairs, ends) in &expected.ends {
        if !observed.nodes.contains_key(pairs) {
            let _ = writeln!(
                text,
                "  at {pairs:?}: interpreter {ends:?}, no execution of the engine"
            );
        }
    }
    for wrong in &observed.wrong {
        let _ = writeln!(text, "  {wrong}");
    }
    text
}
