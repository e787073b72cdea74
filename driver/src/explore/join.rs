//! What a piece of a search hands on to be put together with the other pieces.

use serde::{Deserialize, Serialize};

use seqz_runtime::vocabulary::Wire;
use seqz_runtime::worker::message::Explored;

use super::divided::{Search, Standing};
use super::gather::{Gathered, Held, Part};
use crate::model::exploration::{Coupling, HarnessExploration, HeldUp, Promise};

/// What a piece has gathered of one harness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The report, as far as it goes.
    pub report: HarnessExploration,
    pub(super) units: Vec<Unit>,
    pub(super) searches: Vec<Search>,
    /// The positions of the report's failures in the exploration.
    pub(super) standings: Vec<Standing>,
    pub(super) held: Vec<Held>,
    pub(super) sample: Option<u32>,
    pub(super) divided: bool,
}

/// What is known of a worker's part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Unit {
    done: Vec<Counts>,
    current: Counts,
    promise: Option<Promise>,
    sent: Vec<Option<usize>>,
    times: Vec<u64>,
    couplings: Vec<Vec<Coupling>>,
    held_up: Vec<Option<HeldUp>>,
    over: bool,
}

/// Counts as the worker has sent them, in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct Counts(String);

impl From<&Explored> for Counts {
    fn from(counts: &Explored) -> Self {
        let bytes = counts.encode();
        Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl TryFrom<&Counts> for Explored {
    type Error = String;

    fn try_from(counts: &Counts) -> Result<Self, String> {
        let damaged = || format!("`{}` are no counts", counts.0);
        let digits = counts.0.as_bytes();
        let byte = |pair: &[u8]| {
            let pair = std::str::from_utf8(pair).ok();
            pair.and_then(|pair| u8::from_str_radix(pair, 16).ok())
        };
        let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
        let bytes = bytes.ok_or_else(damaged)?;
        let mut rest = &bytes[..];
        let counts = Self::take(&mut rest).map_err(|_| damaged())?;
        if rest.is_empty() {
            Ok(counts)
        } else {
            Err(damaged())
        }
    }
}

impl From<Part> for Unit {
    fn from(part: Part) -> Self {
        Self {
            done: part.done.iter().map(Into::into).collect(),
            current: (&part.current).into(),
            promise: part.promise,
            sent: part.sent,
            times: part.times,
            couplings: part.couplings,
            held_up: part.held_up,
            over: part.over,
        }
    }
}

impl TryFrom<&Unit> for Part {
    type Error = String;

    fn try_from(unit: &Unit) -> Result<Self, String> {
        let done: Result<_, String> = unit.done.iter().map(TryInto::try_into).collect();
        Ok(Self {
            done: done?,
            current: (&unit.current).try_into()?,
            promise: unit.promise.clone(),
            sent: unit.sent.clone(),
            times: unit.times.clone(),
            couplings: unit.couplings.clone(),
            held_up: unit.held_up.clone(),
            over: unit.over,
            ..Self::default()
        })
    }
}

/// Puts together what the pieces have gathered of one harness. `are_all`: no piece is missing.
///
/// # Errors
/// When a share is damaged; what of it is, in words.
pub fn join(shares: &[&Share], are_all: bool) -> Result<Option<HarnessExploration>, String> {
    let joined = Gathered::joined(shares, are_all)?;
    Ok(joined.map(|joined| joined.report))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_come_back_as_they_were() {
        let counts = Explored {
            executions: 12,
            states: u64::MAX,
            estimate: Some(3),
            ..Explored::default()
        };
        let written = Counts::from(&counts);
        assert_eq!(Explored::try_from(&written), Ok(counts));
        for damaged in ["", "0", "zz", &written.0[2..], &format!("{}00", written.0)] {
            assert!(Explored::try_from(&Counts(damaged.to_owned())).is_err());
        }
    }
}
