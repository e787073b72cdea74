//! Dividing the search of a tree among several searches that know nothing of each other.
//!
//! Every part walks the top of the tree. Where a path leaves it, a *unit* begins, a subtree that belongs to one part: the
//! units are numbered as they are met, and dealt out in turn. The top is where the weight of a node, its share of the
//! tree if all children of a node weigh the same, is above a limit, so it is the same for all parts, and small: at most
//! as many nodes as the limit allows on each level. Units are many, so that the large ones even out.

/// One of several parts of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    index: u32,
    count: u32,
    units: Option<u32>,
}

impl Part {
    /// All of the search.
    pub const WHOLE: Self = Self {
        index: 0,
        count: 1,
        units: None,
    };

    /// Part number `index`, from 0, of `count`. `None`: there is no such part.
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

    /// Whether it is all of the search.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        self.count == 1
    }

    /// The same part of a search that is divided into about so many units, not as many as suit the strategy. All parts
    /// must have the same.
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
    /// Whether it belongs to this part. If not, another part executes it too, and counts it.
    pub own: bool,
    /// Which unit it is in. Executions outside of units are counted like units, in the same row. With all units in
    /// order, and each one's executions in order, there is the order of the search that is not divided.
    pub turn: u64,
    /// Whether what fails in it, if it was given up, fails in another one, too, that is run to its end. If not, it counts.
    pub fails_again: bool,
}

impl Standing {
    /// In a search that is not divided.
    pub const WHOLE: Self = Self {
        own: true,
        turn: 0,
        fails_again: true,
    };
}

/// The units of a tree: where they begin, and whose they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    part: Part,
    /// Nodes of more weight are in the top of the tree.
    limit: f64,
    /// Units met.
    met: u64,
    turn: u64,
}

impl Units {
    /// Of this part, where about so many units suit the strategy.
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

    /// Whether what is in the top counts for this part.
    pub(crate) fn counts_top(&self) -> bool {
        self.part.index == 0
    }

    /// Meets the next unit. Whether it belongs to this part.
    pub(crate) fn meet(&mut self) -> bool {
        let number = self.met;
        self.met += 1;
        self.turn += 1;
        number % u64::from(self.part.count) == u64::from(self.part.index)
    }

    /// In the unit that was met last.
    pub(crate) fn within(&self) -> Standing {
        Standing {
            turn: self.turn,
            ..Standing::WHOLE
        }
    }

    /// An execution in the top, which counts for the first part.
    pub(crate) fn outside(&mut self) -> Standing {
        self.turn += 1;
        Standing {
            own: self.counts_top(),
            turn: self.turn,
            ..Standing::WHOLE
        }
    }

    /// Turns so far: the same for all parts, in the end.
    pub(crate) fn turns(&self) -> u64 {
        self.turn
    }
}
