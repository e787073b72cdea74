//! The explanation of a bug in words.

use super::document::{Bug, HarnessReport, Input, Kind, NonLocalRead, Reason, Role, Site, Thread};
use super::exploration::{Failure, HeldUp};
use super::schedule::Awaited;
use crate::layout::{counted, in_words};

/// Returns the kind of a bug as a heading.
#[must_use]
pub const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Assertion => "assertion failed",
        Kind::Arithmetic => "arithmetic overflow",
        Kind::Index => "index out of bounds",
        Kind::Panic => "panic",
        Kind::DetachedPanic => "a detached thread panicked",
        Kind::Result => "the test fails",
        Kind::Deadlock => "deadlock",
        Kind::Livelock => "livelock",
        Kind::DataRace => "data race",
        Kind::UseAfterFree => "use after free",
        Kind::InvalidFree => "invalid free",
        Kind::Crash => "crash",
        Kind::Exit => "exit",
        Kind::Hang => "hang",
    }
}

/// Returns the bug in one line, and the remaining lines of its message. A message of std's begins with the kind;
/// another message is put after the kind.
#[must_use]
pub fn heading(of: Kind, message: &str) -> (String, Vec<&str>) {
    let mut lines = message
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let kind = kind(of);
    let says_it = first.starts_with(kind)
        || matches!(
            of,
            Kind::Assertion | Kind::Arithmetic | Kind::Index | Kind::Result
        );
    let heading = if first.is_empty() {
        kind.to_owned()
    } else if says_it {
        first.to_owned()
    } else {
        format!("{kind}: {first}")
    };
    (heading, lines.collect())
}

/// Says what happens at the place of the bug.
#[must_use]
pub const fn failure(kind: Kind) -> &'static str {
    match kind {
        Kind::Assertion => "the assertion fails here",
        Kind::Arithmetic => "the arithmetic fails here",
        Kind::Index => "out of bounds here",
        Kind::Panic => "panics here",
        Kind::DetachedPanic => "panics here, and nobody joins the thread",
        Kind::Result => "fails by its result",
        Kind::Deadlock | Kind::Livelock => "waits for ever here",
        Kind::DataRace => "races here",
        Kind::UseAfterFree => "is used here",
        Kind::InvalidFree => "is given back here",
        Kind::Crash => "dies here",
        Kind::Exit => "exits here",
        Kind::Hang => "hangs here",
    }
}

/// Says what leads to the other place of a deadlock or a data race.
#[must_use]
pub const fn other_site(bug: &Bug) -> &'static str {
    match (bug.kind, bug.other_pending) {
        (Kind::Deadlock, true) if bug.other_thread.is_some() => "while another one waits here:",
        (Kind::Deadlock, true) => "while the other one waits here:",
        (Kind::Deadlock, false) => "the lock was taken here:",
        _ => "while the other one is here:",
    }
}

/// Says that inputs were sampled: the number of choices in the sample, and its seed.
#[must_use]
pub fn sample_of_inputs(choices: u32, seed: u64) -> String {
    let choices = counted(choices.into(), "choice", "choices");
    format!("inputs are a sample of {choices}, out of more, with seed {seed}")
}

/// Says what a thread waits for that others have to wake up; `None` for a notification.
#[must_use]
pub const fn awaited(awaited: Awaited) -> Option<&'static str> {
    match awaited {
        Awaited::Notification => None,
        Awaited::Unpark => Some("to be unparked"),
        Awaited::Arrival => Some("at a barrier for other threads"),
        Awaited::Initialization => Some("for the end of an initialization"),
        Awaited::Message => Some("for a message from a channel that is empty"),
        Awaited::Room => Some("for room in a channel that is full"),
        Awaited::Handle => Some("for the handle of a scoped thread, which nobody drops"),
    }
}

/// Returns a variable's name for a sentence.
#[must_use]
pub fn variable(name: Option<&str>) -> String {
    name.map_or_else(
        || "a shared variable".to_owned(),
        |name| format!("`{name}`"),
    )
}

/// How the places of one finding are told: by their lines alone where all are of one file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Places {
    with_file: bool,
}

