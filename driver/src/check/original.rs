//! A worker's findings, told about the original source.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::classify::kind_of_panic;
use crate::diagnostic::{line_span, shown};
use crate::program::{Generated, Origin, Program, Spawn};
use crate::report::document::{Bug, Input, Kind, NonLocalRead, Op, Role, Site, Step, Thread};
use seqz_runtime::engine::{self, Event, Place, Value, ValueKind};
use seqz_runtime::feasibility;
use seqz_runtime::log;
use seqz_runtime::worker::message::Finding;

/// Finds original places.
pub(super) struct Original<'a> {
    program: &'a Program,
    generated: &'a Generated,
    sources: RefCell<HashMap<PathBuf, Option<String>>>,
}

impl<'a> Original<'a> {
    pub(super) fn new(program: &'a Program, generated: &'a Generated) -> Self {
        Self {
            program,
            generated,
            sources: RefCell::default(),
        }
    }

    fn origin(&self, place: &Place) -> Option<Origin> {
        self.generated
            .lookup(Path::new(&place.file), place.line, place.column)
    }

    /// The original of a place; none where it isn't the user's code.
    pub(super) fn site(&self, place: &Place) -> Option<Site> {
        let Origin {
            file, line, column, ..
        } = self.origin(place)?;
        let text = self.line(&file, line);
        Some(Site {
            file: shown(&file),
            line,
            column,
            text,
        })
    }

    fn line(&self, file: &Path, line: u32) -> String {
        let mut sources = self.sources.borrow_mut();
        let source = sources
            .entry(file.to_owned())
            .or_insert_with(|| self.program.source(file));
        source
            .as_deref()
            .map(|source| statement(source, line))
            .unwrap_or_default()
    }

    /// A message of the runtime, in which places are written as `{at file:line:column}`.
    pub(super) fn message(&self, text: &str) -> String {
        let mut parts = text.split("{at ");
        let mut told = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (place, rest) = part.split_once('}').unwrap_or((part, ""));
            let mut numbers = place.rsplitn(3, ':');
            let place = (|| {
                let column = numbers.next()?.parse().ok()?;
                let line = numbers.next()?.parse().ok()?;
                let file = numbers.next()?.to_owned();
                self.site(&Place { file, line, column })
            })();
            match place {
                Some(site) => told.push_str(&format!("{}:{}", site.file, site.line)),
                None => told.push_str("a place outside of the program"),
            }
            told.push_str(rest);
        }
        told
    }

    /// A thread, with the name that the source has for it if it was given none.
    pub(super) fn thread(&self, thread: &engine::ThreadInfo, known: &[Spawn]) -> Thread {
        let spawned = thread
            .spawned_at
            .as_ref()
            .and_then(|place| self.site(place));
        let name = thread.name.clone().or_else(|| {
            let line = spawned.as_ref()?.line;
            let mut there = known.iter().filter(|spawn| spawn.line == line);
            // Two on one line can't be told apart.
            there
                .next()
                .filter(|_| there.next().is_none())?
                .name
                .clone()
        });
        Thread { name, spawned }
    }

    /// A finding as a bug.
    pub(super) fn bug(&self, finding: &Finding) -> Bug {
        let role = Role::from(finding.role);
        let pairs = &finding.pairs;
        let names = self.names(finding);
        let mut trace: Vec<Step> = Vec::with_capacity(finding.interleaving.len());
        let mut reads: Vec<NonLocalRead> = Vec::with_capacity(pairs.len());
        // The step at which an event of T' stands in the trace; a non-local read comes after the write that it sees.
        let mut written = HashMap::new();
        for step in &finding.interleaving {
            let at = trace.len() as u32;
            let (thread, event) = match *step {
                feasibility::Step::UnderTest(i) => (role, finding.under_test.get(i as usize)),
                feasibility::Step::Interfering(i) => {
                    written.insert(i, at);
                    (role.other(), finding.interfering.get(i as usize))
                }
            };
            let Some(event) = event else { continue };
            let mut drawn = self.step(thread, event, &names);
            if let (feasibility::Step::UnderTest(_), Some(source)) = (step, event.source)
                && let Some(&(read, write)) = pairs.get(reads.len())
            {
                let number = reads.len() as u32;
                drawn.pair = Some(number);
                let write_step = written.get(&source).copied();
                let mut value = drawn.value.clone();
                let mut write_site = None;
                if let Some(writer) = write_step.and_then(|at| trace.get_mut(at as usize)) {
                    // One write may be seen by several reads; the first one gives it its number.
                    writer.pair.get_or_insert(number);
                    // What a read-modify-write leaves is not what it saw.
                    value = writer.value.clone();
                    write_site = writer.site.clone();
                }
                reads.push(NonLocalRead {
                    read: read.0,
                    write: write.0,
                    variable: drawn.variable.clone(),
                    value,
                    read_step: Some(at),
                    write_step,
                    read_site: drawn.site.clone(),
                    write_site,
                });
            }
            trace.push(drawn);
        }
        Bug {
            kind: match finding.kind {
                engine::BugKind::Panic => kind_of_panic(&finding.message),
                engine::BugKind::Deadlock => Kind::Deadlock,
                engine::BugKind::DataRace => Kind::DataRace,
            },
            message: match finding.kind {
                engine::BugKind::Panic => finding.message.clone(),
                _ => self.message(&finding.message),
            },
            site: self.site(&finding.place),
            other_site: finding
                .other_place
                .as_ref()
                .and_then(|place| self.site(place)),
            other_pending: self.pending(finding),
            k: pairs.len() as u32,
            under_test: role,
            inputs: inputs(&finding.inputs),
            non_local_reads: reads,
            trace,
            run_alone: None,
            count: 1,
            also_found: Vec::new(),
        }
    }

    /// Whether what the finding says of the other place is what T' does next.
    fn pending(&self, finding: &Finding) -> bool {
        let is_interfering =
            |step: &&feasibility::Step| matches!(step, feasibility::Step::Interfering(_));
        let cut = finding.interleaving.iter().filter(is_interfering).count();
        let next = finding.interfering.get(cut).map(|event| &event.place);
        finding.other_place.is_some() && finding.other_place.as_ref() == next
    }

    /// The short name of each object, from the first place that has one for it.
    fn names(&self, finding: &Finding) -> HashMap<u32, String> {
        let mut names = HashMap::new();
        for event in finding.under_test.iter().chain(&finding.interfering) {
            if let Some(object) = object(event.op)
                && let Some(name) = self.origin(&event.place).and_then(|origin| origin.name)
            {
                names.entry(object).or_insert(name);
            }
        }
        names
    }

    fn step(&self, thread: Role, event: &Event, names: &HashMap<u32, String>) -> Step {
        let object = object(event.op);
        let here = self.origin(&event.place).and_then(|origin| origin.name);
        Step {
            thread,
            op: op(event.op),
            object,
            // A guard's drop has no name of its own; its lock has.
            variable: here.or_else(|| names.get(&object?).cloned()),
            value: event
                .value
                .filter(|value| value.kind != ValueKind::Opaque)
                .map(|value: Value| value.to_string()),
            site: self.site(&event.place),
            pair: None,
        }
    }
}

