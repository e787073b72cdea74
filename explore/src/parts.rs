//! Dividing the search of a tree among several searches that know nothing of each other.
//!
//! Every part walks the top of the tree. Where a path leaves the top, a *unit* begins, a subtree that belongs to one part:
//! the units are numbered as they are met, and dealt out in turn. A node is in the top if the node's weight is above a
//! limit; the weight is the node's share of the tree if all children of a node weigh the same. So the top is the same for
//! all parts, and small: at most as many nodes as the limit allows on each level. There are many units, so that large units
//! even out.

/// One of several parts of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    index: u32,
    count: u32,
    units: Option<u32>,
}

impl Part {
    /// The whole search, not divided.
    pub const WHOLE: Self = Self {
        index: 0,
        count: 1,
        units: None,
    };

    /// Part number `index`, from 0, of `count` parts. `None`: there is no such part.
    #[must_use]
    pub const fn new(index: u32, count: u32) -> Option<Self> {
        if index < count {
            Some(Self {
                index,
                count,
                units: None,
            })
        } else {
            None
        }
    }

    /// Whether the part is the whole search.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        self.count == 1
    }

    /// This part of a search that is divided into about `units` units, instead of the number that suits the strategy. All
    /// parts must have the same number.
    #[must_use]
    pub const fn of_units(self, units: u32) -> Self {
        Self {
            units: Some(units),
            ..self
        }
    }
}

/// Where an execution stands in its search, which may be divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Whether the execution belongs to this part. If not, another part executes it, too, and counts the execution.
    pub own: bool,
    /// The number of the execution's unit. An execution outside of all units has a number of its own, in the same
    /// sequence. The executions by this number, and within one unit in their order, are in the order of the undivided
    /// search.
    pub turn: u64,
    /// For an execution that was given up: whether its failures also come up in another execution, which is run to its
    /// end. If not, these failures are counted.
    pub fails_again: bool,
}

impl Standing {
    /// The standing of every execution of an undivided search.
    pub const WHOLE: Self = Self {
        own: true,
        turn: 0,
        fails_again: true,
    };
}

/// The units of a tree: where each unit begins, and which part it belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    part: Part,
    /// Nodes whose weight is above this limit are in the top of the tree.
    limit: f64,
    /// The number of units met.
    met: u64,
    turn: u64,
}

impl Units {
    /// The units as this part sees them, where about `units` units suit the strategy.
    pub(crate) fn new(part: Part, units: u32) -> Self {
        let units = part.units.unwrap_or(units);
        Self {
            part,
            // The whole has no top.
            limit: if part.count == 1 {
                f64::MAX
            } else {
                1.0 / f64::from(units)
            },
            met: 0,
            turn: 0,
        }
    }

    /// Whether a node of this weight is in the top, which all parts walk.
    #[inline]
    pub(crate) fn is_top(&self, weight: f64) -> bool {
        weight > self.limit
    }

    /// Whether executions in the top count for this part.
    pub(crate) fn counts_top(&self) -> bool {
        self.part.index == 0
    }

    /// Meets the next unit. Returns whether the unit belongs to this part.
    pub(crate) fn meet(&mut self) -> bool {
        let number = self.met;
        self.met += 1;
        self.turn += 1;
        number % u64::from(self.part.count) == u64::from(self.part.index)
    }

    /// The standing of an execution in the unit that was met last.
    pub(crate) fn within(&self) -> Standing {
        Standing {
            turn: self.turn,
            ..Standing::WHOLE
        }
    }

    /// The standing of an execution in the top, which counts for the first part.
    pub(crate) fn outside(&mut self) -> Standing {
        self.turn += 1;
        Standing {
            own: self.counts_top(),
            turn: self.turn,
            ..Standing::WHOLE
        }
    }

    /// The number of turns so far. At the end of the search all parts have the same number.
    pub(crate) fn turns(&self) -> u64 {
        self.turn
    }
}
