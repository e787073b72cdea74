//! The map and the ground: what pages of the repository link to is there, and no crate, and no module of a crate, stands on
//! one that stands on it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The pages that people read in the repository.
fn pages() -> Vec<PathBuf> {
    let root = root();
    let mut pages = Vec::new();
    for folder in ["", "docs", "docs/book/src", "tests"].map(|it| root.join(it)) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|it| it == "md") {
                pages.push(path);
            }
        }
    }
    assert!(pages.len() > 8, "{pages:?}");
    pages
}

/// The targets of the links in a page, without those that lead elsewhere or to a place in the page itself.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("](").filter_map(|(at, _)| {
        let target = &text[at + 2..];
        let target = &target[..target.find(')')?];
        let target = target.split('#').next().unwrap_or_default();
        let is_path = !target.is_empty() && !target.contains("://") && !target.contains(' ');
        is_path.then_some(target)
    })
}

#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    let mut seen = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            seen += 1;
            if !page.parent().unwrap().join(link).exists() {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(seen > 100, "only {seen} links were found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// What a crate of the workspace depends on, of the workspace, tests aside.
fn stands_on(folder: &str) -> BTreeSet<String> {
    let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let mut on = BTreeSet::new();
    for (name, table) in &manifest {
        if name == "dependencies" || name == "build-dependencies" {
            on.extend(table.as_table().unwrap().keys().cloned());
        }
    }
    on.retain(|it| it.starts_with("seqz"));
    on
}

#[test]
fn crates_stand_in_layers() {
    // From the ground up: each may stand on those before it, except that transform and what runs know nothing of each other.
    let layers = [
        ("seqz-vocabulary", "vocabulary"),
        ("seqz-feasibility", "feasibility"),
        ("seqz-explore", "explore"),
        ("seqz-runtime", "runtime"),
        ("seqz-transform", "transform"),
        ("seqz", "driver"),
        ("seqz-bench", "bench"),
    ];
    let height: BTreeMap<_, _> = (0..).zip(layers).map(|(at, it)| (it.0, at)).collect();
    let mut arrows = 0;
    for (name, folder) in layers {
        for on in stands_on(folder) {
            arrows += 1;
            assert!(
                height[on.as_str()] < height[name],
                "{name} stands on {on}, which is above it"
            );
        }
    }
    assert!(arrows >= 9, "only {arrows} arrows were found");
    assert_eq!(stands_on("vocabulary"), BTreeSet::new());
    assert_eq!(stands_on("transform"), BTreeSet::new());
    let words = BTreeSet::from(["seqz-vocabulary".to_owned()]);
    assert_eq!(stands_on("feasibility"), words);
    assert_eq!(stands_on("explore"), words);
}

/// The modules of a crate from the ground up: each may import those of the lines before its own, and none of its own line.
const VOCABULARY: &[&str] = &[
    "ended hash wire",
    "asked failure ids kind observation order place promise transition",
    "event schedule thread",
];

/// See [`VOCABULARY`].
const FEASIBILITY: &[&str] = &[
    "bits log",
    "interference many validate z3",
    "track",
    "lane path",
    "witness",
    "runs",
    "grid",
    "progress",
];

/// See [`VOCABULARY`].
const EXPLORE: &[&str] = &[
    "looks names parts",
    "distinct random_numbers relation threads waiting",
    "behind_writers cache transition",
    "executor mcm visits",
    "divergence fair",
    "strategy trace stack tree",
    "search",
    "growth mcr race readers",
    // Strategies, some of which stand on others.
    "dfs hbr_cache icb lazy_dpor pcb pct pos random rc11 surw",
    "dpor hapset icb_dpor odpor rv_causal",
    "cached_dpor",
    "catalogue",
];

/// See [`VOCABULARY`].
const RUNTIME: &[&str] = &[
    "memory input alone bound ending overflow",
    "clock executable judge locals pairs panics",
    "finding process",
    // The two machines. The engine of the sequential program asks the scheduled one what a panic comes to.
    "scheduled",
    "engine raw values calls",
    "running",
    "addresses check left_out loops observe print transmute",
    // What stands for std, on either machine.
    "shared",
    "std cell",
    "constant_cells",
    "counted system harness",
    // What runs harnesses.
    "p_hat rounds",
    "fuzz",
    "property worker",
];

const TRANSFORM: &[&str] = &[
    "catalogue cfg edit extent options source unsafe_code",
    "error map sharing support",
    "generated load",
    "constant_cells counting foreign resolve",
    "lasting reached traits",
    "bounds walk",
    "noted",
    "harness",
    "shared",
    "values",
    "emit",
    "library program",
];

const DRIVER: &[&str] = &[
    "digest embed generated_manifest layout portable rustc said style terminal variant visible",
    "compiled diagnostic",
    "error model",
    "harness lock manifest output piece solvers worker",
    "dependencies",
    "sources",
    "program",
    "build findings original",
    "check",
    "compare explore replay",
    "fuzz results testing",
    "destination report",
    "cli",
];

/// The tokens of a file without what is compiled for tests alone.
fn tokens_without_tests(text: &str) -> Vec<TokenTree> {
    let tokens: TokenStream = text.parse().unwrap();
    let mut kept = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_of_tests = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#')
            && tokens
                .peek()
                .is_some_and(|it| it.to_string().replace(' ', "") == "[cfg(test)]");
        if !is_of_tests {
            kept.push(token);
            continue;
        }
        // Up to the end of the item.
        for token in tokens.by_ref() {
            match &token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => break,
                TokenTree::Punct(punct) if punct.as_char() == ';' => break,
                _ => {}
            }
        }
    }
    kept
}

