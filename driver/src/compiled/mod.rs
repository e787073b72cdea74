//! The runtime's compiled libraries, which are the same for all programs that are built in the same way.
//!
//! These libraries take most of the time of a first build. So they are kept for all target directories of a user, in
//! `compiled` of the cache directory. A binary that was built for release carries the libraries that an ordinary
//! program needs, for the compiler that built the binary. cargo runs this binary in the place of rustc to get them
//! ([`wrapper`]). A library that isn't there, for another compiler or other flags, is compiled.

mod invocation;
#[cfg_attr(not(test), expect(dead_code, reason = "`build.rs` packs"))]
mod pack;
mod store;
mod wrapper;

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::digest;
use invocation::Compiler;
use store::Store;

/// The libraries that were compiled when this binary was built.
static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/compiled.bin"));

/// The version of the runtime and a digest of its sources.
const SOURCES: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("SEQZ_RUNTIME_DIGEST"));

/// The path of the binary that cargo can run in the place of rustc.
static SERVING: OnceLock<PathBuf> = OnceLock::new();

/// To be called at the very start of a program that builds workers. Where cargo has started the program in the place of
/// rustc, `serve` does what rustc would do and returns the exit code to end with.
///
/// In programs that do not call it, the runtime is compiled for each target directory.
pub fn serve() -> Option<u8> {
    let code = wrapper::serve();
    if code.is_none()
        && let Ok(this) = env::current_exe()
    {
        let _ = SERVING.set(this);
    }
    code
}

/// The store of libraries that a build takes its runtime from.
pub(crate) struct Compiled {
    wrapper: &'static Path,
    store: Store,
    compiler: Option<Compiler>,
}

impl Compiled {
    /// Opens the store for builds in `dir`. `None` where there is no directory for the store.
    pub(crate) fn find(dir: &Path) -> Option<Self> {
        let wrapper = SERVING.get()?;
        let store = Store(directory()?);
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let compiler = Compiler::ask(&rustc, dir, None);
        if let Some(compiler) = &compiler {
            let with = format!("-{}-", compiler.with(SOURCES));
            for (name, files) in pack::libraries(PACKED) {
                if name.contains(&with) && !store.0.join(name).is_dir() {
                    // A library that can't be unpacked is compiled.
                    let _ = pack::unpack(&store, name, files);
                }
            }
        }
        Some(Self {
            wrapper,
            store,
            compiler,
        })
    }

    /// Whether the store has a runtime, compiled with any flags.
    pub(crate) fn has_runtime(&self) -> bool {
        let compiler = self.compiler.as_ref();
        compiler.is_some_and(|it| self.store.has("seqz_runtime", SOURCES, it))
    }

    /// Has cargo, started in `dir`, take the libraries of the runtime in `sources` from the store where it has them.
    pub(crate) fn configure(&self, cargo: &mut Command, sources: &Path, dir: &Path) {
        let other = other_wrapper(dir);
        let store = &self.store.0;
        wrapper::configure(
            cargo,
            self.wrapper,
            sources,
            SOURCES,
            store,
            other.as_deref(),
        );
    }
}

/// Returns the directory in which compiled libraries are kept.
fn directory() -> Option<PathBuf> {
    let cache = set("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")))?;
    Some(cache.join("seqz").join("compiled"))
}

fn set(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns the wrapper that the user has told cargo to run in the place of rustc, where cargo is started in `dir`.
fn other_wrapper(dir: &Path) -> Option<OsString> {
    // An empty value means that there is no wrapper, whatever the configuration files say.
    if let Some(wrapper) =
        env::var_os("RUSTC_WRAPPER").or_else(|| env::var_os("CARGO_BUILD_RUSTC_WRAPPER"))
    {
        return Some(wrapper);
    }
    let home = set("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(set("HOME")?).join(".cargo")));
    let above = dir.ancestors().map(|dir| dir.join(".cargo"));
    above.chain(home).find_map(|folder| {
        wrapper_in(&folder, "config").or_else(|| wrapper_in(&folder, "config.toml"))
    })
}

/// Returns the wrapper that a file of cargo's configuration names.
fn wrapper_in(folder: &Path, file: &str) -> Option<OsString> {
    let text = fs::read_to_string(folder.join(file)).ok()?;
    let config: toml::Table = text.parse().ok()?;
    let wrapper = config.get("build")?.get("rustc-wrapper")?.as_str()?;
    // cargo reads a plain name as a program in `PATH`, and a path as relative to the folder of the configuration.
    let is_path = Path::new(wrapper).components().count() > 1;
    match folder.parent() {
        Some(parent) if is_path => Some(parent.join(wrapper).into()),
        _ => Some(OsStr::new(wrapper).to_owned()),
    }
}
