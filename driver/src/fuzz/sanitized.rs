//! Simplifies what AddressSanitizer says of an execution: what was done to which memory, and the stacks, in the
//! program's own code, of the access, of the deallocation and of the allocation.

use std::path::Path;

use crate::model::document::{Bug, Site};
use seqz_runtime::vocabulary::Place;

/// The beginning of AddressSanitizer's message in the output of a target.
const BEGINS: &str = "ERROR: AddressSanitizer: ";
const ENDS: &str = "SUMMARY: AddressSanitizer: ";

/// The parts of paths that name the code that runs the threads of the program: in P̂ₖ, and under the scheduler.
const ENGINES: [&str; 2] = ["/runtime/src/engine/", "/runtime/src/scheduled/"];

/// The number of lines of the message that are kept.
const MOST: usize = 1000;

/// The lines of AddressSanitizer's message, as they come in.
#[derive(Debug, Default)]
pub(super) struct Words {
    lines: Vec<String>,
    is_over: bool,
}

impl Words {
    /// Takes in a line of the target's output.
    pub(super) fn hear(&mut self, line: &str) {
        if self.is_over || self.lines.is_empty() && !line.contains(BEGINS) {
            return;
        }
        self.is_over = line.starts_with(ENDS) || self.lines.len() > MOST;
        self.lines.push(line.to_owned());
    }

    /// Reads the message, if there is one.
    pub(super) fn read(&self) -> Option<Sanitized> {
        let (first, rest) = self.lines.split_first()?;
        let (_, said) = first.split_once(BEGINS)?;
        let summary = rest.iter().find_map(|line| line.strip_prefix(ENDS));
        let kind = summary.unwrap_or(said).split_whitespace().next()?;
        let mut sanitized = Sanitized {
            kind: kind.to_owned(),
            access: None,
            memory: None,
            stacks: vec![(Part::Access, Vec::new())],
        };
        for line in rest {
            let line = line.trim();
            if let Some(part) = Part::begins(line) {
                sanitized.stacks.push((part, Vec::new()));
            } else if let Some(frame) = Frame::read(line) {
                let (_, stack) = sanitized.stacks.last_mut()?;
                stack.push(frame);
            } else if let Some(access) = accessed(line) {
                sanitized.access.get_or_insert(access);
            } else if let Some((_, located)) = line.split_once(" is located ") {
                let located = located.split(" [").next().unwrap_or(located);
                sanitized.memory.get_or_insert(located.to_owned());
                if located.contains("stack of thread") {
                    sanitized.stacks.push((Part::Frame, Vec::new()));
                }
            } else if line.contains("<== Memory access") {
                // "[32, 36) 'x' (line 5) <== Memory access at offset 32 is inside this variable"
                let variable = line.split('\'').nth(1).unwrap_or_default();
                sanitized.memory = Some(format!("in the variable `{variable}`"));
            }
        }
        Some(sanitized)
    }
}

/// Finds what was done: "READ of size 4 at …", "The signal is caused by a WRITE memory access."
fn accessed(line: &str) -> Option<String> {
    let does = |word: &str| match word {
        "READ" => Some("reads"),
        "WRITE" => Some("writes"),
        _ => None,
    };
    let mut words = line.split_whitespace();
    if let Some((_, rest)) = line.split_once("The signal is caused by a ") {
        return does(rest.split(' ').next()?).map(str::to_owned);
    }
    let does = does(words.next()?)?;
    let ("of", "size") = (words.next()?, words.next()?) else {
        return None;
    };
    let size: u64 = words.next()?.parse().ok()?;
    let bytes = if size == 1 { "byte" } else { "bytes" };
    Some(format!("{does} {size} {bytes}"))
}

/// Which stack of the message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The stack of the access that must not be done.
    Access,
    /// The stack of the deallocation.
    Freed,
    /// The stack of the allocation.
    Allocated,
    /// The frame that the memory is in.
    Frame,
}

impl Part {
    fn begins(line: &str) -> Option<Self> {
        if line.starts_with("freed by thread") {
            Some(Self::Freed)
        } else if line.starts_with("previously allocated by") || line.starts_with("allocated by") {
            Some(Self::Allocated)
        } else {
            None
        }
    }

    const fn said(self) -> &'static str {
        match self {
            Self::Access => "done at",
            Self::Freed => "given back at",
            Self::Allocated => "allocated at",
            Self::Frame => "a variable of the function at",
        }
    }
}

/// A call of a stack, with its place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    file: String,
    line: u32,
    column: Option<u32>,
}

