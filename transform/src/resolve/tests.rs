//! Resolution on small texts.

use super::*;
use crate::load::Crate;

/// What `path` means in the module `module` of the text.
fn meaning(text: &str, module: &str, path: &str, ns: Ns) -> String {
    let program = Crate::of_text(text);
    let tables = collect(&program);
    let module = (0..tables.modules.len())
        .find(|id| tables.module_path(*id) == module)
        .unwrap();
    let leading = path.starts_with("::");
    let segments: Vec<String> = path
        .trim_start_matches("::")
        .split("::")
        .map(str::to_string)
        .collect();
    match tables.resolve(&[Rib::Module(module)], leading, &segments, ns) {
        None => "nothing".into(),
        Some(Def::Std(path)) => format!("std {}", path.join("::")),
        Some(Def::Extern(path)) => format!("crate {}", path.join("::")),
        Some(Def::Module(module)) => format!("module {}", tables.module_path(module)),
        Some(Def::Item(item)) => match tables.alias(item) {
            Some(Def::Std(path)) => format!("alias of std {}", path.join("::")),
            _ => format!("item {}", tables.items[item].name),
        },
        Some(Def::Associated(item, name)) => format!("{name} of {}", tables.items[item].name),
        Some(other) => format!("{other:?}"),
    }
}

fn ty(text: &str, path: &str) -> String {
    meaning(text, "", path, Ns::Type)
}

fn value(text: &str, path: &str) -> String {
    meaning(text, "", path, Ns::Value)
}

#[test]
fn use_trees() {
    let text = "use std::{sync::{self, atomic::{AtomicU8 as Small, *}}, thread as t}; use core::cell::Cell;";
    assert_eq!(ty(text, "sync::Mutex"), "std sync::Mutex");
    assert_eq!(ty(text, "Small"), "std sync::atomic::AtomicU8");
    assert_eq!(ty(text, "AtomicBool"), "std sync::atomic::AtomicBool");
    assert_eq!(value(text, "t::spawn"), "std thread::spawn");
    assert_eq!(ty(text, "Cell"), "std cell::Cell");
    assert_eq!(ty(text, "Mutex"), "nothing");
    assert_eq!(ty(text, "::std::sync::Arc"), "std sync::Arc");
}

#[test]
fn own_items_come_before_globs_and_crates() {
    let text = "use std::sync::*; struct Mutex; mod std { pub mod sync { pub struct RwLock; } }";
    assert_eq!(ty(text, "Mutex"), "item Mutex");
    assert_eq!(ty(text, "std::sync::RwLock"), "item RwLock");
    assert_eq!(ty(text, "::std::sync::RwLock"), "std sync::RwLock");
    // The glob is of the module `std` as well, which has no `Arc`.
    assert_eq!(ty(text, "Arc"), "nothing");
}

#[test]
fn re_exports_and_globs_of_globs() {
    let text = "mod a { pub use std::sync::Mutex as Lock; pub use self::b::*; pub mod b { pub use std::thread::*; pub fn f() {} } }
                mod c { pub use super::a::*; pub use super::d::*; } mod d { pub use super::c::*; } use c::*;";
    assert_eq!(ty(text, "Lock"), "std sync::Mutex");
    assert_eq!(value(text, "spawn"), "std thread::spawn");
    assert_eq!(value(text, "f"), "item f");
    assert_eq!(
        meaning(text, "a::b", "super::super::c::Lock", Ns::Type),
        "std sync::Mutex"
    );
    assert_eq!(
        meaning(text, "d", "Builder", Ns::Type),
        "std thread::Builder"
    );
    assert_eq!(value(text, "nowhere"), "nothing");
}

#[test]
fn namespaces_are_apart() {
    let text =
        "use std::thread::spawn; mod spawn { pub struct X; } fn thread() {} use std::thread;";
    assert_eq!(value(text, "spawn"), "std thread::spawn");
    assert_eq!(ty(text, "spawn::X"), "item X");
    assert_eq!(value(text, "thread"), "item thread");
    assert_eq!(value(text, "thread::park"), "std thread::park");
}

