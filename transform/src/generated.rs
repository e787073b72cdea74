//! What has been generated.

use std::path::PathBuf;

use crate::map::SourceMap;

/// A generated crate, but for the runtime that it links.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The package's name; the library's is the same with underscores.
    pub package: String,
    /// Files relative to the crate, with their text.
    pub files: Vec<(PathBuf, String)>,
    /// Whether the program has `unsafe` code.
    pub has_unsafe: bool,
    /// Whether it depends on serde, which then has to know the runtime's types.
    pub serde: bool,
    /// Whether what is built of it may change though the files and the dependencies' versions don't.
    pub may_change: bool,
    /// Files beside these, for those who run the crate: for cargo-fuzz, for proptest, and for plain tests over a corpus.
    /// libFuzzer's bindings belong in `fuzz/vendor`, and `fuzz/rustc.sh` has to be executable.
    pub testers: Vec<(PathBuf, String)>,
    /// From generated positions to the user's. To be written beside the files.
    pub map: SourceMap,
    /// The harnesses that are in it, by name.
    pub harnesses: Vec<String>,
}
