//! The runtime's types have exactly std's auto traits: a program that rustc refuses since it would share what can't be shared
//! must not be accepted when it is instrumented, and the other way round.

#![cfg(feature = "scheduler")]
// Types that a macro is given as one token are in parentheses.
#![allow(unused_parens)]

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

/// Asks whether a type has a trait: the type's own constant comes before a trait's, where its bounds hold.
struct Asked<T: ?Sized>(PhantomData<T>);

macro_rules! ask {
    ($($answer:ident, $otherwise:ident: $of:ident;)*) => {$(
        trait $otherwise {
            const $answer: bool = false;
        }
        impl<T: ?Sized> $otherwise for Asked<T> {}
        impl<T: ?Sized + $of> Asked<T> {
            const $answer: bool = true;
        }
    )*};
}

ask! {
    SEND, NotSend: Send;
    SYNC, NotSync: Sync;
    UNPIN, NotUnpin: Unpin;
    UNWIND_SAFE, NotUnwindSafe: UnwindSafe;
    REF_UNWIND_SAFE, NotRefUnwindSafe: RefUnwindSafe;
}

/// The auto traits of a type, in the order of [`NAMES`].
macro_rules! traits {
    ($of:ty) => {
        [
            Asked::<$of>::SEND,
            Asked::<$of>::SYNC,
            Asked::<$of>::UNPIN,
            Asked::<$of>::UNWIND_SAFE,
            Asked::<$of>::REF_UNWIND_SAFE,
        ]
    };
}

const NAMES: [&str; 5] = ["Send", "Sync", "Unpin", "UnwindSafe", "RefUnwindSafe"];

/// `Sync`, and not `Send`.
type SyncOnly = PhantomData<std::sync::MutexGuard<'static, u8>>;
/// A type that is not `Unpin`.
type Pinned = std::marker::PhantomPinned;

/// The differences between the auto traits of a type of the runtime and those of std's type of the same path, in words.
fn differences(of: &str, ours: [bool; 5], stds: [bool; 5]) -> Vec<String> {
    let each = NAMES.iter().zip(ours.into_iter().zip(stds));
    let differing = each.filter(|(_, (ours, stds))| ours != stds);
    differing
        .map(|(name, (ours, _))| match ours {
            true => format!("{of} is {name}, and std's is not"),
            false => format!("{of} is not {name}, and std's is"),
        })
        .collect()
}

/// Compares a type of the two modules, with these arguments.
macro_rules! compare {
    ($($name:ident $(<$($argument:tt),*>)?;)*) => {
        [$(differences(
            stringify!($name $(<$($argument),*>)?),
            traits!(ours::$name $(<$($argument),*>)?),
            traits!(stds::$name $(<$($argument),*>)?),
        )),*].concat()
    };
}

