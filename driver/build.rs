//! Lists the source files of the runtime and of what it is built with, so that `embed.rs` can carry them inside the
//! binary.
//!
//! An installed `seqz` has no checkout beside it, yet every transformed program links the runtime: its source travels
//! with the binary and is written out next to the program. Workers link the scheduler too, which needs the crates of
//! `vendored`: with these carried along as well, no registry is asked when a worker is built.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io, process};

use serde_json::Value;

#[path = "src/digest.rs"]
mod digest;
#[path = "src/compiled/invocation.rs"]
mod invocation;
#[path = "src/embed/manifests.rs"]
mod manifests;
#[path = "src/compiled/pack.rs"]
#[expect(dead_code, reason = "a part of it is the binary's")]
mod pack;
#[path = "../transform/src/emit/profile.rs"]
mod profile;
#[path = "src/compiled/store.rs"]
#[expect(dead_code, reason = "a part of it is the binary's")]
mod store;
#[path = "src/compiled/wrapper.rs"]
mod wrapper;

use digest::Digest;
use store::Store;

/// The crate from a registry that the scheduler is built on.
const SCHEDULER: Wanted = Wanted {
    package: "corosensei",
    features: &[],
    optional: &["sanitizer"],
    left_out: &[],
    runs_scripts_for: &["arm"],
};

/// The crate that fuzz targets link. This package takes it without libFuzzer itself, which need not be compiled here.
/// `cc` compiles that with one process where it has none of what it needs for several.
const FUZZER: Wanted = Wanted {
    package: "libfuzzer-sys",
    features: &["link_libfuzzer"],
    optional: &[],
    left_out: &["jobserver", "libc", "parallel"],
    runs_scripts_for: &[],
};

/// A crate from a registry, to be carried with all that it needs.
struct Wanted {
    package: &'static str,
    /// Features that it is to have beside those that this package has it with.
    features: &'static [&'static str],
    /// Features that it can be asked for.
    optional: &'static [&'static str],
    /// Packages and features to do without.
    left_out: &'static [&'static str],
    /// The architectures, as cargo names them, for which the build scripts do anything; none stands for all. For others they
    /// are left out: cargo compiles a script once more for each profile of build scripts that a program has, and then all
    /// that stands on the script's package, too.
    runs_scripts_for: &'static [&'static str],
}

impl Wanted {
    /// Whether packages come with their build scripts.
    fn has_scripts(&self) -> io::Result<bool> {
        let architecture = required("CARGO_CFG_TARGET_ARCH")?;
        let known = self.runs_scripts_for;
        Ok(known.is_empty() || known.contains(&architecture.as_str()))
    }
}

fn main() {
    if let Some(code) = wrapper::serve() {
        process::exit(i32::from(code));
    }
    if let Err(error) = generate() {
        eprintln!("cannot embed the runtime's source: {error}");
        process::exit(1);
    }
}

