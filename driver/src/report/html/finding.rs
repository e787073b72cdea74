//! The page of a finding.

use maud::{Markup, html};

use super::lanes::interleaving;
use super::text::{clean, code_marks, place};
use super::{Picture, Report, page};
use crate::findings::{Finding, Found};
use crate::layout::counted;
use crate::model::document::{Bug, Input, Kind, Site, Thread};
use crate::model::exploration::Failure;
use crate::model::schedule::Confirmation;
use crate::model::words;
use crate::report::progress::{self, Graph};
use crate::report::reasonless::{self, Reasonless};
use crate::report::scene::{Scene, colour};

/// Draws the page of a finding that was read from `file`.
#[must_use]
pub(crate) fn draw(finding: &Finding, file: &str) -> Report {
    let (kind, message, inputs) = match &finding.found {
        Found::Bug { bug, .. } => (bug.kind, &bug.message, &bug.inputs),
        Found::Failure { failure } => (failure.kind, &failure.message, &failure.inputs),
    };
    let (heading, rest) = words::heading(kind, message);
    let scene = Scene::of(&finding.found);
    let graph = scene.as_ref().map(|scene| Graph::of(scene));
    let content = html! {
        header {
            p class="where" {
                "seqz · "
                // The directory that a command was run in has no name here.
                @if finding.path != "." { (clean(&finding.path)) " · " }
                code { (clean(&finding.harness)) }
            }
            h1 { (clean(&heading)) }
            @for line in rest { p class="more" { (clean(line)) } }
            (kind_of(kind, &finding.found))
        }
        main {
            section class="facts" {
                @match &finding.found {
                    Found::Bug { bug, threads } => (bug_facts(bug, threads)),
                    Found::Failure { failure } => (failure_facts(failure)),
                }
                (inputs_given(inputs))
                p class="note" {
                    "Run it again: " code class="command" { "seqz replay " (clean(file)) }
                }
            }
            section aria-labelledby="interleaving" {
                h2 id="interleaving" { "One interleaving that shows it" }
                @match &scene {
                    Some(scene) => (interleaving(scene)),
                    None => p { "The program died before it could tell what it had done." (alone(&finding.found)) },
                }
            }
            @if let (Some(scene), Some(graph)) = (&scene, &graph) {
                section aria-labelledby="progress" {
                    h2 id="progress" { "Progress graph" }
                    @match graph {
                        Ok(graph) => (progress_graph(graph, scene)),
                        Err(why) => p class="note" { "There is none: " (why) "." },
                    }
                }
            }
        }
        (footer(&finding.seqz))
    };
    let title = format!("{heading} – {}", finding.harness);
    let mut pictures = Vec::new();
    if let (Some(scene), Some(Ok(graph))) = (&scene, &graph) {
        pictures.push(Picture {
            name: "progress.svg".into(),
            svg: progress::svg(graph, scene),
        });
    }
    Report {
        html: page(&title, &content, None),
        pictures,
    }
}

pub(super) fn footer(version: &str) -> Markup {
    html! { footer { p { "Made by seqz " (clean(version)) "." } } }
}

fn kind_of(kind: Kind, found: &Found) -> Markup {
    let by = match found {
        Found::Bug { bug, .. } => format!("k = {}", bug.k),
        Found::Failure { failure } => format!("execution {}", failure.execution),
    };
    let confirmed = match found {
        Found::Bug { bug, .. } => match &bug.confirmation {
            Confirmation::Confirmed { .. } => Some(("good", "confirmed on the original program")),
            Confirmation::NotTried => Some(("", "not replayed: the program died")),
            Confirmation::Diverged { .. } | Confirmation::Absent { .. } => {
                Some(("bad", "NOT there on the original program: a fault of seqz"))
            }
        },
        Found::Failure { .. } => Some(("good", "seen on the original program")),
    };
    html! {
        p class="badges" {
            span class="badge bad" { (words::kind(kind)) }
            span class="badge" { (by) }
            @if let Some((class, text)) = confirmed { span class=(format!("badge {class}")) { (text) } }
        }
    }
}

fn site(site: Option<&Site>, before: &str) -> Markup {
    html! {
        @if let Some(site) = site {
            @if !before.is_empty() { p { (before) } }
            p class="snippet" { span class="line" { (place(site)) } code { (clean(&site.text)) } }
        }
    }
}

