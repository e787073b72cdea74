//! Prints the report of an exploration for people.

use std::io::{self, Write};

use super::events::{self, Mark};
use super::human;
use super::human::{Detail, cut_short, not_followed, paragraph, source_line, status, title};
use super::reasonless::Reasonless;
use crate::layout::{counted, grouped, in_words};
use crate::model::document::{Kind, Status};
use crate::model::exploration::{Counts, Exploration, Failure, HarnessExploration, Waiting};
use crate::model::schedule::{Action, Awaited};
use crate::model::unfollowed;
use crate::model::verdict;
use crate::model::words;
use crate::style;

/// Prints the failures found in one harness, and the verdict.
///
/// # Errors
/// Errors of writing to `out`.
pub fn harness(
    out: &mut dyn Write,
    report: &HarnessExploration,
    strategy: &str,
    detail: Detail,
    columns: usize,
) -> io::Result<()> {
    let (bold, dim) = (style::BOLD, style::DIM);
    let site = &report.site;
    if detail == Detail::Line && is_clean(report) {
        let good = style::GOOD;
        let tried = verdict::without_reason(report);
        return writeln!(
            out,
            "{bold}{}{bold:#}  {dim}{}:{}{dim:#}  {strategy}: {good}{}{good:#}, {}{}",
            report.name,
            site.file,
            site.line,
            verdict::of_report(report).head,
            counted(report.counts.executions, "execution", "executions"),
            tried.map_or_else(String::new, |tried| format!("; {tried}"))
        );
    }
    writeln!(
        out,
        "{bold}{}{bold:#}  {dim}{}:{}{dim:#}",
        report.name, site.file, site.line
    )?;
    status(out, &report.status, "explored", columns)?;
    for found in &report.failures {
        writeln!(out)?;
        if unfollowed::distort(&report.not_followed) {
            let doubt = unfollowed::doubt(&report.not_followed);
            paragraph(out, "  ", &doubt, columns)?;
        }
        failure(out, found, columns)?;
        writeln!(out, "  {dim}{}{dim:#}", met(found))?;
        if let Some(coupled) = coupled(found) {
            paragraph(out, "  ", &coupled, columns)?;
        }
        if let Some(held_up) = &found.held_up {
            paragraph(
                out,
                "  ",
                &words::held_up(held_up, &found.threads, words::Places::of_failure(found)),
                columns,
            )?;
        }
        human::file(out, found.finding.as_deref())?;
    }
    for note in &report.notes {
        paragraph(out, "  note: ", note, columns)?;
    }
    if report.status == Status::Checked {
        if !report.failures.is_empty() {
            writeln!(out)?;
        }
        let verdict = verdict::of_report(report);
        let good = if verdict.exhausted {
            style::GOOD
        } else {
            style::NONE
        };
        let plain = format!("  {strategy}: {}", verdict.sentence());
        // The verdict is styled only where it fits on one line, as it mostly does.
        if plain.len() <= columns && !verdict.rest.is_empty() {
            let (head, rest) = (&verdict.head, &verdict.rest);
            writeln!(out, "  {strategy}: {good}{head}{good:#}: {rest}")?;
        } else {
            paragraph(out, "  ", plain.trim(), columns)?;
        }
        let distinct = report.failures.len();
        paragraph(out, "  ", &counts(&report.counts, distinct), columns)?;
    } else {
        // Without the verdict, which would name what is not followed, it is named here.
        not_followed(out, &report.not_followed, columns)?;
    }
    writeln!(out)
}

/// Whether the search is complete and found nothing, and there is nothing else to be said.
fn is_clean(report: &HarnessExploration) -> bool {
    report.status == Status::Checked
        && report.failures.is_empty()
        && report.notes.is_empty()
        && verdict::of_report(report).exhausted
}

