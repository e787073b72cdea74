//! The kind of bug that a panic is.

use crate::model::document::Kind;

/// Returns a panic's kind. The message tells it, which is all that std's panics carry, and the code that panics: an
/// assertion with a message of its own has no other sign.
pub(super) fn kind_of_panic(message: &str, code: &str) -> Kind {
    let starts = |texts: &[&str]| texts.iter().any(|text| message.starts_with(text));
    if starts(&["assertion failed", "assertion `left"]) || asserts(code) {
        Kind::Assertion
    } else if starts(&[
        "index out of bounds",
        "range start index",
        "range end index",
        "slice index starts at",
    ]) || message.contains("out of range for slice of length")
    {
        Kind::Index
    } else if starts(&["attempt to "]) {
        Kind::Arithmetic
    } else {
        Kind::Panic
    }
}

/// Whether the code is a use of one of std's macros that assert.
fn asserts(code: &str) -> bool {
    let name = code.split_once('!').map_or("", |(name, _)| name).trim();
    let name = name.rsplit("::").next().unwrap_or(name);
    let name = name.strip_prefix("debug_").unwrap_or(name);
    matches!(name, "assert" | "assert_eq" | "assert_ne")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    /// Returns the message of a real panic of the standard library.
    fn message(panics: impl FnOnce() + std::panic::UnwindSafe) -> String {
        let payload = catch_unwind(panics).unwrap_err();
        payload
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| Some((*payload.downcast_ref::<&str>()?).to_owned()))
            .unwrap()
    }

    #[test]
    fn tells_the_kinds_of_std() {
        let zero = std::hint::black_box(0_usize);
        let list = std::hint::black_box(vec![1, 2]);
        let (at, from) = (list.clone(), list);
        let cases: [(Kind, String); 8] = [
            (
                Kind::Assertion,
                message(|| assert!(std::hint::black_box(false))),
            ),
            (
                Kind::Assertion,
                message(|| assert_eq!(1, std::hint::black_box(2))),
            ),
            (
                Kind::Assertion,
                message(|| assert_ne!(1, std::hint::black_box(1), "with {}", "text")),
            ),
            (Kind::Index, message(move || assert_eq!(at[zero + 7], 1))),
            (
                Kind::Index,
                message(move || assert!(from[zero + 7..].is_empty())),
            ),
            (Kind::Arithmetic, message(move || assert_eq!(1 / zero, 1))),
            (Kind::Arithmetic, message(move || assert_eq!(zero - 1, 1))),
            (
                Kind::Panic,
                message(|| assert_eq!(std::hint::black_box(None::<u8>).unwrap(), 1)),
            ),
        ];
        for (kind, message) in cases {
            assert_eq!(kind_of_panic(&message, ""), kind, "{message}");
        }
    }

    #[test]
    fn assertions_with_words_of_their_own_are_assertions() {
        for code in [
            "assert!(x, \"text\");",
            "std::debug_assert!(x)",
            "assert_eq!(a, b);",
        ] {
            assert_eq!(kind_of_panic("text", code), Kind::Assertion, "{code}");
        }
        for code in ["panic!(\"text\")", "assertive!(x)", "x.unwrap()", ""] {
            assert_eq!(kind_of_panic("text", code), Kind::Panic, "{code}");
        }
    }
}