#[test]
fn crates_and_their_aliases() {
    let text =
        "extern crate std as foo; use std; use parking_lot::Mutex; mod m { use std as inner; }";
    assert_eq!(
        meaning(text, "m", "foo::sync::Once", Ns::Type),
        "std sync::Once"
    );
    assert_eq!(
        meaning(text, "m", "::foo::sync::Once", Ns::Type),
        "std sync::Once"
    );
    assert_eq!(
        meaning(text, "m", "inner::sync::Once", Ns::Type),
        "std sync::Once"
    );
    assert_eq!(ty(text, "std::sync::Once"), "std sync::Once");
    assert_eq!(ty(text, "Mutex"), "crate parking_lot::Mutex");
    assert_eq!(value(text, "seqz::assume"), "crate seqz::assume");
}

#[test]
fn aliases_and_associated_items() {
    let text = "type Shared<T> = std::sync::Arc<T>; type Again = Shared<u8>; struct S; impl S { fn new() {} }";
    assert_eq!(ty(text, "Again"), "alias of std sync::Arc");
    assert_eq!(
        value(text, "Again::strong_count"),
        "std sync::Arc::strong_count"
    );
    assert_eq!(value(text, "S::new"), "new of S");
}

#[test]
fn what_is_left_out_is_not_there() {
    let text = "#[cfg(not(test))] struct Mutex; #[cfg(test)] use std::sync::Mutex; #[cfg(loom)] mod std {}";
    assert_eq!(ty(text, "Mutex"), "std sync::Mutex");
    assert_eq!(ty(text, "std::sync::Mutex"), "std sync::Mutex");
}

#[test]
fn items_hide_the_variables_around_them() {
    let program = Crate::of_text("fn f() {}");
    let tables = collect(&program);
    let variables = Rib::Variables(HashSet::from(["f".to_string()]));
    let segments = ["f".to_string()];
    let inside = [Rib::Module(ROOT), variables.clone()];
    assert_eq!(
        tables.resolve(&inside, false, &segments, Ns::Value),
        Some(Def::Local)
    );
    let nested = [Rib::Module(ROOT), variables, Rib::Item];
    assert!(matches!(
        tables.resolve(&nested, false, &segments, Ns::Value),
        Some(Def::Item(_))
    ));
}

#[test]
fn imports_that_start_with_their_own_name() {
    let text =
        "mod m { pub mod m { pub fn m() {} } } use m::m; use self::n::n; mod n { pub fn n() {} }";
    assert_eq!(value(text, "n"), "item n");
    let program =
        Crate::of_text("mod spawn { pub fn spawn() {} } fn f() { use spawn::spawn; spawn(); }");
    let tables = collect(&program);
    let import = Import {
        segments: vec!["spawn".into(), "spawn".into()],
        leading: false,
    };
    let names = Names {
        imports: HashMap::from([("spawn".into(), vec![import])]),
        ..Names::default()
    };
    let ribs = [Rib::Module(ROOT), Rib::Block(names)];
    let segments = ["spawn".to_string()];
    assert!(matches!(
        tables.resolve(&ribs, false, &segments, Ns::Value),
        Some(Def::Item(_))
    ));
}

#[test]
fn aliases_of_themselves_stand_for_nothing_else() {
    let text = "mod a { pub type T = super::b::T; } mod b { pub type T = super::a::T; } type S = S; type U = a::T;";
    assert_eq!(ty(text, "S"), "item S");
    assert_eq!(ty(text, "S::Part"), "Part of S");
    assert_eq!(ty(text, "U"), "item U");
    assert_eq!(ty(text, "U::Part::Part"), "Unknown");
}

/// Each module brings all of two others: no more is looked at than there are modules.
#[test]
fn globs_of_globs_are_followed_once() {
    let layer = |n: usize| {
        let (a, b) = (n + 1, n + 1);
        format!(
            "mod a{n} {{ pub use super::a{a}::*; pub use super::b{b}::*; }} mod b{n} {{ pub use super::a{a}::*; pub use super::b{b}::*; }} "
        )
    };
    let mut text: String = (0..60).map(layer).collect();
    text.push_str("mod a60 { pub struct Here; } mod b60 {}");
    assert_eq!(ty(&text, "a0::Here"), "item Here");
    assert_eq!(ty(&text, "a0::Nowhere"), "nothing");
}