impl Places {
    /// The places of a finding, which are all of these.
    pub fn of<'a>(sites: impl IntoIterator<Item = &'a Site>) -> Self {
        let mut files = sites.into_iter().map(|site| site.file.as_str());
        let first = files.next();
        Self {
            with_file: files.any(|file| Some(file) != first),
        }
    }

    /// The places of a bug, and those where its threads are started.
    #[must_use]
    pub fn of_bug(bug: &Bug, threads: &[Thread]) -> Self {
        let own = [&bug.site, &bug.other_site].into_iter().flatten();
        let reads = bug
            .non_local_reads
            .iter()
            .flat_map(|read| [&read.read_site, &read.write_site]);
        let trace = bug.trace.iter().filter_map(|step| step.site.as_ref());
        let started = threads.iter().filter_map(|thread| thread.spawned.as_ref());
        Self::of(own.chain(reads.flatten()).chain(trace).chain(started))
    }

    /// The places of a failure.
    #[must_use]
    pub fn of_failure(failure: &Failure) -> Self {
        let waiting = failure.waiting.iter();
        let waiting = waiting.flat_map(|it| [&it.site, &it.after, &it.missed]);
        let events = failure.leading().iter().map(|event| &event.site);
        let threads = failure.threads.iter().flatten();
        let sites = [&failure.site].into_iter().chain(waiting).chain(events);
        Self::of(sites.chain(threads.map(|thread| &thread.spawned)).flatten())
    }

    /// Names a place in a sentence: `line 12`, or `src/lib.rs:12`.
    #[must_use]
    pub fn name(self, site: &Site) -> String {
        if self.with_file {
            format!("{}:{}", site.file, site.line)
        } else {
            format!("line {}", site.line)
        }
    }
}

/// The remark where a guard goes out of scope: that place is not known, but the place where the lock was taken is.
#[must_use]
pub fn unlocks(variable: Option<&str>, taken: Option<&Site>, places: Places) -> String {
    let name = self::variable(variable);
    let taken = taken.map_or_else(String::new, |site| format!(" of {}", places.name(site)));
    format!("(unlocks {name}{taken})")
}

/// Describes a thread of a schedule: its number, its name, and the place where it is started.
#[must_use]
pub fn numbered_thread(number: u32, threads: &[Option<Thread>], places: Places) -> String {
    let known = threads.get(number as usize).and_then(Option::as_ref);
    let name = known.and_then(|thread| thread.name.as_ref());
    let line = known.and_then(|thread| thread.spawned.as_ref());
    let name = name.map_or_else(String::new, |name| format!(" `{name}`"));
    match (number, line) {
        (0, _) => "0 (the harness)".to_owned(),
        (_, Some(site)) => format!("{number}{name} ({})", places.name(site)),
        (_, None) => format!("{number}{name}"),
    }
}

/// Says who was held up in each execution with a failure.
#[must_use]
pub fn held_up(held_up: &HeldUp, threads: &[Option<Thread>], places: Places) -> String {
    let at = |site: &Option<Site>| {
        let site = site.as_ref();
        site.map_or_else(String::new, |site| {
            format!(" at {}:{}", site.file, site.line)
        })
    };
    let (what, ends) = if held_up.is_limit {
        ("time limit", "runs out")
    } else {
        ("sleep", "ends")
    };
    format!(
        "In each of these executions a thread that could go on is held up: thread {}{}, for {}, until the {what} of {}{} {ends}, \
         in thread {}.",
        numbered_thread(held_up.thread, threads, places),
        at(&held_up.site),
        duration(held_up.nanoseconds),
        duration(held_up.took),
        at(&held_up.passing),
        numbered_thread(held_up.by, threads, places),
    )
}

/// Returns a time in words: `50 ms`.
fn duration(nanoseconds: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")];
    let unit = UNITS.iter().find(|(unit, _)| nanoseconds >= *unit);
    let Some((unit, name)) = unit else {
        return format!("{nanoseconds} ns");
    };
    let tenths = nanoseconds / (unit / 10);
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole} {name}"),
        (whole, tenths) if whole < 10 => format!("{whole}.{tenths} {name}"),
        (whole, _) => format!("{whole} {name}"),
    }
}

/// What the interfering thread with this number, from 1, is called among so many.
#[must_use]
pub fn prime(number: u32, all: usize) -> String {
    if all == 1 {
        return "T'".to_owned();
    }
    let digit = |digit: char| char::from_u32('₀' as u32 + digit.to_digit(10).unwrap_or(0));
    let digits = number.to_string();
    format!("T'{}", digits.chars().filter_map(digit).collect::<String>())
}

