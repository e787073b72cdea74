//! Characters that change the direction of text: with them, code and messages can look like other code and messages.
//! Such characters are shown as escapes.

use std::borrow::Cow;

/// Whether the character sets the direction of the text after it.
#[must_use]
pub const fn turns(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Returns the text with such characters as Rust's escapes: `\u{202e}`.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c.escape_unicode().to_string())
}

/// Returns the JSON with such characters as JSON's escapes: `\u202e`. The text stands for the same document.
#[must_use]
pub fn visible_json(text: &str) -> Cow<'_, str> {
    escaped(text, |c| format!("\\u{:04x}", u32::from(c)))
}

fn escaped(text: &str, escape: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.chars().any(turns) {
        return Cow::Borrowed(text);
    }
    let mut all = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if turns(c) {
            all.push_str(&escape(c));
        } else {
            all.push(c);
        }
    }
    Cow::Owned(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_text_around_is_shown() {
        assert_eq!(visible("a\u{202e}b\u{2066}"), "a\\u{202e}b\\u{2066}");
        assert!(matches!(visible("plain é"), Cow::Borrowed(_)));
        let json = serde_json::to_string("x\u{200f}\u{202d}").unwrap();
        let safe = visible_json(&json);
        assert!(!safe.chars().any(turns));
        assert_eq!(
            serde_json::from_str::<String>(&safe).unwrap(),
            "x\u{200f}\u{202d}"
        );
    }
}
