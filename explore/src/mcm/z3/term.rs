//! Formulas that may be known to be true or false before Z3 sees them.

use z3::ast::Bool;

/// A formula.
#[derive(Clone, Debug)]
pub(super) enum Term {
    /// A formula whose truth is known.
    Known(bool),
    /// A formula that Z3 has to decide.
    Open(Bool),
}

impl Term {
    pub(super) const TRUE: Self = Self::Known(true);
    pub(super) const FALSE: Self = Self::Known(false);

    pub(super) fn not(self) -> Self {
        match self {
            Self::Known(known) => Self::Known(!known),
            Self::Open(open) => Self::Open(open.not()),
        }
    }
}

/// Whether all of them hold.
pub(super) fn all(terms: impl IntoIterator<Item = Term>) -> Term {
    let mut open = Vec::new();
    for term in terms {
        match term {
            Term::Known(true) => {}
            Term::Known(false) => return Term::FALSE,
            Term::Open(term) => open.push(term),
        }
    }
    match open.len() {
        0 => Term::TRUE,
        1 => Term::Open(open.remove(0)),
        _ => Term::Open(Bool::and(&open)),
    }
}

/// Whether one of them holds.
pub(super) fn any(terms: impl IntoIterator<Item = Term>) -> Term {
    let mut open = Vec::new();
    for term in terms {
        match term {
            Term::Known(false) => {}
            Term::Known(true) => return Term::TRUE,
            Term::Open(term) => open.push(term),
        }
    }
    match open.len() {
        0 => Term::FALSE,
        1 => Term::Open(open.remove(0)),
        _ => Term::Open(Bool::or(&open)),
    }
}