/// Prints a failure, with what each thread waits for and the schedule that leads to the failure.
///
/// # Errors
/// Errors of writing to `out`.
pub fn failure(out: &mut dyn Write, failure: &Failure, columns: usize) -> io::Result<()> {
    let bold = style::BOLD;
    title(out, "failure", failure.kind, &failure.message, columns)?;
    // The places of waiting threads are printed below.
    if let Some(site) = failure.site.as_ref().filter(|_| failure.waiting.is_empty()) {
        source_line(out, site, columns)?;
    }
    let places = words::Places::of_failure(failure);
    let thread = words::numbered_thread(failure.thread, &failure.threads, places);
    if failure.waiting.is_empty() {
        writeln!(out, "  In thread {thread}.")?;
    }
    for waiting in &failure.waiting {
        let thread = words::numbered_thread(waiting.thread, &failure.threads, places);
        let what = waits_for(failure.kind, waiting, places);
        writeln!(out, "  Thread {thread} {what}:")?;
        if let Some(site) = &waiting.site {
            source_line(out, site, columns)?;
        }
        if let Some(after) = &waiting.after {
            writeln!(
                out,
                "  in a dependency, after it did this in the program itself:"
            )?;
            source_line(out, after, columns)?;
        }
    }
    if let Some(inputs) = words::inputs(&failure.inputs) {
        paragraph(out, "  Inputs: ", &inputs, columns)?;
    }
    if !failure.schedule.is_empty() {
        writeln!(out, "\n  {bold}The schedule:{bold:#} {}\n", length(failure))?;
        events::draw(
            out,
            failure.leading(),
            &marks(failure),
            &failure.threads,
            columns,
        )?;
    }
    writeln!(out)
}

/// Says how many events lead to a failure, and how many follow it.
fn length(failure: &Failure) -> String {
    let reasonless = Reasonless::of(&failure.schedule, &failure.threads);
    let leading = reasonless.told(failure.leading());
    let events = counted(leading, "event", "events");
    match reasonless.told(&failure.schedule) - leading {
        0 => events,
        after => format!("{events}, and {} after the failure", grouped(after)),
    }
}

/// Says how often a failure was met.
fn met(failure: &Failure) -> String {
    let nth = grouped(failure.execution);
    if failure.random_numbers > 0 {
        return format!(
            "Found at the end of the search, where the program draws other random numbers, or has another date: sequence {}, which `seqz replay` \
             draws again.",
            failure.random_numbers
        );
    }
    if failure.count > 1 {
        let count = counted(failure.count, "execution fails", "executions fail");
        format!("Found in execution {nth}; {count} like this.")
    } else {
        format!("Found in execution {nth}.")
    }
}

/// Says how the threads are coupled: "One thread sees the other one at least: k = 2 (first), k = 3 (second)".
fn coupled(failure: &Failure) -> Option<String> {
    let roles = failure.couplings.iter();
    let roles: Vec<_> = roles
        .map(|coupling| {
            format!(
                "k = {} with the {} thread under test",
                coupling.k,
                coupling.under_test.name()
            )
        })
        .collect();
    (!roles.is_empty()).then(|| {
        format!(
            "Smallest coupling: in one of these executions, the thread under test sees the other one k times, and the other one \
             sees nothing of it: {}. `--k-max` of `seqz check` bounds this k.",
            roles.join(", ")
        )
    })
}

/// The object that stands for memory that `unsafe` code accesses, which is none.
const MEMORY: u32 = u32::MAX;

/// Says which memory is accessed.
fn memory(name: Option<&str>) -> String {
    name.map_or_else(
        || "the memory".to_owned(),
        |name| format!("the memory of `{name}`"),
    )
}

