//! The thread-locals of dependencies, and std's random keys.
//!
//! All threads of a program run on one OS thread. The thread-locals that the runtime doesn't replace lie in that OS
//! thread's block of thread-locals: the block holds those of the current thread, and those of the other threads are
//! kept here meanwhile.

use super::outside;
use crate::executable::elf::Executable;
use crate::executable::loaded::own_locals;
use crate::executable::owners::{Owner, owner};

/// The names of the thread-locals in which std keeps the keys of its hash maps.
const STD_KEYS: [&str; 2] = ["11RandomState3new4KEYS", "4KEYS0"];

/// A destructor that is to run when a thread ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Destructor {
    pub run: unsafe extern "C" fn(*mut u8),
    pub object: *mut u8,
}

/// The content of one thread's thread-locals.
#[derive(Debug, Default)]
struct Image {
    /// The bytes of all parts; empty before the thread has been switched away from.
    bytes: Vec<u8>,
    destructors: Vec<Destructor>,
}

/// The thread-locals of all threads.
#[derive(Debug, Default)]
pub(super) struct Locals {
    /// The parts of the block that each thread has of its own: offset and size, in bytes.
    parts: Vec<(usize, usize)>,
    /// The bytes of all parts in a new thread.
    new: Vec<u8>,
    /// Whether the parts may hold something: false for programs whose dependencies have no thread-locals, until they
    /// draw keys.
    used: bool,
    /// The kept thread-locals and the destructors of each thread, by thread.
    images: Vec<Image>,
    /// The thread whose thread-locals are in the block.
    current: Option<u32>,
    /// Whether some thread's thread-locals may have changed in this execution.
    touched: bool,
}

impl Locals {
    pub(super) fn of(executable: &Executable) -> Self {
        let mut locals = Self::default();
        for symbol in executable.symbols.iter().filter(|symbol| symbol.local) {
            let is_keys = symbol.name.contains("RandomState")
                && STD_KEYS.iter().any(|name| symbol.name.contains(name));
            let is_program = owner(&symbol.name) == Owner::Program;
            if is_program || is_keys {
                locals.parts.push((symbol.address, symbol.size));
                locals.used |= is_program;
            }
        }
        for &(start, size) in &locals.parts {
            let image = (start..start + size).map(|at| executable.locals.get(at).copied());
            locals.new.extend(image.map(Option::unwrap_or_default));
        }
        locals
    }

    /// A thread draws random keys, which are among what threads have of their own.
    pub(super) const fn use_them(&mut self) {
        self.used = true;
    }

    /// From here on the current thread is this one. Returns the thread that was current before.
    #[inline(never)]
    pub(super) fn enter(&mut self, thread: Option<u32>) -> Option<u32> {
        let before = std::mem::replace(&mut self.current, thread);
        if self.used && before != thread {
            outside(|| self.switch(before, thread));
        } else if before.is_none() && !self.parts.is_empty() {
            // The runtime's own code may have drawn keys before.
            self.put(&self.new);
        }
        before
    }

    #[cold]
    fn switch(&mut self, before: Option<u32>, thread: Option<u32>) {
        let Some(block) = own_locals() else {
            return;
        };
        self.touched = true;
        if let Some(before) = before {
            let parts = std::mem::take(&mut self.parts);
            let image = self.image(before);
            image.bytes.clear();
            for &(start, size) in &parts {
                let from = block.wrapping_add(start);
                // SAFETY: the part lies in this OS thread's block, and nothing else uses it meanwhile.
                image
                    .bytes
                    .extend_from_slice(unsafe { std::slice::from_raw_parts(from, size) });
            }
            self.parts = parts;
        }
        let kept = thread.and_then(|thread| self.images.get(thread as usize));
        let kept = kept.map_or(&[] as &[u8], |image| &image.bytes);
        let kept = if kept.is_empty() { &self.new } else { kept };
        self.put(kept);
    }

    /// Puts a thread's bytes into the block.
    fn put(&self, kept: &[u8]) {
        let Some(block) = own_locals() else {
            return;
        };
        let mut from = kept;
        for &(start, size) in &self.parts {
            let (part, rest) = from.split_at(size);
            let to = block.wrapping_add(start);
            // SAFETY: the part lies in this OS thread's block, and nothing else uses it meanwhile.
            unsafe { to.copy_from_nonoverlapping(part.as_ptr(), size) };
            from = rest;
        }
    }

    fn image(&mut self, thread: u32) -> &mut Image {
        let at = thread as usize;
        if self.images.len() <= at {
            self.images.resize_with(at + 1, Image::default);
        }
        &mut self.images[at]
    }

    /// Whether this object is a thread-local that each thread of the program has of its own.
    pub(super) fn contains(&self, object: *mut u8) -> bool {
        let Some(block) = own_locals() else {
            return false;
        };
        let offset = object.addr().wrapping_sub(block.addr());
        let mut parts = self.parts.iter();
        parts.any(|(start, size)| (*start..start + size).contains(&offset))
    }

    /// Notes a destructor of the current thread. Returns whether a thread runs.
    pub(super) fn note_destructor(&mut self, destructor: Destructor) -> bool {
        let Some(thread) = self.current else {
            return false;
        };
        self.touched = true;
        self.image(thread).destructors.push(destructor);
        true
    }

    /// The destructor to run next when the current thread ends.
    pub(super) fn next_destructor(&mut self) -> Option<Destructor> {
        let thread = self.current?;
        self.images.get_mut(thread as usize)?.destructors.pop()
    }

    /// The execution is over: all thread-locals are new again.
    #[inline]
    pub(super) fn restore(&mut self) {
        if std::mem::take(&mut self.touched) {
            for image in &mut self.images {
                image.bytes.clear();
                image.destructors.clear();
            }
        }
    }
}
