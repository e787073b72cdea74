//! The names in std, as far as globs need them: at the top, and in the modules with concurrency, which are those of the
//! [catalogue].

use super::{Def, Ns};
use crate::catalogue;
use crate::support::OVERRIDDEN_MACROS;

const TOP: &[&str] = &[
    "alloc",
    "any",
    "arch",
    "array",
    "ascii",
    "backtrace",
    "borrow",
    "boxed",
    "cell",
    "char",
    "clone",
    "cmp",
    "collections",
    "convert",
    "default",
    "env",
    "error",
    "f32",
    "f64",
    "ffi",
    "fmt",
    "fs",
    "future",
    "hash",
    "hint",
    "i128",
    "i16",
    "i32",
    "i64",
    "i8",
    "io",
    "isize",
    "iter",
    "marker",
    "mem",
    "net",
    "num",
    "ops",
    "option",
    "os",
    "panic",
    "path",
    "pin",
    "prelude",
    "primitive",
    "process",
    "ptr",
    "rc",
    "result",
    "slice",
    "str",
    "string",
    "sync",
    "task",
    "thread",
    "time",
    "u128",
    "u16",
    "u32",
    "u64",
    "u8",
    "usize",
    "vec",
];

/// Whether std has `name` in the module at `path`.
pub(crate) fn has(path: &[String], name: &str, ns: Ns) -> bool {
    let is_there = match path {
        [] if ns == Ns::Macro => OVERRIDDEN_MACROS.contains(&name),
        [] => TOP.contains(&name),
        _ => catalogue::has(&path.join("::"), name),
    };
    is_there && kind_fits(name, path.is_empty(), ns)
}

/// Whether a path into std can be meant in this namespace; other definitions always fit.
pub(crate) fn fits(def: &Def, ns: Ns) -> bool {
    let Def::Std(path) = def else { return true };
    match path.last() {
        Some(name) => kind_fits(name, path.len() == 1, ns),
        None => ns == Ns::Type,
    }
}

/// Decides by spelling: types are capitalized, modules are known by name, all other names are functions and macros.
fn kind_fits(name: &str, top: bool, ns: Ns) -> bool {
    let module = TOP.contains(&name) && top
        || matches!(name, "atomic" | "mpsc" | "mpmc" | "poison" | "nonpoison");
    let capital = name.chars().next().is_some_and(char::is_uppercase);
    match ns {
        Ns::Type => module || capital,
        Ns::Value => !module,
        Ns::Macro => !capital,
    }
}

/// Returns the path of `name` in the module at `path`, by its best known name.
pub(crate) fn canonical(path: &[String], name: &str) -> Vec<String> {
    let mut path = path.to_vec();
    // `std::sync::poison::Mutex` is `std::sync::Mutex`.
    if path.len() == 2 && path[0] == "sync" && path[1] == "poison" {
        path.pop();
    }
    path.push(name.to_string());
    path
}
