//! Text that has to fit in columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns the number of columns that `text` takes on a terminal.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// Returns `text` in at most `columns` columns, with `…` where something was left off at the end.
#[must_use]
pub fn fit(text: &str, columns: usize) -> String {
    let text = clean(text);
    if text.width() <= columns {
        return text;
    }
    let mut taken = String::new();
    // One column is for the ellipsis.
    let mut left = columns.saturating_sub(1);
    for c in text.chars() {
        let w = c.width().unwrap_or(0);
        if w > left {
            break;
        }
        left -= w;
        taken.push(c);
    }
    if columns > 0 {
        taken.truncate(taken.trim_end().len());
        taken.push('…');
    }
    taken
}

/// Returns `text`, which must not be wider than `columns`, filled with blanks up to there.
#[must_use]
pub fn pad(text: &str, columns: usize) -> String {
    let mut padded = text.to_owned();
    padded.extend(std::iter::repeat_n(
        ' ',
        columns.saturating_sub(text.width()),
    ));
    padded
}

/// Returns the words of `text` in lines of at most `columns` columns; a word that is wider has a line of its own.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in clean(text).split_whitespace() {
        if !line.is_empty() && line.width() + 1 + word.width() > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// Returns the text as one line without characters that move the cursor: the texts of programs and their panics are not
/// to be trusted with these.
fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// `1 read`, `2 reads`.
#[must_use]
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

/// Formats a number with its thousands set apart.
#[must_use]
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Writes a small number in words, which read better in a sentence.
#[must_use]
pub fn in_words(n: usize) -> String {
    const WORDS: [&str; 10] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    ];
    WORDS
        .get(n)
        .map_or_else(|| n.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(fit("漢字漢字", 8), "漢字漢字");
        assert_eq!(fit("漢字漢字", 7), "漢字漢…");
        assert_eq!(fit("漢字漢字", 6), "漢字…");
        assert_eq!(width(&fit("漢字漢字", 2)), 1);
        assert_eq!(fit("abc", 0), "");
        assert_eq!(pad("漢", 4), "漢  ");
    }

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(fit("a\tb\x1b[2Jc", 20), "a b [2Jc");
    }

    #[test]
    fn wraps_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("unbreakable a", 3), ["unbreakable", "a"]);
        assert_eq!(wrap("", 3), [""]);
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "read", "reads"), "1 read");
    }
}
