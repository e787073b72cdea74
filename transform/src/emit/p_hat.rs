//! The module `p_hat` of the generated crate: P̂ₖ in the form in which a reader of the paper would look for it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::results::Results;
use crate::harness::{Harness, HarnessKind, Returns, ShouldPanic};
use crate::options::{Options, Role};

/// Properties of the whole program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    /// Whether the program has `unsafe` code.
    pub(super) has_unsafe: bool,
    /// Whether the program may ask whether threads have finished.
    pub(super) asks_for_ends: bool,
    pub(super) results: Results,
}

/// Returns the files of the module.
pub(super) fn files(
    chosen: &[&Harness],
    options: &Options,
    whole: &Whole,
    values: &dyn Fn(&Harness) -> Vec<String>,
) -> Vec<(PathBuf, String)> {
    if let [harness] = chosen {
        let text = format!(
            "{}\n/// All harnesses of this crate, for `main`.\n\
             pub static HARNESSES: &[&dyn seqz_runtime::AnyHarness] = &[&HARNESS];
{}",
            module(harness, options, whole, &values(harness)),
            fuzzed(options),
        );
        return vec![(PathBuf::from("src/p_hat.rs"), text)];
    }
    let names = module_names(chosen);
    let mut files = Vec::new();
    let mut index =
        String::from("//! The sequential programs of this crate, one module for each harness.\n\n");
    for (harness, name) in chosen.iter().zip(&names) {
        index.push_str(&format!(
            "/// P̂ₖ of `{}`.\npub mod {name};\n",
            harness.info.name
        ));
        files.push((
            PathBuf::from(format!("src/p_hat/{name}.rs")),
            module(harness, options, whole, &values(harness)),
        ));
    }
    index.push_str("\n/// All harnesses, for `main`.\npub static HARNESSES: &[&dyn seqz_runtime::AnyHarness] = &[\n");
    for name in &names {
        index.push_str(&format!("    &{name}::HARNESS,\n"));
    }
    index.push_str("];\n");
    index.push_str(&fuzzed(options));
    files.push((PathBuf::from("src/p_hat/mod.rs"), index));
    files
}

/// Returns the code for fuzz targets.
fn fuzzed(options: &Options) -> String {
    let Options { k, role, .. } = options;
    format!(
        "
/// What fuzzers and property testers run.
pub static FUZZED: seqz_runtime::fuzz::Generated = seqz_runtime::fuzz::Generated {{
    harnesses: HARNESSES,
    role: seqz_runtime::Role::{role:?},
    k: {k},
}};
"
    )
}

/// Returns a module name for each harness.
pub(super) fn module_names(chosen: &[&Harness]) -> Vec<String> {
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    let name = |harness: &&Harness| {
        let plain = harness.info.name.replace("::", "_");
        let count = used.entry(plain.clone()).or_default();
        *count += 1;
        let name = if *count == 1 {
            plain
        } else {
            format!("{plain}_{count}")
        };
        // `mod` is the name of the index, and a keyword is no module name.
        if syn::parse_str::<syn::Ident>(&name).is_ok() {
            name
        } else {
            format!("{name}_")
        }
    };
    chosen.iter().map(name).collect()
}

