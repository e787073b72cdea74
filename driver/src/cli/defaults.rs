//! `seqz.toml`: options that a project wants to be given where the command line doesn't give them.
//!
//! A key is an option's name without its dashes. Keys outside of a table are for every command that has the option, and
//! those in a table `[check]`, `[explore]`, … for that command alone. `[package.metadata.seqz]` and
//! `[workspace.metadata.seqz]` of a `Cargo.toml` hold the same.
//!
//! The options go into the command line in front of those that the user gave: there is one place that knows what an option
//! may be, and one that refuses it.

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{fs, iter};

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::test;
use crate::diagnostic::{Diagnostic, Place, shown};
use crate::error::Error;

/// The name of the file.
pub(super) const FILE: &str = "seqz.toml";

/// The commands that take options from the file.
const COMMANDS: [&str; 7] = [
    "check", "compare", "doctor", "explore", "fuzz", "list", "test",
];

/// Whether the file is read, flattened into the commands that do.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ConfigArgs {
    /// Take no options from seqz.toml, nor from a Cargo.toml
    #[arg(long)]
    no_config: bool,
}

/// What a project gives, as it stands in a file.
struct Given {
    file: PathBuf,
    text: String,
    /// The tables that lead to the options: `package`, `metadata`, `seqz`.
    path: &'static [&'static str],
}

/// An option that the file gives to a command.
struct Argument {
    /// As on the command line: `--time=20`.
    text: String,
    span: Range<usize>,
}

/// Puts what the project of the program gives into the command line. Returns the line, and what was put into it with the file
/// that gives it.
///
/// # Errors
/// When the file can't be read, or gives what no command takes.
pub(super) fn with_defaults(
    command: &Command,
    line: Vec<OsString>,
) -> Result<(Vec<OsString>, Option<String>), Error> {
    // What is wrong with the line as it was given is for the parser to say.
    let Ok(matches) = command.clone().try_get_matches_from(&line) else {
        return Ok((line, None));
    };
    let Some((name, given)) = matches.subcommand() else {
        return Ok((line, None));
    };
    if !COMMANDS.contains(&name) || given.get_flag("no_config") {
        return Ok((line, None));
    }
    let path = given.get_raw("path").and_then(|mut all| all.next());
    let path = Path::new(path.unwrap_or(OsStr::new(".")));
    // The first word of `seqz test` may be a filter.
    let path = match name {
        "test" if !test::is_program(path) => Path::new("."),
        _ => path,
    };
    let Some(project) = find(path)? else {
        return Ok((line, None));
    };
    let defaults = project.of(command, name, given)?;
    if defaults.is_empty() {
        return Ok((line, None));
    }
    let said: Vec<_> = defaults.iter().map(|it| it.text.clone()).collect();
    let said = format!("{} gives {}", shown(&project.file), said.join(" "));
    let mut line = line;
    let at = line.iter().position(|it| it == name).map_or(1, |at| at + 1);
    let arguments = defaults.iter().map(|it| OsString::from(&it.text));
    line.splice(at..at, arguments);
    if let Err(error) = command.clone().try_get_matches_from(&line)
        && !matches!(
            error.kind(),
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
        )
    {
        let all = defaults.iter().map(|it| it.span.clone());
        let span = all.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end));
        return Err(project.wrong(&sentence(&error), span.unwrap_or(0..0), None));
    }
    Ok((line, Some(said)))
}

/// The first sentence of what the parser says.
fn sentence(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let end = text.find("\n\n").unwrap_or(text.len());
    let words: Vec<_> = text[..end].split_whitespace().collect();
    words.join(" ")
}

