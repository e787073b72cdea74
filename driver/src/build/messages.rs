//! rustc's messages about generated code, told about the user's code.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use cargo_metadata::diagnostic::{Diagnostic as Rustc, DiagnosticLevel, DiagnosticSpan};

use super::cargo::Failure;
use super::{Layout, original};
use crate::diagnostic::{Diagnostic, Place, line_span};
use crate::error::Error;
use crate::program::{Generated, Program};

/// The traits that only seqz asks for: of the values of shared variables, directly and as parameters of generic code.
/// rustc names each trait both with and without its crate.
const OURS: [&str; 4] = [
    "Shadow`",
    "Copied`",
    "seqz_runtime::Shadow`",
    "seqz_runtime::Copied`",
];

/// Says why the user's program does not compile as it is; `None` where it compiles.
///
/// # Errors
/// When rustc can't be asked.
pub(super) fn broken(
    program: &Program,
    layout: &Layout,
    stop: &AtomicBool,
) -> Result<Option<Error>, Error> {
    let errors = original::errors(program, &layout.build, stop)?;
    if errors.is_empty() {
        return Ok(None);
    }
    let mut all = vec![
        Diagnostic::error("the program does not compile").note("so says rustc of it as it is"),
    ];
    all.extend(errors.iter().map(|error| {
        retold(
            error,
            |file, line, column| {
                Some(Origin {
                    file: file.to_owned(),
                    line,
                    column,
                })
            },
            program,
        )
    }));
    Ok(Some(Error::Program(all)))
}

/// Says why the generated crate doesn't compile, at the places of the original source.
pub(super) fn explain(
    failure: &Failure,
    program: &Program,
    generated: &Generated,
    layout: &Layout,
    stop: &AtomicBool,
) -> Error {
    if failure.errors.is_empty() {
        return elsewhere(failure);
    }
    let ours: Vec<_> = failure
        .errors
        .iter()
        .filter(|error| asks_for_clone(error))
        .collect();
    if failure
        .errors
        .iter()
        .any(|error| unsized_type(error).is_some())
    {
        // Std's locks need no size of their value, so the program compiles as it is, unless it is broken.
        match broken(program, layout, stop) {
            Ok(Some(broken)) => return broken,
            Ok(None) => {}
            Err(error) => return error,
        }
        return without_size(failure, |error| {
            in_original(error, program, generated, layout)
        });
    }
    if ours.is_empty() {
        // Nothing that seqz asks for: then either the program is broken, or the rewriting.
        match broken(program, layout, stop) {
            Ok(Some(broken)) => return broken,
            Ok(None) => {}
            Err(error) => return error,
        }
        let told = failure
            .errors
            .iter()
            .map(|error| in_original(error, program, generated, layout));
        // In constants, where rustc has to know the sizes: std's types are of others than the runtime's.
        if failure.errors.iter().all(is_of_size) {
            let told = told.map(|it| {
                it.help("`seqz` has types of its own for those that share memory, of another size: leave the `transmute` out of tests")
            });
            return Error::Program(told.collect());
        }
        return Error::Generated(told.collect());
    }
    // One complaint for each type, where it shows first.
    let mut types = Vec::new();
    let told = ours.into_iter().filter_map(|error| {
        let name = not_clone(error)?;
        (!types.contains(&name)).then(|| types.push(name.clone()))?;
        let mut told = in_original(error, program, generated, layout);
        let known = name != "_";
        let what = if known {
            format!("`{name}`")
        } else {
            "this".to_owned()
        };
        told.message =
            format!("{what} is shared between the threads, so it has to be `Clone`");
        told.remarks.clear();
        if let Some(place) = &mut told.place {
            place.label = Some("shared here".into());
            place.secondary.clear();
        }
        Some(
            told.note(
                "the threads run one after the other, each on its own copies of the shared values",
            )
            .help(format!(
                "derive or implement `Clone` for {what}, share something that is `Clone`, or use `seqz explore`, \
                 which needs no copies"
            )),
        )
    });
    Error::Program(told.collect())
}

/// Says which locks protect values of a type without a size, where the type shows only once it is inferred: what the source
/// shows, transform refuses. One complaint for each line and type.
fn without_size(failure: &Failure, told: impl Fn(&Rustc) -> Diagnostic) -> Error {
    let mut said = Vec::new();
    let all = failure.errors.iter().filter_map(|error| {
        let name = unsized_type(error)?;
        let mut told = told(error);
        let place = told.place.as_ref();
        let line = place.map(|place| {
            let before = place.source.get(..place.span.start).unwrap_or_default();
            (place.file.clone(), before.matches('\n').count())
        });
        let what = (name, line);
        if said.contains(&what) {
            return None;
        }
        told.message = format!("a lock of `{}` is not supported", what.0);
        said.push(what);
        told.remarks.clear();
        if let Some(place) = &mut told.place {
            place.label = Some(
                "it has no size, and the locks that take the place of std's keep their value beside others"
                    .into(),
            );
            place.secondary.clear();
        }
        Some(told.help("have the lock protect a `Box` of it"))
    });
    Error::Program(all.collect())
}