impl Frame {
    /// Reads "#1 0x5581 in name path:line:column", with or without the column. `None` for a call whose place is not
    /// known.
    fn read(line: &str) -> Option<Self> {
        let (_, rest) = line.strip_prefix('#')?.split_once(" in ")?;
        let (_, place) = rest.rsplit_once(' ')?;
        let (before, last) = place.rsplit_once(':')?;
        let last = last.parse().ok()?;
        let two = before
            .rsplit_once(':')
            .and_then(|(file, line)| Some((file, line.parse().ok()?)));
        let (file, line, column) = match two {
            Some((file, line)) => (file, line, Some(last)),
            None => (before, last, None),
        };
        Some(Self {
            file: file.to_owned(),
            line,
            column,
        })
    }
}

/// The contents of AddressSanitizer's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sanitized {
    /// AddressSanitizer's name for the error: `heap-use-after-free`.
    pub(super) kind: String,
    access: Option<String>,
    /// The place of the memory: "61 bytes after 3-byte region".
    memory: Option<String>,
    stacks: Vec<(Part, Vec<Frame>)>,
}

/// The message in the program's own terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) message: String,
    /// The place of the access.
    pub(super) site: Option<Site>,
    /// The place at which the memory was given back, or else allocated.
    pub(super) other: Option<Site>,
}

impl Told {
    /// Says this of a bug.
    pub(super) fn say(self, bug: &mut Bug) {
        bug.message = self.message;
        bug.other_site = self.other.filter(|_| self.site.is_some());
        bug.site = self.site;
    }
}

impl Sanitized {
    /// Whether the other message is about the same error: of the same kind, and at the same line.
    pub(super) fn is(&self, told: &Told, other: &Self, other_told: &Told) -> bool {
        let line = |told: &Told| {
            let site = told.site.as_ref();
            site.map(|site| (site.file.clone(), site.line))
        };
        self.kind == other.kind && line(told).is_some() && line(told) == line(other_told)
    }

