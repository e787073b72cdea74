// `thread_local!` and `LocalKey`.

use std::cell::{Cell, RefCell};

use subject::thread::{AccessError, LocalKey};
use subject::thread_local;

thread_local! {}

thread_local!(static ONE: u8 = 1);

thread_local! {
    /// Documented.
    #[allow(unused)]
    pub static COUNT: Cell<u32> = const { Cell::new(0) };
    pub(crate) static NAMES: RefCell<Vec<String>> = RefCell::new(Vec::new());
    static LAST: RefCell<Option<Box<dyn Fn() -> u8>>> = const { RefCell::new(None) };
    static MADE: Cell<u8> = const {
        let value = 1;
        Cell::new(value)
    }
}

subject::thread_local!(static QUALIFIED: Cell<bool> = const { Cell::new(true) };);

fn uses() -> Result<u32, AccessError> {
    let value: u8 = ONE.with(|one| *one);
    let value = ONE.with::<fn(&u8) -> u8, u8>(|one| *one);
    let value: Result<u8, AccessError> = ONE.try_with(|one| *one);
    let value = ONE.try_with::<_, u8>(|one| *one);
    COUNT.set(COUNT.get() + 1);
    let old: u32 = COUNT.replace(COUNT.take());
    let length: usize = NAMES.with_borrow(|names| names.len());
    let length = NAMES.with_borrow::<fn(&Vec<String>) -> usize, usize>(Vec::len);
    NAMES.with_borrow_mut(|names: &mut Vec<String>| names.push(String::new()));
    NAMES.with_borrow_mut::<_, ()>(|names| names.clear());
    NAMES.set(Vec::new());
    let old: Vec<String> = NAMES.replace(NAMES.take());
    let key: &'static LocalKey<Cell<u32>> = &COUNT;
    let text = format!("{key:?}");
    COUNT.try_with(Cell::get)
}

fn errors(error: AccessError) {
    let (same, text) = (error == error.clone(), format!("{error} {error:?}"));
    let of: Box<dyn std::error::Error> = Box::new(error);
}

fn traits() {
    crate::plain::<LocalKey<Cell<u8>>>();
}
