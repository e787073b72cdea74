//! What std has put aside of the memory of an execution, such as the buffer of standard output.
//!
//! All else that outlives an execution is put back or has forgotten that memory. std refers to what it keeps from its
//! statics and thread-locals, so those are looked through.

use crate::executable::elf::Executable;
use crate::executable::loaded::{loaded, own_locals};
use crate::executable::owners::{Owner, owner};

/// The places where std may refer to such memory.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// std's statics: address and size, in bytes.
    statics: Vec<(usize, usize)>,
    /// std's thread-locals: offset in a thread's block of thread-locals, and size, in bytes.
    locals: Vec<(usize, usize)>,
}

impl Held {
    pub(super) fn of(executable: &Executable) -> Self {
        let mut held = Self::default();
        let Some(base) = loaded().first().map(|own| own.base) else {
            return held;
        };
        let (from, to) = executable.read_only;
        let is_written = |address: usize| {
            let mut sections = executable.sections.iter();
            let section = sections
                .find(|it| !it.local && (it.address..it.address + it.size).contains(&address));
            section.is_some() && !(from..to).contains(&address)
        };
        for symbol in &executable.symbols {
            if owner(&symbol.name) != Owner::Std || symbol.size < size_of::<usize>() {
                continue;
            }
            if symbol.local {
                held.locals.push((symbol.address, symbol.size));
            } else if is_written(symbol.address) {
                held.statics.push((base + symbol.address, symbol.size));
            }
        }
        held
    }

    /// Whether std refers to an address such as these.
    pub(super) fn any(&self, is_such: impl Fn(usize) -> bool) -> bool {
        let block = own_locals().map(|block| block.expose_provenance());
        let locals = block.into_iter().flat_map(|block| {
            self.locals
                .iter()
                .map(move |(at, size)| (block + at, *size))
        });
        let mut parts = self.statics.iter().copied().chain(locals);
        parts.any(|(start, size)| {
            let first = start.next_multiple_of(align_of::<usize>());
            let words = (start + size).saturating_sub(first) / size_of::<usize>();
            let first = std::ptr::with_exposed_provenance::<usize>(first);
            // SAFETY: the words lie in a static or a thread-local that is there, and no other OS thread runs the program.
            (0..words).any(|at| is_such(unsafe { first.add(at).read_volatile() }))
        })
    }
}
