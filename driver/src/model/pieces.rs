//! Which pieces of a search a report was put together from.

use serde::{Deserialize, Serialize};

use crate::layout::counted;

/// Which pieces there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pieces {
    /// The number of pieces of the search.
    pub count: u32,
    /// The numbers of those that are not here, from 1.
    pub missing: Vec<u32>,
    /// The numbers of those that were ended from outside before they were done.
    pub ended: Vec<u32>,
}

impl Pieces {
    /// Says in words which pieces there are.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let here = u64::from(self.count) - self.missing.len() as u64;
        let all = counted(self.count.into(), "piece", "pieces");
        let mut said = vec![if self.missing.is_empty() {
            format!("All of {all} are here.")
        } else {
            format!(
                "{here} of {all} are here; missing: {}.",
                list(&self.missing)
            )
        }];
        if !self.ended.is_empty() {
            said.push(format!(
                "Ended before they were done: {}.",
                list(&self.ended)
            ));
        }
        said
    }
}

/// Numbers in words: `1-3, 7`.
fn list(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, to)) if *to + 1 == number => *to = number,
            _ => runs.push((number, number)),
        }
    }
    let words = runs.iter().map(|(from, to)| match to - from {
        0 => from.to_string(),
        _ => format!("{from}-{to}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let pieces = |missing: &[u32], ended: &[u32]| Pieces {
            count: 16,
            missing: missing.to_vec(),
            ended: ended.to_vec(),
        };
        assert_eq!(pieces(&[], &[]).words(), ["All of 16 pieces are here."]);
        assert_eq!(
            pieces(&[1, 2, 3, 7, 15, 16], &[4]).words(),
            [
                "10 of 16 pieces are here; missing: 1-3, 7, 15-16.",
                "Ended before they were done: 4."
            ]
        );
    }
}