/// Finds what the project of this program gives: in the program's directory, or the nearest one above it, up to that of the
/// workspace.
fn find(path: &Path) -> Result<Option<Given>, Error> {
    let Ok(path) = path.canonicalize() else {
        return Ok(None);
    };
    let here = std::env::current_dir().and_then(|dir| dir.canonicalize());
    let as_named = |file: PathBuf| match &here {
        Ok(here) => file.strip_prefix(here).map(Path::to_owned).unwrap_or(file),
        Err(_) => file,
    };
    let first = if path.is_dir() { 0 } else { 1 };
    for dir in path.ancestors().skip(first) {
        let own = dir.join(FILE);
        if own.is_file() {
            let text = fs::read_to_string(&own);
            let file = as_named(own);
            return match text {
                Ok(text) => Ok(Some(Given {
                    file,
                    text,
                    path: &[],
                })),
                Err(source) => Err(Error::File {
                    what: "read",
                    path: file,
                    source,
                }),
            };
        }
        let manifest = dir.join("Cargo.toml");
        // What is wrong with a manifest is said when the program is loaded.
        let text = fs::read_to_string(&manifest).unwrap_or_default();
        let table = text.parse::<toml::Table>().ok();
        let has = |path: &[&str]| {
            let mut at = table.as_ref();
            for key in path {
                at = at.and_then(|table| table.get(*key)?.as_table());
            }
            at.is_some()
        };
        for path in [
            &["package", "metadata", "seqz"][..],
            &["workspace", "metadata", "seqz"],
        ] {
            if has(path) {
                let file = as_named(manifest);
                return Ok(Some(Given { file, text, path }));
            }
        }
        if has(&["workspace"]) || dir.join(".git").exists() {
            break;
        }
    }
    Ok(None)
}

impl Given {
    fn wrong(&self, message: &str, span: Range<usize>, help: Option<String>) -> Error {
        let mut said = Diagnostic::error(message).at(Place {
            file: self.file.clone(),
            source: self.text.clone(),
            span,
            label: None,
            secondary: Vec::new(),
        });
        if let Some(help) = help {
            said = said.help(help);
        }
        Error::Program(vec![said])
    }

    /// What is given to this command beside what the user has given.
    fn of(
        &self,
        command: &Command,
        name: &str,
        given: &ArgMatches,
    ) -> Result<Vec<Argument>, Error> {
        let all = DeTable::parse(&self.text)
            .map_err(|e| self.wrong(e.message(), e.span().unwrap_or(0..0), None))?;
        let mut table = all.get_ref();
        for key in self.path {
            match table.get(*key).and_then(|it| it.get_ref().as_table()) {
                Some(inner) => table = inner,
                None => return Ok(Vec::new()),
            }
        }
        let mut defaults = Vec::new();
        // A command's own table has the last word.
        let own = table.get(name).and_then(|it| it.get_ref().as_table());
        let is_own = |key: &str| own.is_some_and(|own| own.contains_key(key));
        for (key, value) in table {
            let (text, span) = (key.get_ref().as_ref(), key.span());
            if let DeValue::Table(inner) = value.get_ref()
                && COMMANDS.contains(&text)
            {
                for (key, value) in inner {
                    let Some(arg) = option(command, text, key.get_ref()) else {
                        let message = format!("`seqz {text}` has no option `{}`", key.get_ref());
                        let help = format!("`seqz help {text}` shows its options");
                        return Err(self.wrong(&message, key.span(), Some(help)));
                    };
                    let taken = self.taken(command, text, arg, value)?;
                    if text == name && is_free(command, name, arg, given) {
                        defaults.extend(taken);
                    }
                }
                continue;
            }
            // A value that this command has no use for is looked at all the same.
            let mut takers = iter::once(name).chain(COMMANDS);
            let taker = takers.find_map(|taker| Some((taker, option(command, taker, text)?)));
            let Some((taker, arg)) = taker else {
                let message = format!("no command has an option `{text}`");
                let help = Some(format!(
                    "a key is the name of an option, as `seqz help check` shows them, or of a command: {}",
                    COMMANDS.join(", ")
                ));
                return Err(self.wrong(&message, span, help));
            };
            let taken = self.taken(command, taker, arg, value)?;
            if taker == name && !is_own(text) && is_free(command, name, arg, given) {
                defaults.extend(taken);
            }
        }
        Ok(defaults)
    }

