//! The traits that an `Arc` has from the value that it leads to.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::error::Error;
use std::fmt;
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Deref;
#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::{Arc, Weak};
use crate::values::{ValueHash, ValueHasher};

impl<T: ?Sized + RefUnwindSafe, const OBSERVED: bool> UnwindSafe for Arc<T, OBSERVED> {}
impl<T: ?Sized + RefUnwindSafe, const OBSERVED: bool> RefUnwindSafe for Arc<T, OBSERVED> {}

impl<T: ?Sized, const OBSERVED: bool> Deref for Arc<T, OBSERVED> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        Self::borrowed(self)
    }
}

impl<T: ?Sized, const OBSERVED: bool> AsRef<T> for Arc<T, OBSERVED> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized, const OBSERVED: bool> Borrow<T> for Arc<T, OBSERVED> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: ?Sized + fmt::Debug, const OBSERVED: bool> fmt::Debug for Arc<T, OBSERVED> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display, const OBSERVED: bool> fmt::Display for Arc<T, OBSERVED> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized, const OBSERVED: bool> fmt::Pointer for Arc<T, OBSERVED> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Self::borrowed(self).fmt(f)
    }
}

impl<T: ?Sized + PartialEq, const OBSERVED: bool> PartialEq for Arc<T, OBSERVED> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq, const OBSERVED: bool> Eq for Arc<T, OBSERVED> {}

impl<T: ?Sized + PartialOrd, const OBSERVED: bool> PartialOrd for Arc<T, OBSERVED> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord, const OBSERVED: bool> Ord for Arc<T, OBSERVED> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Hash, const OBSERVED: bool> Hash for Arc<T, OBSERVED> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: ?Sized + Error, const OBSERVED: bool> Error for Arc<T, OBSERVED> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        (**self).source()
    }
}

/// The program can tell two `Arc`s with equal contents apart by `Arc::ptr_eq`.
impl<T: ValueHash + ?Sized, const OBSERVED: bool> ValueHash for Arc<T, OBSERVED> {
    fn value_hash(&self, to: &mut ValueHasher) {
        Self::borrowed(self).value_hash(to);
    }
}

crate::values::clones::whole! {
    [T: ?Sized, const OBSERVED: bool] Arc<T, OBSERVED>;
    [T: ?Sized, const OBSERVED: bool] Weak<T, OBSERVED>;
}

impl<const OBSERVED: bool> Read for Arc<File, OBSERVED> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&**self).read(buffer)
    }
}

impl<const OBSERVED: bool> Write for Arc<File, OBSERVED> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        (&**self).write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&**self).flush()
    }
}

impl<const OBSERVED: bool> Seek for Arc<File, OBSERVED> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&**self).seek(to)
    }
}

#[cfg(unix)]
impl<T: AsFd + ?Sized, const OBSERVED: bool> AsFd for Arc<T, OBSERVED> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        (**self).as_fd()
    }
}

#[cfg(unix)]
impl<T: AsRawFd, const OBSERVED: bool> AsRawFd for Arc<T, OBSERVED> {
    fn as_raw_fd(&self) -> RawFd {
        (**self).as_raw_fd()
    }
}
