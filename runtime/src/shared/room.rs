//! Room for the values that an object keeps.

/// Called before an object of the program keeps values. An object that outlives the execution must have the memory for
/// them from outside of regions. Such objects are all that lie in no region; where the execution's memory is given
/// back, only statics are, since objects on a stack end with the execution.
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
