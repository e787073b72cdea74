//! Marks on reads of which the program uses less than the value.
//!
//! `x.load(o) > 3` becomes `gt(x.load(o), 3, here()) > 3`: the mark gives the value back as it is, and says that it is used
//! for this comparison only. It is believed only where that is certain:
//! - The transformation puts it around an operand that is a call of a method of atomics, or a `static mut` of an integer
//!   type, so that the value goes through the mark into the comparison and nowhere else. It never does if the program has
//!   a method of that name itself.
//! - The thread's latest event, with nothing since, is a read that found this very value, and its place is between the
//!   mark's beginning and [`here`]. So the value is what that read gave, and not what some code made of it that has a value
//!   of its own to remember.
//!
//! `Machine::tests` returns what the marks have said. Where values are not asked for, a mark is a look at a flag.

use std::panic::Location;

use crate::vocabulary::{Comparison, Event, Integer, Kind, Pending, Test};

use crate::scheduled::current;
use crate::scheduled::is_asked;
use crate::values::identity;
use crate::vocabulary::Site;

/// The place of the call: where a mark ends.
#[inline(always)]
#[must_use]
#[track_caller]
pub const fn here() -> Site {
    Location::caller()
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $name<V>(value: V, constant: i128, end: Site) -> V {
            if is_asked() {
                compared(&value, Comparison::$op, constant, Location::caller(), end);
            }
            value
        }
    )*};
}

comparisons! {
    /// The value is used for `value == constant` only.
    eq Equal;
    /// The value is used for `value != constant` only.
    ne NotEqual;
    /// The value is used for `value < constant` only.
    lt Less;
    /// The value is used for `value <= constant` only.
    le LessOrEqual;
    /// The value is used for `value > constant` only.
    gt Greater;
    /// The value is used for `value >= constant` only.
    ge GreaterOrEqual;
}

/// The value is dropped.
#[inline(always)]
#[track_caller]
pub fn dropped<V>(value: V, end: Site) -> V {
    if is_asked() {
        unobserved(Location::caller(), end);
    }
    value
}

/// The result of a compare-exchange is used only for whether it is a success.
#[inline(always)]
#[track_caller]
pub fn success<V>(result: V, end: Site) -> V {
    if is_asked() {
        succeeded(&result, Location::caller(), end);
    }
    result
}

/// The bits and the type of a value, if it is an integer as atomics have them.
fn integer<V>(value: &V) -> Option<(u64, Integer)> {
    macro_rules! each {
        ($($ty:ident $signed:literal;)*) => {$(
            if identity::<V>() == identity::<$ty>() {
                // SAFETY: the value is of this type.
                let value = unsafe { *std::ptr::from_ref(value).cast::<$ty>() };
                #[allow(clippy::cast_lossless, clippy::cast_sign_loss, clippy::cast_possible_truncation)]
                return Some((value as u64, Integer { bits: $ty::BITS as u8, signed: $signed }));
            }
        )*};
    }
    each! {
        u8 false;
        u16 false;
        u32 false;
        u64 false;
        usize false;
        i8 true;
        i16 true;
        i32 true;
        i64 true;
        isize true;
    }
    None
}

/// The bits and the type of what a compare-exchange found.
fn exchanged<V>(result: &V) -> Option<(u64, Integer)> {
    macro_rules! each {
        ($($ty:ident)*) => {$(
            if identity::<V>() == identity::<Result<$ty, $ty>>() {
                // SAFETY: the value is of this type.
                let result = unsafe { &*std::ptr::from_ref(result).cast::<Result<$ty, $ty>>() };
                return integer(match result {
                    Ok(value) | Err(value) => value,
                });
            }
        )*};
    }
    each!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);
    None
}

/// Whether an event is a read of the program's own, in the place that a mark is around.
fn is_marked(event: &Event, site: Site, start: Site, end: Site) -> bool {
    let at = |site: Site| (site.line(), site.column());
    matches!(event.kind, Kind::Read | Kind::Update | Kind::FailedUpdate)
        && site.file() == start.file()
        && site.file() == end.file()
        && (at(start)..at(end)).contains(&at(site))
}

#[cold]
fn compared<V>(value: &V, op: Comparison, constant: i128, start: Site, end: Site) {
    let Some(machine) = current() else { return };
    let Some((bits, integer)) = integer(value) else {
        return;
    };
    machine.note_test(|event, _, site| {
        // What an update leaves depends on the whole value found. If the outcome of the comparison were observed where
        // it tells the value, and the value elsewhere, no search could foretell which of them an update observes that
        // finds another value.
        let marked =
            is_marked(event, site, start, end) && event.kind != Kind::Update && event.found == bits;
        marked.then_some(Test::Compared {
            op,
            constant,
            integer,
        })
    });
}

#[cold]
fn unobserved(start: Site, end: Site) {
    let Some(machine) = current() else { return };
    machine
        .note_test(|event, _, site| is_marked(event, site, start, end).then_some(Test::Unobserved));
}

#[cold]
fn succeeded<V>(result: &V, start: Site, end: Site) {
    let Some(machine) = current() else { return };
    let Some((bits, integer)) = exchanged(result) else {
        return;
    };
    machine.note_test(|event, announced: &Pending, site| {
        let marked = is_marked(event, site, start, end)
            && event.found == bits
            && announced.kind == Kind::CompareExchange;
        marked.then(|| Test::Compared {
            op: Comparison::Equal,
            constant: integer.number(announced.expected),
            integer,
        })
    });
}
