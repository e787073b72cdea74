//! The options that the user gives to libFuzzer after `--`: those that guide its search. An option that libFuzzer
//! doesn't know, or that would make it do something else than search, is refused before anything is built.

use std::fs;
use std::path::Path;

use crate::diagnostic::shown;
use crate::embed;
use crate::error::Error;

/// Options with a number that choose how new byte strings are made, or which strings are kept.
const NUMBERS: [&str; 30] = [
    "cross_over",
    "cross_over_uniform_dist",
    "detect_leaks",
    "entropic",
    "entropic_feature_frequency_threshold",
    "entropic_number_of_rarest_features",
    "entropic_scale_per_exec_time",
    "keep_seed",
    "len_control",
    "max_len",
    "mutate_depth",
    "only_ascii",
    "prefer_small",
    "print_corpus_stats",
    "print_final_stats",
    "print_funcs",
    "print_pcs",
    "purge_allocator_interval",
    "reduce_depth",
    "reduce_inputs",
    "reload",
    "report_slow_units",
    "shrink",
    "shuffle",
    "use_cmp",
    "use_counters",
    "use_memmem",
    "use_value_profile",
    "verbosity",
    "trace_malloc",
];

/// Options for which seqz has an option of its own, with that option.
const OURS: [(&str, &str); 6] = [
    ("runs", "--max-executions"),
    ("max_total_time", "--time"),
    ("timeout", "--hang-after"),
    ("rss_limit_mb", "--max-memory"),
    ("malloc_limit_mb", "--max-memory"),
    ("seed", "--seed"),
];

/// Returns the options in the form for libFuzzer: paths that hold wherever libFuzzer runs.
///
/// # Errors
/// When one of them is not libFuzzer's, has a value that it can't have, or would change what libFuzzer does.
pub fn checked(options: &[String]) -> Result<Vec<String>, Error> {
    options.iter().map(|option| one(option)).collect()
}

fn refused(message: String, help: impl Into<String>) -> Error {
    Error::Option {
        message,
        help: help.into(),
    }
}

fn one(option: &str) -> Result<String, Error> {
    let words = option
        .strip_prefix('-')
        .and_then(|rest| rest.strip_prefix('-').or(Some(rest)))
        .and_then(|rest| rest.split_once('='));
    let Some((name, value)) = words else {
        return Err(refused(
            format!("`{option}` is no option of libFuzzer"),
            "options of libFuzzer have the form -NAME=VALUE; the corpus is seqz's to choose",
        ));
    };
    if let Some((_, ours)) = OURS.iter().find(|(theirs, _)| *theirs == name) {
        return Err(refused(
            format!("-{name} is for seqz to choose"),
            format!("say it with {ours}"),
        ));
    }
    if NUMBERS.contains(&name) {
        return match value.parse::<i64>() {
            Ok(_) => Ok(format!("-{name}={value}")),
            Err(_) => Err(refused(
                format!("-{name} takes a number, not `{value}`"),
                "see libFuzzer's documentation",
            )),
        };
    }
    match name {
        "dict" => dictionary(Path::new(value)),
        "focus_function" => Ok(format!("-{name}={value}")),
        _ if known(name) => Err(refused(
            format!(
                "-{name} would have libFuzzer do something else than search for bugs as seqz has it do"
            ),
            "`seqz transform` writes a crate that cargo-fuzz runs with any options",
        )),
        _ => Err(refused(
            format!("libFuzzer has no option -{name}"),
            "see libFuzzer's documentation",
        )),
    }
}

/// Whether libFuzzer has an option of this name.
fn known(name: &str) -> bool {
    let flags = embed::fuzzer().find(|(path, _)| path.ends_with("FuzzerFlags.def"));
    let Some((_, flags)) = flags else {
        return false;
    };
    flags.split("FUZZER_").skip(1).any(|declared| {
        let arguments = declared.split_once('(').map(|(_, rest)| rest.trim_start());
        arguments.is_some_and(|rest| {
            let end = rest.find([',', ')']).unwrap_or(rest.len());
            rest[..end].trim_end() == name
        })
    })
}

/// Returns the path of a dictionary that exists and that libFuzzer can read.
fn dictionary(path: &Path) -> Result<String, Error> {
    let text = fs::read(path).map_err(|source| Error::File {
        what: "read",
        path: path.to_owned(),
        source,
    })?;
    for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if !is_entry(line.trim_ascii()) {
            return Err(refused(
                format!("{}:{} is no entry of a dictionary", shown(path), number + 1),
                "a line is empty, a comment that begins with #, or has the form NAME=\"VALUE\", the name left out or not, with \\\\, \\\" and \\xAB in the value",
            ));
        }
    }
    let path = std::path::absolute(path).map_err(|source| Error::File {
        what: "read",
        path: path.to_owned(),
        source,
    })?;
    Ok(format!("-dict={}", path.display()))
}

/// Whether libFuzzer accepts this line of a dictionary, see its `ParseOneDictionaryEntry`.
fn is_entry(line: &[u8]) -> bool {
    if line.is_empty() || line[0] == b'#' {
        return true;
    }
    let Some(open) = line.iter().position(|byte| *byte == b'"') else {
        return false;
    };
    if line.len() < open + 2 || line.last() != Some(&b'"') {
        return false;
    }
    let mut value = &line[open + 1..line.len() - 1];
    if value.is_empty() {
        return false;
    }
    while let [first, rest @ ..] = value {
        value = match (first, rest) {
            (b'\\', [b'\\' | b'"', rest @ ..]) => rest,
            (b'\\', [b'x', a, b, rest @ ..]) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => {
                rest
            }
            (b'\\', _) => return false,
            (byte, rest) if byte.is_ascii_graphic() || *byte == b' ' => rest,
            _ => return false,
        };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_guides_the_search_goes_on_to_libfuzzer() {
        let all = ["-max_len=12", "--use_cmp=0", "-entropic=1"].map(str::to_owned);
        assert_eq!(
            checked(&all).unwrap(),
            ["-max_len=12", "-use_cmp=0", "-entropic=1"]
        );
    }

    #[test]
    fn what_is_wrong_or_makes_it_do_something_else_is_refused() {
        for option in [
            "-help=1",
            "-help",
            "help",
            "-fork=2",
            "-jobs=2",
            "-merge=1",
            "-runs=3",
            "-max_len=x",
            "corpus/",
            "-no_such=1",
            "-close_fd_mask=2",
            "-minimize_crash=1",
            "-timeout=1",
            "-artifact_prefix=x",
            "-dict=/no/such/file",
            "-seed=1",
        ] {
            assert!(checked(&[option.to_owned()]).is_err(), "{option}");
        }
    }

    #[test]
    fn every_number_is_an_option_of_libfuzzer() {
        for name in NUMBERS.iter().chain(OURS.iter().map(|(name, _)| name)) {
            assert!(known(name), "{name}");
        }
        assert!(!known("no_such"));
    }

    #[test]
    fn dictionaries_are_read_as_libfuzzer_reads_them() {
        for good in ["", "# all", "\"a\"", "key=\"\\x4F\\\\ \\\"\"", "a=\"b=c\""] {
            assert!(is_entry(good.as_bytes()), "{good}");
        }
        for bad in ["a", "\"a", "\"\"", "a=b", "\"\\x4\"", "\"\\n\"", "\""] {
            assert!(!is_entry(bad.as_bytes()), "{bad}");
        }
    }
}
