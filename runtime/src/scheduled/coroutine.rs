//! The coroutine of a thread of the program.

use corosensei::Coroutine;

use crate::memory::stack::GuardedStack;

/// A thread's coroutine. What it yields says nothing: the machine's state does.
pub(super) type Thread = Coroutine<(), (), (), GuardedStack>;

/// How a coroutine gives control back.
pub(super) type Yielder = corosensei::Yielder<(), ()>;
