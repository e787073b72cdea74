//! The copies that P̂ₖ makes of the program's values. A copy is made by code of the program that the program itself does not run
//! there, and what this code does must never be taken for the program's doing.

use super::{Handle, Remark, abort};
use crate::memory::outside;
use crate::vocabulary::{Place, Site};

/// The type of which a copy is being made, and the place where the copy is needed.
pub(super) type Copying = (&'static str, Option<Site>);

/// Makes a copy of a `V`, which is no event of the program. If the code that makes it panics, or makes events, the execution ends
/// as one that can't be followed.
#[inline]
pub(crate) fn copying<V, R>(handle: Handle, site: Option<Site>, make: impl FnOnce() -> R) -> R {
    struct Restore(Handle, bool, Option<Copying>);
    impl Drop for Restore {
        fn drop(&mut self) {
            let engine = self.0.get();
            engine.quiet = self.1 || engine.abort.is_some();
            engine.copying = self.2;
        }
    }
    let engine = handle.get();
    let copying = engine.copying.replace((std::any::type_name::<V>(), site));
    let quiet = std::mem::replace(&mut engine.quiet, true);
    let _restore = Restore(handle, quiet, copying);
    make()
}

/// The code that makes a copy panics. Returns where the panic has to unwind to the end of the execution.
#[cold]
pub(super) fn panics(handle: Handle, of: Copying, message: &str) {
    let why = format!("and its `Clone` panics ({message})");
    if handle.get().leaves == abort::Leaves::Forgets {
        cannot_copy(handle, of, &why);
    } else {
        let engine = handle.get();
        engine.explain(told(of.0, &why), of.1);
        engine.abort.get_or_insert(abort::Abort::Unsupported);
    }
}

/// The code that makes a copy looks at something that threads share, or changes it: the copies would be counted.
#[cold]
pub(super) fn makes_events(handle: Handle, of: Copying) {
    cannot_copy(handle, of, "and its `Clone` uses what threads share");
}

/// Ends the execution, which would need a copy of a `V` that is the same value as another one, where `clone` makes another value.
#[cold]
#[inline(never)]
pub(crate) fn is_another<V>(handle: Handle, site: Option<Site>) {
    let of = (std::any::type_name::<V>(), site);
    cannot_copy(handle, of, "and its `Clone` makes another value");
}

/// Notes that a copy of a `V` has been made of which it is not known whether it is the same value. The execution goes on with it,
/// and shows less.
#[cold]
#[inline(never)]
pub(crate) fn may_be_another<V>(handle: Handle, site: Option<Site>) {
    note::<V>(handle, Why::Cloned, site);
}

/// Notes that there is more than one `V` where the program has one, and that a part of it has a destructor.
#[cold]
#[inline(never)]
pub(crate) fn is_destroyed_twice<V>(handle: Handle, site: Option<Site>) {
    note::<V>(handle, Why::Destroyed, site);
}

/// Notes that code has only looked at a `V` under a lock, as far as is known, which counts as a write: an execution in which the
/// other thread looks at the value, too, may be taken for an impossible one, or for one with more non-local reads.
#[cold]
#[inline(never)]
pub(crate) fn is_looked_at<V>(handle: Handle, site: Site) {
    note::<V>(handle, Why::LookedAt, Some(site));
}

/// Notes that a handle is dropped of a thread that returns a `V`, whose destructor others can see: in the program the last one
/// to let go of the result drops it, the thread at its end or the one that drops the handle, and P̂ₖ does not try both.
#[cold]
#[inline(never)]
pub(crate) fn is_let_go<V>(handle: Handle, site: Site) {
    note::<V>(handle, Why::LetGo, Some(site));
}

/// The program is about to look at where a value lies in memory.
#[cold]
#[inline(never)]
pub(crate) fn is_shown(handle: Handle, site: Site) {
    let engine = handle.get();
    if engine.copying.is_some() {
        return;
    }
    engine.shown.get_or_insert(site);
    if engine.has_copies {
        note_of(handle, "", Why::Shown, Some(site));
    }
}

/// There is a copy of a value for the other thread.
#[inline]
pub(crate) fn is_copied(handle: Handle) {
    let engine = handle.get();
    engine.has_copies = true;
    if let Some(site) = engine.shown {
        note_of(handle, "", Why::Shown, Some(site));
    }
}

fn note<V>(handle: Handle, why: Why, site: Option<Site>) {
    note_of(handle, std::any::type_name::<V>(), why, site);
}

fn note_of(handle: Handle, of: &'static str, why: Why, site: Option<Site>) {
    let engine = handle.get();
    if !engine
        .doubts
        .iter()
        .any(|known| known.of == of && known.why == why)
    {
        // It is read after the execution's memory has been given back.
        outside(|| engine.doubts.push(Doubt { of, why, site }));
    }
}

/// A type whose values may not be in P̂ₖ as they are in the program, with the reason, and a place where it made a difference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubt {
    of: &'static str,
    why: Why,
    site: Option<Site>,
}