/// The first names of paths that begin with `crate`.
fn imports(tokens: &[TokenTree], found: &mut BTreeSet<String>) {
    let is_colon =
        |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(it)) if it.as_char() == ':');
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            imports(&group.stream().into_iter().collect::<Vec<_>>(), found);
        }
        let is_crate = matches!(token, TokenTree::Ident(it) if it == "crate");
        if !is_crate || !is_colon(at + 1) || !is_colon(at + 2) {
            continue;
        }
        match tokens.get(at + 3) {
            Some(TokenTree::Ident(name)) => {
                found.insert(name.to_string());
            }
            Some(TokenTree::Group(group)) => {
                let mut is_first = true;
                for token in group.stream() {
                    match &token {
                        TokenTree::Ident(name) if is_first => {
                            found.insert(name.to_string());
                            is_first = false;
                        }
                        TokenTree::Punct(it) if it.as_char() == ',' => is_first = true,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
}

/// For each module of a crate, what it imports by `crate::`, tests aside.
fn modules(folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    fn add(path: &Path, found: &mut BTreeSet<String>) {
        if path.is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                add(&entry.unwrap().path(), found);
            }
        } else if path.extension().is_some_and(|it| it == "rs")
            && path.file_stem().is_some_and(|it| it != "tests")
        {
            let text = fs::read_to_string(path).unwrap();
            imports(&tokens_without_tests(&text), found);
        }
    }
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for entry in fs::read_dir(root().join(folder).join("src")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if !matches!(name.as_str(), "lib" | "main" | "cargo_seqz" | "tests") {
            add(&path, modules.entry(name).or_default());
        }
    }
    modules
}

#[test]
fn modules_stand_in_layers() {
    let mut wrong = Vec::new();
    for (folder, layers, least) in [
        ("vocabulary", VOCABULARY, 2),
        ("feasibility", FEASIBILITY, 20),
        ("explore", EXPLORE, 31),
        ("runtime", RUNTIME, 31),
        ("transform", TRANSFORM, 31),
        ("driver", DRIVER, 31),
    ] {
        let height: BTreeMap<&str, usize> = layers
            .iter()
            .enumerate()
            .flat_map(|(height, line)| line.split(' ').map(move |name| (name, height)))
            .collect();
        let modules = modules(folder);
        let mut arrows = 0;
        for (module, imported) in &modules {
            let Some(own) = height.get(module.as_str()) else {
                wrong.push(format!("{folder}: `{module}` has no layer"));
                continue;
            };
            for other in imported
                .iter()
                .filter(|it| modules.contains_key(*it) && *it != module)
            {
                arrows += 1;
                if height.get(other.as_str()).is_some_and(|other| other >= own) {
                    wrong.push(format!(
                        "{folder}: `{module}` imports `{other}`, which is not below it"
                    ));
                }
            }
        }
        assert!(
            arrows >= least,
            "only {arrows} imports were found in {folder}"
        );
        for name in height.keys().filter(|it| !modules.contains_key(**it)) {
            wrong.push(format!("{folder}: there is no module `{name}`"));
        }
    }
    // What draws is drawn upon by the command line alone.
    for (module, imported) in modules("driver") {
        if imported.contains("report") && module != "cli" && module != "report" {
            wrong.push(format!("driver: `{module}` imports `report`"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A part of the runtime that is there with the scheduler only has a file of the same functions in its place, `absent.rs`, so
/// that nothing else asks whether the scheduler is there.
#[test]
fn the_scheduler_is_asked_for_where_modules_are_chosen() {
    fn ask(path: &Path, found: &mut BTreeSet<PathBuf>) {
        if path.is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                ask(&entry.unwrap().path(), found);
            }
        } else if fs::read_to_string(path)
            .is_ok_and(|text| text.contains("feature = \"scheduler\""))
        {
            found.insert(path.to_owned());
        }
    }
    let source = root().join("runtime/src");
    let mut found = BTreeSet::new();
    ask(&source, &mut found);
    let expected = ["lib.rs", "worker/mod.rs"].map(|it| source.join(it));
    assert_eq!(found, BTreeSet::from(expected));
}

#[test]
fn imports_are_read() {
    let text = "use crate::a::B; use crate::{c, d::{E, F}, g}; fn f() { crate::h::i(); }
        #[cfg(test)] mod tests { use crate::j; } #[cfg(test)] use crate::k; // crate::l
        macro_rules! m { () => { $crate::n::o() } }";
    let mut found = BTreeSet::new();
    imports(&tokens_without_tests(text), &mut found);
    let expected = ["a", "c", "d", "g", "h", "n"].map(str::to_owned);
    assert_eq!(found, BTreeSet::from(expected));
}
