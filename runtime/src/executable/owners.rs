//! The part of the process that a symbol belongs to.

/// The owner of a symbol's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The runtime's, or that of the crates that it stands on: it outlives executions.
    Runtime,
    /// The standard library's.
    Std,
    /// The program's, its dependencies', or that of code in another language.
    Program,
}

const RUNTIME: [&str; 5] = [
    "seqz_runtime",
    "seqz_vocabulary",
    "seqz_feasibility",
    "seqz_explore",
    "corosensei",
];

const STD: [&str; 7] = [
    "std",
    "core",
    "alloc",
    "panic_unwind",
    "panic_abort",
    "std_detect",
    "compiler_builtins",
];

/// Parts of the names of a sanitizer's own symbols. A sanitizer keeps its books over all executions.
const SANITIZERS: [&str; 5] = [
    "__asan",
    "__sanitizer",
    "__interception",
    "__lsan",
    "__ubsan",
];

/// The owner of a symbol, by the name that the linker knows.
pub(crate) fn owner(symbol: &str) -> Owner {
    if SANITIZERS.iter().any(|name| symbol.contains(name)) {
        return Owner::Runtime;
    }
    match root(symbol) {
        Some(root) if RUNTIME.contains(&root) => Owner::Runtime,
        Some(root) if STD.contains(&root) => Owner::Std,
        _ => Owner::Program,
    }
}

/// The crate that a mangled name begins with.
fn root(symbol: &str) -> Option<&str> {
    if let Some(path) = symbol.strip_prefix("_ZN") {
        return identifier(path);
    }
    let path = symbol.strip_prefix("_R")?;
    // A crate's root: its disambiguator, a number to the base 62, and its name.
    path.match_indices("Cs").find_map(|(at, _)| {
        let rest = &path[at + 2..];
        let end = rest.find('_')?;
        let is_number = rest[..end].bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_number.then(|| identifier(&rest[end + 1..])).flatten()
    })
}

/// An identifier after its length.
fn identifier(text: &str) -> Option<&str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = text[..digits].parse().ok()?;
    let rest = &text[digits..];
    // An underscore parts the length from a name that begins with a digit or an underscore.
    let name = match rest.strip_prefix('_') {
        Some(parted) if text.len() > digits && !parted.starts_with('$') => parted.get(..length)?,
        _ => rest.get(..length)?,
    };
    // An implementation, as in `_$LT$seqz_runtime..values..Table$u20$as$u20$…`.
    let of = name.strip_prefix("_$LT$").unwrap_or(name);
    Some(of.split_once("..").map_or(of, |(of, _)| of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_told_from_names() {
        let of = |symbol| (root(symbol), owner(symbol));
        assert_eq!(
            of("_RNvNtNtCs5Sm8OvXqNQv_12seqz_runtime9scheduled5arena4BASE"),
            (Some("seqz_runtime"), Owner::Runtime)
        );
        assert_eq!(
            of("_RNCNKNvMNtNtCsf8y8Hd1PQ3W_3std4hash6randomNtB4_11RandomState3new4KEYS00"),
            (Some("std"), Owner::Std)
        );
        assert_eq!(
            of("_ZN3log6LOGGER17h0123456789abcdefE"),
            (Some("log"), Owner::Program)
        );
        assert_eq!(
            of(
                "_ZN64_$LT$seqz_runtime..values..Table$u20$as$u20$core..fmt..Debug$GT$3fmt1N17h0123456789abcdefE"
            ),
            (Some("seqz_runtime"), Owner::Runtime)
        );
        assert_eq!(of("completed.0"), (None, Owner::Program));
        assert_eq!(owner("_ZN6__asanL8instanceE"), Owner::Runtime);
        assert_eq!(
            of("_RNvCsaB3_7my_tool1N"),
            (Some("my_tool"), Owner::Program)
        );
    }
}
