//! Where nothing stands before the system.

/// Nothing stands before the system.
#[macro_export]
macro_rules! stand_before_the_system {
    () => {};
}
