//! Builds the worker: the transformed program, linked with the runtime.
//!
//! All files of a build are in one directory, so that programs share what they have in common:
//! ```text
//! DIR/lock                one process at a time builds here
//! DIR/runtime/            the runtime's source, the same for all programs, so that it is built once
//! DIR/serde/runtime/      the same for programs that depend on serde
//! DIR/followed/           copies of dependencies that are followed
//! DIR/unfit/              which copies did not compile, named after what was to be built of them
//! DIR/programs/NAME/      a generated crate
//! DIR/workers/NAME/       its latest binaries, named after what they were made of: commands that need different ones can be
//!                         used in turn, and at the same time
//! DIR/build/              cargo's target directory
//! DIR/findings/NAME/      what was found
//! ```

mod cargo;
mod messages;
mod original;
mod place;
pub(crate) mod stamp;
mod unfit;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

pub use place::target_dir;

use crate::compiled::Compiled;
use crate::dependencies::sources;
use crate::diagnostic::shown;
use crate::embed;
use crate::error::Error;
use crate::lock;
use crate::program::{Generated, Program};
pub use crate::variant::{Allocator, Copies, Variant};

/// A worker that is ready to run.
#[derive(Debug)]
pub struct Built {
    /// The binary.
    pub worker: PathBuf,
    /// The name of the program in the target directory, unique to its path.
    pub name: String,
    /// Who allocates its memory.
    pub allocator: Allocator,
    /// Whether it had been built before, from the same source.
    pub fresh: bool,
}

