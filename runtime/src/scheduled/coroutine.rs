//! The coroutine of a thread of the program.

use corosensei::Coroutine;

use crate::memory::stack::GuardedStack;

/// A thread's coroutine. It yields no value: the machine's state says what comes next.
pub(super) type Thread = Coroutine<(), (), (), GuardedStack>;

/// What a coroutine gives control back with.
pub(super) type Yielder = corosensei::Yielder<(), ()>;
