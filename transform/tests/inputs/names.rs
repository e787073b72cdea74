//! Names that hide others, and other names for the same things.
use std::sync::{self as s, atomic::{self, AtomicU32 as Number, *}};
use std as standard;
use std::{thread as threads, sync::{self, *}};
pub extern crate std as stdlib;
pub extern crate core;

/// A type that only looks like a lock.
struct Lookalike<T>(T);

mod own {
    /// Not std's.
    pub struct Mutex(pub u32);
    impl Mutex {
        pub fn new(value: u32) -> Self {
            Mutex(value)
        }
        pub fn lock(&self) -> u32 {
            self.0
        }
    }
    pub fn spawn(f: impl FnOnce()) {
        f()
    }
    pub mod std {
        pub mod sync {
            pub struct Mutex;
        }
        pub fn here() -> sync::Mutex {
            self::sync::Mutex
        }
    }
    pub fn shadowed() {
        let _: std::sync::Mutex = std::here();
        let _lock: ::std::sync::Mutex<u8> = ::std::sync::Mutex::new(1);
    }
}

mod prelude {
    pub(crate) use super::stdlib::sync::Mutex as Lock;
    pub(crate) use ::std::sync::{Arc, RwLock as Shared};
    pub(crate) mod more {
        pub(crate) use std::thread::*;
    }
    pub(crate) use self::more::*;
}

mod user {
    use super::prelude::*;

    pub(super) fn run() -> u32 {
        let total = Arc::new(Lock::new(0_u32));
        let other = Arc::new(Shared::new(0_u32));
        let (a, b) = (Arc::clone(&total), Arc::clone(&other));
        let first = spawn(move || *a.lock().unwrap() += 1);
        let second = spawn(move || *b.write().unwrap() += 1);
        first.join().unwrap();
        second.join().unwrap();
        let spawn = |x: u32| x + 1;
        spawn(*total.lock().unwrap()) + *other.read().unwrap()
    }
}

mod nested {
    use {std::sync::Mutex, crate::own::Mutex as Own, ::std::thread};
    use crate::stdlib::sync::atomic as at;

    fn locals() {
        struct Mutex(u8);
        use std::sync::RwLock as Mutex2;
        let _ = Mutex(3).0;
        let _ = Mutex2::new(3);
        fn inner<Mutex: Default>() -> Mutex {
            Mutex::default()
        }
        let _: u32 = inner();
    }

    pub(super) fn both() {
        locals();
        let lock = Mutex::new(1);
        let own = Own::new(1);
        let flag = at::AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| *lock.lock().unwrap() += own.lock());
            scope.spawn(|| flag.store(true, at::Ordering::SeqCst));
        });
        crate::own::spawn(|| ());
    }
}

fn r#match(r#type: &Number) -> u32 {
    r#type.load(Ordering::SeqCst)
}

macro_rules! fields {
    ($kind:ident => $($name:ident: $value:expr),*) => { $kind { $($name: $value),* } };
}

/// What is called as a crate is, and is none.
mod named_as_crates {
    pub(super) mod other {
        pub fn std() -> u32 {
            std::sync::atomic::AtomicU32::new(1).into_inner()
        }
    }
    #[derive(Clone, Default)]
    pub struct Holder {
        pub core: ::std::sync::Arc<::std::sync::Mutex<u32>>,
        pub std: u32,
    }
    impl Holder {
        fn core(&self) -> u32 {
            let Holder { core, std } = self.clone();
            let value = *core.lock().unwrap() + std;
            println!("{core:?} {}", core.is_poisoned());
            value
        }
    }
    #[allow(non_camel_case_types)]
    fn generic<core: Default>(std: core) -> (core, core) {
        (std, core::default())
    }
    pub fn run(core: u32) -> u32 {
        let std = core + self::other::std() + super::named_as_crates::other::std();
        let alloc = |core| core;
        let core = ::std::sync::Arc::new(std::sync::Mutex::new(alloc(core)));
        let holder = fields!(Holder => core: core, std: std);
        let Holder { core: ref alloc, std: core } = holder;
        let _ = alloc.lock().map(|std| *std);
        'core: loop {
            if let std @ 0..=1 = core {
                break 'core;
            }
            match core {
                std if std == core => return generic(std).0 + generic::<u32>(std).1,
                _ => {}
            }
        }
        let core = Default::default();
        let std = Holder { core, std };
        std.core() + other::std()
    }
}

#[test]
fn names() {
    static r#FN: s::atomic::AtomicU64 = s::atomic::AtomicU64::new(0);
    let r#in = standard::sync::Arc::new(Number::new(1));
    let copy = sync::Arc::clone(&r#in);
    let handle = threads::Builder::new().name("räume".into()).spawn(move || copy.fetch_add(1, atomic::Ordering::SeqCst)).unwrap();
    r#FN.store(1, Ordering::Relaxed);
    let _ = r#match(&r#in);
    handle.join().unwrap();
    let _ = Lookalike(core::sync::atomic::AtomicU8::new(1));
    let _ = stdlib::sync::Arc::strong_count(&r#in);
    let _: Result<_, _> = <Arc<Number>>::try_unwrap(r#in);
    let _ = Mutex::new(1);
    own::shadowed();
    user::run();
    nested::both();
    named_as_crates::run(1);
}
