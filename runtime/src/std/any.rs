//! `std::any`, whose names of types are those that the program's types have without seqz.

use std::cell::RefCell;
use std::collections::HashMap;

pub use ::std::any::*;

/// `std::any::type_name`.
#[must_use]
pub fn type_name<T: ?Sized>() -> &'static str {
    of_std(::std::any::type_name::<T>())
}

/// `std::any::type_name_of_val`.
#[must_use]
pub fn type_name_of_val<T: ?Sized>(_: &T) -> &'static str {
    type_name::<T>()
}

/// The types of the runtime by their names, each with the name of the type of std that it stands for.
macro_rules! replaced {
    ($($($path:ident)::+ $(< $($argument:tt),+ >)?;)*) => {
        [$((
            ::std::any::type_name::<crate::std::$($path)::+ $(< $($argument),+ >)?>(),
            ::std::any::type_name::<::std::$($path)::+ $(< $($argument),+ >)?>(),
        ),)*]
    };
}

/// A name with the runtime's types called as std's are.
fn of_std(name: &'static str) -> &'static str {
    if !name.contains("seqz_runtime") {
        return name;
    }
    thread_local! {
        static KNOWN: RefCell<HashMap<&'static str, &'static str>> = RefCell::default();
    }
    // Kept from one execution to the next.
    crate::memory::outside(|| {
        KNOWN.with_borrow_mut(|known| {
            *known
                .entry(name)
                .or_insert_with(|| String::leak(translated(name)))
        })
    })
}

fn translated(name: &str) -> String {
    let all = replaced! {
        sync::atomic::AtomicBool; sync::atomic::AtomicI8; sync::atomic::AtomicI16; sync::atomic::AtomicI32;
        sync::atomic::AtomicI64; sync::atomic::AtomicIsize; sync::atomic::AtomicU8; sync::atomic::AtomicU16;
        sync::atomic::AtomicU32; sync::atomic::AtomicU64; sync::atomic::AtomicUsize;
        sync::Mutex<()>; sync::MutexGuard<'_, ()>; sync::RwLock<()>; sync::RwLockReadGuard<'_, ()>;
        sync::RwLockWriteGuard<'_, ()>; thread::JoinHandle<()>; thread::ScopedJoinHandle<'_, ()>;
        thread::Thread; thread::ThreadId; thread::Builder; thread::Scope<'_, '_>;
        sync::mpsc::Receiver<()>; sync::mpsc::Sender<()>; sync::mpsc::SyncSender<()>;
    };
    let mut translated = name.to_owned();
    for (ours, theirs) in all {
        let cut = |name: &'static str| name.split('<').next().unwrap_or(name);
        let (ours, theirs) = (cut(ours), cut(theirs));
        let mut from = 0;
        while let Some(at) = translated[from..].find(ours).map(|at| at + from) {
            let end = at + ours.len();
            let goes_on = |c: char| c.is_alphanumeric() || c == '_';
            if translated[end..].starts_with(goes_on) {
                from = end;
            } else {
                translated.replace_range(at..end, theirs);
                from = at + theirs.len();
            }
        }
    }
    translated
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    /// Types made of std's names, by the runtime and by std.
    macro_rules! same {
        ($($path:ident)::+ $(< $($argument:tt),+ >)?) => {
            assert_eq!(
                super::type_name::<BTreeMap<u8, crate::std::$($path)::+ $(< $($argument),+ >)?>>(),
                std::any::type_name::<BTreeMap<u8, ::std::$($path)::+ $(< $($argument),+ >)?>>(),
            );
        };
    }

    #[test]
    fn types_are_called_as_those_of_std() {
        same!(sync::atomic::AtomicU64);
        same!(sync::atomic::AtomicU8);
        same!(sync::Mutex<[u8; 1]>);
        same!(sync::MutexGuard<'_, u8>);
        same!(sync::RwLock<(u8, u8)>);
        same!(thread::JoinHandle<u8>);
        same!(thread::Thread);
        same!(thread::ThreadId);
        assert_eq!(
            super::type_name::<crate::std::sync::Mutex<crate::std::sync::atomic::AtomicBool>>(),
            std::any::type_name::<std::sync::Mutex<std::sync::atomic::AtomicBool>>(),
        );
        assert_eq!(super::type_name_of_val(&1_u8), "u8");
    }
}