/// Describes a thread in a sentence: its place in the order, its name, and the place where it is started.
#[must_use]
pub fn thread(role: Role, threads: &[Thread], places: Places) -> String {
    let order = format!("the {} thread", role.name());
    let Some(thread) = threads.get(role.index()) else {
        return order;
    };
    match (&thread.name, &thread.spawned) {
        (Some(name), Some(site)) => {
            format!("{order}, `{name}`, started at {}", places.name(site))
        }
        (None, Some(site)) => format!("{order}, started at {}", places.name(site)),
        (Some(name), None) => format!("{order}, `{name}`"),
        (None, None) => format!("{order}, which runs the harness"),
    }
}

/// Returns what the thread under test of a bug is called: where others run side by side once both are joined, it is one thread
/// after the other.
#[must_use]
pub fn under_test(bug: &Bug, threads: &[Thread]) -> String {
    let is_join = |step: &super::document::Step| {
        step.thread == bug.under_test && step.op == super::document::Op::Join
    };
    let after_join = bug.trace.iter().skip_while(|step| !is_join(step));
    if after_join
        .into_iter()
        .any(|step| step.thread != bug.under_test)
    {
        let order = bug.under_test.name();
        return format!("the {order} one of each two threads that run side by side");
    }
    thread(bug.under_test, threads, Places::of_bug(bug, threads))
}

/// What is said below the non-local reads of a bug.
pub const OTHER_READS: &str =
    "Every other read, of any thread, sees what its own thread wrote last, or the initial value.";

/// Returns the headline of the explanation, which follows the bug itself.
#[must_use]
pub fn reads_needed(bug: &Bug) -> String {
    let another = if bug.interfering().len() > 1 {
        "another"
    } else {
        "the other"
    };
    match bug.k {
        0 if needs_no_other(bug) => {
            "it happens whatever the other thread does (k = 0)".to_owned()
        }
        0 if bug.interfering().len() > 1 => "no read of any thread has to see what another one wrote: it is enough that all run (k = 0)"
            .to_owned(),
        0 => "no read of either thread has to see what the other one wrote: it is enough that both run (k = 0)".to_owned(),
        1 => format!("one read of the thread under test sees a value that {another} thread wrote (k = 1)"),
        k => format!(
            "{} reads of the thread under test see values that {another} thread wrote (k = {k})",
            in_words(k as usize)
        ),
    }
}

/// Whether the other thread could not have prevented the bug: none of its events is part of the bug, and the thread
/// under test has read nothing that the other thread could have changed.
fn needs_no_other(bug: &Bug) -> bool {
    let is_known = bug.run_alone.is_none();
    // The process may end with the harness, before a thread that no thread joins has come so far.
    let may_be_late = matches!(bug.kind, Kind::DetachedPanic | Kind::Exit);
    let mut steps = bug.trace.iter();
    is_known
        && !may_be_late
        && bug.other_site.is_none()
        && steps.all(|step| step.thread == bug.under_test && step.op.looks_at_nothing())
}

/// Describes one non-local read: "line 12 reads `pending_io` as written at line 31".
#[must_use]
pub fn non_local_read(bug: &Bug, read: &NonLocalRead, places: Places) -> String {
    let name = variable(read.variable.as_deref());
    let place = |site: &Option<Site>, unknown: u32, what: &str| match site {
        Some(site) => places.name(site),
        None => format!("its {what} number {unknown}"),
    };
    let reader = place(&read.read_site, read.read, "read");
    let writer = place(&read.write_site, read.write, "write");
    let failed_lock = read
        .read_step
        .and_then(|step| bug.trace.get(step as usize))
        .is_some_and(|step| step.op == super::document::Op::TryLockFailed);
    if failed_lock {
        return format!("{reader} finds {name} locked, as taken at {writer}");
    }
    let value = read
        .value
        .as_ref()
        .map(|value| format!(" (value {value})"))
        .unwrap_or_default();
    format!("{reader} reads {name} as written at {writer}{value}")
}

