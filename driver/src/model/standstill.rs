//! The state of a worker that makes no progress, and the crate whose code it runs.

/// The state of a worker that made no progress when it was ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standstill {
    /// Whether none of the worker's threads could go on by itself.
    pub waits: bool,
    /// The functions that the worker was in, the innermost first, where the worker could name them.
    pub functions: Vec<String>,
}

/// Returns the crate of a function, given the function's name in a backtrace: `<hidden::Lock as Drop>::drop`.
pub(super) fn crate_of(function: &str) -> &str {
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

/// Returns the innermost of these functions that is neither of std nor of what seqz adds. An inlined function may have
/// lost its path but kept that of its arguments (`call_once<(), dyn core::ops::Fn<()>>`); its name then says nothing of
/// its crate.
pub(super) fn foreign(functions: &[String]) -> Option<&str> {
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
    }
}