fn generate() -> io::Result<()> {
    let manifest = PathBuf::from(required("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(required("OUT_DIR")?);
    let runtime = sources(&manifest.join("../runtime"), "")?;
    fs::write(out.join("runtime_files.rs"), list(&runtime)?)?;

    let mut ground = Files::new();
    for (package, _) in manifests::GROUND {
        ground.extend(of_seqz(&manifest, package)?);
    }
    fs::write(out.join("ground_files.rs"), list(&ground)?)?;

    let mut vendored = of_seqz(&manifest, manifests::STRATEGIES.0)?;
    let metadata = metadata(&manifest)?;
    vendored.extend(registry(&metadata, &SCHEDULER)?);
    fs::write(out.join("vendored_files.rs"), list(&vendored)?)?;
    let mut digest = Digest::new();
    for (path, content) in runtime.iter().chain(&ground).chain(&vendored) {
        digest.add(path.as_bytes());
        digest.add(content.text()?.as_bytes());
    }
    let digest = digest.finish();
    println!("cargo::rustc-env=SEQZ_RUNTIME_DIGEST={digest}");
    let compiled = if is_to_be_compiled() {
        compiled(&out, &runtime, [&ground, &vendored], &digest)?
    } else {
        Vec::new()
    };
    fs::write(out.join("compiled.bin"), compiled)?;
    let fuzzer = registry(&metadata, &FUZZER)?;
    fs::write(out.join("fuzzer_files.rs"), list(&fuzzer)?)
}

/// Says whether compiled libraries are carried, `yes` or `no`, where that is not to depend on the profile.
const SWITCH: &str = "SEQZ_COMPILED";

/// Whether the binary is to carry what most programs take of the runtime as compiled libraries, too. It takes about a minute
/// of processor time, which is wasted where it is built to be tested, or to run on machines with other compilers.
fn is_to_be_compiled() -> bool {
    println!("cargo::rerun-if-env-changed={SWITCH}");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    let wanted = is(SWITCH, "yes") || is("PROFILE", "release") && !is(SWITCH, "no");
    wanted && env::var("HOST") == env::var("TARGET")
}

/// Compiles the runtime as it is compiled for a program, and packs what comes of it.
fn compiled(
    out: &Path,
    runtime: &Files,
    vendored: [&Files; 2],
    digest: &str,
) -> io::Result<Vec<u8>> {
    let dir = out.join("compiled");
    // What an earlier build has left, be it broken off.
    let _ = fs::remove_dir_all(&dir);
    let sources = dir.join("runtime");
    let vendor = sources.join("vendor");
    let vendored = vendored.map(|files| (&vendor, files));
    for (at, files) in [(&sources, runtime)].into_iter().chain(vendored) {
        for (path, content) in files {
            write(&at.join(path), &content.text()?)?;
        }
    }
    write(
        &sources.join("Cargo.toml"),
        &manifests::runtime(false, true),
    )?;
    for (package, manifest) in manifests::GROUND.into_iter().chain([manifests::STRATEGIES]) {
        write(&vendor.join(package).join("Cargo.toml"), manifest)?;
    }
    let store = Store(dir.join("store"));
    let source = format!("{} {digest}", required("CARGO_PKG_VERSION")?);
    for features in VARIANTS {
        compile(&dir, &sources, features, &source, &store)?;
    }
    let packed = if store.0.is_dir() {
        pack::pack(&store)?
    } else {
        Vec::new()
    };
    fs::remove_dir_all(&dir)?;
    Ok(packed)
}

/// The features of the runtime that most programs take: for those whose shared values are all `Clone`, and for others.
const VARIANTS: [&[&str]; 2] = [&[], &["coercions", "copied_if_clone"]];

/// Compiles the runtime in `sources` with these features, and leaves its libraries in the store.
fn compile(
    dir: &Path,
    sources: &Path,
    features: &[&str],
    source: &str,
    store: &Store,
) -> io::Result<()> {
    let program = dir.join("programs/none");
    write(
        &program.join("Cargo.toml"),
        &format!(
            "[package]\nname = \"none\"\nedition = \"2024\"\n\n[workspace]\n\n{}{}\n[dependencies]\nseqz-runtime = {{ path = \"../../runtime\", features = {features:?} }}\n",
            profile::sections(true, true),
            manifests::OF_THE_SCHEDULER
                .map(profile::of_the_runtime)
                .concat()
        ),
    )?;
    write(&program.join("src/lib.rs"), "")?;
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // This package's own.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let is_general = ["CARGO_HOME", "CARGO_NET_", "CARGO_MAKEFLAGS"]
            .iter()
            .any(|it| text.starts_with(it));
        if text.starts_with("CARGO_") && !is_general {
            cargo.env_remove(&name);
        }
    }
    cargo
        .args(["build", "--quiet", "--release", "--offline", "--target-dir"])
        .arg(dir.join("build"))
        .current_dir(&program)
        .env_remove("RUSTFLAGS")
        .env_remove("RUSTC_WORKSPACE_WRAPPER");
    if !features.is_empty() {
        // As generated programs have it: the runtime, and nothing else, uses what is unstable.
        cargo.env("RUSTC_BOOTSTRAP", "seqz_runtime");
    }
    wrapper::configure(
        &mut cargo,
        &env::current_exe()?,
        sources,
        source,
        &store.0,
        env::var_os("RUSTC_WRAPPER").as_deref(),
    );
    let output = cargo.output()?;
    if !output.status.success() {
        // The binary does without.
        let said = String::from_utf8_lossy(&output.stderr);
        println!(
            "cargo::warning=the runtime is not carried as compiled libraries: {}",
            said.replace('\n', " ")
        );
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, text)
}

/// A file that is carried: by its path on disk, or by its text.
enum Content {
    File(String),
    Text(String),
}

impl Content {
    fn text(&self) -> io::Result<String> {
        match self {
            Self::File(file) => fs::read_to_string(file),
            Self::Text(text) => Ok(text.clone()),
        }
    }
}

/// Sorted by path: the order of a directory listing differs between file systems; the binary must not.
type Files = BTreeMap<String, Content>;

/// A Rust expression for the list of files.
fn list(files: &Files) -> io::Result<String> {
    let mut out = String::from("&[\n");
    for (path, content) in files {
        match content {
            Content::File(file) => {
                println!("cargo::rerun-if-changed={file}");
                writeln!(out, "    ({path:?}, include_str!({file:?})),")
            }
            Content::Text(text) => writeln!(out, "    ({path:?}, {text:?}),"),
        }
        .map_err(io::Error::other)?;
    }
    out.push_str("]\n");
    Ok(out)
}

/// The Rust files of a crate of seqz, below its name. It is in the directory of its name without `seqz-`.
fn of_seqz(driver: &Path, package: &str) -> io::Result<Files> {
    let directory = package.trim_start_matches("seqz-");
    sources(&driver.join("..").join(directory), package)
}

/// The Rust files in `src` of a package, below `prefix`.
fn sources(package: &Path, prefix: &str) -> io::Result<Files> {
    let source = package.join("src");
    // A directory is watched as a whole: files that come and go count too.
    println!("cargo::rerun-if-changed={}", source.display());
    let mut files = Files::new();
    collect(&source, &Path::new(prefix).join("src"), &mut files)?;
    Ok(files)
}

fn collect(dir: &Path, relative: &Path, files: &mut Files) -> io::Result<()> {
    let entries = fs::read_dir(dir)
        .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", dir.display())))?;
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        let relative = relative.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            collect(&path, &relative, files)?;
        } else if path
            .extension()
            // What is compiled, or included in what is.
            .is_some_and(|e| e == "rs" || e == "c" || e == "cpp")
        {
            files.insert(
                text(&relative)?,
                Content::File(text(&path.canonicalize()?)?),
            );
        }
    }
    Ok(())
}

