//! Code that can be run but not followed, as it is told of.

use std::collections::HashSet;

use crate::load::Crate;
use crate::reached::Parts;
use crate::source::Place;
use crate::unsafe_code;
use crate::walk::Analysis;

/// Code of the program that can be run but not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// A description of the code, as in "a `transmute`".
    pub what: String,
    /// The place of the code.
    pub place: Place,
    /// Whether threads may synchronize there: if not, the code only accesses memory that they share.
    pub synchronizes: bool,
    /// Whether the code may do another thing under seqz than it does otherwise.
    pub distorts: bool,
}

/// Such code, wherever it is in a crate.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    pub(crate) file: usize,
    pub(crate) at: usize,
    what: String,
    /// Whether the code counts only beside other code of its kind that changes what it reads.
    reads: bool,
    /// Whether the code is an import, which tells less than a use of the import.
    import: bool,
    synchronizes: bool,
    place: Place,
}

impl Noted {
    /// Whether the code has this description.
    pub(crate) fn is(&self, what: &str) -> bool {
        self.what == what
    }

    /// Returns all such code of a crate.
    pub(crate) fn all(program: &Crate, analysis: &Analysis, parts: &Parts) -> Vec<Self> {
        let place = |file: usize, bytes| program.files[file].source.place(bytes);
        let unfollowed = analysis.unfollowed.iter().map(|it| Self {
            file: it.file,
            at: it.bytes.start,
            what: it.what.clone(),
            reads: it.reads,
            import: it.import,
            synchronizes: it.synchronizes,
            place: place(it.file, it.bytes.clone()),
        });
        let hidden = parts.hidden().map(|(file, at, what)| Self {
            file,
            at,
            what: what.to_owned(),
            reads: false,
            import: false,
            synchronizes: !unsafe_code::is_access(what),
            place: place(file, at..at + 1),
        });
        unfollowed.chain(hidden).collect()
    }
}

/// Returns what is told of the code that is reached, in the order of the source.
pub(crate) fn told<'n>(reached: impl Iterator<Item = &'n Noted>) -> Vec<Hidden> {
    let mut noted: Vec<_> = reached.collect();
    // A file that no part of the program changes always has the same content.
    let changed = noted
        .iter()
        .any(|it| !it.reads && it.what.starts_with("a file"));
    let used: HashSet<&str> = noted
        .iter()
        .filter(|it| !it.import)
        .map(|it| it.what.as_str())
        .collect();
    noted.retain(|it| (!it.reads || changed) && !(it.import && used.contains(it.what.as_str())));
    noted.sort_by_key(|it| (it.file, it.at, it.what.as_str()));
    let mut known = HashSet::new();
    // One item of a kind on a line is enough.
    noted.retain(|it| known.insert((it.file, it.place.start.line, it.what.as_str())));
    let told = noted.into_iter().map(|it| Hidden {
        what: it.what.clone(),
        place: it.place.clone(),
        synchronizes: it.synchronizes,
        distorts: unsafe_code::distorts(&it.what),
    });
    told.collect()
}
