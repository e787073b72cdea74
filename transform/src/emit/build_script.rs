//! The build script of the generated crate: it tells rustc what cargo would tell it for the user's package, and runs
//! the user's own script as cargo would run that.
//!
//! The user's script becomes part of the generated script, which starts itself once more to run it: in the user's
//! directory, with the variables of the user's package. What the user's script prints is passed on to cargo, with
//! relative paths made absolute, and the variables that it sets for rustc are noted for the program's run time.

use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Item, ItemMod, LitStr};

use super::code::{self, Part, tokens};
use crate::edit::Edits;
use crate::error::Error;
use crate::load::{Crate, Package, ParsedFile, Tests, parse_file};

/// The variables that a build script leaves for the program, below `OUT_DIR`: an expression, a slice of pairs.
pub(super) const VARIABLES: &str = "seqz-variables.rs";

/// The name that the `main` of the user's script gets.
const MAIN: &str = "seqz_user_main";

/// Returns the text of `build.rs`, where a build script is needed.
pub(super) fn text(program: &Crate) -> Result<Option<String>, Error> {
    let package = &program.package;
    let Some(dir) = package.manifest.as_deref().and_then(Path::parent) else {
        return Ok(None);
    };
    let asks = |file: &ParsedFile| file.source.text.as_str().contains("env!");
    // The macros of dependencies may ask for variables, too.
    let asked = !package.dependencies.is_empty() || program.files.iter().any(asks);
    let tells = variables(package);
    match &package.build_script {
        Some(script) => {
            let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
            let user = edited(script, package)?;
            Ok(Some(format!(
                "{user}\n\n{}",
                runner(&dir.display().to_string(), &tells, package.links.as_deref())
            )))
        }
        None if asked => Ok(Some(code::file(
            &["Written by seqz: what cargo tells the user's package about itself."],
            &TokenStream::new(),
            [Part::Items(quote! {
                fn main() {
                    println!("cargo:rerun-if-changed=build.rs");
                    for (name, value) in #tells {
                        println!("cargo:rustc-env={}={}", name, value);
                    }
                }
            })],
        ))),
        None => Ok(None),
    }
}