/// A crate from the registry with all that it needs, as packages that depend on each other by path. It is a
/// build-dependency of this package, so cargo has fetched them.
fn registry(metadata: &Value, wanted: &Wanted) -> io::Result<Files> {
    let mut files = Files::new();
    let mut found = Vec::new();
    let mut next = vec![package_id(metadata, wanted.package)?];
    while let Some(id) = next.pop() {
        if found.contains(&id) {
            continue;
        }
        let package = by_id(&metadata["packages"], &id)?;
        let node = by_id(&metadata["resolve"]["nodes"], &id)?;
        let mut dependencies = dependencies(metadata, node)?;
        let has_scripts = wanted.has_scripts()?;
        dependencies.retain(|dependency| {
            let is_left_out = wanted.left_out.contains(&dependency.name.as_str());
            !is_left_out && (has_scripts || !dependency.build)
        });
        next.extend(dependencies.iter().map(|dependency| dependency.id.clone()));
        add_package(package, node, &dependencies, wanted, &mut files)?;
        found.push(id);
    }
    Ok(files)
}

/// What cargo has resolved. Asked offline first, as it is all there; a registry that was cleaned since is filled again.
fn metadata(manifest: &Path) -> io::Result<Value> {
    let run = |options: &[&str]| {
        Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["metadata", "--format-version", "1", "--filter-platform"])
            .arg(required("TARGET")?)
            .args(options)
            .arg("--manifest-path")
            .arg(manifest.join("Cargo.toml"))
            .output()
    };
    let mut output = run(&["--offline"])?;
    if !output.status.success() {
        output = run(&[])?;
    }
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("cargo metadata: {said}")));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn package_id(metadata: &Value, name: &str) -> io::Result<String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let package = packages
        .into_iter()
        .find(|package| package["name"] == name)
        .ok_or_else(|| io::Error::other(format!("{name} is not resolved")))?;
    string(&package["id"])
}

fn by_id<'a>(list: &'a Value, id: &str) -> io::Result<&'a Value> {
    let mut list = list.as_array().into_iter().flatten();
    list.find(|item| item["id"] == id)
        .ok_or_else(|| io::Error::other(format!("cargo metadata says nothing of {id}")))
}