/// A step of a build that takes time.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// Another process builds in the same directory; the text names that process.
    WaitsFor(&'a str),
    /// A package is compiled; its name.
    Compiles(&'a str),
}

/// Builds the worker of `program`, unless the worker is there already.
///
/// `told` hears of each step that takes time; `stop` breaks off the wait for another process.
///
/// # Errors
/// When the program does not compile, or the tools can't be run.
pub fn build(
    program: &Program,
    generated: &Generated,
    target_dir: &Path,
    copies: Copies,
    stop: &AtomicBool,
    told: &(dyn Fn(Step<'_>) + Sync),
) -> Result<Built, Error> {
    let layout = Layout::new(program, target_dir)?;
    fs::create_dir_all(&layout.program).map_err(|e| file("create", &layout.program, e))?;
    let waiting = |holder: &str| told(Step::WaitsFor(holder));
    let Some(_lock) = lock::take(&layout.lock, stop, waiting)? else {
        return Err(Error::broken_off());
    };

    let lock_file = program.lock_file();
    let follows = !program.followed().is_empty();
    // The values of dependencies need not be `Clone`.
    let copies = if follows { Copies::WhereClone } else { copies };
    let first = Variant::first(copies);
    let files_of = |variant: Variant| {
        generated.files_following(&layout.name, &layout.runtime, variant, &layout.followed)
    };
    let files = files_of(first);
    let stamp = stamp::of(&files, lock_file.as_deref())?;
    let built = |variant: Variant, fresh| Built {
        worker: layout.workers.join(format!("{stamp}{}", variant.note())),
        name: layout.name.clone(),
        allocator: variant.allocator,
        fresh,
    };
    // The content of a path dependency is not in the stamp, so cargo has to look.
    if !generated.may_change()
        && let Some(built) = Variant::fit_for(copies)
            .map(|variant| built(variant, true))
            .find(|built| built.worker.is_file())
    {
        return Ok(built);
    }
    let failed = layout.unfit.join(&stamp);
    let is_remembered = follows && !generated.may_change();
    if is_remembered && let Some(unfit) = unfit::remembered(&failed) {
        return Err(Error::Unfit(unfit));
    }

    // The first build of the runtime takes long: a user must not have to wait for its end to hear of a slip.
    let compiled = Compiled::find(&layout.program);
    if !layout.has_runtime()
        && !compiled.as_ref().is_some_and(Compiled::has_runtime)
        && let Ok(Some(broken)) = messages::broken(program, &layout, stop)
    {
        return Err(broken);
    }
    let runtime: Vec<_> = embed::worker_runtime(program.knows()).collect();
    for (dir, files) in [(&layout.runtime, &runtime), (&layout.program, &files)] {
        let kept: Vec<_> = files.iter().map(|(path, _)| path.clone()).collect();
        let files = files
            .iter()
            .map(|(path, text)| (path.clone(), text.as_str()));
        embed::write(dir, files)
            .and_then(|()| embed::clean(dir, &kept))
            .map_err(|e| file("write", dir, e))?;
    }
    let written = program.followed().write(&layout.followed, &layout.runtime);
    written.map_err(|e| file("write", &layout.followed, e))?;
    if let Some(from) = lock_file {
        let to = layout.program.join("Cargo.lock");
        fs::copy(&from, &to).map_err(|e| file("write", &to, e))?;
    }

    let sources = program.manifest().and_then(sources::of_program);
    let sources = match &sources {
        Some(text) => {
            let name = PathBuf::from("sources.toml");
            embed::write(&layout.program, [(name.clone(), text.as_str())])
                .map_err(|e| file("write", &layout.program, e))?;
            Some(layout.program.join(name))
        }
        None => None,
    };
    let mut variant = first;
    // The failure that made this loop try another variant.
    let mut asked = None;
    let binary = loop {
        let compiles = |package: &str| told(Step::Compiles(package));
        match cargo::build(
            &layout.program,
            &layout.runtime,
            compiled.as_ref(),
            &layout.build,
            sources.as_deref(),
            stop,
            &compiles,
        )? {
            cargo::Outcome::Built(binary) => break binary,
            cargo::Outcome::Failed(failure) => match next(variant, &failure) {
                Some(next) => {
                    variant = next;
                    asked = Some(failure);
                }
                None => {
                    // Where it is no fault of the program's that this one can't be built either, the first one's was.
                    let told = asked.filter(|_| failure.errors.is_empty());
                    let failure = told.unwrap_or(failure);
                    if follows {
                        let error = unfit::judge(&failure, program, generated, &layout, stop);
                        if is_remembered {
                            unfit::remember(&failed, &failure, &error);
                        }
                        return Err(error);
                    }
                    return Err(messages::explain(
                        &failure, program, generated, &layout, stop,
                    ));
                }
            },
        }
        let files = files_of(variant);
        let files = files
            .iter()
            .map(|(path, text)| (path.clone(), text.as_str()));
        embed::write(&layout.program, files).map_err(|e| file("write", &layout.program, e))?;
    };
    let built = built(variant, false);
    fs::create_dir_all(&layout.workers).map_err(|e| file("create", &layout.workers, e))?;
    install(&binary, &built.worker)?;
    forget_old(&layout.workers, &built.worker);
    Ok(built)
}

/// How many workers of a program are kept.
const KEPT: usize = 4;

/// Removes all workers but the latest ones and the one that is about to be used, which may be older: cargo has built it before,
/// where it is that of an earlier state of the program. Those that run are not hurt by it, and what can't be removed stays.
fn forget_old(workers: &Path, used: &Path) {
    let entries = fs::read_dir(workers).into_iter().flatten().flatten();
    let mut all: Vec<_> = entries
        .filter(|entry| entry.path() != used)
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    all.sort();
    let old = all.len().saturating_sub(KEPT);
    for (_, path) in all.drain(..old) {
        let _ = fs::remove_file(path);
    }
}

/// The paths in the target directory; the head of this module lists them.
#[derive(Debug)]
struct Layout {
    name: String,
    lock: PathBuf,
    runtime: PathBuf,
    followed: PathBuf,
    unfit: PathBuf,
    program: PathBuf,
    workers: PathBuf,
    build: PathBuf,
}

impl Layout {
    fn new(program: &Program, target_dir: &Path) -> Result<Self, Error> {
        fs::create_dir_all(target_dir).map_err(|e| Error::Option {
            message: format!("cannot create {}: {e}", shown(target_dir)),
            help: "name another directory to build in with --target-dir".into(),
        })?;
        // cargo hands paths back, and rustc's messages hold them: they must not depend on the working directory.
        let dir = target_dir
            .canonicalize()
            .map_err(|e| file("read", target_dir, e))?;
        let name = program.unique_name();
        let runtime = dir.join(program.knows().directory());
        Ok(Self {
            lock: dir.join("lock"),
            followed: runtime.with_file_name("followed"),
            unfit: dir.join("unfit"),
            runtime,
            program: dir.join("programs").join(&name),
            workers: dir.join("workers").join(&name),
            build: dir.join("build"),
            name,
        })
    }

    /// Whether a runtime has been built in this directory.
    fn has_runtime(&self) -> bool {
        let all = fs::read_dir(self.build.join("release/deps"));
        let mut all = all.into_iter().flatten().flatten();
        all.any(|it| {
            let name = it.file_name();
            name.to_string_lossy().starts_with("libseqz_runtime")
        })
    }
}

/// Puts the binary where no other program's build writes: cargo names it after the package, and packages may share a
/// name. It appears whole or not at all.
pub(crate) fn install(binary: &Path, worker: &Path) -> Result<(), Error> {
    let new = worker.with_extension("new");
    match fs::remove_file(&new) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(file("remove", &new, e)),
        _ => {}
    }
    // A link costs nothing; across file systems it has to be a copy.
    if fs::hard_link(binary, &new).is_err() {
        fs::copy(binary, &new).map_err(|e| file("write", &new, e))?;
    }
    fs::rename(&new, worker).map_err(|e| file("write", worker, e))
}

fn file(what: &'static str, path: &Path, source: std::io::Error) -> Error {
    Error::File {
        what,
        path: path.to_owned(),
        source,
    }
}

/// What to try where a worker of this variant could not be built; nothing where that would not be for its own sake.
fn next(variant: Variant, failure: &cargo::Failure) -> Option<Variant> {
    let is_asked_for = variant.allocator == Allocator::Ours && messages::other_allocator(failure);
    is_asked_for.then_some(Variant {
        allocator: Allocator::Theirs,
        ..variant
    })
}
