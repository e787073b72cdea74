//! `std::task::Wake`: its methods are called on handles, so for counted handles a separate trait is needed, and a
//! `Waker` is made of a counted handle as std makes one of its own.

use std::mem::ManuallyDrop;
use std::task::{RawWaker, RawWakerVTable, Waker};

use super::Arc;

/// A value behind a handle of one kind that can be woken: std's trait has no parameter that could tell the kind.
trait Woken<const OBSERVED: bool>: Send + Sync + 'static {
    fn wake(this: Arc<Self, OBSERVED>);
    fn wake_by_ref(this: &Arc<Self, OBSERVED>);
}

/// The trait for handles of one kind.
macro_rules! wakes {
    ($kind:ident: $observed:literal) => {
        pub(super) mod $kind {
            use super::{Arc, RawWaker, Waker, Woken, raw};

            /// `std::task::Wake`, with counted handles.
            pub trait Wake {
                /// See `std::task::Wake::wake`.
                fn wake(self: Arc<Self, $observed>);

                /// See `std::task::Wake::wake_by_ref`.
                fn wake_by_ref(self: &Arc<Self, $observed>) {
                    self.clone().wake();
                }
            }

            impl<W: Wake + Send + Sync + 'static> Woken<$observed> for W {
                fn wake(this: Arc<Self, $observed>) {
                    <Self as Wake>::wake(this);
                }

                fn wake_by_ref(this: &Arc<Self, $observed>) {
                    <Self as Wake>::wake_by_ref(this);
                }
            }

            impl<W: Wake + Send + Sync + 'static> From<Arc<W, $observed>> for Waker {
                fn from(waker: Arc<W, $observed>) -> Self {
                    // SAFETY: the functions of the table do with the handle what its traits say, and the handle can be
                    // shared and sent, since its value can.
                    unsafe { Self::from_raw(raw(waker)) }
                }
            }

            impl<W: Wake + Send + Sync + 'static> From<Arc<W, $observed>> for RawWaker {
                fn from(waker: Arc<W, $observed>) -> Self {
                    raw(waker)
                }
            }
        }
    };
}

wakes!(handles: false);
wakes!(destructors: true);

/// A raw waker that owns this handle.
fn raw<W: Woken<OBSERVED>, const OBSERVED: bool>(waker: Arc<W, OBSERVED>) -> RawWaker {
    RawWaker::new(Arc::into_raw(waker).cast(), table::<W, OBSERVED>())
}

/// One table for each type, so that `Waker::will_wake` is true for clones.
const fn table<W: Woken<OBSERVED>, const OBSERVED: bool>() -> &'static RawWakerVTable {
    const {
        &RawWakerVTable::new(
            clone::<W, OBSERVED>,
            wake::<W, OBSERVED>,
            wake_by_ref::<W, OBSERVED>,
            end::<W, OBSERVED>,
        )
    }
}

unsafe fn clone<W: Woken<OBSERVED>, const OBSERVED: bool>(waker: *const ()) -> RawWaker {
    // SAFETY: `raw` made the pointer, and its handle lives as long as the waker.
    unsafe { Arc::<W, OBSERVED>::increment_strong_count(waker.cast()) };
    RawWaker::new(waker, table::<W, OBSERVED>())
}

unsafe fn wake<W: Woken<OBSERVED>, const OBSERVED: bool>(waker: *const ()) {
    // SAFETY: `raw` made the pointer, and waking consumes the waker with its handle.
    W::wake(unsafe { Arc::from_raw(waker.cast()) });
}

unsafe fn wake_by_ref<W: Woken<OBSERVED>, const OBSERVED: bool>(waker: *const ()) {
    // SAFETY: `raw` made the pointer. The handle stays the waker's, and is not dropped.
    let this = ManuallyDrop::new(unsafe { Arc::from_raw(waker.cast()) });
    W::wake_by_ref(&this);
}

unsafe fn end<W: Woken<OBSERVED>, const OBSERVED: bool>(waker: *const ()) {
    // SAFETY: `raw` made the pointer, and the waker is dropped once, with its handle.
    unsafe { Arc::<W, OBSERVED>::decrement_strong_count(waker.cast()) };
}
