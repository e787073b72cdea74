//! Translates what workers say to the original source.

mod classify;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use seqz_runtime::vocabulary::{Place, Scheduled, ThreadInfo};

use crate::diagnostic::{line_span, shown};
use crate::model::apart;
use crate::model::document::{Input, Kind, Role, Site, Thread};
use crate::model::schedule::{Action, Event};
use crate::program::{Generated, Origin, Spawn};
use crate::sources::Sources;
use classify::kind_of_panic;

/// Finds the original of generated places.
pub(crate) struct Original<'a> {
    program: &'a Sources,
    generated: &'a Generated,
    sources: RefCell<HashMap<PathBuf, Option<String>>>,
    /// The places that were translated already: executions have many events and few places.
    sites: RefCell<HashMap<Place, Option<Site>>>,
}

impl<'a> Original<'a> {
    pub(crate) fn new(program: &'a Sources, generated: &'a Generated) -> Self {
        Self {
            program,
            generated,
            sources: RefCell::default(),
            sites: RefCell::default(),
        }
    }

    pub(crate) fn origin(&self, place: &Place) -> Option<Origin> {
        self.generated
            .lookup(Path::new(&place.file), place.line, place.column)
    }

    /// Returns the original of a place; `None` where the place isn't the user's code.
    pub(crate) fn site(&self, place: &Place) -> Option<Site> {
        if let Some(site) = self.sites.borrow().get(place) {
            return site.clone();
        }
        let site = self.find_site(place);
        self.sites.borrow_mut().insert(place.clone(), site.clone());
        site
    }

    /// Whether a place is in the program itself, and not in a dependency.
    pub(crate) fn is_of_program(&self, site: &Site) -> bool {
        self.program.has_file(&site.file)
    }

    fn find_site(&self, place: &Place) -> Option<Site> {
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
        self.source(file, |source| statement(source, line))
            .unwrap_or_default()
    }

    /// Returns what `read` makes of a file's text; `None` if the file can't be read.
    fn source<R>(&self, file: &Path, read: impl FnOnce(&str) -> R) -> Option<R> {
        let mut sources = self.sources.borrow_mut();
        let source = sources
            .entry(file.to_owned())
            .or_insert_with(|| self.program.text(file));
        source.as_deref().map(read)
    }

    /// Translates a message of the runtime, in which places are written as `{at file:line:column}`.
    pub(crate) fn message(&self, text: &str) -> String {
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

    /// Returns the kind of a panic.
    pub(crate) fn kind_of_panic(&self, message: &str, place: Option<&Place>) -> Kind {
        let code = place
            .and_then(|place| self.origin(place))
            .and_then(|origin| {
                let line = self.source(&origin.file, |source| {
                    source[line_span(source, origin.line, origin.column)].to_owned()
                })?;
                Some(line)
            });
        kind_of_panic(message, code.as_deref().unwrap_or_default())
    }

    /// Translates the events of a schedule.
    pub(crate) fn schedule(&self, schedule: &[Scheduled]) -> Vec<Event> {
        // A thread that waits on a condition variable gives its lock back and takes it again: the name at these events
        // is that of the condition variable.
        let mut waits = HashMap::new();
        for scheduled in schedule {
            if let Some(place) = &scheduled.place
                && Action::from(scheduled.action).is_waiting()
            {
                waits.insert(place, scheduled.object);
            }
        }
        let name = |scheduled: &Scheduled| {
            let place = scheduled.place.as_ref()?;
            let is_named = waits.get(place).is_none_or(|&it| it == scheduled.object);
            self.origin(place)?.name.filter(|_| is_named)
        };
        let mut names = HashMap::new();
        for scheduled in schedule {
            if let Some(name) = name(scheduled) {
                names.entry(scheduled.object).or_insert(name);
            }
        }
        let mut events: Vec<Event> = schedule
            .iter()
            .map(|scheduled| {
                let action = Action::from(scheduled.action);
                // The drop of a guard has no name of its own; its lock has.
                let known = || names.get(&scheduled.object).cloned();
                Event {
                    thread: scheduled.thread,
                    action,
                    object: scheduled.object,
                    variable: name(scheduled)
                        .or_else(known)
                        .filter(|_| action.has_variable()),
                    site: scheduled.place.as_ref().and_then(|place| self.site(place)),
                    saw: scheduled.saw,
                }
            })
            .collect();
        apart::number(&mut events);
        events
    }

    /// Translates a thread; a thread without a name gets the name that the source has for it.
    pub(crate) fn thread(&self, thread: &ThreadInfo, known: &[Spawn]) -> Thread {
        let spawned = thread
            .spawned_at
            .as_ref()
            .and_then(|place| self.site(place));
        let name = thread.name.clone().or_else(|| {
            let at = spawned.as_ref()?;
            let is_there = |spawn: &&Spawn| spawn.line == at.line && spawn.file == at.file;
            let mut there = known.iter().filter(is_there);
            // Two threads that are started on one line can't be told apart.
            there
                .next()
                .filter(|_| there.next().is_none())?
                .name
                .clone()
        });
        Thread { name, spawned }
    }
}

/// Returns the text of a line. Text in brackets that the line leaves open is appended: the line `assert!(` by itself
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

/// Returns the number of brackets that a line leaves open. Brackets in strings count, too: a text that goes on too far
/// does no harm.
fn depth(line: &str) -> i32 {
    line.chars()
        .map(|c| match c {
            '(' | '[' => 1,
            ')' | ']' => -1,
            _ => 0,
        })
        .sum()
}

pub(crate) fn inputs(values: &[(String, String)]) -> Vec<Input> {
    let input = |(name, value): &(String, String)| Input {
        name: name.clone(),
        value: value.clone(),
    };
    values.iter().map(input).collect()
}

impl From<seqz_runtime::Role> for Role {
    fn from(role: seqz_runtime::Role) -> Self {
        Self(role.0)
    }
}

impl From<Role> for seqz_runtime::Role {
    fn from(role: Role) -> Self {
        Self(role.0)
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
