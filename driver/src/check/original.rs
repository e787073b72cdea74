//! A worker's findings, told about the original source.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::classify::kind_of_panic;
use crate::diagnostic::{line_span, shown};
use crate::program::{Generated, Origin, Program};
use crate::report::document::{Bug, Input, Kind, NonLocalRead, Op, Role, Site, Step, Thread};
use crate::worker::message;

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

    fn origin(&self, place: &message::Place) -> Option<Origin> {
        self.generated
            .lookup(Path::new(&place.file), place.line, place.column)
    }

    /// The original of a place; none where it isn't the user's code.
    pub(super) fn site(&self, place: &message::Place) -> Option<Site> {
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
        let text = source
            .as_deref()
            .map(|source| &source[line_span(source, line, 1)]);
        text.unwrap_or_default().trim().to_owned()
    }

    pub(super) fn thread(&self, thread: &message::ThreadInfo) -> Thread {
        Thread {
            name: thread.name.clone(),
            spawned: thread
                .spawned_at
                .as_ref()
                .and_then(|place| self.site(place)),
        }
    }

    /// A finding as a bug.
    pub(super) fn bug(&self, finding: &message::Finding) -> Bug {
        let role = Role::from(finding.choice.role);
        let pairs = &finding.choice.pairs;
        let names = self.names(finding);
        let mut trace: Vec<Step> = Vec::with_capacity(finding.interleaving.len());
        let mut reads: Vec<NonLocalRead> = Vec::with_capacity(pairs.len());
        // The step at which an event of T' stands in the trace; a non-local read comes after the write that it sees.
        let mut written = HashMap::new();
        for step in &finding.interleaving {
            let at = trace.len() as u32;
            let (thread, event) = match *step {
                message::Step::UnderTest(i) => (role, finding.under_test.get(i as usize)),
                message::Step::Interfering(i) => {
                    written.insert(i, at);
                    (role.other(), finding.interfering.get(i as usize))
                }
            };
            let Some(event) = event else { continue };
            let mut drawn = self.step(thread, event, &names);
            if let (message::Step::UnderTest(_), Some(source)) = (step, event.source)
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
                    read,
                    write,
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
                message::Kind::Panic => kind_of_panic(&finding.message),
                message::Kind::Deadlock => Kind::Deadlock,
                message::Kind::DataRace => Kind::DataRace,
            },
            message: finding.message.clone(),
            site: self.site(&finding.place),
            other_site: finding
                .other_place
                .as_ref()
                .and_then(|place| self.site(place)),
            k: pairs.len() as u32,
            under_test: role,
            inputs: inputs(&finding.choice),
            non_local_reads: reads,
            trace,
            count: finding.count,
            also_found: Vec::new(),
        }
    }

    /// The short name of each object, from the first place that has one for it.
    fn names(&self, finding: &message::Finding) -> HashMap<u32, String> {
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

    fn step(&self, thread: Role, event: &message::Event, names: &HashMap<u32, String>) -> Step {
        let object = object(event.op);
        let here = self.origin(&event.place).and_then(|origin| origin.name);
        Step {
            thread,
            op: op(event.op),
            object,
            // A guard's drop has no name of its own; its lock has.
            variable: here.or_else(|| names.get(&object?).cloned()),
            value: event.value.clone(),
            site: self.site(&event.place),
            pair: None,
        }
    }
}

pub(super) fn inputs(choice: &message::Choice) -> Vec<Input> {
    let input = |(name, value): &(String, String)| Input {
        name: name.clone(),
        value: value.clone(),
    };
    choice.inputs.iter().map(input).collect()
}

const fn object(op: message::Op) -> Option<u32> {
    use message::Op as M;
    match op {
        M::Read(x)
        | M::Write(x)
        | M::Update(x)
        | M::Acquire(x, _)
        | M::Release(x, _)
        | M::TryFail(x, _) => Some(x),
        M::Join => None,
    }
}

const fn op(op: message::Op) -> Op {
    use message::LockMode::{Exclusive, Shared};
    use message::Op as M;
    match op {
        M::Read(_) => Op::Read,
        M::Write(_) => Op::Write,
        M::Update(_) => Op::Update,
        M::Acquire(_, Exclusive) => Op::Lock,
        M::Acquire(_, Shared) => Op::LockShared,
        M::Release(_, Exclusive) => Op::Unlock,
        M::Release(_, Shared) => Op::UnlockShared,
        M::TryFail(..) => Op::TryLockFailed,
        M::Join => Op::Join,
    }
}

impl From<message::Role> for Role {
    fn from(role: message::Role) -> Self {
        match role {
            message::Role::First => Self::First,
            message::Role::Second => Self::Second,
        }
    }
}

impl From<Role> for message::Role {
    fn from(role: Role) -> Self {
        match role {
            Role::First => Self::First,
            Role::Second => Self::Second,
        }
    }
}
