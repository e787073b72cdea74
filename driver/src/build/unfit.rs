//! Which dependencies can't be followed because their copies, or what uses the copies, don't compile.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use cargo_metadata::diagnostic::{Diagnostic as Rustc, DiagnosticLevel};

use super::cargo::Failure;
use super::{Layout, messages};
use crate::error::{Error, Unfit};
use crate::program::{Generated, Program};

/// Returns what is to be done about the failed build of a program whose dependencies are followed: an error of the
/// program's own, or the copies to leave out.
pub(super) fn judge(
    failure: &Failure,
    program: &Program,
    generated: &Generated,
    layout: &Layout,
    stop: &AtomicBool,
) -> Error {
    let mut own: Vec<Unfit> = Vec::new();
    let mut others: Vec<&str> = Vec::new();
    for it in &failure.elsewhere {
        match program.followed().find(&it.root) {
            Some((copy, _)) => {
                if own.iter().all(|known| known.directory != copy.directory) {
                    own.push(Unfit {
                        directory: copy.directory.clone(),
                        why: format!(
                            "with the items that stand for std's it does not compile: {}",
                            messages::as_written(&it.error.message)
                        ),
                        site: place(&it.error, program, generated),
                        user: None,
                    });
                }
            }
            None => others.push(&it.library),
        }
    }
    if !own.is_empty() {
        return Error::Unfit(own);
    }
    if !others.is_empty() {
        return beside(program, &others);
    }
    // Without rustc's errors it is cargo that can't be led to the copies.
    if let Some(first) = failure.errors.first() {
        if let Ok(Some(broken)) = messages::broken(program, layout, stop) {
            return broken;
        }
        let why = messages::as_written(&first.message);
        return all(
            program,
            &format!("the program does not compile with it: {why}"),
        );
    }
    let said = failure.output.lines().map(str::trim);
    let mut said = said.filter(|line| line.starts_with("error"));
    let why = said.next().unwrap_or("it can't be built").to_owned();
    all(program, &why)
}

/// Returns which copies did not fit when this was to be built before; the file is named after all that goes into the build.
pub(super) fn remembered(file: &Path) -> Option<Vec<Unfit>> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// Keeps which copies don't fit, if rustc says so of places in the code: that the disk is full, say, may be otherwise the next
/// time. What can't be written is found out anew.
pub(super) fn remember(file: &Path, failure: &Failure, error: &Error) {
    let Error::Unfit(unfit) = error else {
        return;
    };
    let elsewhere = failure.elsewhere.iter().map(|it| &it.error);
    let mut errors = elsewhere.chain(&failure.errors).peekable();
    if errors.peek().is_none() || errors.any(|it| it.spans.is_empty() || is_of_compiler(it)) {
        return;
    }
    if let (Ok(text), Some(dir)) = (serde_json::to_vec(unfit), file.parent())
        && fs::create_dir_all(dir).is_ok()
    {
        // It appears whole or not at all.
        let new = file.with_extension("new");
        let _ = fs::write(&new, text).and_then(|()| fs::rename(&new, file));
    }
}

/// Whether rustc itself failed.
fn is_of_compiler(error: &Rustc) -> bool {
    matches!(error.level, DiagnosticLevel::Ice)
}

/// Names the copies that these libraries stand on, which are built as they are and do not compile.
fn beside(program: &Program, libraries: &[&str]) -> Error {
    let why = |library: &str| {
        format!("crate `{library}`, which is not followed, does not compile with it")
    };
    let copies = program.followed().all().iter();
    let unfit = copies.filter_map(|copy| {
        let mut users = libraries.iter();
        let user = users.find(|it| copy.users.contains(&it.replace('-', "_")))?;
        Some(Unfit {
            directory: copy.directory.clone(),
            why: why(user),
            site: None,
            user: Some(user.replace('-', "_")),
        })
    });
    let unfit: Vec<Unfit> = unfit.collect();
    if unfit.is_empty() {
        return all(program, &why(libraries[0]));
    }
    Error::Unfit(unfit)
}

/// Leaves out all copies.
fn all(program: &Program, why: &str) -> Error {
    let copies = program.followed().all().iter();
    let unfit = copies.map(|copy| Unfit {
        directory: copy.directory.clone(),
        why: why.to_owned(),
        site: None,
        user: None,
    });
    Error::Unfit(unfit.collect())
}

/// Returns the place of an error in a copy, as a place in the package.
fn place(error: &Rustc, program: &Program, generated: &Generated) -> Option<(String, u32, String)> {
    let span = error.spans.iter().find(|span| span.is_primary)?;
    let span = messages::written(span);
    let file = Path::new(&span.file_name);
    let origin = generated.lookup(file, span.line_start as u32, span.column_start as u32)?;
    let (copy, _) = program.followed().find(file)?;
    let text = program.sources().text(&origin.file).unwrap_or_default();
    let line = text.lines().nth(origin.line as usize - 1);
    Some((
        copy.below(&origin.file).display().to_string(),
        origin.line,
        line.unwrap_or_default().trim().to_owned(),
    ))
}
