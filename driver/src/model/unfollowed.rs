//! What a harness reaches that seqz can run but not follow: what two threads do through it is no event, so a search
//! promises nothing of a harness that reaches any.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::document::Site;
use seqz_runtime::vocabulary::{Asked, state_of};

/// Something that is not followed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NotFollowed {
    /// The crate that has it, unless that is the program's own.
    #[serde(rename = "crate")]
    pub package: Option<String>,
    /// A description, as in "a `Mutex`".
    pub what: String,
    /// The place; in another crate, relative to that crate's directory.
    pub site: Option<Site>,
    /// Whether the program may do, under seqz, what it can't do otherwise: its failures prove nothing then.
    #[serde(default)]
    pub distorts: bool,
    /// Whether threads may synchronize there: if not, the code only accesses memory that they share.
    #[serde(skip)]
    pub synchronizes: bool,
}

impl NotFollowed {
    /// Returns it as part of a sentence: "crate `x` (a `Mutex`, src/lib.rs:12)".
    #[must_use]
    pub fn phrase(&self) -> String {
        let place = self
            .site
            .as_ref()
            .map(|site| format!("{}:{}", site.file, site.line));
        match (&self.package, place) {
            (Some(package), Some(place)) => format!("crate `{package}` ({}, {place})", self.what),
            (Some(package), None) => format!("crate `{package}` ({})", self.what),
            (None, Some(place)) => format!("{} ({place})", self.what),
            (None, None) => self.what.clone(),
        }
    }
}

/// Whether failures of a harness that reaches these prove nothing.
#[must_use]
pub fn distort(all: &[NotFollowed]) -> bool {
    all.iter().any(|it| it.distorts)
}

/// Whether accesses to memory that the source shows can be checked: all that these do beside is to access memory.
#[must_use]
pub fn only_access_memory(all: &[NotFollowed]) -> bool {
    !all.is_empty() && all.iter().all(|it| !it.synchronizes)
}

/// Returns what is said beside a failure that proves nothing.
#[must_use]
pub fn doubt(all: &[NotFollowed]) -> String {
    let first = all.iter().find(|it| it.distorts);
    let why = first.map_or_else(String::new, NotFollowed::phrase);
    if why == Asked::Turns.kind() {
        return format!(
            "Doubtful: it may come of {why}: what it waited for is not followed, and no system makes the others wait for so \
             long. It does not count as a failure."
        );
    }
    if first.is_some_and(|it| it.what.starts_with("assembly")) {
        return format!(
            "Doubtful: it may come of {why}. Atomics and locks are larger under seqz than std's, and their values lie elsewhere in \
             them. It does not count as a failure."
        );
    }
    format!(
        "Doubtful: it may come of {why}. seqz runs all threads of the program on one of the system, which is not told apart \
         there. It does not count as a failure."
    )
}

/// Adds what an execution may leave behind for the next one, in words, but for the state of functions that the harness
/// does not reach.
pub fn add(all: &mut Vec<NotFollowed>, left: Vec<String>, idle_functions: &BTreeSet<String>) {
    let idle: Vec<String> = idle_functions.iter().map(|it| state_of(it)).collect();
    for what in left {
        if !idle.contains(&what) {
            add_doubtful(all, what, None);
        }
    }
}

/// Adds something of the program that may not be under seqz as it is without, in words.
pub fn add_doubtful(all: &mut Vec<NotFollowed>, what: String, site: Option<Site>) {
    let doubtful = NotFollowed {
        package: None,
        what,
        site,
        distorts: false,
        synchronizes: true,
    };
    add_all(all, &[doubtful]);
}

/// Adds those that are not there.
pub fn add_all(all: &mut Vec<NotFollowed>, more: &[NotFollowed]) {
    for what in more {
        if !all.contains(what) {
            all.push(what.clone());
        }
    }
}

/// Adds what an execution has asked of the operating system, unless the source has shown it; `reads` is the first file that an
/// execution has read or looked for.
pub fn add_asked(all: &mut Vec<NotFollowed>, reads: &mut Option<String>, asked: &[Asked]) {
    for asked in asked {
        let kind = asked.kind();
        // Where all that a thread can wait for is followed, a thread that gets no turn behaves as on a slow machine.
        let is_fair = matches!(asked, Asked::Turns) && all.iter().all(|it| !it.synchronizes);
        if is_fair || all.iter().any(|known| known.what.starts_with(kind)) {
            continue;
        }
        let what = match asked {
            // What is read holds for all executions alike.
            Asked::Read(path) => {
                reads.get_or_insert_with(|| path.clone());
                continue;
            }
            Asked::File(path) => format!("{kind} that it changes: `{path}`"),
            Asked::Socket | Asked::Pipe => format!("{kind} that it opens"),
            Asked::Process => format!("{kind} that it starts"),
            Asked::Thread => format!("{kind} that a dependency starts"),
            Asked::Input => format!("{kind}, which it reads"),
            Asked::Turns | Asked::Random | Asked::Ids => kind.to_owned(),
        };
        all.push(NotFollowed {
            package: None,
            what,
            site: None,
            distorts: matches!(asked, Asked::Thread | Asked::Turns),
            synchronizes: true,
        });
    }
}

/// The number of items that a sentence names.
const NAMED: usize = 3;

/// Returns all items in a sentence: "not followed: crate `x` (a `Mutex`, src/lib.rs:12)".
#[must_use]
pub fn sentence(all: &[NotFollowed]) -> String {
    let mut named: Vec<_> = all.iter().take(NAMED).map(NotFollowed::phrase).collect();
    if all.len() > NAMED {
        named.push(format!("and {} more", all.len() - NAMED));
    }
    format!("not followed: {}", named.join(", "))
}
