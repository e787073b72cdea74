//! Room for the values that an object keeps.

/// Called before `object`, which is one of the program's, keeps values. An object that outlives the execution must have the memory for
/// them from outside of regions. Such objects are all that lie in no region; where the execution's memory is given
/// back, only statics are, since objects on a stack end with the execution.
#[inline]
pub(super) fn make_room<T, C>(kept: &mut Vec<T>, object: &C) {
    if kept.capacity() == 0 {
        let outlives = if crate::process::is_put_back() {
            crate::process::is_static(object)
        } else {
            !crate::memory::arena::contains(std::ptr::from_ref(object).addr())
        };
        if outlives {
            crate::memory::reserve(kept);
        }
    }
}