/// Says why a level isn't exhausted.
#[must_use]
pub const fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::StepBound => "executions were cut at --max-steps",
        Reason::Undecided => {
            "executions were cut where threads wait, and it is not known whether for ever"
        }
        Reason::SampledInputs => "inputs were sampled",
        Reason::ExecutionLimit => "--max-executions reached",
        Reason::TimeLimit => "--time is over",
        Reason::Interrupted => "interrupted",
        Reason::Reasonless => "what may happen without a reason was not tried",
        Reason::SolverUnknown => "the solver did not always know",
        Reason::Died => "the program died",
        Reason::Fuzzed => "a fuzzer chose",
        Reason::NotFollowed => {
            "the program did not follow schedules that it should have been able to follow"
        }
        Reason::OpenOutcome => {
            "the outcome of an event depends on more than the search knows of, and other outcomes may \
             be missed"
        }
        Reason::Unwinding => {
            "a destructor used what threads share while its thread panicked, and no other thread could run in between"
        }
        Reason::VirtualTime => {
            "what a thread sees of time may depend on an order that this strategy leaves out: `odpor` does not"
        }
        Reason::PassingTime => {
            "the program looks at the clock while others run, and a time limit may pass earlier or later than was tried"
        }
        Reason::ScopedDestructor => {
            "a scoped thread's thread-local has a destructor that uses what threads share, and that may also run after the scope's end, which was not tried"
        }
        Reason::LaterRound => {
            "the other thread fails in a round after the first one, after what the thread under test has read: `seqz explore` judges that"
        }
        Reason::Barrier => {
            "a thread waits at a barrier, and what comes after it was tried only where the other thread was there first: `seqz explore` tries all of it"
        }
        Reason::BehindAnother => {
            "an interfering thread waits for the end of another one and goes on, and what it does then was left out: `seqz explore` goes further"
        }
        Reason::SmallerK => {
            "an execution with a smaller k was not run to its end, and what grows out of it was not tried"
        }
        Reason::WaitingWriter => {
            "a reader may wait for ever behind a writer that waits, in an order that this strategy leaves out: `odpor` does not"
        }
        Reason::TriedBesideWriter => {
            "a `try_read` may fail where a writer waits for readers that are there already, which std leaves open, and was not tried"
        }
        Reason::UsedUnpark => {
            "a thread parks that may have used an `unpark` up before, where a channel or the end of a scope had it wait: std parks it there, too, and not all that may come of this was tried"
        }
        Reason::Refuted => {
            "the sequential program shows what the original program does not, a fault of seqz, and may hide other bugs"
        }
        Reason::Missed => {
            "the sequential program missed a failure that `seqz explore` found, and may miss others"
        }
        Reason::Unfollowed => "not everything is followed",
        Reason::OtherPieces => "other pieces of the search are missing here",
        Reason::PieceEnded => "a piece of the search was ended before it was done",
    }
}

/// Names the inputs in a sentence; empty where there are none.
#[must_use]
pub fn inputs(inputs: &[Input]) -> Option<String> {
    if inputs.is_empty() {
        return None;
    }
    let all: Vec<_> = inputs
        .iter()
        .map(|i| format!("{} = {}", i.name, i.value))
        .collect();
    Some(all.join(", "))
}

/// Names the place of the harness briefly.
#[must_use]
pub fn place(harness: &HarnessReport) -> String {
    format!("{}:{}", harness.site.file, harness.site.line)
}

#[cfg(test)]
mod tests {
    use super::super::document::{Op, Step};
    use super::super::sample;
    use super::*;

    /// Whether the explanation of a bug of k = 0 with this trace says that the other thread makes no difference.
    fn said(trace: &[(Role, Op)], change: impl FnOnce(&mut Bug)) -> bool {
        let mut bug = sample::bug();
        let like = bug.trace[0].clone();
        let steps = trace.iter().map(|&(thread, op)| Step {
            thread,
            op,
            ..like.clone()
        });
        bug.trace = steps.collect();
        (bug.k, bug.other_site, bug.run_alone) = (0, None, None);
        change(&mut bug);
        reads_needed(&bug).contains("whatever the other thread does")
    }

    #[test]
    fn a_bug_needs_no_other_thread_only_if_nothing_was_looked_at() {
        let t = sample::bug().under_test;
        let keep = |_: &mut Bug| {};
        assert!(said(&[], keep));
        assert!(said(&[(t, Op::Write), (t, Op::Write)], keep));
        assert!(!said(&[(t, Op::Write), (Role::SECOND, Op::Write)], keep));
        for op in Op::ALL {
            let changes_alone = matches!(op, Op::Write | Op::Unlock | Op::UnlockShared);
            assert_eq!(said(&[(t, Op::Write), (t, op)], keep), changes_alone);
        }
        for late in [Kind::DetachedPanic, Kind::Exit] {
            assert!(!said(&[], |bug| bug.kind = late));
        }
        // The other thread has to be at some place; and what a program that died has read is not known.
        let other = sample::bug().site;
        assert!(!said(&[(t, Op::Write)], |bug| bug.other_site = other));
        assert!(!said(&[], |bug| bug.run_alone = Some("it".into())));
    }
}
