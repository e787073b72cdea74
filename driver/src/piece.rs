//! Pieces of a search: each piece is searched by itself, on a machine of its own for example.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One of several pieces of a search. All pieces together are the search, and no two have an execution in common, but for
/// those that each piece has to make to find its own; of these, one piece counts each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Piece {
    /// The number of the piece, from 0.
    pub index: u32,
    /// The number of pieces.
    pub count: u32,
}

/// How often what a piece has found is kept while the piece is searched.
pub const KEPT_EACH: Duration = Duration::from_secs(2);

/// The largest number of pieces.
pub const MOST: u32 = 4096;

impl Piece {
    /// All of a search.
    pub const WHOLE: Self = Self { index: 0, count: 1 };
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", u64::from(self.index) + 1, self.count)
    }
}

impl FromStr for Piece {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no piece: the second of four is `2/4`");
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
        let (index, count) = (number(index)?, number(count)?);
        if count > MOST {
            return Err(format!("there are at most {MOST} pieces, and not {count}"));
        }
        if index == 0 || index > count {
            return Err(format!(
                "pieces are numbered from 1: there is no piece {index} of {count}"
            ));
        }
        Ok(Self {
            index: index - 1,
            count,
        })
    }
}

impl From<Piece> for String {
    fn from(piece: Piece) -> Self {
        piece.to_string()
    }
}

impl TryFrom<String> for Piece {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_numbered_from_one() {
        for (text, index, count) in [("1/1", 0, 1), ("2/4", 1, 4), ("4/4", 3, 4)] {
            let piece: Piece = text.parse().unwrap();
            assert_eq!(piece, Piece { index, count });
            assert_eq!(piece.to_string(), text);
        }
        for text in [
            "", "1", "0/4", "5/4", "1/0", "0/0", "-1/4", "1/5000", "a/b", "1/2/3",
        ] {
            assert!(text.parse::<Piece>().is_err(), "{text}");
        }
    }
}
