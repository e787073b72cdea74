//! Types that have no cell in them, by their names.
//!
//! In generic code the compiler says nothing about a type, and at run time there is only its name. A name says enough
//! where it is made of types of std alone whose values are plain data, whatever they lead to.

/// Types whose values are plain data, however they end: what they lead to is elsewhere.
const LEADING: &[&str] = &[
    "alloc::boxed::Box",
    "alloc::collections::btree::map::BTreeMap",
    "alloc::collections::btree::set::BTreeSet",
    "alloc::collections::vec_deque::VecDeque",
    "alloc::string::String",
    "alloc::sync::Arc",
    "alloc::vec::Vec",
    "core::ptr::non_null::NonNull",
    "core::marker::PhantomData",
];

/// Types whose values are plain data if those in them are.
const HOLDING: &[&str] = &[
    "core::mem::manually_drop::ManuallyDrop",
    "core::mem::maybe_uninit::MaybeUninit",
    "core::num::wrapping::Wrapping",
    "core::option::Option",
    "core::result::Result",
];

const NUMBERS: &[&str] = &[
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "str", "u8", "u16",
    "u32", "u64", "u128", "usize",
];

/// Whether values of this type have no cell in them. `false`: that is not known.
pub(super) fn is_frozen<T: ?Sized>() -> bool {
    says_frozen(std::any::type_name::<T>())
}

/// Whether the name of a type says that its values have no cell in them.
fn says_frozen(name: &str) -> bool {
    matches!(after(name), Some(""))
}

/// Reads the name of a type that has no cell in it from the front of a text, and returns the rest.
fn after(text: &str) -> Option<&str> {
    let text = text.trim_start();
    match text.as_bytes().first()? {
        // A reference or a pointer leads elsewhere, wherever that is.
        b'&' | b'*' => Some(skipped(text)),
        b'(' => {
            let mut rest = &text[1..];
            while !rest.starts_with(')') {
                rest = after(rest)?.trim_start();
                rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
            }
            Some(&rest[1..])
        }
        b'[' => {
            let rest = after(&text[1..])?;
            let end = rest.find(']')?;
            Some(&rest[end + 1..])
        }
        _ => {
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
            let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
            let (name, rest) = text.split_at(end);
            if NUMBERS.contains(&name) {
                return Some(rest);
            }
            if LEADING.contains(&name) {
                return Some(skipped(rest));
            }
            if !HOLDING.contains(&name) {
                return None;
            }
            let mut rest = rest.strip_prefix('<')?;
            while !rest.starts_with('>') {
                rest = after(rest)?.trim_start();
                rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
            }
            Some(&rest[1..])
        }
    }
}

/// Skips the rest of a type: all up to where the type around it goes on.
fn skipped(text: &str) -> &str {
    let mut depth = 0_usize;
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '<' => depth += 1,
            // As in `fn() -> T`.
            '>' if last == '-' => {}
            ')' | ']' | '>' if depth == 0 => return &text[at..],
            ')' | ']' | '>' => depth -= 1,
            ',' if depth == 0 => return &text[at..],
            _ => {}
        }
        last = c;
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::says_frozen;
    use std::any::type_name;
    use std::cell::UnsafeCell;
    use std::mem::MaybeUninit;

    #[test]
    fn plain_data_is_known() {
        for name in [
            type_name::<u32>(),
            type_name::<(u8, String, [Option<&UnsafeCell<u8>>; 3])>(),
            type_name::<Vec<UnsafeCell<u8>>>(),
            type_name::<Option<Box<dyn Fn(u8) -> u8>>>(),
            type_name::<MaybeUninit<*mut UnsafeCell<u8>>>(),
            type_name::<[Result<(), &'static str>]>(),
            type_name::<()>(),
        ] {
            assert!(says_frozen(name), "{name}");
        }
    }

    #[test]
    fn what_may_have_a_cell_is_not() {
        struct Mine;
        for name in [
            type_name::<UnsafeCell<u32>>(),
            type_name::<Mine>(),
            type_name::<(u8, Mine)>(),
            type_name::<Option<UnsafeCell<u32>>>(),
            type_name::<[Mine; 2]>(),
            type_name::<fn(Mine)>(),
            type_name::<dyn Send>(),
        ] {
            assert!(!says_frozen(name), "{name}");
        }
    }
}
