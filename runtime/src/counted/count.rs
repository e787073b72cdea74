//! The events of handles.

use crate::engine;
use crate::engine::counts::{self, Act, Count};
#[cfg(feature = "scheduler")]
use crate::log::OF_COUNT;
use crate::vocabulary::Site;

/// The header of an allocation is as large: what lies there is not the program's.
const HEADER: usize = 2 * size_of::<usize>();

/// The name of an allocation: where its header is, given where its value is.
fn header(value: *const ()) -> usize {
    value.addr().wrapping_sub(HEADER)
}

/// An allocation has been made. Whatever has been there before is another one.
pub(super) fn begin(value: *const ()) {
    let sequential = engine::current();
    if let Some(handle) = sequential {
        counts::begin(handle, header(value));
    }
    #[cfg(feature = "scheduler")]
    if sequential.is_none()
        && let Some(machine) = crate::scheduled::events::current()
    {
        machine.forget_count(header(value));
    }
}

/// A value that is made while there are weak handles of it already is about to be there: waits for the thread's turn.
pub(super) fn before_there(value: *const (), site: Site) {
    #[cfg(feature = "scheduler")]
    if engine::current().is_none()
        && let Some(machine) = crate::scheduled::events::current()
    {
        let object = machine.count_object(header(value));
        machine.turn(seqz_explore::Kind::Update, object, OF_COUNT, site);
    }
    let _ = (value, site);
}

/// The value is there.
pub(super) fn there(value: *const (), site: Site, left: Count) {
    #[cfg(feature = "scheduler")]
    if engine::current().is_none()
        && let Some(machine) = crate::scheduled::events::current()
    {
        scheduled::there(machine, header(value), site, left);
    }
    let _ = (value, site, left);
}

/// Does something with the count of the allocation whose value is at `value`.
///
/// `count` tells the count as it is. `act` does it, and tells its result and how many handles there are then.
pub(super) fn act<R>(
    value: *const (),
    what: Act,
    site: Site,
    count: impl Fn() -> Count,
    act: impl FnOnce() -> (R, Count),
) -> R {
    if let Some(handle) = engine::current() {
        counts::enter(handle, what, site);
        let found = count();
        let (result, left) = act();
        counts::note(handle, header(value), what, site, (found, left));
        return result;
    }
    #[cfg(feature = "scheduler")]
    if let Some(machine) = crate::scheduled::events::current() {
        return scheduled::act(machine, header(value), what, site, count, act);
    }
    let _ = (what, site, count);
    act().0
}

#[cfg(feature = "scheduler")]
mod scheduled {
    use seqz_explore::{Integer, Kind, Test};

    use super::{Act, Count};
    use crate::log::OF_COUNT;
    use crate::log::Object;
    use crate::scheduled::events::Handle;
    use crate::vocabulary::Site;

    /// Values are told of both numbers, so that a test of the lower one can be told as well.
    const STRONG: Integer = Integer {
        bits: 32,
        signed: false,
    };

    fn both(count: Count) -> u64 {
        (count.weak as u64) << STRONG.bits | count.strong as u64
    }

    pub(super) fn there(machine: Handle, at: usize, site: Site, left: Count) {
        let object = machine.count_object(at);
        let left = if machine.tells_values() {
            both(left)
        } else {
            left.strong as u64
        };
        machine.did(Kind::Update, object, 0, left, site);
    }

    pub(super) fn act<R>(
        machine: Handle,
        at: usize,
        what: Act,
        site: Site,
        count: impl Fn() -> Count,
        act: impl FnOnce() -> (R, Count),
    ) -> R {
        let object = machine.count_object(at);
        let (announced, expected) = announced(machine, what);
        machine.turn(announced, object, expected, site);
        let found = count();
        let (result, left) = act();
        let done = match announced {
            Kind::CompareExchange if found.strong == 1 => Kind::Update,
            Kind::CompareExchange => Kind::FailedUpdate,
            kind => kind,
        };
        tell(machine, done, object, what, site, (found, left));
        result
    }

    /// What is announced. Who reasons about values is told all of them, and what of them is seen.
    fn announced(machine: Handle, what: Act) -> (Kind, u64) {
        let tells_values = machine.tells_values();
        match what {
            Act::Look => (Kind::Read, OF_COUNT),
            Act::Add if !tells_values => (Kind::Add, 0),
            Act::Take if !tells_values => (Kind::Take, 0),
            Act::Unwrap => (Kind::CompareExchange, 1),
            _ => (Kind::Update, OF_COUNT),
        }
    }

    fn tell(
        machine: Handle,
        done: Kind,
        object: Object,
        what: Act,
        site: Site,
        (found, left): (Count, Count),
    ) {
        if machine.tells_values() {
            machine.did(done, object, both(found), both(left), site);
            machine.note_test(|_, _, _| match what {
                Act::Add => Some(Test::Unobserved),
                // The last strong handle leaves nothing, however many weak ones there are.
                Act::Take | Act::Update => Some(Test::ThisOrAll {
                    constant: 1,
                    integer: STRONG,
                }),
                // Of what is not there, nothing more can be had.
                Act::Upgrade => Some(Test::ThisOrAll {
                    constant: 0,
                    integer: STRONG,
                }),
                // A value moves away from its weak handles, so that it matters whether there are any.
                Act::Look | Act::Unwrap => None,
            });
        } else {
            machine.did(done, object, found.strong as u64, left.strong as u64, site);
        }
    }
}