/// Says what a thread waits for, or races with: "waits for the lock `a`, which thread 1 holds".
fn waits_for(kind: Kind, waiting: &Waiting, places: words::Places) -> String {
    let name = waiting.variable.as_deref();
    match waiting.action {
        // Of memory: what the threads have done to it before.
        Action::Local if matches!(kind, Kind::UseAfterFree | Kind::InvalidFree) => {
            "got the memory from the allocator, at this place or after it".to_owned()
        }
        Action::Unlock if matches!(kind, Kind::UseAfterFree | Kind::InvalidFree) => {
            "gave the memory back, at this place or after it".to_owned()
        }
        _ if kind == Kind::UseAfterFree => {
            let does = if waiting.action == Action::Read {
                "reads"
            } else {
                "writes"
            };
            format!("{does} the memory after that")
        }
        Action::Read if kind == Kind::DataRace && waiting.object == MEMORY => {
            format!("reads {}", memory(name))
        }
        _ if kind == Kind::DataRace && waiting.object == MEMORY => {
            format!("writes {}", memory(name))
        }
        Action::Read if kind == Kind::DataRace => {
            format!("is about to read {}", words::variable(name))
        }
        _ if kind == Kind::DataRace => format!("is about to write {}", words::variable(name)),
        Action::Lock | Action::LockShared => {
            let lock = name.map_or_else(|| "a lock".into(), |name| format!("the lock `{name}`"));
            match waiting.held_by {
                Some(thread) if thread == waiting.thread => {
                    format!("waits for {lock}, which it holds itself")
                }
                Some(thread) => format!("waits for {lock}, which thread {thread} holds"),
                None => format!("waits for {lock}"),
            }
        }
        // A thread can't wait for itself: this thread goes no further.
        Action::Join if waiting.object == waiting.thread => {
            "goes round in a loop in which it looks at nothing that another thread could change"
                .to_owned()
        }
        Action::Join => format!("waits for thread {} to end", waiting.object),
        Action::Local => "looks again and again in a loop, and sees nothing new".to_owned(),
        Action::Wake => {
            let what = waiting.awaited.and_then(words::awaited);
            if let Some(what) = what.filter(|_| waiting.awaited != Some(Awaited::Unpark)) {
                let name = name.filter(|_| waiting.awaited != Some(Awaited::Handle));
                let of = name.map_or_else(String::new, |name| format!(" (`{name}`)"));
                return format!("waits {what}{of}");
            }
            let of = name.map_or_else(String::new, |name| format!(" of `{name}`"));
            let why = match (&waiting.missed, waiting.instead) {
                (Some(site), _) => format!(
                    "; the last notification, at {}, was given before it waited",
                    places.name(site)
                ),
                (None, Some(thread)) => {
                    format!("; thread {thread} went on after the last notification")
                }
                (None, None) => String::new(),
            };
            match what {
                Some(what) => format!("waits {what}{why}"),
                None => format!("waits to be notified{of}{why}"),
            }
        }
        _ => format!(
            "looks again and again at {}, which does not change any more",
            words::variable(name)
        ),
    }
}

/// Returns the remarks at the end of the schedule.
fn marks(failure: &Failure) -> Vec<Mark<'_>> {
    let remark = words::failure(failure.kind).to_owned();
    let waiting = failure.waiting.iter().filter_map(|waiting| {
        Some(Mark {
            thread: waiting.thread,
            site: waiting.site.as_ref()?,
            remark: remark.clone(),
        })
    });
    let mut marks: Vec<_> = waiting.collect();
    if !marks.is_empty() {
        return marks;
    }
    let fatal =
        failure.site.is_none() && matches!(failure.kind, Kind::Crash | Kind::Exit | Kind::Hang);
    let last = failure
        .schedule
        .last()
        .and_then(|event| event.site.as_ref());
    let site = failure.site.as_ref().or(last.filter(|_| fatal));
    if let Some(site) = site {
        let remark = if fatal {
            "the last event: it ends in this, or in what follows".to_owned()
        } else {
            remark
        };
        marks.push(Mark {
            thread: failure.thread,
            site,
            remark,
        });
    }
    marks
}

