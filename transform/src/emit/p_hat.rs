//! The module `p_hat` of the generated crate: P̂ₖ in the form in which a reader of the paper would look for it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use proc_macro2::TokenStream;
use quote::quote;

use super::code::{Part, docs, file, number, tokens};
use super::results::Results;
use crate::harness::{Harness, HarnessKind, Returns, ShouldPanic};
use crate::options::{Options, Role};

/// Properties of the whole program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    /// Whether the program has `unsafe` code.
    pub(super) has_unsafe: bool,
    /// Whether the program, or a dependency that is followed, has any that accesses memory.
    pub(super) reaches_unsafe: bool,
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
        let text = file(
            &head(harness, options),
            &TokenStream::new(),
            parts(harness, options, whole, &values(harness))
                .into_iter()
                .chain([Part::Items(quote! {
                    /// All harnesses of this crate, for `main`.
                    pub static HARNESSES: &[&dyn seqz_runtime::AnyHarness] = &[&HARNESS];
                })])
                .chain([fuzzed(options)]),
        );
        return vec![(PathBuf::from("src/p_hat.rs"), text)];
    }
    let names = module_names(chosen);
    let mut files = Vec::new();
    let modules = chosen.iter().zip(&names).map(|(harness, name)| {
        let (docs, name) = (
            docs(&[format!("P̂ₖ of `{}`.", harness.info.name)]),
            tokens(name),
        );
        quote!(#docs pub mod #name;)
    });
    let listed = names.iter().map(|name| tokens(name));
    let index = file(
        &["The sequential programs of this crate, one module for each harness."],
        &TokenStream::new(),
        [
            Part::Items(quote!(#(#modules)*)),
            Part::Items(quote! {
                /// All harnesses, for `main`.
                pub static HARNESSES: &[&dyn seqz_runtime::AnyHarness] = &[#(&#listed::HARNESS),*];
            }),
            fuzzed(options),
        ],
    );
    for (harness, name) in chosen.iter().zip(&names) {
        files.push((
            PathBuf::from(format!("src/p_hat/{name}.rs")),
            module(harness, options, whole, &values(harness)),
        ));
    }
    files.push((PathBuf::from("src/p_hat/mod.rs"), index));
    files
}

/// Returns the code for fuzz targets.
fn fuzzed(options: &Options) -> Part {
    let (k, role) = (number(options.k as usize), role(options));
    Part::Items(quote! {
        /// What fuzzers and property testers run.
        pub static FUZZED: seqz_runtime::fuzz::Generated = seqz_runtime::fuzz::Generated {
            harnesses: HARNESSES,
            role: seqz_runtime::#role,
            k: #k,
        };
    })
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

/// Returns the file of one harness.
fn module(harness: &Harness, options: &Options, whole: &Whole, values: &[String]) -> String {
    file(
        &head(harness, options),
        &TokenStream::new(),
        parts(harness, options, whole, values),
    )
}

/// Returns the documentation of a harness's file: what P̂ₖ is, and where to find the paper's words in it.
fn head(harness: &Harness, options: &Options) -> Vec<String> {
    let info = &harness.info;
    let (t, t_prime) = if options.role == Role::FIRST {
        ("first", "second")
    } else {
        ("second", "first")
    };
    let p_hat = p_hat_k(options);
    let place = format!("{}:{}", info.place.file.display(), info.place.start.line);
    let what = match info.kind {
        HarnessKind::Test => "test",
        HarnessKind::PubFn => "function",
        HarnessKind::Main => "program's",
    };
    let mut lines = vec![
        format!(
            "{p_hat}: the sequential program of the {what} `{}` ({place}).",
            info.name
        ),
        String::new(),
    ];
    let docs = harness.docs.iter().filter(|line| !line.trim().is_empty());
    lines.extend(docs.map(|line| format!(">{line}")));
    if !harness.docs.is_empty() {
        lines.push(String::new());
    }
    lines.push("The concurrent program P starts its threads at".to_owned());
    for site in &info.spawn_sites {
        let scoped = if site.scoped { ", in a scope" } else { "" };
        let name = site
            .name
            .as_ref()
            .map_or_else(String::new, |name| format!(" (`{name}`)"));
        lines.push(format!(
            "- {}:{}{name}{scoped}",
            site.file.display(),
            site.line
        ));
    }
    let rest = format!(
        "
{p_hat} has the inputs of P and the arrays [`rds`](p_hat) and [`wrts`](p_hat): which reads of T, the thread under
test, see which writes of T', the interfering thread. Every one of its executions is an execution of P in which
these reads of T are non-local and all others are local, and T' reads nothing that T wrote.

In the paper's words, and where to find it:
- *init* is [`init`] up to where two threads run side by side.
- τ\\[T\\] is the {t} party's code, run by `seqz_runtime::engine` (`tau.rs`).
- τ'\\[T'\\] is the {t_prime} party's code, run before it and to its end (`tau_prime.rs`).
- G and G' are the two copies inside of every shared object (`seqz_runtime::shared`).
- *rds* and *wrts* are arguments of [`p_hat`]; *vals* are in the log of T'.
- *append(log, …)* is `seqz_runtime::log`.
- *isFeasible(log)* is `seqz_runtime::feasibility`, asked after every read of T and wherever T can fail.

The parties are numbered as they are created, the harness's own thread first where it goes on beside one other."
    );
    lines.extend(rest.lines().map(str::to_owned));
    lines
}

/// Returns the code of a harness's file.
fn parts(harness: &Harness, options: &Options, whole: &Whole, values: &[String]) -> [Part; 3] {
    let info = &harness.info;
    let p_hat = p_hat_k(options);
    let (k, role) = (number(options.k as usize), role(options));
    let which = if options.role == Role::FIRST {
        "Which party is T: the first one. The other one is T'."
    } else {
        "Which party is T: the second one. The other one is T'."
    };
    let which = docs(&[which]);
    let fields = info.params.iter().map(|param| {
        let (name, ty) = (tokens(&param.name), tokens(&param.ty));
        quote!(#name: #ty)
    });
    let name = &info.name;
    let expects = match &harness.expects {
        None => TokenStream::new(),
        Some(ShouldPanic { with: None }) => quote!(.should_panic(None)),
        Some(ShouldPanic { with: Some(text) }) => {
            let text = tokens(text);
            quote!(.should_panic(Some(#text)))
        }
    };
    // An infeasible execution of a program without `unsafe` code may be let run on, which is cheaper than unwinding it.
    let safe = (!whole.has_unsafe).then(|| quote!(.without_unsafe_code()));
    // For searches that look at the values behind locks.
    let values = (!values.is_empty()).then(|| {
        let values = values.iter().map(|value| tokens(value));
        quote!(.with_values(&[#(#values),*]))
    });
    let what_runs = docs(&[
        format!(
            "{p_hat}(I, rds, wrts): runs T' and then T, whose read `rds[i]` sees what write `wrts[i]` of T' has written."
        ),
        String::new(),
        "Reads are counted along T from 0, writes along T' from 0. An execution that no interleaving of P has ends as \
         infeasible."
            .to_owned(),
    ]);
    let on_bytes = docs(&[format!(
        "{p_hat} on bytes, for fuzzers: almost every byte string is a valid choice of inputs, reads and writes."
    )]);
    let init = init(harness, whole);
    [
        Part::Items(quote! {
            use seqz_runtime::{Harness, Outcome, ReadId, Role, WriteId};

            /// k: how many reads of T are non-local.
            pub const K: usize = #k;

            #which
            pub const ROLE: Role = #role;
        }),
        Part::Around(
            "seqz_runtime::inputs",
            quote! {
                /// I: the inputs of P, which are the parameters of the harness.
                pub struct Inputs { #(#fields),* }
            },
        ),
        Part::Items(quote! {
            #init

            /// The harness: its name and how it starts.
            pub static HARNESS: Harness<Inputs> = Harness::new(#name, init) #expects #safe #values;

            #what_runs
            pub fn p_hat(inputs: Inputs, rds: [ReadId; K], wrts: [WriteId; K]) -> Outcome {
                seqz_runtime::p_hat(&HARNESS, ROLE, inputs, &rds, &wrts)
            }

            #on_bytes
            pub fn p_hat_from_bytes(bytes: &[u8]) -> Outcome {
                seqz_runtime::p_hat_from_bytes::<K>(&HARNESS, ROLE, bytes)
            }
        }),
    ]
}

/// Returns the function that calls the harness.
fn init(harness: &Harness, whole: &Whole) -> TokenStream {
    let path = harness.info.name.split("::").map(|part| tokens(&raw(part)));
    let arguments = harness.arguments.iter().map(|argument| tokens(argument));
    let call = quote!(crate #(::#path)* (#(#arguments),*));
    let inputs = match (
        harness.arguments.is_empty(),
        harness.arguments.iter().any(|arg| arg.starts_with("&mut")),
    ) {
        (true, _) => quote!(_inputs),
        (false, true) => quote!(mut inputs),
        (false, false) => quote!(inputs),
    };
    let who = match harness.info.kind {
        HarnessKind::Main => "program",
        _ => "test",
    };
    let call = match harness.returns {
        Returns::Nothing if harness.info.kind == HarnessKind::PubFn => quote!(let _ = #call;),
        Returns::Nothing => quote!(#call;),
        Returns::Result => quote!(seqz_runtime::returned_result(#who, #call);),
        Returns::Other => quote!(seqz_runtime::returned(#who, #call);),
    };
    let mut lines = vec![
        "*init*: the harness as the user wrote it. Up to where two threads run side by side there is one copy of the",
        "shared variables and no log; from there on the engine runs τ' and τ, and what follows a join belongs to T.",
    ];
    let mut before = TokenStream::new();
    let mut say = |why: &[&'static str], what: TokenStream| {
        if !why.is_empty() && lines.len() == 2 {
            lines.push("");
        }
        lines.extend(why);
        before.extend(what);
    };
    if harness.info.kind == HarnessKind::Main {
        say(&[], quote!(seqz_runtime::is_main();));
    }
    if whole.asks_for_ends {
        say(
            &[
                "- `watch_ends`: the program may ask whether a thread has finished: then that a thread finishes is an event.",
            ],
            quote!(seqz_runtime::watch_ends();),
        );
    }
    if whole.results != Results::Unseen {
        let seen = tokens(&format!("{:?}", whole.results));
        say(
            &[
                "- `watch_results`: others may see what threads return being dropped: then letting go of it is an event.",
            ],
            quote!(seqz_runtime::watch_results(seqz_runtime::Results::#seen);),
        );
    }
    if whole.reaches_unsafe {
        say(
            &[
                "- `raw::watch`: under a scheduler, what `unsafe` code does with memory is checked, as far as the source",
                "  shows it.",
            ],
            quote!(seqz_runtime::raw::watch();),
        );
    }
    if let Some(name) = &harness.thread {
        say(&[], quote!(seqz_runtime::name_harness_thread(Some(#name));));
    }
    let lines = docs(&lines);
    quote! {
        #lines
        pub fn init(#inputs: Inputs) {
            #before
            #call
        }
    }
}

/// Returns the name of P̂ₖ with its k.
fn p_hat_k(options: &Options) -> String {
    let k = options.k.to_string();
    format!("P̂{}", k.chars().map(subscript).collect::<String>())
}

/// Returns the runtime's `Role`.
fn role(options: &Options) -> TokenStream {
    match options.role {
        Role::FIRST => quote!(Role::FIRST),
        Role::SECOND => quote!(Role::SECOND),
        Role(number) => {
            let number = self::number(number.into());
            quote!(Role(#number))
        }
    }
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
