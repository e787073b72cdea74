//! The manifests of the runtime, and of the crates of seqz that it stands on, as packages by themselves: no workspace to
//! inherit from, no dependency to fetch. `build.rs` includes this file, too.

macro_rules! package {
    ($about:literal, $name:literal, $features:literal) => {
        concat!(
            "# Written by seqz: ",
            $about,
            ".\n[package]\nname = \"",
            $name,
            "\"\nversion = \"",
            env!("CARGO_PKG_VERSION"),
            "\"\nedition = \"2024\"\nlicense = \"MIT OR Apache-2.0\"\npublish = false\n\n[lints.rust]\n",
            "unexpected_cfgs = { level = \"warn\", check-cfg = ['cfg(feature, values(",
            $features,
            "))', 'cfg(seqz_comparisons)'] }\n"
        )
    };
}

/// The dependencies of a crate of seqz that stands on the vocabulary alone, beside which the vocabulary is vendored.
macro_rules! on_vocabulary {
    () => {
        "\n[dependencies]\nseqz-vocabulary = { path = \"../seqz-vocabulary\" }\n"
    };
}

/// The runtime's manifest, without its dependencies. The features that are left out are named to rustc, so that rustc
/// doesn't take them for typing errors.
const RUNTIME: &str = package!(
    "the runtime that the transformed program links",
    "seqz-runtime",
    r#""z3", "scheduler", "copied_if_clone", "coercions", "std_handles", "serde", "sanitized""#
);

/// The dependencies of the runtime's manifest that the runtime always has.
const DEPENDENCIES: &str = r#"seqz-vocabulary = { path = "vendor/seqz-vocabulary" }
seqz-feasibility = { path = "vendor/seqz-feasibility" }
"#;

/// The dependencies that are added to the runtime's manifest where the scheduler is built in.
const SCHEDULER: &str = r#"seqz-explore = { path = "vendor/seqz-explore" }
corosensei = { path = "vendor/corosensei" }
"#;

/// The packages that the scheduler adds to the runtime on every target, directly or not.
pub(crate) const OF_THE_SCHEDULER: [&str; 4] =
    ["seqz-explore", "corosensei", "cfg-if", "scopeguard"];

/// The crates of seqz that the runtime always stands on, each with its manifest: without Z3, as the runtime is.
pub(crate) const GROUND: [(&str, &str); 2] = [
    (
        "seqz-vocabulary",
        package!(
            "the words that the parts of seqz share",
            "seqz-vocabulary",
            ""
        ),
    ),
    (
        "seqz-feasibility",
        concat!(
            package!(
                "what decides whether a log of two threads has an interleaving",
                "seqz-feasibility",
                r#""z3""#
            ),
            on_vocabulary!()
        ),
    ),
];

/// The strategies, with their manifest: without Z3, too.
pub(crate) const STRATEGIES: (&str, &str) = (
    "seqz-explore",
    concat!(
        package!(
            "the strategies that the runtime's scheduler is driven by",
            "seqz-explore",
            r#""z3""#
        ),
        on_vocabulary!()
    ),
);

/// Returns the runtime's manifest, for programs that depend on serde or don't, with the scheduler or without it.
pub(crate) fn runtime(serde: bool, scheduler: bool) -> String {
    let mut on = Vec::new();
    on.extend(scheduler.then_some("scheduler"));
    on.extend(serde.then_some("serde"));
    let knows = if serde {
        "serde = { version = \"1\", default-features = false }\n"
    } else {
        ""
    };
    // AddressSanitizer has to be told when coroutines change stacks.
    let (rest, tells) = if scheduler {
        (SCHEDULER, "\nsanitized = [\"corosensei/sanitizer\"]")
    } else {
        ("", "")
    };
    format!(
        "{RUNTIME}\n[features]\ndefault = {on:?}\nscheduler = []\ncopied_if_clone = []\ncoercions = []\nstd_handles = []\nserde = []{tells}\n\n[dependencies]\n{knows}{DEPENDENCIES}{rest}"
    )
}
