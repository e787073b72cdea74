//! What kind of bug a panic is.

use crate::report::document::Kind;

/// Tells a panic's kind from its message: std's panics carry nothing else.
#[must_use]
pub fn kind_of_panic(message: &str) -> Kind {
    let starts = |texts: &[&str]| texts.iter().any(|text| message.starts_with(text));
    if starts(&["assertion failed", "assertion `left"]) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    /// The message of a real panic of the standard library.
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
            assert_eq!(kind_of_panic(&message), kind, "{message}");
        }
    }
}
