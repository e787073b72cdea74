//! The events of handles.

use crate::engine;
use crate::engine::counts::{self, Act, Count};
use crate::scheduled::OF_COUNT;
use crate::vocabulary::Site;

/// The header of an allocation, in bytes: no data of the program lies there.
const HEADER: usize = 2 * size_of::<usize>();

/// The name of an allocation: its header's address, given its value's.
fn header(value: *const ()) -> usize {
    value.addr().wrapping_sub(HEADER)
}

/// An allocation has been made. Earlier allocations at the same address are other objects.
pub(super) fn begin(value: *const ()) {
    let sequential = engine::current();
    if let Some(handle) = sequential {
        counts::begin(handle, header(value));
    }
    if sequential.is_none()
        && let Some(machine) = crate::scheduled::current()
    {
        machine.forget_count(header(value));
    }
}

/// The end of a strong handle begins, which has this name.
pub(super) fn ends(name: *const ()) {
    if let Some(handle) = engine::current() {
        counts::ends(handle, name.addr());
    }
}

/// The handle whose end has this name is gone.
#[inline]
pub(super) fn ended(name: *const ()) {
    if let Some(handle) = engine::current() {
        counts::ended(handle, name.addr());
    }
}

/// A value that has weak handles while it is being made is about to be there: waits for the thread's turn.
pub(super) fn before_there(value: *const (), site: Site) {
    if engine::current().is_none()
        && let Some(machine) = crate::scheduled::current()
    {
        let object = machine.count_object(header(value));
        machine.turn(crate::vocabulary::Kind::Update, object, OF_COUNT, site);
    }
}

/// The value is there.
pub(super) fn there(value: *const (), site: Site, left: Count) {
    if engine::current().is_none()
        && let Some(machine) = crate::scheduled::current()
    {
        scheduled::there(machine, header(value), site, left);
    }
}

/// Does something with the count of the allocation whose value is at `value`.
///
/// `count` returns the count as it is. `act` does the operation, and returns its result and the number of handles after
/// it.
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
    if let Some(machine) = crate::scheduled::current() {
        return scheduled::act(machine, header(value), what, site, count, act);
    }
    act().0
}

mod scheduled {
    use crate::vocabulary::{Integer, Kind, Test};

    use super::{Act, Count};
    use crate::log::Object;
    use crate::scheduled::Handle;
    use crate::scheduled::OF_COUNT;
    use crate::vocabulary::Site;

    /// An event's value holds both numbers, so that a test can be one of the lower number alone.
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
        let noted = machine.noted();
        let (result, left) = act();
        let done = match announced {
            Kind::CompareExchange if found.strong == 1 => Kind::Update,
            Kind::CompareExchange => Kind::FailedUpdate,
            Kind::Upgrade if found.strong == 0 => Kind::FailedUpdate,
            kind => kind,
        };
        tell(machine, done, object, what, site, (found, left));
        machine.noted_after_event(noted);
        result
    }

    /// The event's kind and value as announced. A strategy that reasons about values gets the whole value, and the test
    /// by which the program sees it.
    fn announced(machine: Handle, what: Act) -> (Kind, u64) {
        let tells_values = machine.tells_values();
        match what {
            Act::Look => (Kind::Read, OF_COUNT),
            Act::Add if !tells_values => (Kind::Add, 0),
            Act::Take if !tells_values => (Kind::Take, 0),
            // What a turn of a loop leaves behind is judged by what has been done before and since: there, all order counts.
            Act::Upgrade if !tells_values && !machine.is_in_loop() => (Kind::Upgrade, OF_COUNT),
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
                // Without its last strong handle, the value is gone, whatever the number of weak handles.
                Act::Take | Act::Update => Some(Test::ThisOrAll {
                    constant: 1,
                    integer: STRONG,
                }),
                // A value that is gone can't be upgraded to.
                Act::Upgrade => Some(Test::ThisOrAll {
                    constant: 0,
                    integer: STRONG,
                }),
                // A value moves away from its weak handles, so that the number of weak handles matters, too.
                Act::Look | Act::Unwrap => None,
            });
        } else {
            machine.did(done, object, found.strong as u64, left.strong as u64, site);
        }
    }
}
