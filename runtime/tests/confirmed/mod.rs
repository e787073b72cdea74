//! Whether the scheduled machine shows a bug of the sequential program: for all tests that generate programs of their own.

use std::fmt::Debug;

use seqz_runtime::Bound;
use seqz_runtime::engine::Bug;

/// Has the scheduled machine follow the bug's interleaving.
pub(crate) fn is_confirmed(bug: &Bug, bound: &Bound, program: &impl Debug) {
    #[cfg(feature = "scheduler")]
    {
        use seqz_runtime::scheduled::witness::confirm;
        use seqz_runtime::vocabulary::Confirmation;
        let confirmation = confirm(bug, &*bound.program);
        assert!(
            matches!(confirmation, Confirmation::Confirmed(_)),
            "{bug}{confirmation:#?}: {program:?}"
        );
    }
    #[cfg(not(feature = "scheduler"))]
    let _ = (bug, bound, program);
}
