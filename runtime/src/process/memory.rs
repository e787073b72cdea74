//! The statics of the program, its dependencies and C libraries.

use crate::executable::elf::Executable;
use crate::executable::loaded::{Loaded, loaded};
use crate::executable::owners::{Owner, owner};

/// Sections of the executable that are not written once it is loaded, or are written by tools that watch it.
const LEFT_ALONE: [&str; 9] = [
    ".got",
    ".dynamic",
    ".init_array",
    ".fini_array",
    ".data.rel.ro",
    ".relro_padding",
    ".tm_clone_table",
    "__sancov",
    "__llvm",
];

/// Libraries that belong to the system's own C library, whose state is in parts the runtime's: see [`super::imports`].
const SYSTEM: [&str; 8] = [
    "libc.",
    "libm.",
    "libgcc_s.",
    "ld-linux",
    "libpthread.",
    "libdl.",
    "librt.",
    "linux-vdso",
];

/// A static of std's that programs can change: the panic hook.
const STD_HOOK: &str = "9panicking4HOOK";

/// Adjacent bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    start: usize,
    length: usize,
    /// The index in [`Memory::pristine`] of what the bytes hold at an execution's beginning.
    pristine: usize,
}

/// An aligned word of which some bytes are compared. Most ranges are shorter than a word: they lie between two statics
/// that are left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    address: usize,
    /// All bits of the bytes that are compared.
    mask: u64,
    /// What these bytes hold at an execution's beginning.
    pristine: u64,
}

/// Ranges shorter than this, in bytes, are compared as words.
const SHORT: usize = 64;

/// What is compared and put back.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The ranges that are compared as bytes.
    ranges: Vec<Range>,
    /// The short ranges, as words.
    words: Vec<Word>,
    /// What the ranges hold at an execution's beginning, one after the other.
    pristine: Vec<u8>,
    /// The addresses at which the executable's statics begin and end.
    extent: (usize, usize),
}

/// Lets what lies between statics be looked at, which AddressSanitizer takes for a fault: they are compared and put back as a
/// whole.
#[cfg(feature = "sanitized")]
fn unpoison(start: usize, length: usize) {
    unsafe extern "C" {
        fn __asan_unpoison_memory_region(address: *const core::ffi::c_void, size: usize);
    }
    // SAFETY: it changes the sanitizer's own books alone, for memory that is the program's.
    unsafe { __asan_unpoison_memory_region(start as *const core::ffi::c_void, length) };
}

impl Memory {
    /// The statics as they are now.
    pub(super) fn of(executable: &Executable) -> Self {
        let mut memory = Self::default();
        let loaded = loaded();
        let Some(own) = loaded.first() else {
            return memory;
        };
        let base = own.base;
        let (from, to) = executable.read_only;
        for section in &executable.sections {
            let left_alone = LEFT_ALONE.iter().any(|name| section.name.starts_with(name));
            if section.local || left_alone || (from..to).contains(&section.address) {
                continue;
            }
            memory.watch(base + section.address, section.size);
        }
        let first = memory.ranges.iter().map(|range| range.start).min();
        let last = memory.ranges.iter().map(|it| it.start + it.length).max();
        memory.extent = first.zip(last).unwrap_or_default();
        for symbol in &executable.symbols {
            let is_left_alone = match owner(&symbol.name) {
                Owner::Runtime => true,
                Owner::Std => !symbol.name.contains(STD_HOOK),
                // The pointer to the environment: see `super::environment`.
                Owner::Program => matches!(symbol.name.as_str(), "environ" | "__environ"),
            };
            if !symbol.local && is_left_alone {
                memory.leave_alone(base + symbol.address, symbol.size);
            }
        }
        for library in &loaded[1..] {
            memory.watch_library(library);
        }
        memory.take_words();
        memory
    }

    fn watch_library(&mut self, library: &Loaded) {
        let file = library.name.rsplit('/').next().unwrap_or_default();
        if file.is_empty() || SYSTEM.iter().any(|name| file.starts_with(name)) {
            return;
        }
        for &(start, length) in &library.writable {
            self.watch(start, length);
        }
    }

    fn watch(&mut self, start: usize, length: usize) {
        if length == 0 {
            return;
        }
        #[cfg(feature = "sanitized")]
        unpoison(start, length);
        let pristine = self.pristine.len();
        // SAFETY: the bytes are those of a section that is loaded, readable and writable, and this OS thread alone runs.
        self.pristine
            .extend_from_slice(unsafe { bytes(start, length) });
        self.ranges.push(Range {
            start,
            length,
            pristine,
        });
    }

    /// Where the executable's statics begin, and how far they reach.
    pub(super) const fn extent(&self) -> (usize, usize) {
        (self.extent.0, self.extent.1 - self.extent.0)
    }