/// Compares types of the two modules that have one type parameter, for values of all sorts of auto traits. All of these values
/// can be copied, as values behind locks have to be.
macro_rules! compare_of_each {
    ($($name:ident $(<$lifetime:lifetime>)?;)*) => {
        [$(
            of!($name, [$($lifetime)?], u8),
            of!($name, [$($lifetime)?], String),
            of!($name, [$($lifetime)?], (Cell<u8>)),
            of!($name, [$($lifetime)?], (RefCell<String>)),
            of!($name, [$($lifetime)?], (Rc<u8>)),
            of!($name, [$($lifetime)?], (*const u8)),
            of!($name, [$($lifetime)?], (&'static Cell<u8>)),
            of!($name, [$($lifetime)?], (PhantomData<&'static mut u8>)),
            of!($name, [$($lifetime)?], (PhantomData<Box<dyn Fn()>>)),
            of!($name, [$($lifetime)?], (PhantomData<Box<dyn Fn() + Send>>)),
            of!($name, [$($lifetime)?], (PhantomData<Box<dyn Fn() + Send + Sync>>)),
            of!($name, [$($lifetime)?], SyncOnly),
            of!($name, [$($lifetime)?], (PhantomData<Pinned>)),
        )*].concat()
    };
}

macro_rules! of {
    ($name:ident, [$($lifetime:lifetime)?], $of:tt) => {
        compare!($name<$($lifetime,)? $of>;)
    };
}

mod ours {
    pub(crate) use seqz_runtime::std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};
    pub(crate) use seqz_runtime::std::sync::mpsc::{
        IntoIter, Iter, Receiver, Sender, SyncSender, TryIter,
    };
    pub(crate) use seqz_runtime::std::sync::{
        Arc, Barrier, BarrierWaitResult, Condvar, LazyLock, Mutex, MutexGuard, Once, OnceLock,
        OnceState, RwLock, RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult, Weak,
    };
    pub(crate) use seqz_runtime::std::thread::{
        AccessError, Builder, JoinHandle, LocalKey, Scope, ScopedJoinHandle, Thread, ThreadId,
    };
    pub(crate) type Counted<T> = seqz_runtime::counted::Arc<T, false>;
    pub(crate) type Observed<T> = seqz_runtime::counted::Arc<T, true>;
    pub(crate) type CountedWeak<T> = seqz_runtime::counted::Weak<T, false>;
    pub(crate) type ObservedWeak<T> = seqz_runtime::counted::Weak<T, true>;
}

mod stds {
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};
    pub(crate) use std::sync::mpsc::{IntoIter, Iter, Receiver, Sender, SyncSender, TryIter};
    pub(crate) use std::sync::{
        Arc, Barrier, BarrierWaitResult, Condvar, LazyLock, Mutex, MutexGuard, Once, OnceLock,
        OnceState, RwLock, RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult, Weak,
    };
    pub(crate) use std::thread::{
        AccessError, Builder, JoinHandle, LocalKey, Scope, ScopedJoinHandle, Thread, ThreadId,
    };
    pub(crate) type Counted<T> = Arc<T>;
    pub(crate) type Observed<T> = Arc<T>;
    pub(crate) type CountedWeak<T> = Weak<T>;
    pub(crate) type ObservedWeak<T> = Weak<T>;
}

#[test]
fn the_question_is_answered() {
    assert_eq!(traits!(u8), [true; 5]);
    assert_eq!(traits!(Cell<u8>), [true, false, true, true, false]);
    assert_eq!(traits!(SyncOnly)[..2], [false, true]);
    assert_eq!(traits!(Pinned)[2..3], [false]);
    let found = differences("a cell", traits!(Cell<u8>), traits!(u8));
    let wanted = [
        "a cell is not Sync, and std's is",
        "a cell is not RefUnwindSafe, and std's is",
    ];
    assert_eq!(found, wanted);
}

#[test]
fn locks_have_the_auto_traits_of_stds() {
    let found = compare_of_each! {
        Mutex;
        MutexGuard<'static>;
        RwLock;
        RwLockReadGuard<'static>;
        RwLockWriteGuard<'static>;
        OnceLock;
        LazyLock;
    };
    assert!(found.is_empty(), "{}", found.join("\n"));
    let found = compare! {
        LazyLock<u8, (fn() -> u8)>;
        LazyLock<u8, (PhantomData<Cell<u8>>)>;
        LazyLock<u8, SyncOnly>;
        LazyLock<u8, (*const u8)>;
        LazyLock<(Cell<u8>), u8>;
        Once;
        OnceState;
        Condvar;
        WaitTimeoutResult;
        Barrier;
        BarrierWaitResult;
        AtomicBool;
        AtomicU64;
    };
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn handles_have_the_auto_traits_of_stds() {
    let found = compare_of_each! {
        Arc;
        Weak;
        Counted;
        Observed;
        CountedWeak;
        ObservedWeak;
        AtomicPtr;
    };
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn channels_have_the_auto_traits_of_stds() {
    let found = compare_of_each! {
        Sender;
        SyncSender;
        Receiver;
        Iter<'static>;
        TryIter<'static>;
        IntoIter;
    };
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn threads_have_the_auto_traits_of_stds() {
    let found = compare_of_each! {
        JoinHandle;
        ScopedJoinHandle<'static>;
        LocalKey;
    };
    assert!(found.is_empty(), "{}", found.join("\n"));
    let found = compare! {
        Scope<'static, 'static>;
        Thread;
        ThreadId;
        Builder;
        AccessError;
    };
    assert!(found.is_empty(), "{}", found.join("\n"));
}
