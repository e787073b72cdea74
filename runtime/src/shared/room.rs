//! Room for the values that an object keeps.

/// Before an object of the program notes what it keeps: one that outlives the execution must have that memory from outside.
/// That may be all that lies in no region; where the execution's memory is given back, it is statics alone, and what lies on a
/// stack goes with the execution.
#[inline]
pub(super) fn make_room<T>(kept: &mut Vec<T>) {
    #[cfg(feature = "scheduler")]
    if kept.capacity() == 0 {
        let outlives = if crate::process::is_put_back() {
            crate::process::is_static(kept)
        } else {
            !crate::memory::arena::contains(std::ptr::from_ref(kept).addr())
        };
        if outlives {
            crate::memory::reserve(kept);
        }
    }
    #[cfg(not(feature = "scheduler"))]
    let _ = kept;
}