fn elsewhere(failure: &Failure) -> Error {
    if !failure.elsewhere.is_empty() {
        let all = failure.elsewhere.iter();
        let all: Vec<_> = all.map(super::cargo::Elsewhere::rendered).collect();
        return Error::Program(vec![
            Diagnostic::error("a dependency of the program does not compile").note(all.join("\n")),
        ]);
    }
    let output = failure.output.trim();
    let diagnostic = Diagnostic::error("cargo can't build the transformed program").note(output);
    if output.contains("offline") {
        return Error::Program(vec![diagnostic.help(
            "seqz builds offline: run `cargo fetch` in the program's directory once, so that its dependencies are there",
        )]);
    }
    Error::Build {
        message: "cargo can't build the transformed program".into(),
        output: output.into(),
    }
}

/// Whether all that is wrong is that the program has a global allocator too.
pub(super) fn other_allocator(failure: &Failure) -> bool {
    let text = "conflicts with global allocator";
    !failure.errors.is_empty()
        && failure
            .errors
            .iter()
            .all(|error| error.message.contains(text))
}

/// Whether it is about a `transmute` of types that differ in size.
fn is_of_size(error: &Rustc) -> bool {
    error.code.as_ref().is_some_and(|code| code.code == "E0512")
}

/// Returns the type that rustc says this of: that it has no size, which std's locks don't ask for.
fn unsized_type(error: &Rustc) -> Option<String> {
    if error.code.as_ref()?.code != "E0277" {
        return None;
    }
    let rest = error
        .message
        .strip_prefix("the size for values of type `")?;
    let name = rest.strip_suffix("` cannot be known at compilation time")?;
    Some(as_written(name))
}

fn asks_for_clone(error: &Rustc) -> bool {
    not_clone(error).is_some()
}

/// The type that rustc says is none of [`OURS`], which is to say that it can't be copied.
fn not_clone(error: &Rustc) -> Option<String> {
    // A bound that isn't there, a method that isn't there for want of one, and one that a trait's method doesn't have.
    if !matches!(
        error.code.as_ref()?.code.as_str(),
        "E0276" | "E0277" | "E0599"
    ) {
        return None;
    }
    let text = error.rendered.as_deref()?;
    let before = [": ", "` to implement `"];
    let mut found = OURS
        .iter()
        .flat_map(|ours| before.map(|before| format!("{before}{ours}")));
    let bound = found.find_map(|end| text.find(&end))?;
    let start = text[..bound].rfind('`')? + 1;
    Some(as_written(&text[start..bound]))
}

/// rustc's words in terms of what the user wrote.
pub(super) fn as_written(text: &str) -> String {
    let plain = text.replace("with_constant_cells::", "");
    let plain = plain.replace("counted::handles::", "");
    plain
        .replace("counted::destructors::", "")
        .replace("seqz_runtime::std::", "std::")
}

/// A position in the user's source.
struct Origin {
    file: PathBuf,
    line: u32,
    column: u32,
}

fn in_original(
    error: &Rustc,
    program: &Program,
    generated: &Generated,
    layout: &Layout,
) -> Diagnostic {
    retold(
        error,
        |file, line, column| {
            let file = file.strip_prefix(&layout.program).unwrap_or(file);
            let origin = generated.lookup(file, line, column)?;
            Some(Origin {
                file: origin.file,
                line: origin.line,
                column: origin.column,
            })
        },
        program,
    )
}

/// The message with its places replaced by what `origin` makes of them.
fn retold(
    error: &Rustc,
    origin: impl Fn(&Path, u32, u32) -> Option<Origin>,
    program: &Program,
) -> Diagnostic {
    let mut message = Diagnostic::error(as_written(&error.message));
    let placed = |span: &DiagnosticSpan| {
        let span = written(span);
        let start = origin(
            Path::new(&span.file_name),
            span.line_start as u32,
            span.column_start as u32,
        )?;
        let end = origin(
            Path::new(&span.file_name),
            span.line_end as u32,
            span.column_end as u32,
        );
        let source = program.sources().text(&start.file)?;
        let from = line_span(&source, start.line, start.column);
        let length = span.column_end.saturating_sub(span.column_start);
        let to = match end {
            Some(end) if end.file == start.file => line_span(&source, end.line, end.column).start,
            _ => from.start,
        };
        // Tokens may have moved apart: then at least what rustc marked on one line.
        let to = if to > from.start {
            to
        } else {
            (from.start + length.max(1)).min(from.end)
        };
        Some((
            start.file,
            source,
            from.start..to,
            span.label.as_deref().map(as_written),
        ))
    };
    let mut spans: Vec<_> = error.spans.iter().collect();
    spans.sort_by_key(|span| !span.is_primary);
    let mut spans = spans.into_iter().filter_map(placed);
    if let Some((file, source, span, label)) = spans.next() {
        let secondary = spans
            .filter(|(other, ..)| *other == file)
            .filter_map(|(_, _, span, label)| Some((span, label?)))
            .collect();
        message = message.at(Place {
            file,
            source,
            span,
            label,
            secondary,
        });
    }
    for child in &error.children {
        // Suggestions are edits of generated code, and spans of other crates mean nothing here.
        if child
            .spans
            .iter()
            .any(|span| span.suggested_replacement.is_some())
        {
            continue;
        }
        message = match child.level {
            DiagnosticLevel::Help => message.help(as_written(&child.message)),
            DiagnosticLevel::Note => message.note(as_written(&child.message)),
            _ => message,
        };
    }
    message
}

/// Where the code stands that was written: the outermost use of the macro, for a place inside an expansion.
pub(super) fn written(span: &DiagnosticSpan) -> &DiagnosticSpan {
    let mut span = span;
    while let Some(expansion) = &span.expansion {
        span = &expansion.span;
    }
    span
}
