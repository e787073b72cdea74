//! Makes modules of three examples over the concurrency items of shuttle, and over seqz's, by replacing `std`'s names: the
//! same programs for both, and for libFuzzer, which gets the files themselves.

use std::path::PathBuf;
use std::{env, fs, io, process};

/// Without a bug, so that no tool stops at one.
const PROGRAMS: [&str; 3] = ["bluetooth", "account", "stringbuffer"];

fn main() {
    if let Err(error) = generate() {
        eprintln!("cannot make programs of the examples: {error}");
        process::exit(1);
    }
}

fn generate() -> io::Result<()> {
    let variable = |name: &str| env::var(name).map(PathBuf::from).map_err(io::Error::other);
    let examples = variable("CARGO_MANIFEST_DIR")?.join("../examples/fixed");
    let out = variable("OUT_DIR")?;
    let mut all = String::new();
    for (tool, root) in [("shuttle", "::shuttle"), ("seqz", "::seqz_runtime::std")] {
        all.push_str(&format!("pub(crate) mod {tool} {{\n"));
        for name in PROGRAMS {
            let file = examples.join(format!("{name}.rs"));
            println!("cargo::rerun-if-changed={}", file.display());
            let text = fs::read_to_string(file)?
                .replace("std::sync", &format!("{root}::sync"))
                .replace("std::thread", &format!("{root}::thread"))
                .replace("#[test]\nfn ", "pub(crate) fn ");
            let text: Vec<_> = text
                .lines()
                .filter(|line| !line.starts_with("//!"))
                .collect();
            all.push_str(&format!(
                "pub(crate) mod {name} {{\n{}\n}}\n",
                text.join("\n")
            ));
        }
        all.push_str("}\n");
    }
    fs::write(out.join("examples.rs"), all)
}
