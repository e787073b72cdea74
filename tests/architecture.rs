//! The map and the ground: what pages of the repository link to is there, and no crate stands on one that stands on it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The pages that people read in the repository.
fn pages() -> Vec<PathBuf> {
    let root = root();
    let mut pages = Vec::new();
    for folder in [root.clone(), root.join("docs"), root.join("tests")] {
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
    assert!(arrows >= 6, "only {arrows} arrows were found");
    assert_eq!(stands_on("transform"), BTreeSet::new());
    assert_eq!(stands_on("explore"), BTreeSet::new());
}
