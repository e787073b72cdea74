//! Where cargo takes packages from, by the configuration of the program's directory: a build elsewhere has to take them
//! from there, too.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// The sections of cargo's configuration that say where packages come from.
const SECTIONS: &[&str] = &["registries", "registry", "source"];

/// The keys of paths in these sections, which are relative to the directory that has the configuration.
const PATHS: &[&str] = &["directory", "local-registry"];

/// Returns cargo's configuration of where packages come from, as a file anywhere may have it. `None` if there is none
/// besides that of the user's home.
pub(crate) fn of_program(manifest: &Path) -> Option<String> {
    let dir = manifest.parent()?.canonicalize().ok()?;
    let home = env::var_os("HOME").map(PathBuf::from);
    let mut all = Table::new();
    // What is nearer counts more.
    for above in dir.ancestors().filter(|dir| Some(*dir) != home.as_deref()) {
        let files = ["config.toml", "config"].map(|name| above.join(".cargo").join(name));
        let text = files.iter().find_map(|file| fs::read_to_string(file).ok());
        let Some(mut table) = text.and_then(|text| text.parse::<Table>().ok()) else {
            continue;
        };
        table.retain(|key, _| SECTIONS.contains(&key));
        resolve(&mut table, above);
        merge(&mut all, table);
    }
    if all.is_empty() {
        return None;
    }
    toml::to_string(&all).ok()
}

fn resolve(table: &mut Table, dir: &Path) {
    for (key, value) in table.iter_mut() {
        match value {
            Value::Table(table) => resolve(table, dir),
            Value::String(path) if PATHS.contains(&key.as_str()) => {
                *path = dir.join(&*path).display().to_string();
            }
            _ => {}
        }
    }
}

fn merge(all: &mut Table, more: Table) {
    for (key, value) in more {
        match (all.get_mut(&key), value) {
            (Some(Value::Table(known)), Value::Table(more)) => merge(known, more),
            (Some(_), _) => {}
            (None, value) => drop(all.insert(key, value)),
        }
    }
}
