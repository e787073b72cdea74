//! What the system knows of a thread: nothing, since the threads of the program are none of the system's.

use std::os::unix::thread::{JoinHandleExt, RawPthread};
use std::panic::Location;

use super::JoinHandle;
use crate::running::refuse;

/// Said where the program asks for the number.
const NONE_OF_THE_SYSTEM: &str = "the number by which the system knows a thread: the threads of the program are none of the \
                                  system's";

impl<T> JoinHandleExt for JoinHandle<T> {
    #[track_caller]
    fn as_pthread_t(&self) -> RawPthread {
        refuse(NONE_OF_THE_SYSTEM, Location::caller())
    }

    #[track_caller]
    fn into_pthread_t(self) -> RawPthread {
        refuse(NONE_OF_THE_SYSTEM, Location::caller())
    }
}