/// The text of a line. What stands in brackets that the line leaves open is put behind it: the line `assert!(` by itself
/// says nothing.
fn statement(source: &str, line: u32) -> String {
    const LONGEST: usize = 200;
    let mut lines = source[line_span(source, line, 1).start..]
        .lines()
        .map(str::trim);
    let mut text = lines.next().unwrap_or_default().to_owned();
    let opens = |text: &str| text.ends_with(['(', '[']);
    if !opens(&text) {
        return text;
    }
    let mut depth = depth(&text);
    for line in lines {
        if !opens(&text) && !line.starts_with([')', ']']) {
            text.push(' ');
        }
        text.push_str(line);
        depth += self::depth(line);
        if depth <= 0 || text.len() > LONGEST {
            break;
        }
    }
    text.replace(",)", ")").replace(",]", "]")
}

/// How many brackets a line leaves open. Those in strings count too: a text that goes on too far does no harm.
fn depth(line: &str) -> i32 {
    line.chars()
        .map(|c| match c {
            '(' | '[' => 1,
            ')' | ']' => -1,
            _ => 0,
        })
        .sum()
}

pub(super) fn inputs(values: &[(String, String)]) -> Vec<Input> {
    let input = |(name, value): &(String, String)| Input {
        name: name.clone(),
        value: value.clone(),
    };
    values.iter().map(input).collect()
}

const fn object(op: log::Op) -> Option<u32> {
    use log::Op as L;
    match op {
        L::Read(x)
        | L::Write(x)
        | L::Update(x)
        | L::Acquire(x, _)
        | L::Release(x, _)
        | L::TryFail(x, _) => Some(x),
        L::Join => None,
    }
}

const fn op(op: log::Op) -> Op {
    use log::LockMode::{Exclusive, Shared};
    use log::Op as L;
    match op {
        L::Read(_) => Op::Read,
        L::Write(_) => Op::Write,
        L::Update(_) => Op::Update,
        L::Acquire(_, Exclusive) => Op::Lock,
        L::Acquire(_, Shared) => Op::LockShared,
        L::Release(_, Exclusive) => Op::Unlock,
        L::Release(_, Shared) => Op::UnlockShared,
        L::TryFail(..) => Op::TryLockFailed,
        L::Join => Op::Join,
    }
}

impl From<seqz_runtime::Role> for Role {
    fn from(role: seqz_runtime::Role) -> Self {
        match role {
            seqz_runtime::Role::First => Self::First,
            seqz_runtime::Role::Second => Self::Second,
        }
    }
}

impl From<Role> for seqz_runtime::Role {
    fn from(role: Role) -> Self {
        match role {
            Role::First => Self::First,
            Role::Second => Self::Second,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_brackets_are_closed() {
        let source = "x;\n    assert!(\n        !a.load(SeqCst),\n        \"text\",\n    );\n    f(a,\n b);\n    g(";
        assert_eq!(statement(source, 1), "x;");
        assert_eq!(statement(source, 2), "assert!(!a.load(SeqCst), \"text\");");
        assert_eq!(statement(source, 6), "f(a,");
        assert_eq!(statement(source, 8), "g(");
    }
}
