//! The result of a transformation.

use std::path::PathBuf;

use crate::map::SourceMap;

/// A generated crate, without the runtime that it links.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The package's name; the library's name is the same with underscores.
    pub package: String,
    /// The files: the path relative to the crate, and the text.
    pub files: Vec<(PathBuf, String)>,
    /// Whether the program has `unsafe` code.
    pub has_unsafe: bool,
    /// Whether the program depends on serde, which then has to know the runtime's types.
    pub serde: bool,
    /// Whether the build's result may change while the files and the dependencies' versions stay the same.
    pub may_change: bool,
    /// Further files, for users who run the crate with cargo-fuzz, with proptest, or with plain tests over a corpus.
    /// libFuzzer's bindings belong in `fuzz/vendor`, and `fuzz/rustc.sh` has to be executable.
    pub testers: Vec<(PathBuf, String)>,
    /// The map from generated positions to the user's, to be written beside the files.
    pub map: SourceMap,
    /// The names of the harnesses in the crate.
    pub harnesses: Vec<String>,
}
