//! Splitting the text of values.

/// Splits at commas that are outside of brackets and quotes.
#[must_use]
pub fn split_list(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut depth = 0_u32;
    let mut quote = None;
    let mut escaped = false;
    for c in text.chars() {
        if let Some(q) = quote {
            part.push(c);
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == q {
                quote = None;
            }
            continue;
        }
        match c {
            ',' if depth == 0 => parts.push(std::mem::take(&mut part).trim().to_owned()),
            _ => {
                match c {
                    '"' | '\'' => quote = Some(c),
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                part.push(c);
            }
        }
    }
    let last = part.trim();
    if !last.is_empty() || !parts.is_empty() {
        parts.push(last.to_owned());
    }
    parts
}

/// The inside of a text in brackets, split at its commas.
pub(super) fn bracketed(text: &str, open: char, close: char) -> Option<Vec<String>> {
    let inside = text.trim().strip_prefix(open)?.strip_suffix(close)?;
    let mut parts = split_list(inside);
    if parts.last().is_some_and(String::is_empty) {
        parts.pop();
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_split_outside_of_brackets_and_quotes() {
        assert_eq!(split_list("1, 2,3"), ["1", "2", "3"]);
        assert_eq!(split_list("[1,2],(3,'x')"), ["[1,2]", "(3,'x')"]);
        assert_eq!(split_list(r#""a,\",b",c"#), [r#""a,\",b""#, "c"]);
        assert!(split_list("").is_empty());
    }

    #[test]
    fn a_bracket_may_end_with_a_comma() {
        assert_eq!(bracketed("(1,)", '(', ')'), Some(vec!["1".to_owned()]));
        assert_eq!(bracketed("[]", '[', ']'), Some(Vec::new()));
        assert_eq!(bracketed("1", '[', ']'), None);
    }
}
