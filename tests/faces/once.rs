// `Once`, `OnceLock`, `LazyLock`.

use std::cell::Cell;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

use subject::sync::{LazyLock, ONCE_INIT, Once, OnceLock, OnceState};

static ONCE: Once = Once::new();
static OLD: Once = ONCE_INIT;
static VALUE: OnceLock<String> = OnceLock::new();
static LAZY: LazyLock<Vec<u8>> = LazyLock::new(Vec::new);
static WITH: LazyLock<String> = LazyLock::new(|| format!("{}", 1));

fn once(once: &Once) {
    once.call_once(|| {});
    once.call_once::<fn()>(|| {});
    once.call_once_force(|state: &OnceState| {
        let (is, text) = (state.is_poisoned(), format!("{state:?}"));
    });
    let is: bool = once.is_completed();
    once.wait();
    once.wait_force();
    let text = format!("{once:?}");
}

fn once_lock(mut value: OnceLock<String>, shared: &OnceLock<String>) -> Option<String> {
    let there: Option<&String> = shared.get();
    let inside: Option<&mut String> = value.get_mut();
    let waited: &String = shared.wait();
    let set: Result<(), String> = shared.set(String::new());
    let made: &String = shared.get_or_init(|| String::new());
    let made: &String = shared.get_or_init::<fn() -> String>(String::new);
    let taken: Option<String> = value.take();
    let same = value == value.clone();
    let from: OnceLock<u8> = OnceLock::from(1);
    let usual: OnceLock<Rc<u8>> = OnceLock::default();
    let text = format!("{value:?}");
    value.into_inner()
}

fn lazy(mut lazy: LazyLock<String>) {
    let forced: &String = LazyLock::force(&lazy);
    let inside: &mut String = LazyLock::force_mut(&mut lazy);
    let inside: Option<&String> = LazyLock::get(&lazy);
    let inside: Option<&mut String> = LazyLock::get_mut(&mut lazy);
    let length: usize = lazy.len();
    lazy.push('a');
    let usual: LazyLock<u8> = LazyLock::default();
    let text = format!("{lazy:?} {}", *WITH);
    let captured = 1;
    let local: LazyLock<u8, _> = LazyLock::new(move || captured);
    let value: &u8 = local.deref();
}

fn lazy_of_any<T: 'static, F: FnOnce() -> T>(lazy: &LazyLock<T, F>) -> &T {
    lazy
}

fn traits() {
    crate::plain::<Once>();
    crate::plain::<OnceLock<u8>>();
    crate::plain::<LazyLock<u8>>();
    fn sent<T: Send>() {}
    fn unwinds<T: UnwindSafe + RefUnwindSafe>() {}
    fn compared<T: Eq + Clone>() {}
    sent::<OnceLock<Cell<u8>>>();
    sent::<OnceState>();
    compared::<OnceLock<u8>>();
}

lacks!(OnceLock<Cell<u8>>: Sync);
lacks!(OnceLock<Rc<u8>>: Send);
lacks!(LazyLock<Cell<u8>>: Sync);
lacks!(OnceState: Sync);