/// Why values may not be as in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// Their `Clone` may make another value.
    Cloned,
    /// Their destructors run for each copy.
    Destroyed,
    /// A shared reference may be enough to change them.
    LookedAt,
    /// The program looks at where they lie, whatever their type is.
    Shown,
    /// A thread and its handle let go of one, and either may be the last.
    LetGo,
}

impl From<Doubt> for Remark {
    fn from(Doubt { of, why, site }: Doubt) -> Self {
        let of = short(of);
        Self {
            message: match why {
                Why::Cloned => format!("copies of `{of}`, whose `Clone` may make another value"),
                Why::Destroyed => format!("copies of `{of}`, whose destructors run for each copy"),
                Why::Shown => "where values lie in memory, which the program looks at, and where their copies lie elsewhere".to_owned(),
                Why::LetGo => format!(
                    "the end of a `{of}` that a thread returns and nobody joins, which the thread or the owner of its handle drops"
                ),
                Why::LookedAt => format!(
                    "a `{of}` in which there may be a `Cell`, so that whoever looks at it under its lock counts as changing it"
                ),
            },
            place: site.map(Place::from),
        }
    }
}

/// Ends the execution, which would need a copy of a value that can't be copied.
#[cold]
#[inline(never)]
pub(crate) fn is_not_copied<V>(handle: Handle, site: Option<Site>) {
    let of = (std::any::type_name::<V>(), site);
    cannot_copy(handle, of, "so it has to be `Clone`");
}

fn cannot_copy(handle: Handle, (name, site): Copying, why: &str) {
    abort::unsupported(handle, told(name, why), site);
}

fn told(name: &str, why: &str) -> String {
    let name = short(name);
    format!(
        "`{name}` is shared between the threads, {why}: they run one after the other, each on its own copies"
    )
}

/// The name of a type without the modules that its parts are in.
fn short(name: &str) -> String {
    let mut short = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find("::") {
        short.push_str(&rest[..at]);
        let in_path = |c: char| c.is_alphanumeric() || "_{}#".contains(c);
        short.truncate(short.trim_end_matches(in_path).len());
        rest = &rest[at + 2..];
    }
    short.push_str(rest);
    short
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn names_are_told_without_modules() {
        let name = std::any::type_name::<Vec<Box<dyn Fn(u8, &str) -> Option<char> + Send>>>();
        assert_eq!(
            short(name),
            "Vec<Box<dyn Fn(u8, &'_ str) -> Option<char> + Send>>"
        );
        assert_eq!(
            short(std::any::type_name::<Box<dyn FnOnce() + Send>>()),
            "Box<dyn FnOnce() + Send>"
        );
        assert_eq!(
            short("a::b::{{closure}}::C<'_, [d::e_1::F; 3]>"),
            "C<'_, [F; 3]>"
        );
        assert_eq!(short("u8"), "u8");
    }
}