/// Says what the search took, and how many `distinct` failures its failing executions have.
fn counts(counts: &Counts, distinct: usize) -> String {
    let mut text = counted(counts.executions, "execution", "executions");
    for (n, what) in [
        (counts.redundant, "redundant"),
        (counts.blocked, "blocked"),
        (counts.abandoned, "abandoned"),
        (counts.truncated - counts.undecided, "cut at --max-steps"),
        (counts.undecided, "cut where threads wait"),
        (counts.waiting, "that go on in others"),
    ] {
        if n > 0 {
            text.push_str(&format!(", {} {what}", grouped(n)));
        }
    }
    if counts.failing > 0 {
        let failing = grouped(counts.failing);
        text.push_str(&match (counts.failing, distinct) {
            (1, _) | (_, 0) => format!(", {failing} failing"),
            (_, 1) => format!(", {failing} failing, all in the same way"),
            (_, n) => format!(", {failing} failing, in {} ways", in_words(n)),
        });
    }
    let lazy = counts
        .lazy_relations
        .map(|lazy| format!(" ({} lazy)", grouped(lazy)));
    if let Some(causality) = &counts.causality {
        text.push_str(&format!(
            "; {}, {} asked of the solver",
            counted(
                causality.classes,
                "class of observations",
                "classes of observations"
            ),
            counted(causality.queries, "question", "questions")
        ));
        for (n, what) in [
            (causality.confirmations, "executed again to confirm races"),
            (causality.waiting, "seeds waiting"),
            (causality.unknown, "given up by the solver"),
            (causality.lost, "seeds not followed"),
            (causality.open, "executions with open outcomes"),
        ] {
            if n > 0 {
                text.push_str(&format!(", {} {what}", grouped(n)));
            }
        }
    }
    text.push_str(&format!(
        "; {}{}; {}; {}; {:.2} s",
        counted(
            counts.relations,
            "distinct happens-before relation",
            "distinct happens-before relations"
        ),
        lazy.unwrap_or_default(),
        counted(counts.states, "terminal state", "terminal states"),
        counted(counts.events, "event", "events"),
        counts.seconds
    ));
    // A rate over a shorter time means nothing.
    if counts.seconds >= 0.1 {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let rate = |n: u64| grouped((n as f64 / counts.seconds) as u64);
        text.push_str(&format!(
            " ({} executions/s, {} events/s)",
            rate(counts.executions),
            rate(counts.events)
        ));
    }
    text
}

/// Whether the bound on events has cut all executions.
fn all_were_cut(report: &Exploration) -> bool {
    let mut harnesses = report.harnesses.iter().map(|harness| &harness.counts);
    harnesses.all(|counts| counts.truncated - counts.undecided == counts.executions)
}

/// Prints the last lines of the report.
///
/// # Errors
/// Errors of writing to `out`.
pub fn closing(out: &mut dyn Write, report: &Exploration) -> io::Result<()> {
    let summary = &report.summary;
    cut_short(out, report.cut)?;
    let (verdict, style) = match summary.failures {
        0 if summary.doubtful > 0 => ("no failure is sure".to_owned(), style::BOLD),
        0 if summary.explored == 0 => ("nothing was explored".to_owned(), style::BOLD),
        0 if summary.executions > 0 && all_were_cut(report) => (
            "no execution came to its end (`--max-steps`)".to_owned(),
            style::BOLD,
        ),
        0 => ("no failure found".to_owned(), style::GOOD),
        1 => ("one failure found".to_owned(), style::ERROR),
        n => (
            format!("{} failures found", in_words(n as usize)),
            style::ERROR,
        ),
    };
    write!(
        out,
        "{style}{verdict}{style:#}: {} explored, {}, {}",
        counted(u64::from(summary.explored), "harness", "harnesses"),
        counted(summary.executions, "execution", "executions"),
        human::time(summary.seconds, summary.building)
    )?;
    if summary.unsupported > 0 {
        let n = counted(u64::from(summary.unsupported), "harness", "harnesses");
        write!(out, "; {n} can't be explored")?;
    }
    writeln!(out)?;
    human::doubtful(out, summary.doubtful)?;
    if let Some(seed) = report.seed {
        writeln!(out, "Random choices began at --seed {seed}.")?;
    }
    if let Some(dir) = &report.findings {
        writeln!(
            out,
            "Each failure is also in a file of its own, in {dir}; `seqz replay FILE` runs it again, `seqz report FILE` \
             draws it."
        )?;
    }
    Ok(())
}