    /// The arguments that a value stands for, each of which the command takes.
    fn taken(
        &self,
        command: &Command,
        name: &str,
        arg: &Arg,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Vec<Argument>, Error> {
        let option = arg.get_long().unwrap_or_default();
        let takes_values = arg.get_action().takes_values();
        let several = matches!(arg.get_action(), clap::ArgAction::Append);
        let plain = |value: &DeValue<'_>| match value {
            DeValue::String(text) => Some(text.clone().into_owned()),
            DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
                .ok()
                .map(|number| number.to_string()),
            DeValue::Float(number) => Some(number.as_str().to_owned()),
            _ => None,
        };
        let argument = |text: String, span| Argument {
            text: format!("--{option}={text}"),
            span,
        };
        let wanted = match (takes_values, several) {
            (false, _) => "true or false",
            (true, false) => "one value",
            (true, true) => "a value, or a list of values",
        };
        let wrong = |span| {
            let message = format!("`{option}` takes {wanted}");
            Err(self.wrong(&message, span, None))
        };
        let mut taken = Vec::new();
        match value.get_ref() {
            DeValue::Boolean(true) if !takes_values => taken.push(Argument {
                text: format!("--{option}"),
                span: value.span(),
            }),
            DeValue::Boolean(false) if !takes_values => {}
            DeValue::Array(values) if several => {
                for value in values {
                    match plain(value.get_ref()) {
                        Some(text) => taken.push(argument(text, value.span())),
                        None => return wrong(value.span()),
                    }
                }
            }
            single if takes_values => match plain(single) {
                Some(text) => taken.push(argument(text, value.span())),
                None => return wrong(value.span()),
            },
            _ => return wrong(value.span()),
        }
        for it in &taken {
            let line = [command.get_name(), name, &it.text];
            if let Err(error) = command.clone().try_get_matches_from(line)
                && matches!(
                    error.kind(),
                    ErrorKind::InvalidValue | ErrorKind::ValueValidation
                )
            {
                return Err(self.wrong(&sentence(&error), it.span.clone(), None));
            }
        }
        Ok(taken)
    }
}

/// The option of a command that has this name, without its dashes; the one that leaves the file out is none.
fn option<'c>(command: &'c Command, name: &str, key: &str) -> Option<&'c Arg> {
    let command = command.find_subcommand(name)?;
    let mut all = command.get_arguments();
    all.find(|arg| {
        let aliases = arg.get_all_aliases().unwrap_or_default();
        arg.get_long() == Some(key) || aliases.contains(&key)
    })
    .filter(|arg| arg.get_id() != "no_config")
}

/// Options that choose the same thing together: one of them on the command line stands for all.
const TOGETHER: [&[&str]; 2] = [
    &["package", "workspace", "exclude"],
    &["lib", "test", "tests"],
];

/// Whether the user has given neither the option nor one that does not go with it, or takes its place.
fn is_free(command: &Command, name: &str, arg: &Arg, given: &ArgMatches) -> bool {
    let is_given =
        |arg: &Arg| given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    let Some(command) = command.find_subcommand(name) else {
        return false;
    };
    let mut others = command.get_arguments();
    let excludes = |other: &Arg| {
        let of_other = command.get_arg_conflicts_with(other);
        let own = command.get_arg_conflicts_with(arg);
        of_other.iter().any(|it| it.get_id() == arg.get_id())
            || own.iter().any(|it| it.get_id() == other.get_id())
    };
    let replaces = |other: &Arg| {
        let has = |all: &&&[&str], arg: &Arg| arg.get_long().is_some_and(|it| all.contains(&it));
        TOGETHER
            .iter()
            .any(|all| has(&all, arg) && has(&all, other))
    };
    !is_given(arg) && !others.any(|other| is_given(other) && (excludes(other) || replaces(other)))
}
