//! What the worker's own executable says of its writable memory: which symbols there are, and what it imports.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// An object of the executable that can be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// The name that the linker knows.
    pub(crate) name: String,
    /// The address relative to where the executable is loaded, or to the beginning of a thread's block of
    /// thread-locals.
    pub(crate) address: usize,
    pub(crate) size: usize,
    /// Whether each OS thread has one of its own.
    pub(crate) local: bool,
}

/// A section that can be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) address: usize,
    pub(crate) size: usize,
    pub(crate) local: bool,
}

/// What the executable says of its memory and its imports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Executable {
    pub(crate) sections: Vec<Section>,
    pub(crate) symbols: Vec<Symbol>,
    /// The names of the functions and objects that it takes from shared libraries.
    pub(crate) imports: Vec<String>,
    /// The addresses at which the part begins and ends that is made read-only once it is loaded.
    pub(crate) read_only: (usize, usize),
    /// The bytes of a new thread's thread-locals, without those at the end that are zeros.
    pub(crate) locals: Vec<u8>,
    /// The size of a thread's block of thread-locals, in bytes.
    pub(crate) locals_size: usize,
}

// The parts of the format that are used, from the System V ABI's chapters 4 and 5.
const MAGIC: [u8; 6] = *b"\x7fELF\x02\x01";
const SECTION_SYMBOLS: u32 = 2;
const SECTION_DYNAMIC_SYMBOLS: u32 = 11;
const WRITABLE: u64 = 1;
const LOADED: u64 = 2;
const THREAD_LOCAL: u64 = 0x400;
const SYMBOL_OBJECT: u8 = 1;
const SYMBOL_LOCAL: u8 = 6;
const SEGMENT_LOCALS: u32 = 7;
const SEGMENT_READ_ONLY: u32 = 0x6474_e552;

/// Numbers in the file.
struct Bytes(Vec<u8>);

impl Bytes {
    fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn half(&self, at: usize) -> Option<usize> {
        self.array(at).map(u16::from_le_bytes).map(usize::from)
    }

    fn word(&self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_le_bytes)
    }

    fn long(&self, at: usize) -> Option<u64> {
        self.array(at).map(u64::from_le_bytes)
    }

    fn size(&self, at: usize) -> Option<usize> {
        usize::try_from(self.long(at)?).ok()
    }

    fn text(&self, at: usize) -> Option<String> {
        let rest = self.0.get(at..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    }
}

/// A section's header.
#[derive(Clone, Copy)]
struct Header {
    name: usize,
    kind: u32,
    flags: u64,
    address: usize,
    offset: usize,
    size: usize,
    link: usize,
}

/// Reads the executable of this process.
pub(crate) fn read() -> io::Result<Executable> {
    let file = File::open("/proc/self/exe")?;
    let malformed = || io::Error::new(io::ErrorKind::InvalidData, "not a 64-bit ELF file");
    parse(&|offset, length| {
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, offset as u64).ok()?;
        Some(Bytes(bytes))
    })
    .ok_or_else(malformed)
}

fn parse(read: &dyn Fn(usize, usize) -> Option<Bytes>) -> Option<Executable> {
    let head = read(0, 64)?;
    if head.array::<6>(0)? != MAGIC {
        return None;
    }
    let mut executable = Executable::default();
    let (size, count) = (head.half(54)?, head.half(56)?);
    let segments = read(head.size(32)?, size * count)?;
    for at in (0..count).map(|segment| segment * size) {
        let (offset, address) = (segments.size(at + 8)?, segments.size(at + 16)?);
        let (in_file, in_memory) = (segments.size(at + 32)?, segments.size(at + 40)?);
        match segments.word(at)? {
            SEGMENT_LOCALS => {
                executable.locals = read(offset, in_file)?.0;
                executable.locals_size = in_memory;
            }
            SEGMENT_READ_ONLY => executable.read_only = (address, address + in_memory),
            _ => {}
        }
    }
    let (size, count) = (head.half(58)?, head.half(60)?);
    let headers = read(head.size(40)?, size * count)?;
    let header = |at: usize| {
        let at = at * size;
        Some(Header {
            name: headers.word(at)? as usize,
            kind: headers.word(at + 4)?,
            flags: headers.long(at + 8)?,
            address: headers.size(at + 16)?,
            offset: headers.size(at + 24)?,
            size: headers.size(at + 32)?,
            link: headers.word(at + 40)? as usize,
        })
    };
    let names = header(head.half(62)?)?;
    let names = read(names.offset, names.size)?;
    let all: Vec<Header> = (0..count).map(header).collect::<Option<_>>()?;
    let base = executable.tls_base(&all);
    for one in &all {
        if one.flags & (WRITABLE | LOADED) == WRITABLE | LOADED {
            let local = one.flags & THREAD_LOCAL != 0;
            executable.sections.push(Section {
                name: names.text(one.name)?,
                address: one.address - if local { base } else { 0 },
                size: one.size,
                local,
            });
        }
        if one.kind == SECTION_SYMBOLS || one.kind == SECTION_DYNAMIC_SYMBOLS {
            let texts = *all.get(one.link)?;
            let texts = read(texts.offset, texts.size)?;
            let table = read(one.offset, one.size)?;
            for at in (0..one.size / 24).map(|symbol| symbol * 24) {
                let name = table.word(at)? as usize;
                let kind = table.array::<1>(at + 4)?[0] & 0xf;
                let section = table.half(at + 6)?;
                let address = table.size(at + 8)?;
                let size = table.size(at + 16)?;
                if one.kind == SECTION_DYNAMIC_SYMBOLS {
                    if section == 0 && name != 0 {
                        executable.imports.push(texts.text(name)?);
                    }
                    continue;
                }
                let writable = all.get(section).is_some_and(|it| it.flags & WRITABLE != 0);
                if writable && size > 0 && matches!(kind, SYMBOL_OBJECT | SYMBOL_LOCAL) {
                    executable.symbols.push(Symbol {
                        name: texts.text(name)?,
                        address,
                        size,
                        local: kind == SYMBOL_LOCAL,
                    });
                }
            }
        }
    }
    Some(executable)
}

impl Executable {
    /// Where the first section of thread-locals begins in the file's address space.
    fn tls_base(&self, all: &[Header]) -> usize {
        let local = all.iter().filter(|it| it.flags & THREAD_LOCAL != 0);
        local.map(|it| it.address).min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static mut WRITTEN: [u64; 5] = [7; 5];

    #[test]
    fn finds_a_static_of_this_executable() {
        // SAFETY: nothing else uses it.
        unsafe { std::hint::black_box(&raw mut WRITTEN).write([8; 5]) };
        let executable = read().unwrap();
        let mut symbols = executable.symbols.iter();
        let found = symbols.find(|symbol| symbol.name.contains("7WRITTEN"));
        assert_eq!(found.map(|it| (it.size, it.local)), Some((40, false)));
        assert!(executable.imports.iter().any(|name| name == "malloc"));
        assert!(executable.symbols.iter().any(|symbol| symbol.local));
    }
}
