//! Printing of programs under test: evaluated and formatted, but not shown, since a program runs a million times.

use std::fmt::{self, Write};

struct Sink;

impl Write for Sink {
    fn write_str(&mut self, _text: &str) -> fmt::Result {
        Ok(())
    }
}

/// Formats the arguments, whose `Display` code may have events, and shows them only outside of executions.
#[doc(hidden)]
pub fn swallow(arguments: fmt::Arguments<'_>, error: bool, newline: bool) {
    if crate::engine::current().is_some() {
        // A `Display` that fails makes std's macros panic; a failing sink can't be the reason here.
        if Sink.write_fmt(arguments).is_err() {
            panic!("a formatting trait implementation returned an error");
        }
        return;
    }
    let end = if newline { "\n" } else { "" };
    if error {
        ::std::eprint!("{arguments}{end}");
    } else {
        ::std::print!("{arguments}{end}");
    }
}

/// `std::print!`, silent inside of executions.
#[macro_export]
macro_rules! print {
    ($($arguments:tt)*) => { $crate::print::swallow(::core::format_args!($($arguments)*), false, false) };
}

/// `std::println!`, silent inside of executions.
#[macro_export]
macro_rules! println {
    () => { $crate::print::swallow(::core::format_args!(""), false, true) };
    ($($arguments:tt)*) => { $crate::print::swallow(::core::format_args!($($arguments)*), false, true) };
}

/// `std::eprint!`, silent inside of executions.
#[macro_export]
macro_rules! eprint {
    ($($arguments:tt)*) => { $crate::print::swallow(::core::format_args!($($arguments)*), true, false) };
}

/// `std::eprintln!`, silent inside of executions.
#[macro_export]
macro_rules! eprintln {
    () => { $crate::print::swallow(::core::format_args!(""), true, true) };
    ($($arguments:tt)*) => { $crate::print::swallow(::core::format_args!($($arguments)*), true, true) };
}

/// `std::dbg!`, silent inside of executions.
#[macro_export]
macro_rules! dbg {
    () => { $crate::print::swallow(::core::format_args!(""), true, true) };
    ($value:expr $(,)?) => {
        match $value {
            value => {
                $crate::print::swallow(::core::format_args!("{:#?}", &value), true, true);
                value
            }
        }
    };
    ($($value:expr),+ $(,)?) => { ($($crate::dbg!($value)),+,) };
}
