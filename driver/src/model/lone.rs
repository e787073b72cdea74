//! What std lets happen without a reason, where the program calls it outside of loops, and what a search has tried of
//! it.

use serde::{Deserialize, Serialize};

use super::document::Site;

/// A call that may end, or fail, without a reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lone {
    /// What may happen at the call.
    pub what: Reasonless,
    /// The place of the call.
    pub site: Site,
}

/// An outcome that may happen without a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reasonless {
    /// A wait of a condition variable or of `park` ends.
    Wait,
    /// A weak exchange fails.
    WeakExchange,
    /// The weak exchange in an update by a function fails, and the function is called again.
    Update,
}

/// How often in an execution such an outcome may happen, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spurious {
    /// How often in an execution it may happen.
    pub times: u32,
    /// Whether it may happen in loops, too, where the caller will call again.
    pub in_loops: bool,
}

impl Spurious {
    /// The default: outside of loops only.
    pub const DEFAULT: Self = Self {
        times: 1,
        in_loops: false,
    };

    /// Returns that it may happen everywhere, this often.
    #[must_use]
    pub const fn everywhere(times: u32) -> Self {
        Self {
            times,
            in_loops: true,
        }
    }

    /// Returns what is tried in a harness with these calls outside of loops.
    #[must_use]
    pub const fn of(self, lone: &[Lone]) -> Self {
        if self.in_loops || !lone.is_empty() {
            self
        } else {
            Self {
                times: 0,
                in_loops: false,
            }
        }
    }
}

impl Reasonless {
    /// All outcomes.
    pub const ALL: [Self; 3] = [Self::Wait, Self::WeakExchange, Self::Update];

    const fn happens(self) -> &'static str {
        match self {
            Self::Wait => "the wait",
            Self::WeakExchange => "the weak exchange",
            Self::Update => "the weak exchange of the update",
        }
    }
}

/// Names the calls: "the wait at src/lib.rs:12", "the weak exchange at src/lib.rs:7 and 2 others"; `None` for no calls.
fn named(all: &[Lone]) -> Option<String> {
    let (first, rest) = all.split_first()?;
    let named = format!(
        "{} at {}:{}",
        first.what.happens(),
        first.site.file,
        first.site.line
    );
    Some(match rest.len() {
        0 => named,
        1 => format!("{named} and another one"),
        n => format!("{named} and {n} others"),
    })
}

/// Returns "end", "fail", or both, with the calls as the subject.
fn happens(all: &[Lone]) -> &'static str {
    let waits = |lone: &Lone| lone.what == Reasonless::Wait;
    match (all.iter().any(waits), !all.iter().all(waits)) {
        (true, true) => "end or fail",
        (false, true) => "fail",
        _ => "end",
    }
}

/// Returns "ends" or "fails" for one call, and what [`happens`] returns for several.
fn ends(all: &[Lone]) -> &'static str {
    match (happens(all), all.len()) {
        ("fail", 1) => "fails",
        (_, 1) => "ends",
        (several, _) => several,
    }
}

/// Says how often the outcomes were tried in each execution, if there is something to be said.
#[must_use]
pub fn tried(all: &[Lone], spurious: Spurious) -> Option<String> {
    let Spurious { times, in_loops } = spurious;
    let often = match times {
        1 => "once".to_owned(),
        n => format!("up to {n} times"),
    };
    match (named(all), times) {
        (Some(named), 0) => {
            let happens = happens(all);
            Some(format!(
                "{named} could not {happens} without a reason (--spurious 0)"
            ))
        }
        (_, 1..) if in_loops => Some(format!(
            "waits could end and weak exchanges fail without a reason, {often} in an execution"
        )),
        (Some(named), _) => {
            let happens = happens(all);
            Some(format!(
                "{named} could {happens} without a reason, {often} in an execution"
            ))
        }
        (None, _) => None,
    }
}

/// Says what a check does not try.
#[must_use]
pub fn not_tried(all: &[Lone]) -> Option<String> {
    let named = named(all)?;
    Some(format!(
        "that {named} {} without a reason is left to `seqz explore` (or to nobody, with --spurious 0)",
        ends(all)
    ))
}

/// Says what a method does not try that lets nothing happen without a reason.
#[must_use]
pub fn left_out(all: &[Lone]) -> Option<String> {
    let named = named(all)?;
    Some(format!(
        "that {named} {} without a reason was not tried",
        ends(all)
    ))
}