fn bug_facts(bug: &Bug, threads: &[Thread]) -> Markup {
    let places = words::Places::of_bug(bug, threads);
    let reads = words::reads_needed(bug);
    html! {
        (site(bug.site.as_ref(), ""))
        (site(bug.other_site.as_ref(), words::other_site(bug)))
        p { (sentence(&reads)) (if bug.non_local_reads.is_empty() { "." } else { ":" }) }
        @if !bug.non_local_reads.is_empty() {
            ol class="reads" {
                @for read in &bug.non_local_reads { li { (code_marks(&words::non_local_read(bug, read, places))) } }
            }
            p { (words::OTHER_READS) }
        }
        p { "Under test: " (code_marks(&words::under_test(bug, threads))) "." }
        @if let Confirmation::Diverged { difference, .. } = &bug.confirmation { p class="more" { (clean(difference)) } }
        @if !bug.non_local_reads.is_empty() {
            p class="note" { code { (choice("rds", bug.non_local_reads.iter().map(|r| r.read))) ", " (choice("wrts", bug.non_local_reads.iter().map(|r| r.write))) } }
        }
    }
}

fn choice(name: &str, numbers: impl Iterator<Item = u32>) -> String {
    let numbers: Vec<_> = numbers.map(|n| n.to_string()).collect();
    format!("{name} = [{}]", numbers.join(", "))
}

fn failure_facts(failure: &Failure) -> Markup {
    let places = words::Places::of_failure(failure);
    html! {
        (site(failure.site.as_ref(), ""))
        p {
            (counted(Reasonless::of(failure.leading(), &failure.threads).told(failure.leading()), "event", "events")) " of "
            (counted(reasonless::threads(&failure.threads), "thread", "threads")) "; thread "
            (code_marks(&words::numbered_thread(failure.thread, &failure.threads, places))) " fails."
        }
        @if let Some(held_up) = &failure.held_up {
            p { (code_marks(&words::held_up(held_up, &failure.threads, places))) }
        }
        @for coupling in &failure.couplings {
            p {
                "In some failing execution the " (coupling.under_test.name()) " thread sees "
                (counted(u64::from(coupling.k), "write", "writes")) " of the other one, which sees nothing of it (k = " (coupling.k) ")."
            }
        }
    }
}

fn inputs_given(inputs: &[Input]) -> Markup {
    html! { @if let Some(inputs) = words::inputs(inputs) { p { "With " code { (clean(&inputs)) } "." } } }
}

fn alone(found: &Found) -> Markup {
    let command = match found {
        Found::Bug { bug, .. } => bug.run_alone.as_deref(),
        Found::Failure { .. } => None,
    };
    html! { @if let Some(command) = command { " This runs just that one execution: " code class="command" { (clean(command)) } } }
}

/// Returns the sentence with a capital letter at its beginning.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    format!("{}{}", first.unwrap_or_default(), chars.as_str())
}

fn progress_graph(graph: &Graph, scene: &Scene<'_>) -> Markup {
    use crate::report::progress::Obstacle;
    let obstacles = graph.plane.obstacles();
    let any = |is: fn(&Obstacle) -> bool| obstacles.iter().any(is);
    html! {
        p {
            "Every interleaving of the two threads is a path from the lower left to the upper right that goes right for an event of "
            b class=(colour(graph.lanes[0])) { (super::text::named(&scene.lanes[graph.lanes[0]].tag)) }
            ", up for one of "
            b class=(colour(graph.lanes[1])) { (super::text::named(&scene.lanes[graph.lanes[1]].tag)) }
            ", and around what is forbidden. One with these reads stays in the plain area."
        }
        @if graph.reduced { p class="note" { "Events on what only one of the threads uses are left out: they forbid nothing." } }
        figure {
            div class="scroll" tabindex="0" role="group" aria-label="Progress graph, may scroll" { (progress::figure(graph, scene)) }
            figcaption {
                ul class="legend" {
                    li { span class="key way" {} "this execution" }
                    @if scene.events.iter().any(|event| event.pair.is_some()) { li { span class="key read" {} "a non-local read and its write" } }
                    li { span class="key end" {} "the failure" }
                    @if any(|o| matches!(o, Obstacle::Rectangle(_))) { li { span class="key lock" {} "both inside a lock" } }
                    @if any(|o| matches!(o, Obstacle::Corner(_))) { li { span class="key corner" {} "read too early or too late for what it sees" } }
                    @if any(|o| matches!(o, Obstacle::Bar(_))) { li { span class="key live" {} "a write inside a live block" } }
                    @if graph.plane.open().iter().flatten().any(|open| !open) { li { span class="key hatched" {} "no interleaving with these reads" } }
                }
                @let words = progress::in_words(graph, scene);
                @if !words.is_empty() {
                    details {
                        summary { "What is forbidden, in words" }
                        ul { @for line in words { li { (line) } } }
                    }
                }
            }
        }
    }
}
