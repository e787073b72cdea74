//! How a number grows from turn to turn, and whether it fits.

use syn::{BinOp, Expr};

use super::{number, variable};

/// The growth of a variable in one assignment.
#[derive(Clone, Copy)]
pub(super) enum Step {
    By(u64),
    Times(u64),
    Less,
}

impl Step {
    pub(super) fn of(op: &BinOp, by: Option<u64>) -> Option<Self> {
        Some(match op {
            BinOp::Add(_) | BinOp::AddAssign(_) => Self::By(by?),
            BinOp::Mul(_) | BinOp::MulAssign(_) => Self::Times(by?),
            BinOp::Shl(_) | BinOp::ShlAssign(_) => Self::Times(1_u64.checked_shl(by? as u32)?),
            BinOp::Div(_) | BinOp::DivAssign(_) if by? > 0 => Self::Less,
            BinOp::Rem(_) | BinOp::RemAssign(_) if by? > 0 => Self::Less,
            _ => return None,
        })
    }

    /// Returns the largest value after the step, given the largest value before it; an inner `None`: not known. `None`:
    /// the value may go beyond its type.
    pub(super) fn from(self, bound: Option<u64>) -> Option<Option<u64>> {
        let below = |most: u64| (most < 1 << 31).then_some(Some(most));
        match (self, bound) {
            (Self::Less, _) => Some(bound),
            (Self::By(by), None) => (by <= SMALL).then_some(None),
            (Self::By(by), Some(most)) => below(most.saturating_add(by)),
            (Self::Times(by), Some(most)) => below(most.saturating_mul(by)),
            (Self::Times(_), None) => None,
        }
    }
}

/// The largest step whose repetition stays below 31 bits in every execution that ends.
pub(super) const SMALL: u64 = 1 << 10;

/// Returns how the sum of a variable and a number differs from the variable.
pub(super) fn step(op: &BinOp, left: &Expr, right: &Expr, of: &str) -> Option<Step> {
    (variable(left).as_deref() == Some(of)).then(|| Step::of(op, number(right)))?
}