    /// These bytes are neither compared nor put back any more.
    pub(super) fn leave_alone(&mut self, start: usize, length: usize) {
        let end = start + length;
        let mut ranges = Vec::with_capacity(self.ranges.len() + 1);
        for range in &self.ranges {
            let range_end = range.start + range.length;
            if end <= range.start || range_end <= start {
                ranges.push(*range);
                continue;
            }
            if range.start < start {
                ranges.push(Range {
                    length: start - range.start,
                    ..*range
                });
            }
            if end < range_end {
                ranges.push(Range {
                    start: end,
                    length: range_end - end,
                    pristine: range.pristine + (end - range.start),
                });
            }
        }
        self.ranges = ranges;
        self.take_words();
    }

    /// Takes the short ranges apart into words, and has the long ones come first.
    fn take_words(&mut self) {
        self.ranges.sort_by_key(|it| (it.length < SHORT, it.start));
        self.words.clear();
        for range in self.ranges.iter().filter(|it| it.length < SHORT) {
            for at in 0..range.length {
                let address = (range.start + at) & !7;
                let shift = (range.start + at) % 8 * 8;
                if self.words.last().is_none_or(|it| it.address != address) {
                    self.words.push(Word {
                        address,
                        mask: 0,
                        pristine: 0,
                    });
                }
                if let Some(word) = self.words.last_mut() {
                    word.mask |= 0xff << shift;
                    word.pristine |= u64::from(self.pristine[range.pristine + at]) << shift;
                }
            }
        }
    }

    /// Puts back all bytes that have changed.
    #[inline]
    pub(super) fn restore(&mut self) {
        for range in self.ranges.iter().take_while(|it| it.length >= SHORT) {
            self.put_back_if_changed(range);
        }
        if !self.words.iter().all(Word::is_as_it_was) {
            self.put_words_back();
        }
    }

    #[cold]
    #[inline(never)]
    fn put_words_back(&self) {
        for range in self.ranges.iter().filter(|it| it.length < SHORT) {
            self.put_back_if_changed(range);
        }
    }

    #[inline]
    fn put_back_if_changed(&self, range: &Range) {
        let pristine = &self.pristine[range.pristine..][..range.length];
        // SAFETY: the bytes are those of a section that is loaded, readable and writable; no execution runs, and the
        // runtime has no reference to what it watches.
        if unsafe { bytes(range.start, range.length) } != pristine {
            put_back(range.start, pristine);
        }
    }
}

impl Word {
    #[inline]
    fn is_as_it_was(&self) -> bool {
        let word = std::ptr::with_exposed_provenance::<u64>(self.address);
        // SAFETY: the word has bytes of a section that is loaded and readable, which begins and ends with a page. What others
        // do with its other bytes is left out.
        let now = unsafe { word.read_volatile() };
        now.to_le() & self.mask == self.pristine
    }
}

#[cold]
#[inline(never)]
fn put_back(start: usize, pristine: &[u8]) {
    let place = std::ptr::with_exposed_provenance_mut::<u8>(start);
    // SAFETY: the bytes are those of statics that nothing uses at this moment, since no execution runs.
    unsafe { place.copy_from_nonoverlapping(pristine.as_ptr(), pristine.len()) };
}

/// # Safety
/// The bytes can be read, and are not written as long as the reference is used.
unsafe fn bytes<'a>(start: usize, length: usize) -> &'a [u8] {
    let start = std::ptr::with_exposed_provenance(start);
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(start, length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_alone_is_cut_out() {
        let held = [1_u8; 64];
        let start = held.as_ptr().expose_provenance();
        let mut memory = Memory::default();
        memory.watch(start, 64);
        memory.leave_alone(start + 8, 8);
        memory.leave_alone(start + 56, 100);
        memory.leave_alone(start, 4);
        memory.leave_alone(start + 12, 8);
        let ranges: Vec<_> = memory
            .ranges
            .iter()
            .map(|it| (it.start - start, it.length, it.pristine))
            .collect();
        assert_eq!(ranges, [(4, 4, 4), (20, 36, 20)]);
    }

    #[test]
    fn what_differs_is_put_back_and_nothing_else() {
        let mut held = [7_u8; 256];
        let start = held.as_mut_ptr().expose_provenance();
        let mut memory = Memory::default();
        memory.watch(start, 256);
        // Short ones within a word, over the ends of words, and a long one.
        for (from, to) in [(3, 5), (6, 11), (16, 30), (33, 40), (130, 131)] {
            memory.leave_alone(start + from, to - from);
        }
        let left_alone = |at: &usize| {
            let cut = [3..5, 6..11, 16..30, 33..40, 130..131];
            cut.iter().any(|range| range.contains(at))
        };
        for changed in 0..held.len() {
            held[changed] = 1;
            memory.restore();
            let expected = if left_alone(&changed) { 1 } else { 7 };
            assert_eq!(std::hint::black_box(&held)[changed], expected, "{changed}");
            held[changed] = 7;
        }
    }
}