    /// Translates the message. `site` knows the places of the files in `dir`, where the target was built.
    pub(super) fn told(&self, dir: &Path, site: impl Fn(&Place) -> Option<Site>) -> Told {
        let own = |frame: &Frame| {
            let is_own = Path::new(&frame.file).starts_with(dir);
            let place = |column| Place {
                file: frame.file.clone(),
                line: frame.line,
                column,
            };
            // Without a column, the last item on the line stands for the call.
            let found = match frame.column {
                Some(column) => site(&place(column)),
                None => site(&place(u32::MAX >> 1)).map(|site| Site { column: 1, ..site }),
            };
            found.filter(|_| is_own)
        };
        let mut message = self.kind.clone();
        let what = [self.access.as_deref(), self.memory.as_deref()];
        let what: Vec<_> = what.into_iter().flatten().collect();
        if !what.is_empty() {
            message.push_str(": ");
            message.push_str(&what.join(", "));
        }
        let mut sites = Vec::new();
        for (part, stack) in &self.stacks {
            // P̂ₖ runs a thread where the thread is joined: the calls further out are not the program's.
            let calls = stack.iter().map(|frame| (own(frame), frame));
            let mut is_thread = false;
            let calls = calls.take_while(|(site, frame)| {
                let is_over = is_thread && ENGINES.iter().any(|it| frame.file.contains(it));
                is_thread |= site.is_some();
                !is_over
            });
            let mut calls: Vec<Site> = calls.filter_map(|(site, _)| site).collect();
            // Macros and inlined calls repeat a line.
            calls.dedup_by_key(|site| (site.file.clone(), site.line));
            if calls.is_empty() {
                continue;
            }
            let named = |site: &Site| format!("{}:{}", site.file, site.line);
            let named: Vec<_> = calls.iter().map(named).collect();
            message.push_str(&format!("\n{} {}", part.said(), named.join(", called at ")));
            sites.push((*part, calls.swap_remove(0)));
        }
        let of = |wanted: Part| {
            let mut sites = sites.iter();
            let found = sites.find(|(part, _)| *part == wanted);
            found.map(|(_, site)| site.clone())
        };
        Told {
            message,
            site: of(Part::Access),
            other: of(Part::Freed)
                .or_else(|| of(Part::Allocated))
                .or_else(|| of(Part::Frame)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(said: &str) -> Told {
        let mut words = Words::default();
        for line in said.lines() {
            words.hear(line);
        }
        let site = |place: &Place| {
            Some(Site {
                file: place.file.rsplit_once("/src/")?.1.to_owned(),
                line: place.line + 100,
                column: place.column,
                text: String::new(),
            })
        };
        words.read().unwrap().told(Path::new("/build"), site)
    }

    fn lines(sites: &Told) -> (Option<u32>, Option<u32>) {
        let line = |site: &Option<Site>| site.as_ref().map(|site| site.line);
        (line(&sites.site), line(&sites.other))
    }

    #[test]
    fn a_use_after_free_is_told_with_all_its_stacks() {
        let told = told("INFO: Seed: 1
==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x55 bp 0x7f sp 0x7f
READ of size 4 at 0x602000000010 thread T0
    #0 0x1 in core::ptr::read::<u32> /rustc/1/library/core/src/ptr/mod.rs:10:5
    #1 0x2 in app::f::{closure#0} /build/src/lib.rs:11:20
    #2 0x3 in <app::S as app::T>::go /build/src/lib.rs:30:1
    #2 0x3 in seqz_runtime::engine::body::Body::run /fuzz/runtime/src/engine/body.rs:22:16
    #2 0x3 in app::f /build/src/lib.rs:40:1
    #3 0x4 in main (/build/target+0x77)

0x602000000010 is located 0 bytes inside of 4-byte region [0x602000000010,0x602000000014)
freed by thread T0 here:
    #0 0x5 in free /llvm/asan_malloc_linux.cpp:51:3
    #1 0x6 in app::f /build/src/lib.rs:7

previously allocated by thread T0 here:
    #0 0x7 in malloc /llvm/asan_malloc_linux.cpp:67:3
    #1 0x8 in app::f /build/src/lib.rs:5:13

SUMMARY: AddressSanitizer: heap-use-after-free /rustc/1/library/core/src/ptr/mod.rs:10:5 in core::ptr::read
Shadow bytes around the buggy address:
    #9 0x9 in no_frame /build/src/lib.rs:1:1");
        assert_eq!(
            told.message,
            "heap-use-after-free: reads 4 bytes, 0 bytes inside of 4-byte region\n\
             done at lib.rs:111, called at lib.rs:130\ngiven back at lib.rs:107\nallocated at lib.rs:105"
        );
        assert_eq!(lines(&told), (Some(111), Some(107)));
    }

    #[test]
    fn other_kinds_are_told_too() {
        let overflow = told(
            "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2
WRITE of size 1 at 0x1 thread T0
    #0 0x1 in f /build/src/lib.rs:2:3
0x1 is located 61 bytes after 3-byte region [0x1,0x4)
allocated by thread T0 here:
    #0 0x1 in f /build/src/lib.rs:1:3
SUMMARY: AddressSanitizer: heap-buffer-overflow /build/src/lib.rs:2:3 in f",
        );
        let what = "heap-buffer-overflow: writes 1 byte, 61 bytes after 3-byte region";
        assert_eq!(overflow.message.lines().next(), Some(what));
        assert_eq!(lines(&overflow), (Some(102), Some(101)));
        let twice = told(
            "==1==ERROR: AddressSanitizer: attempting double-free on 0x1 in thread T0:
    #0 0x1 in free /llvm/a.cpp:1:1
    #1 0x1 in f /build/src/lib.rs:9:3
0x1 is located 0 bytes inside of 8-byte region [0x1,0x9)
freed by thread T0 here:
    #1 0x1 in f /build/src/lib.rs:8:3
SUMMARY: AddressSanitizer: double-free /llvm/a.cpp:1:1 in free",
        );
        assert!(twice.message.starts_with("double-free: 0 bytes inside"));
        assert_eq!(lines(&twice), (Some(109), Some(108)));
        let scope = told(
            "==1==ERROR: AddressSanitizer: stack-use-after-scope on address 0x1 at pc 0x2
READ of size 8 at 0x1 thread T0
    #0 0x1 in f /build/src/lib.rs:4:3
Address 0x1 is located in stack of thread T0 at offset 32 in frame
    #0 0x1 in f /build/src/lib.rs:1

  This frame has 1 object(s):
    [32, 40) 'gone' (line 2) <== Memory access at offset 32 is inside this variable
SUMMARY: AddressSanitizer: stack-use-after-scope /build/src/lib.rs:4:3 in f",
        );
        assert_eq!(
            scope.message.lines().next(),
            Some("stack-use-after-scope: reads 8 bytes, in the variable `gone`")
        );
        assert_eq!(lines(&scope), (Some(104), Some(101)));
        let wild = told(
            "AddressSanitizer:DEADLYSIGNAL
==1==ERROR: AddressSanitizer: SEGV on unknown address 0x1 (pc 0x2)
==1==The signal is caused by a WRITE memory access.
    #0 0x1 in f (/build/target+0x1)
SUMMARY: AddressSanitizer: SEGV (/build/target+0x1) in f",
        );
        assert_eq!(
            (wild.message.as_str(), lines(&wild)),
            ("SEGV: writes", (None, None))
        );
        let mut nothing = Words::default();
        nothing.hear("==1== ERROR: libFuzzer: deadly signal");
        assert_eq!(nothing.read(), None);
    }
}
