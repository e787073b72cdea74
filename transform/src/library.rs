//! A library that a program depends on, with std's concurrency items replaced as in the program itself.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::bounds::{self, Asked};
use crate::counting::Counting;
use crate::error::Error;
use crate::load::{Crate, LibrarySource};
use crate::map::SourceMap;
use crate::noted::{self, Hidden, Noted};
use crate::options::Mode;
use crate::reached::Parts;
use crate::sharing::MADE;
use crate::source::Place;
use crate::walk::{Analysis, Reasonless, analyze};

/// A loaded library.
pub struct Library {
    program: Crate,
    mode: Mode,
    counting: Counting,
}

/// The files of a library whose events are seen.
#[derive(Debug, Default)]
pub struct Instrumented {
    /// The library's Rust files: the path in the package, and the text.
    pub files: Vec<(PathBuf, String)>,
    /// The map of places in these files to places in the library's source.
    pub map: SourceMap,
    /// Code that can't be built with the items that stand for std's.
    pub refused: Vec<Error>,
    /// What of it can be reached.
    pub inside: Inside,
}

/// The parts of a library: which of them a program reaches, and what is in them.
#[derive(Default)]
pub struct Inside {
    parts: Parts,
    noted: Vec<Noted>,
    lone: Vec<(usize, Reasonless, Place)>,
    /// The functions that start threads: the file, and the offset of the name.
    starters: Vec<(usize, usize)>,
}

/// What a program reaches in a library.
#[derive(Clone, Debug, Default)]
pub struct Inner {
    /// Code that can be run but not followed, in the order of the source.
    pub unfollowed: Vec<Hidden>,
    /// The calls outside of loops that may end or fail without a reason.
    pub lone: Vec<(Reasonless, Place)>,
    /// Whether threads are started.
    pub starts_threads: bool,
}

impl Inside {
    /// Whether the library starts threads at all.
    #[must_use]
    pub fn starts_threads(&self) -> bool {
        !self.starters.is_empty()
    }

    /// Adds the names in what code that mentions `names` can reach. Returns whether there were new names.
    pub fn reach(&self, names: &mut BTreeSet<String>) -> bool {
        let before = names.len();
        let reached = self.parts.reached_by(names);
        names.extend(reached.names().iter().cloned());
        names.len() > before
    }

    /// Whether the library includes code that its build script writes.
    #[must_use]
    pub fn has_made(&self) -> bool {
        self.noted.iter().any(|it| it.is(MADE))
    }

    /// Returns all names in the library.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.parts.names().map(str::to_owned)
    }

    /// Returns what is in the parts that code that mentions `names` can reach; `None`: in all parts.
    #[must_use]
    pub fn of(&self, names: Option<&BTreeSet<String>>) -> Inner {
        let reached = names.map(|names| self.parts.reached_by(names));
        let is_reached = |file: usize, at: usize| {
            let reached = reached.as_ref();
            reached.is_none_or(|reached| self.parts.is_reached(reached, file, at))
        };
        let noted = self.noted.iter().filter(|it| is_reached(it.file, it.at));
        let lone = self.lone.iter();
        let lone = lone.filter(|(file, _, place)| is_reached(*file, place.bytes.start));
        Inner {
            unfollowed: noted::told(noted),
            lone: lone
                .map(|(_, what, place)| (*what, place.clone()))
                .collect(),
            starts_threads: self
                .starters
                .iter()
                .any(|(file, at)| is_reached(*file, *at)),
        }
    }
}

impl std::fmt::Debug for Inside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inside")
            .field("noted", &self.noted)
            .finish_non_exhaustive()
    }
}

impl Library {
    /// Loads a library, to be run in this mode.
    ///
    /// # Errors
    /// When the source can't be read or parsed.
    pub fn load(source: &LibrarySource, mode: Mode) -> Result<Self, Error> {
        let program = Crate::of_dependency(source)?;
        let counting = Counting::of(&program);
        Ok(Self {
            program,
            mode,
            counting,
        })
    }

    /// Returns what the library can notice of handles.
    #[must_use]
    pub const fn counting(&self) -> Counting {
        self.counting
    }

    /// Replaces std's concurrency items, for a program in which this can be noticed of handles.
    #[must_use]
    pub fn instrument(&self, counting: Counting) -> Instrumented {
        let program = &self.program;
        let mut analysis = analyze(program, self.mode, counting);
        let mut done = Instrumented::default();
        let parts = Parts::of(program);
        let mut refused = leave_out(program, &mut analysis, &parts);
        // A library is built without copies of values; but a lock needs its value's size.
        let sizes = bounds::add(program, &analysis.tables, Asked::Sized, &mut analysis.edits);
        refused.extend(sizes.err());
        for (number, file) in program.files.iter().enumerate() {
            if file.source.expanded.is_some() {
                continue;
            }
            let edited = analysis.edits[number].apply(file.source.text.as_str());
            let lone = analysis.lone.iter().filter(|lone| lone.file == number);
            done.map.add(
                &file.source,
                &edited,
                analysis.sites[number].clone(),
                lone.map(|lone| (lone.at, lone.in_macro)),
            );
            let mut text = edited.text;
            // Macros of the library name the runtime by the library's name, wherever they are called.
            if number == 0 {
                text.push_str("\n#[doc(hidden)]\npub extern crate seqz_runtime;\n");
            }
            done.files.push((file.source.generated.clone(), text));
        }
        let place = |file: usize, bytes| program.files[file].source.place(bytes);
        done.refused = Error::from_list(refused).map_or_else(Vec::new, |all| all.each().to_vec());
        let facts = analysis.facts.iter();
        let starters = facts.filter(|(_, facts)| !facts.spawns.is_empty());
        let items = &analysis.tables.items;
        let starters = starters.map(|(item, _)| (items[*item].file, items[*item].at));
        done.inside = Inside {
            noted: Noted::all(program, &analysis, &parts),
            lone: analysis
                .lone
                .iter()
                .map(|it| (it.file, it.what, place(it.file, it.bytes.clone())))
                .collect(),
            starters: starters.collect(),
            parts,
        };
        done
    }
}

/// Leaves functions out that can't be run: an execution that comes to one ends there, and says why. Returns what can't be
/// left out: code in no function, or in one whose body decides the type of its result.
fn leave_out(program: &Crate, analysis: &mut Analysis, parts: &Parts) -> Vec<Error> {
    let mut stays = Vec::new();
    let mut left_out = BTreeSet::new();
    for refused in &analysis.errors {
        let is_written = program.files[refused.file].source.expanded.is_none();
        let at = refused.error.place().map_or(0, |place| place.bytes.start);
        match parts.body(refused.file, at).filter(|_| is_written) {
            Some(body) => {
                if left_out.insert((refused.file, body.start)) {
                    let why = refused.error.to_string();
                    let text = format!("{{ ::seqz_runtime::left_out({why:?}) }}");
                    analysis.edits[refused.file].replace(body, text);
                }
            }
            None => stays.push(refused.error.clone()),
        }
    }
    stays
}