/// A dependency of a crate from the registry.
struct Dependency {
    id: String,
    name: String,
    build: bool,
}

fn dependencies(metadata: &Value, node: &Value) -> io::Result<Vec<Dependency>> {
    let mut all = Vec::new();
    for dependency in node["deps"].as_array().into_iter().flatten() {
        let id = string(&dependency["pkg"])?;
        let name = string(&by_id(&metadata["packages"], &id)?["name"])?;
        for kind in dependency["dep_kinds"].as_array().into_iter().flatten() {
            // null, "build" or "dev"
            if kind["kind"] != "dev" {
                all.push(Dependency {
                    id: id.clone(),
                    name: name.clone(),
                    build: kind["kind"] == "build",
                });
            }
        }
    }
    Ok(all)
}

/// Adds a package: its source, its licences, and a manifest with what is needed to build it as it was resolved.
fn add_package(
    package: &Value,
    node: &Value,
    dependencies: &[Dependency],
    wanted: &Wanted,
    files: &mut Files,
) -> io::Result<()> {
    let name = string(&package["name"])?;
    let has_scripts = wanted.has_scripts()?;
    let manifest_path = PathBuf::from(string(&package["manifest_path"])?);
    let dir = manifest_path
        .parent()
        .ok_or_else(|| io::Error::other(format!("{} has no parent", manifest_path.display())))?;
    let mut manifest =
        format!("# Written by seqz: a package from crates.io.\n[package]\nname = {name:?}\n");
    for key in ["version", "edition", "license", "repository", "description"] {
        if let Some(value) = package[key].as_str() {
            manifest.push_str(&format!("{key} = {:?}\n", value.trim()));
        }
    }
    manifest.push_str("publish = false\n");
    if !has_scripts {
        // Also where an earlier seqz has left one.
        manifest.push_str("build = false\n");
    }
    let all = sources(dir, &name)?;
    let is_test = |path: &str| path.ends_with("/tests.rs") || path.contains("/src/tests/");
    files.extend(all.into_iter().filter(|(path, _)| !is_test(path)));
    // libFuzzer, in C++.
    let sources = dir.join("libfuzzer");
    if sources.is_dir() {
        for entry in fs::read_dir(&sources)? {
            let entry = entry?;
            let file = text(Path::new(&entry.file_name()))?;
            if [".cpp", ".h", ".def"].iter().any(|end| file.ends_with(end)) {
                let content = Content::File(text(&entry.path())?);
                files.insert(format!("{name}/libfuzzer/{file}"), content);
            }
        }
    }
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let file = text(Path::new(&entry.file_name()))?;
        if file.starts_with("LICENSE") || file == "build.rs" && has_scripts {
            let content = Content::File(text(&entry.path())?);
            files.insert(format!("{name}/{file}"), content);
        }
    }
    let more = wanted.features.iter().filter(|_| name == wanted.package);
    let features: Vec<_> = node["features"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|feature| *feature != "default" && !wanted.left_out.contains(feature))
        .chain(more.copied())
        .collect();
    manifest.push_str(&format!("\n[features]\ndefault = {features:?}\n"));
    let optional = wanted.optional.iter().filter(|_| name == wanted.package);
    for feature in features.iter().chain(optional) {
        manifest.push_str(&format!("{feature} = []\n"));
    }
    for (table, build) in [("dependencies", false), ("build-dependencies", true)] {
        manifest.push_str(&format!("\n[{table}]\n"));
        for other in dependencies.iter().filter(|other| other.build == build) {
            manifest.push_str(&format!("{0} = {{ path = \"../{0}\" }}\n", other.name));
        }
    }
    // As cargo does with packages that are not at a path.
    manifest.push_str("\n[lints.rust]\nwarnings = \"allow\"\n");
    files.insert(format!("{name}/Cargo.toml"), Content::Text(manifest));
    Ok(())
}

fn string(value: &Value) -> io::Result<String> {
    value
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| io::Error::other(format!("cargo metadata says {value}, no string")))
}

fn text(path: &Path) -> io::Result<String> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| io::Error::other(format!("{} is not UTF-8", path.display())))
}

fn required(name: &str) -> io::Result<String> {
    env::var(name).map_err(|e| io::Error::other(format!("{name}: {e}")))
}