/// Returns the variables that cargo sets for rustc, as an expression.
fn variables(package: &Package) -> TokenStream {
    let mut all = package.environment.clone();
    // cargo sets this variable only for integration tests, which are modules here.
    if let Some(dir) = &package.target_directory
        && !package.targets.is_empty()
    {
        all.push((
            "CARGO_TARGET_TMPDIR".into(),
            dir.join("tmp").display().to_string(),
        ));
        for name in package
            .targets
            .iter()
            .filter_map(|target| target.program.as_ref())
        {
            let file = dir.join("debug").join(name);
            all.push((format!("CARGO_BIN_EXE_{name}"), file.display().to_string()));
        }
    }
    // A value with a line break can't be passed on, and cargo doesn't pass it on either.
    all.retain(|(_, value)| !value.contains('\n'));
    let pairs = all.iter().map(|(name, value)| quote!((#name, #value)));
    quote!([#(#pairs),*].iter())
}

/// Returns the user's script as a part of the generated script: its `main` has another name, and files that it names
/// relative to its own place are found there.
fn edited(script: &Path, package: &Package) -> Result<String, Error> {
    let file = parse_file(script, "build.rs".into(), Tests::Compiled, &package.name)?;
    let source = &file.source;
    let mut edits = Edits::default();
    let main = file.tree.items.iter().find_map(|item| match item {
        Item::Fn(function) if function.sig.ident == "main" => Some(function),
        _ => None,
    });
    let Some(main) = main else {
        return Err(Error::unsupported(
            source.place(0..0),
            "this build script",
            "it has no function `main` of its own that could be run",
            "write `fn main` in the file itself",
        ));
    };
    edits.replace(main.sig.ident.span().byte_range(), MAIN);
    for attr in &file.tree.attrs {
        if attr.path().is_ident("deny") || attr.path().is_ident("forbid") {
            edits.replace(attr.path().span().byte_range(), "allow");
        }
    }
    let dir = script.parent().unwrap_or(Path::new(""));
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    for item in &file.tree.items {
        if let Item::Mod(item) = item {
            place_module(item, &dir, &mut edits);
        }
    }
    let text: TokenStream = source.text.as_str().parse().unwrap_or_default();
    place_macros(text, &dir, package, &mut edits);
    Ok(edits.apply(source.text.as_str()).text)
}

/// A module in a file of its own is read at its place.
fn place_module(item: &ItemMod, dir: &Path, edits: &mut Edits) {
    if item.content.is_some() {
        return;
    }
    let path = item.attrs.iter().find(|attr| attr.path().is_ident("path"));
    if let Some(attr) = path {
        if let syn::Meta::NameValue(pair) = &attr.meta
            && let Ok(path) = syn::parse2::<LitStr>(quote_value(&pair.value))
        {
            let path = dir.join(path.value());
            let range = pair.value.span().byte_range();
            edits.replace(range, format!("{:?}", path.display().to_string()));
        }
        return;
    }
    let name = syn::ext::IdentExt::unraw(&item.ident).to_string();
    let usual = [format!("{name}.rs"), format!("{name}/mod.rs")];
    if let Some(path) = usual
        .iter()
        .map(|path| dir.join(path))
        .find(|path| path.is_file())
    {
        let at = item.span().byte_range().start;
        edits.before(at, format!("#[path = {:?}] ", path.display().to_string()));
    }
}

fn quote_value(value: &syn::Expr) -> TokenStream {
    match value {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) => TokenStream::from(TokenTree::from(text.token())),
        _ => TokenStream::new(),
    }
}

/// Edits `include!("…")` and similar macros, and macros that ask for what cargo sets when it compiles the script.
fn place_macros(tokens: TokenStream, dir: &Path, package: &Package, edits: &mut Edits) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let macro_ = match at.checked_sub(2).map(|at| &tokens[at..]) {
            Some([TokenTree::Ident(name), TokenTree::Punct(bang), ..]) if bang.as_char() == '!' => {
                name.to_string()
            }
            _ => String::new(),
        };
        let argument = syn::parse2::<LitStr>(group.stream()).map(|text| text.value());
        match (macro_.as_str(), argument) {
            ("include" | "include_str" | "include_bytes", Ok(path)) => {
                let mut range = group.span().byte_range();
                range = range.start + 1..range.end - 1;
                let path = dir.join(path).display().to_string();
                edits.replace(range, format!("{path:?}"));
            }
            ("env", Ok(name)) => {
                let told = package.environment.iter().find(|(known, _)| *known == name);
                if let Some((_, value)) = told {
                    let start = tokens[at - 2].span().byte_range().start;
                    let range = start..group.span().byte_range().end;
                    edits.replace(range, format!("{value:?}"));
                }
            }
            _ => place_macros(group.stream(), dir, package, edits),
        }
    }
}

/// Returns the code that runs the user's script.
///
/// Instructions about targets that the generated crate doesn't have are left out. A script that doesn't say when it is to
/// be run again is run whenever any file of the package has changed. The program is optimized; its package is told what it
/// is told when its tests are built.
fn runner(dir: &str, tells: &TokenStream, links: Option<&str>) -> String {
    let main = tokens(MAIN);
    let links = links.map(|name| quote!(.env("CARGO_MANIFEST_LINKS", #name)));
    let items = quote! {
        fn main() -> ::std::process::ExitCode {
            seqz_build::main(|| ::std::process::Termination::report(#main()))
        }

        /// Written by seqz: runs the script above as cargo runs it.
        mod seqz_build {
            use std::env;
            use std::path::{Path, PathBuf};
            use std::process::{Command, ExitCode, Stdio};

            const DIRECTORY: &str = #dir;
            const STARTED: &str = "SEQZ_BUILD_SCRIPT";

            pub fn main(script: fn() -> ExitCode) -> ExitCode {
                if env::var_os(STARTED).is_some() {
                    return script();
                }
                let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
                let mut command = Command::new(env::current_exe().expect("this program has a name"));
                command.current_dir(DIRECTORY).env(STARTED, "1") #links .stderr(Stdio::inherit());
                command.env("PROFILE", "debug").env("OPT_LEVEL", "0").env("DEBUG", "true");
                command.env_remove("CARGO_FEATURE_SEQZ_DEV_DEPENDENCIES");
                for (name, value) in #tells {
                    println!("cargo:rustc-env={}={}", name, value);
                    command.env(name, value);
                }
                let output = command.output().expect("the script can be started");
                let mut variables = vec![("OUT_DIR".to_string(), out.display().to_string())];
                let mut says_when = false;
                for line in String::from_utf8_lossy(&output.stdout).lines() {
                    says_when |= pass_on(line, &mut variables);
                }
                if !says_when {
                    run_again_for_any_file();
                }
                std::fs::write(out.join(#VARIABLES), format!("&{:?}", variables)).expect("OUT_DIR can be written to");
                match output.status.code() {
                    Some(0) => ExitCode::SUCCESS,
                    Some(code) => ExitCode::from(code as u8),
                    None => ExitCode::FAILURE,
                }
            }

            /// Passes a line of the script on to cargo. Returns whether it says when the script is to be run again.
            fn pass_on(line: &str, variables: &mut Vec<(String, String)>) -> bool {
                let instruction = line.strip_prefix("cargo::").or_else(|| line.strip_prefix("cargo:"));
                let (key, value) = instruction.and_then(|text| text.split_once('=')).unwrap_or(("", ""));
                match key {
                    "rerun-if-changed" => {
                        println!("cargo:{}={}", key, Path::new(DIRECTORY).join(value).display());
                        return true;
                    }
                    "rustc-link-search" => {
                        let (kind, path) = match value.split_once('=') {
                            Some((kind, path)) => (format!("{}=", kind), path),
                            None => (String::new(), value),
                        };
                        println!("cargo:{}={}{}", key, kind, Path::new(DIRECTORY).join(path).display());
                    }
                    "rustc-link-arg-bins"
                    | "rustc-link-arg-bin"
                    | "rustc-link-arg-tests"
                    | "rustc-link-arg-examples"
                    | "rustc-link-arg-benches"
                    | "rustc-link-arg-cdylib"
                    | "rustc-cdylib-link-arg" => {}
                    _ => {
                        if let ("rustc-env", Some((name, value))) = (key, value.split_once('=')) {
                            variables.push((name.to_string(), value.to_string()));
                        }
                        println!("{}", line);
                    }
                }
                key == "rerun-if-env-changed"
            }

            fn run_again_for_any_file() {
                let entries = std::fs::read_dir(DIRECTORY).into_iter().flatten().flatten();
                for entry in entries {
                    let name = entry.file_name();
                    if name != "target" && !name.to_string_lossy().starts_with('.') {
                        println!("cargo:rerun-if-changed={}", entry.path().display());
                    }
                }
            }
        }
    };
    code::file(&[""; 0], &TokenStream::new(), [Part::Items(items)])
}
