//! Finding out that a worker waits for ever, and where: a dependency's lock blocks the one thread of the system on which all
//! threads of the program run.

use std::fs;
use std::path::PathBuf;

use seqz_runtime::worker::stuck::{FRAME, SIGNAL};

/// A worker that made no progress, where it was ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standstill {
    /// Whether none of its threads could go on by itself.
    pub waits: bool,
    /// The functions that it was in, the innermost first, where it could say so.
    pub functions: Vec<String>,
}

/// Whether no thread of the process can go on by itself: all of them wait, with no limit of time, to be woken by another one.
pub(super) fn waits(process: u32) -> bool {
    let tasks = tasks(process);
    !tasks.is_empty()
        && tasks
            .iter()
            .all(|task| waits_for_ever(&task.join("syscall")))
}

fn tasks(process: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(format!("/proc/{process}/task"));
    let entries = entries.into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Whether the call that a thread is in is a wait of a futex without a limit.
fn waits_for_ever(syscall: &std::path::Path) -> bool {
    let text = fs::read_to_string(syscall).unwrap_or_default();
    let mut words = text.split_whitespace();
    let number = words.next().and_then(|word| word.parse::<i64>().ok());
    let argument = |word: Option<&str>| {
        let digits = word?.strip_prefix("0x")?;
        u64::from_str_radix(digits, 16).ok()
    };
    let (_address, operation) = (words.next(), argument(words.next()));
    let (_value, limit) = (words.next(), argument(words.next()));
    // FUTEX_WAIT and FUTEX_WAIT_BITSET, private or not, by whatever clock.
    let is_wait = operation.is_some_and(|operation| matches!(operation & 0x7f, 0 | 9));
    number == Some(libc::SYS_futex) && is_wait && limit == Some(0)
}

/// Asks the process where it is; it ends then.
pub(super) fn ask(process: u32) {
    // SAFETY: a signal to a child that has not been waited for: the number is its.
    unsafe {
        libc::kill(process as i32, SIGNAL);
    }
}

/// The functions that it was in, by what it said on standard error, the innermost first.
pub(crate) fn frames(stderr: &str) -> impl Iterator<Item = &str> {
    stderr.lines().filter_map(|line| line.strip_prefix(FRAME))
}

/// The crate of a function, by its name in a backtrace: `<hidden::Lock as Drop>::drop`.
pub(crate) fn crate_of(function: &str) -> &str {
    let mut path = function;
    loop {
        let rest = path.trim_start_matches(['<', '&', '*', '(']);
        let keywords = ["dyn ", "mut ", "const "];
        let rest = keywords
            .iter()
            .find_map(|it| rest.strip_prefix(it))
            .unwrap_or(rest);
        if rest.len() == path.len() {
            break;
        }
        path = rest;
    }
    let end = path.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    &path[..end.unwrap_or(path.len())]
}

/// The innermost of these functions that is neither of std nor of what seqz adds. One that was inlined may have lost its path,
/// not that of its arguments (`call_once<(), dyn core::ops::Fn<()>>`), and then says nothing of its crate.
pub(crate) fn foreign(functions: &[String]) -> Option<&str> {
    let is_ours = |function: &&String| {
        let of = crate_of(function);
        let is_std = matches!(of, "std" | "core" | "alloc" | "backtrace_rs" | "");
        let has_path = match function.split_once('<') {
            Some((name, _)) => name.is_empty() || name.contains("::"),
            None => function.contains("::"),
        };
        is_std || of.starts_with("seqz") || !has_path || *function == "<unknown>"
    };
    functions.iter().find(|it| !is_ours(it)).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_without_a_path_are_nobodys() {
        let named = |functions: &[&str]| {
            let functions: Vec<_> = functions.iter().map(|it| (*it).to_owned()).collect();
            foreign(&functions).map(str::to_owned)
        };
        let inlined = "call_once<(), dyn core::ops::function::Fn<(), Output=()>>";
        assert_eq!(named(&[inlined, "<unknown>", "main"]), None);
        assert_eq!(
            named(&[inlined, "a::b<c::D>"]).as_deref(),
            Some("a::b<c::D>")
        );
        assert_eq!(
            named(&["<a::B as C>::d"]).as_deref(),
            Some("<a::B as C>::d")
        );
    }

    #[test]
    fn crates_of_functions() {
        for (function, wanted) in [
            ("hidden::Lock::with", "hidden"),
            ("<hidden::Lock as core::ops::Drop>::drop", "hidden"),
            ("<&mut a_b::C<D> as E>::f", "a_b"),
            (
                "<&dyn core::ops::Fn<()> + core::marker::Sync as core::ops::FnOnce<()>>::call_once",
                "core",
            ),
            ("<*const a::B as C>::d", "a"),
            ("main", "main"),
        ] {
            assert_eq!(crate_of(function), wanted);
        }
        let said = format!("x\n{FRAME}std::a::b\n{FRAME}hidden::c\n");
        assert_eq!(
            frames(&said).collect::<Vec<_>>(),
            ["std::a::b", "hidden::c"]
        );
    }

    #[test]
    fn a_process_that_sleeps_can_go_on() {
        let mut child = std::process::Command::new("sleep")
            .arg("5")
            .spawn()
            .unwrap();
        assert!(!waits(child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
