//! The status of a harness: whether it could be checked at all.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::document::Site;
use super::standstill::{Standstill, crate_of, foreign};
use super::unfollowed::NotFollowed;
use crate::diagnostic::{Diagnostic, Remark, line_span, position, shown};

/// The status of a harness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Status {
    /// The harness was checked, as far as its levels say.
    Checked,
    /// No two threads ever ran side by side: there is no interference to search for.
    NoInterference {
        /// What was seen instead.
        reason: String,
    },
    /// The harness can't be checked by bounded interference.
    Unsupported {
        /// The reason.
        reason: String,
        /// Advice: what to do instead.
        help: Option<String>,
        /// The place that stands in the way.
        site: Option<Site>,
    },
    /// Two runs with the same inputs and the same choices did different things: the result of a search means nothing.
    Nondeterministic {
        /// What differed.
        reason: String,
        /// The place at which the two runs differed.
        site: Option<Site>,
    },
    /// An execution waits for ever in something that is not followed, and nothing more can be run.
    Blocked {
        /// The place and the reason, in words.
        reason: String,
    },
    /// The time of the harness was over before any execution had come to its end.
    NoneEnded {
        /// What the harness did in that time, as far as it is known.
        reason: String,
    },
    /// The search of this harness broke off.
    Failed {
        /// The reason.
        reason: String,
    },
    /// The search was over before the harness's turn came.
    NotReached,
}

impl Status {
    /// Returns what stood in the way of the search, in words; `None` where the search was begun and may have come to its
    /// end.
    #[must_use]
    pub fn hindrance(&self) -> Option<&str> {
        match self {
            Self::Checked | Self::NoInterference { .. } => None,
            Self::Unsupported { reason, .. }
            | Self::Nondeterministic { reason, .. }
            | Self::Blocked { reason }
            | Self::NoneEnded { reason }
            | Self::Failed { reason } => Some(reason),
            Self::NotReached => Some("the search was over before the harness's turn came"),
        }
    }

    /// Returns the status of a harness, from those that it has in the pieces of a search.
    pub fn of_pieces<'a>(of_pieces: impl Iterator<Item = &'a Self>) -> Self {
        let rank = |status: &Self| match status {
            Self::Unsupported { .. }
            | Self::Nondeterministic { .. }
            | Self::Blocked { .. }
            | Self::Failed { .. } => 0,
            Self::Checked => 1,
            // There was time enough in another piece, if that is there.
            Self::NoInterference { .. } => 2,
            Self::NoneEnded { .. } => 3,
            Self::NotReached => 4,
        };
        // The first one of those that say most.
        let most = of_pieces.min_by_key(|status| rank(status));
        most.cloned().unwrap_or(Self::NotReached)
    }

    /// Returns the status of a harness that can't be transformed.
    #[must_use]
    pub fn unsupported(why: &Diagnostic) -> Self {
        let help = why.remarks.iter().find_map(|remark| match remark {
            Remark::Help(text) => Some(text.clone()),
            Remark::Note(_) => None,
        });
        let site = why.place.as_ref().map(|place| {
            let (line, column) = position(&place.source, place.span.start);
            let text = &place.source[line_span(&place.source, line, 1)];
            Site {
                file: shown(&place.file),
                line,
                column,
                text: text.trim().to_owned(),
            }
        });
        Self::Unsupported {
            reason: why.message.clone(),
            help,
            site,
        }
    }

    /// Returns the status of a harness that makes no progress in something that is not followed.
    #[must_use]
    pub fn blocked(at: &Standstill, not_followed: &[NotFollowed]) -> Self {
        let place = place(at, not_followed);
        Self::Blocked {
            reason: format!(
                "blocked in {place}: an execution waits there for another thread, or goes on for ever. {ONE_THREAD}"
            ),
        }
    }

    /// Returns the status of a harness whose time was over, after `after`, before any execution had come to its end.
    #[must_use]
    pub fn none_ended(after: Duration, at: &Standstill, not_followed: &[NotFollowed]) -> Self {
        let none = format!(
            "no execution came to its end in {:.1} s",
            after.as_secs_f64()
        );
        let why = if at.waits && !(not_followed.is_empty() && at.functions.is_empty()) {
            let place = place(at, not_followed);
            format!("blocked in {place}, where it waits for another thread. {ONE_THREAD}")
        } else {
            let at = foreign(&at.functions)
                .map_or_else(String::new, |it| format!("it was in `{it}`, and "));
            format!("{at}may need more time (`--time`), or go on for ever")
        };
        Self::NoneEnded {
            reason: format!("{none}: {why}"),
        }
    }

    /// Returns the status of a harness that did something else when it was run again with these inputs and with all
    /// that seqz decides, which `same` names. Where the harness reaches what is not followed, that may be the cause.
    #[must_use]
    pub fn nondeterministic(
        inputs: &[(String, String)],
        same: &str,
        not_followed: &[NotFollowed],
    ) -> Self {
        let values: Vec<_> = inputs
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let with = if values.is_empty() {
            String::new()
        } else {
            format!(", with {}", values.join(", "))
        };
        // Which of them it is can't be told.
        let of = match not_followed {
            [] => None,
            [only] => Some(only.phrase()),
            [one, other] => Some(format!("{} or {}", one.phrase(), other.phrase())),
            [_, ..] => Some(format!(
                "one of the {} parts that are not followed",
                not_followed.len()
            )),
        };
        let why = of.map_or_else(String::new, |of| {
            format!(
                ". That may come of {of}: the order of what its threads do there is none that seqz knows of. `--strategy random` \
                 goes on all the same"
            )
        });
        Self::Nondeterministic {
            reason: format!(
                "run again with the same inputs and {same}, it did something else{with}{why}"
            ),
            site: None,
        }
    }
}

/// The reason why a wait that is no event holds up all threads.
const ONE_THREAD: &str = "seqz runs all threads of the program on one of the system, and can't let others go on while that one \
                          waits where no event is";

/// Names what the worker stands still in: what is not followed in the crate of the innermost function of which
/// something is known; else, the innermost function that is not of std.
fn place(at: &Standstill, not_followed: &[NotFollowed]) -> String {
    let mut crates = at.functions.iter().map(|name| crate_of(name));
    let of = |it: &NotFollowed, name: &str| {
        let package = it.package.as_ref().map(|it| it.replace('-', "_"));
        package.is_some_and(|package| package == name)
    };
    if let Some(known) = crates.find_map(|name| not_followed.iter().find(|it| of(it, name))) {
        return known.phrase();
    }
    match (foreign(&at.functions), not_followed.first()) {
        (Some(function), _) => format!("`{function}`"),
        (None, Some(first)) => first.phrase(),
        (None, None) => "a wait".to_owned(),
    }
}