fn module(harness: &Harness, options: &Options, whole: &Whole, values: &[String]) -> String {
    let info = &harness.info;
    let (t, t_prime, role) = match options.role {
        Role::First => ("first", "second", "First"),
        Role::Second => ("second", "first", "Second"),
    };
    let subscript: String = options.k.to_string().chars().map(subscript).collect();
    let place = format!("{}:{}", info.place.file.display(), info.place.start.line);
    let what = match info.kind {
        HarnessKind::Test => "test",
        HarnessKind::PubFn => "function",
        HarnessKind::Main => "program's",
    };
    let mut text = format!(
        "//! P̂{subscript}: the sequential program of the {what} `{name}` ({place}).\n//!\n",
        name = info.name
    );
    for line in harness.docs.iter().filter(|line| !line.trim().is_empty()) {
        text.push_str(&format!("//! >{line}\n"));
    }
    if !harness.docs.is_empty() {
        text.push_str("//!\n");
    }
    text.push_str("//! The concurrent program P starts its threads at\n");
    for site in &info.spawn_sites {
        let scoped = if site.scoped { ", in a scope" } else { "" };
        let name = site
            .name
            .as_ref()
            .map_or_else(String::new, |name| format!(" (`{name}`)"));
        text.push_str(&format!(
            "//! - {}:{}{name}{scoped}\n",
            site.file.display(),
            site.line
        ));
    }
    text.push_str(&format!(
        "//!
//! P̂{subscript} has the inputs of P and the arrays [`rds`](p_hat) and [`wrts`](p_hat): which reads of T, the thread under
//! test, see which writes of T', the interfering thread. Every one of its executions is an execution of P in which
//! these reads of T are non-local and all others are local, and T' reads nothing that T wrote.
//!
//! In the paper's words, and where to find it:
//! - *init* is [`init`] up to where two threads run side by side.
//! - τ\\[T\\] is the {t} party's code, run by `seqz_runtime::engine` (`tau.rs`).
//! - τ'\\[T'\\] is the {t_prime} party's code, run before it and to its end (`tau_prime.rs`).
//! - G and G' are the two copies inside of every shared object (`seqz_runtime::shared`).
//! - *rds* and *wrts* are arguments of [`p_hat`]; *vals* are in the log of T'.
//! - *append(log, …)* is `seqz_runtime::log`.
//! - *isFeasible(log)* is `seqz_runtime::feasibility`, asked after every read of T and wherever T can fail.
//!
//! The parties are numbered as they are created, the harness's own thread first where it goes on beside one other.

use seqz_runtime::{{Harness, Outcome, ReadId, Role, WriteId}};

/// k: how many reads of T are non-local.
pub const K: usize = {k};

/// Which party is T: the {t} one. The other one is T'.
pub const ROLE: Role = Role::{role};

seqz_runtime::inputs! {{
    /// I: the inputs of P, which are the parameters of the harness.
    pub struct Inputs {{",
        k = options.k
    ));
    for param in &info.params {
        text.push_str(&format!("\n        {}: {},", param.name, param.ty));
    }
    let close = if info.params.is_empty() {
        "}"
    } else {
        "\n    }"
    };
    text.push_str(&format!("{close}\n}}\n\n"));
    text.push_str(&init(harness, whole));
    // An infeasible execution of a program without `unsafe` code may be let run on, which is cheaper than unwinding it.
    let safe = if whole.has_unsafe {
        ""
    } else {
        ".without_unsafe_code()"
    };
    let expects = match &harness.expects {
        None => String::new(),
        Some(ShouldPanic { with: None }) => ".should_panic(None)".to_owned(),
        Some(ShouldPanic { with: Some(text) }) => format!(".should_panic(Some({text}))"),
    };
    // For searches that look at the values behind locks.
    let values = match values {
        [] => String::new(),
        values => format!(".with_values(&[{}])", values.join(", ")),
    };
    text.push_str(&format!(
        "
/// The harness: its name and how it starts.
pub static HARNESS: Harness<Inputs> = Harness::new({name:?}, init){expects}{safe}{values};

/// P̂{subscript}(I, rds, wrts): runs T' and then T, whose read `rds[i]` sees what write `wrts[i]` of T' has written.
///
/// Reads are counted along T from 0, writes along T' from 0. An execution that no interleaving of P has ends as infeasible.
pub fn p_hat(inputs: Inputs, rds: [ReadId; K], wrts: [WriteId; K]) -> Outcome {{
    seqz_runtime::p_hat(&HARNESS, ROLE, inputs, &rds, &wrts)
}}

/// P̂{subscript} on bytes, for fuzzers: almost every byte string is a valid choice of inputs, reads and writes.
pub fn p_hat_from_bytes(bytes: &[u8]) -> Outcome {{
    seqz_runtime::p_hat_from_bytes::<K>(&HARNESS, ROLE, bytes)
}}
",
        name = info.name
    ));
    text
}

/// Returns the function that calls the harness.
fn init(harness: &Harness, whole: &Whole) -> String {
    let path: Vec<String> = harness.info.name.split("::").map(raw).collect();
    let call = format!(
        "crate::{}({})",
        path.join("::"),
        harness.arguments.join(", ")
    );
    let inputs = match (
        harness.arguments.is_empty(),
        harness.arguments.iter().any(|arg| arg.starts_with("&mut")),
    ) {
        (true, _) => "_inputs",
        (false, true) => "mut inputs",
        (false, false) => "inputs",
    };
    let who = match harness.info.kind {
        HarnessKind::Main => "program",
        _ => "test",
    };
    let body = match harness.returns {
        Returns::Nothing if harness.info.kind == HarnessKind::PubFn => {
            format!("    let _ = {call};\n")
        }
        Returns::Nothing => format!("    {call};\n"),
        Returns::Result => {
            format!("    seqz_runtime::returned_result({who:?}, {call});\n")
        }
        Returns::Other => format!("    seqz_runtime::returned({who:?}, {call});\n"),
    };
    let main = match harness.info.kind {
        HarnessKind::Main => "    seqz_runtime::is_main();\n",
        _ => "",
    };
    let ends = if whole.asks_for_ends {
        "    // The program may ask whether a thread has finished: then that a thread finishes is an event.\n    \
             seqz_runtime::watch_ends();\n"
    } else {
        ""
    };
    let results = match whole.results {
        Results::Unseen => String::new(),
        seen => format!(
            "    // Others may see what threads return being dropped: then letting go of it is an event.\n    \
             seqz_runtime::watch_results(seqz_runtime::Results::{seen:?});\n"
        ),
    };
    let memory = if whole.has_unsafe {
        "    // Under a scheduler, what `unsafe` code does with memory is checked, as far as the source shows it.\n    \
             seqz_runtime::raw::watch();\n"
    } else {
        ""
    };
    let thread = harness.thread.as_ref().map_or_else(String::new, |name| {
        format!("    seqz_runtime::name_harness_thread(Some({name:?}));\n")
    });
    format!(
        "/// *init*: the harness as the user wrote it. Up to where two threads run side by side there is one copy of the\n\
         /// shared variables and no log; from there on the engine runs τ' and τ, and what follows a join belongs to T.\n\
         pub fn init({inputs}: Inputs) {{\n{main}{ends}{results}{memory}{thread}{body}}}\n"
    )
}

/// Returns a name as it is written in code, where the name may be a keyword.
fn raw(name: &str) -> String {
    if syn::parse_str::<syn::Ident>(name).is_ok() {
        name.to_string()
    } else {
        format!("r#{name}")
    }
}

fn subscript(digit: char) -> char {
    char::from_u32('₀' as u32 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit)
}
