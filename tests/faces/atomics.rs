// `atomic`.

use std::fmt::Pointer;

use subject::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use subject::sync::atomic::{
    ATOMIC_BOOL_INIT, ATOMIC_ISIZE_INIT, ATOMIC_USIZE_INIT, AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64,
    AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, compiler_fence, fence,
    spin_loop_hint,
};

static FLAG: AtomicBool = ATOMIC_BOOL_INIT;
static COUNT: AtomicUsize = ATOMIC_USIZE_INIT;
static SIGNED: AtomicIsize = ATOMIC_ISIZE_INIT;
static POINTER: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static ALL: [AtomicU8; 3] = [const { AtomicU8::new(1) }; 3];

macro_rules! common {
    ($($check:ident $atomic:ident $value:ty;)*) => {$(
        fn $check(mut atomic: $atomic, shared: &$atomic, value: $value) -> $value {
            const MADE: fn($value) -> $atomic = $atomic::new;
            static PLACE: $atomic = $atomic::new(<$value as Usual>::USUAL);
            let place: *mut $value = shared.as_ptr();
            let behind: &$atomic = unsafe { $atomic::from_ptr(place) };
            shared.store(shared.load(SeqCst), Release);
            let old: $value = shared.swap(value, AcqRel);
            let old: $value = shared.compare_and_swap(value, value, SeqCst);
            let old: Result<$value, $value> = shared.compare_exchange(value, value, AcqRel, Acquire);
            let old: Result<$value, $value> = shared.compare_exchange_weak(value, value, Release, Relaxed);
            let old: Result<$value, $value> = shared.fetch_update(SeqCst, SeqCst, |old| Some(old));
            let old = shared.fetch_update::<fn($value) -> Option<$value>>(SeqCst, SeqCst, Some);
            let old: Result<$value, $value> = shared.try_update(SeqCst, SeqCst, |old| Some(old));
            let old: $value = shared.update(SeqCst, SeqCst, |old| old);
            let inside: &mut $value = atomic.get_mut();
            let from: $atomic = value.into();
            let all: Vec<$atomic> = [value].into_iter().map($atomic::new).collect();
            let usual = $atomic::default();
            let text = format!("{atomic:?} {atomic:#?}");
            crate::plain::<$atomic>();
            atomic.into_inner()
        }

    )*};
}

trait Usual {
    const USUAL: Self;
}

impl Usual for bool {
    const USUAL: Self = false;
}

macro_rules! integers {
    ($($check:ident $atomic:ident $value:ty;)*) => {$(
        impl Usual for $value {
            const USUAL: Self = 0;
        }

        fn $check(shared: &$atomic, value: $value) {
            let old: $value = shared.fetch_add(value, Relaxed);
            let old: $value = shared.fetch_sub(value, Acquire);
            let old: $value = shared.fetch_and(value, Release);
            let old: $value = shared.fetch_nand(value, AcqRel);
            let old: $value = shared.fetch_or(value, SeqCst);
            let old: $value = shared.fetch_xor(value, SeqCst);
            let old: $value = shared.fetch_max(value, SeqCst);
            let old: $value = shared.fetch_min(value, SeqCst);
            let method: fn(&$atomic, $value, Ordering) -> $value = $atomic::fetch_add;
        }
    )*};
}

common! {
    bool_ AtomicBool bool;
    i8_ AtomicI8 i8; i16_ AtomicI16 i16; i32_ AtomicI32 i32; i64_ AtomicI64 i64; isize_ AtomicIsize isize;
    u8_ AtomicU8 u8; u16_ AtomicU16 u16; u32_ AtomicU32 u32; u64_ AtomicU64 u64; usize_ AtomicUsize usize;
}

integers! {
    i8_more AtomicI8 i8; i16_more AtomicI16 i16; i32_more AtomicI32 i32; i64_more AtomicI64 i64;
    isize_more AtomicIsize isize; u8_more AtomicU8 u8; u16_more AtomicU16 u16; u32_more AtomicU32 u32;
    u64_more AtomicU64 u64; usize_more AtomicUsize usize;
}

fn of_bool(shared: &AtomicBool) {
    let old: bool = shared.fetch_and(true, SeqCst);
    let old: bool = shared.fetch_nand(true, SeqCst);
    let old: bool = shared.fetch_or(true, SeqCst);
    let old: bool = shared.fetch_xor(true, SeqCst);
    let old: bool = shared.fetch_not(SeqCst);
}

fn pointers(mut atomic: AtomicPtr<u16>, shared: &AtomicPtr<u16>, value: *mut u16) -> *mut u16 {

    let place: *mut *mut u16 = shared.as_ptr();
    let behind: &AtomicPtr<u16> = unsafe { AtomicPtr::from_ptr(place) };
    shared.store(shared.load(SeqCst), Release);
    let old: *mut u16 = shared.swap(value, AcqRel);
    let old: *mut u16 = shared.compare_and_swap(value, value, SeqCst);
    let old: Result<*mut u16, *mut u16> = shared.compare_exchange(value, value, AcqRel, Acquire);
    let old: Result<*mut u16, *mut u16> = shared.compare_exchange_weak(value, value, Release, Relaxed);
    let old: Result<*mut u16, *mut u16> = shared.fetch_update(SeqCst, SeqCst, |old| Some(old));
    let old: Result<*mut u16, *mut u16> = shared.try_update(SeqCst, SeqCst, |old| Some(old));
    let old: *mut u16 = shared.update(SeqCst, SeqCst, |old| old);
    let old: *mut u16 = shared.fetch_ptr_add(1, SeqCst);
    let old: *mut u16 = shared.fetch_ptr_sub(1, SeqCst);
    let old: *mut u16 = shared.fetch_byte_add(1, SeqCst);
    let old: *mut u16 = shared.fetch_byte_sub(1, SeqCst);
    let old: *mut u16 = shared.fetch_or(1, SeqCst);
    let old: *mut u16 = shared.fetch_and(1, SeqCst);
    let old: *mut u16 = shared.fetch_xor(1, SeqCst);
    let inside: &mut *mut u16 = atomic.get_mut();
    let from: AtomicPtr<u16> = value.into();
    let usual: AtomicPtr<u16> = AtomicPtr::default();
    let text = format!("{atomic:?} {atomic:p}");
    crate::plain::<AtomicPtr<u16>>();
    fn shared_by_all<T: Send + Sync>() {}
    shared_by_all::<AtomicPtr<std::rc::Rc<u8>>>();
    atomic.into_inner()
}

fn fences() {
    fence(SeqCst);
    compiler_fence(Acquire);
    spin_loop_hint();
    subject::hint::spin_loop();
    let orders: [Ordering; 5] = [Relaxed, Release, Acquire, AcqRel, SeqCst];
}

lacks!(AtomicU8: Clone);
lacks!(AtomicU8: PartialEq);
