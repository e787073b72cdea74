//! The page of a comparison: plots, the paper's table, and a table of all runs that can be sorted.

use maud::{Markup, html};

use super::finding::footer;
use super::text::clean;
use super::{Picture, Report, page};
use crate::compare::document::{Compared, Comparison, Ended, Run};
use crate::compare::human::{cell, memory, seconds};
use crate::compare::paper::{Cell, SuiteTable};
use crate::layout::{counted, grouped};
use crate::model::words;
use crate::report::plot::{Dot, Dots, Line, Plot, Steps, key};

/// Draws the page of a comparison.
#[must_use]
pub(crate) fn draw(comparison: &Comparison) -> Report {
    let methods = methods(comparison);
    let plots: Vec<Plot> = plots(comparison, &methods);
    let runs = comparison.programs.iter().map(|program| program.runs.len());
    let limits = &comparison.limits;
    let title = match comparison.suites.as_slice() {
        [suite] => format!("Comparison of methods: {}", suite.title),
        _ => "Comparison of methods".to_owned(),
    };
    let content = html! {
        header {
            p class="where" { "seqz compare" }
            h1 { (clean(&title)) }
            p class="note" {
                (counted(runs.sum::<usize>() as u64, "run", "runs")) " of "
                (counted(comparison.programs.len() as u64, "harness", "harnesses"))
                ", each within " (limits.seconds) " s of search"
                @if let Some(executions) = limits.executions { ", " (counted(executions, "execution", "executions")) }
                " and " (memory(limits.memory)) "; k ≤ " (limits.k_max) ", seed " (limits.seed) "."
            }
        }
        main {
            @if !plots.is_empty() {
                section aria-labelledby="plots" {
                    h2 id="plots" { "Plots" }
                    ul class="legend" {
                        @for (at, method) in methods.iter().enumerate() { li { (key(at)) (clean(method)) } }
                        li class="dim" { "hollow: cut before the end" }
                    }
                    div class="plots" {
                        @for plot in &plots {
                            figure class=(if plot.width > 800.0 { "whole" } else { "" }) {
                                figcaption { (clean(&plot.title)) }
                                div class="scroll" tabindex="0" role="group" aria-label=(clean(&plot.title)) { (plot.figure()) }
                            }
                        }
                    }
                }
            }
            @if !comparison.suites.is_empty() {
                section aria-labelledby="papers" {
                    h2 id="papers" { "Beside the papers" }
                    p {
                        "To the bug, and to the end of the search on the program without it: executions and time, of seqz and in the paper. "
                        "Our programs share the idea of the bug with the paper's, not the code: compare in kind, not in number."
                    }
                    @for suite in &comparison.suites { (paper(suite)) }
                }
            }
            section aria-labelledby="runs" {
                h2 id="runs" { "All runs" }
                (table(comparison))
            }
            section aria-labelledby="bugs" {
                h2 id="bugs" { "Bugs" }
                (bugs(comparison))
            }
        }
        (footer(&comparison.seqz))
    };
    let pictures = plots.iter().map(|plot| Picture {
        name: format!("{}.svg", plot.id),
        svg: plot.svg(),
    });
    Report {
        html: page(&title, &content, Some(include_str!("sort.js"))),
        pictures: pictures.collect(),
    }
}

/// Returns the methods in the order of their runs.
fn methods(comparison: &Comparison) -> Vec<String> {
    let mut methods: Vec<String> = Vec::new();
    for run in comparison.programs.iter().flat_map(|program| &program.runs) {
        if !methods.contains(&run.method) {
            methods.push(run.method.clone());
        }
    }
    methods
}

/// Returns a short name of a program.
fn name(program: &Compared) -> String {
    let path = &program.subject.path;
    let name = path.rsplit('/').next().unwrap_or(path);
    let fixed = if path.contains("/fixed/") {
        "fixed/"
    } else {
        ""
    };
    format!(
        "{fixed}{} {}",
        name.trim_end_matches(".rs"),
        program.subject.harness
    )
}

#[allow(clippy::cast_precision_loss, reason = "they are drawn")]
fn plots(comparison: &Comparison, methods: &[String]) -> Vec<Plot> {
    let of = comparison
        .programs
        .iter()
        .map(|program| program.bugs.len())
        .sum();
    let lines = |value: fn(&crate::compare::document::Found) -> Option<f64>| {
        methods.iter().map(move |method| {
            let runs = comparison.programs.iter().flat_map(|program| &program.runs);
            let found = runs
                .filter(|run| run.method == *method)
                .flat_map(|run| &run.found);
            Line {
                name: method.clone(),
                values: found.filter_map(value).collect(),
            }
        })
    };
    let by_executions = Steps {
        id: "bugs-by-executions",
        title: "Bugs found within so many executions".into(),
        unit: "executions to the bug".into(),
        lines: lines(|found| found.executions.map(|n| n as f64)).collect(),
        of,
    };
    let by_time = Steps {
        id: "bugs-by-time",
        title: "Bugs found within so much time".into(),
        unit: "seconds to the bug".into(),
        lines: lines(|found| Some(found.seconds)).collect(),
        of,
    };
    let rows = comparison.programs.iter().map(|program| {
        let dots = program.runs.iter().filter_map(|run| {
            let cut = match run.ended {
                Ended::Exhausted | Ended::Bounded | Ended::Heuristic => false,
                Ended::Executions | Ended::Timeout | Ended::Memory | Ended::Died => true,
                // The number of executions drawn at random says nothing of the program.
                Ended::Sampled | Ended::NotFollowed | Ended::Unsupported | Ended::Failed => {
                    return None;
                }
            };
            Some(Dot {
                series: methods.iter().position(|method| *method == run.method)?,
                value: run.executions.filter(|n| *n > 0)? as f64,
                cut,
            })
        });
        (name(program), dots.collect())
    });
    let executions = Dots {
        id: "executions",
        title: "Executions to the end of the search".into(),
        unit: "executions".into(),
        series: methods.to_vec(),
        rows: rows.collect(),
    };
    [by_executions.draw(), by_time.draw(), executions.draw()]
        .into_iter()
        .flatten()
        .collect()
}

fn paper(suite: &SuiteTable) -> Markup {
    let class = |cell: Option<&Cell>| match cell.map(|cell| cell.ended.as_str()) {
        Some("fails" | "missed") => "bad",
        Some("bug" | "exhausted" | "bounded") => "",
        _ => "dim",
    };
    html! {
            div class="wide" tabindex="0" role="group" aria-label="The paper's table, may scroll" {
                table class="sortable" {
                    caption { b { (clean(&suite.title)) } br; (clean(&suite.paper)) }
                    thead { tr {
                        th scope="col" { "program" } th scope="col" { "method" }
                        th scope="col" { "bug: seqz" } th scope="col" { "bug: paper" }
                        th scope="col" { "end: seqz" } th scope="col" { "end: paper" }
                    } }
                    tbody {
                        @for row in &suite.rows {
                            tr {
                                th scope="row" { (clean(&row.program)) }
                                td { (clean(&row.method)) }
                                @for cell in [&row.bug.ours, &row.bug.paper, &row.exhaust.ours, &row.exhaust.paper] {
                                    td class=(class(cell.as_ref())) { (clean(&self::cell(cell.as_ref()))) }
                                }
                            }
                        }
                    }
                }
            }
    }
}

fn table(comparison: &Comparison) -> Markup {
    html! {
        div class="wide" tabindex="0" role="group" aria-label="All runs, may scroll" {
            table class="sortable" {
                caption { "Executions and time up to the first bug, and of the whole search." }
                thead { tr {
                    th scope="col" { "program" } th scope="col" { "method" } th scope="col" class="n" { "bugs" } th scope="col" class="n" { "k" }
                    th scope="col" class="n" { "executions to the bug" } th scope="col" class="n" { "time to the bug" }
                    th scope="col" class="n" { "executions" } th scope="col" class="n" { "time" }
                    th scope="col" { "ended" } th scope="col" class="n" { "memory" }
                } }
                tbody {
                    @for program in &comparison.programs {
                        @for run in &program.runs { (row(program, run)) }
                    }
                }
            }
        }
    }
}

/// Returns a cell with a number, which is shown as text and sorted by its value.
fn number(value: Option<f64>, shown: impl FnOnce() -> Option<String>) -> Markup {
    html! {
        td class="n" data-v=(value.map_or_else(String::new, |value| value.to_string())) {
            (shown().unwrap_or_else(|| "–".into()))
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "they are only sorted by it")]
fn row(program: &Compared, run: &Run) -> Markup {
    let first = run.first();
    let k = run.found.iter().filter_map(|found| found.k).min();
    let ran = !matches!(run.ended, Ended::Unsupported | Ended::Failed);
    let count = |n: Option<u64>| number(n.map(|n| n as f64), || n.map(grouped));
    let time = |time: Option<f64>| number(time, || time.map(seconds));
    let ended = match run.ended {
        Ended::Exhausted => "good",
        Ended::Failed | Ended::Died => "bad",
        Ended::Unsupported => "dim",
        _ => "",
    };
    html! {
        tr {
            th scope="row" title=(clean(&program.subject.path)) { (clean(&name(program))) }
            td { (clean(&run.method)) }
            (count(Some(run.found.len() as u64)))
            (number(k.map(f64::from), || k.map(|k| k.to_string())))
            (count(first.and_then(|found| found.executions)))
            (time(first.map(|found| found.seconds)))
            (count(run.executions.filter(|_| ran)))
            (time(ran.then_some(run.seconds)))
            td class=(ended) title=(clean(run.why.as_deref().unwrap_or_default())) { (run.ended.word()) }
            (number(run.memory.map(|n| n as f64), || run.memory.map(memory)))
        }
    }
}

fn bugs(comparison: &Comparison) -> Markup {
    html! {
        @for program in comparison.programs.iter().filter(|program| !program.bugs.is_empty()) {
            p { b { (clean(&name(program))) } }
            ul {
                @for (at, bug) in program.bugs.iter().enumerate() {
                    @let by: Vec<_> = program.runs.iter().filter(|run| run.found.iter().any(|found| found.bug == at)).map(|run| run.method.as_str()).collect();
                    li {
                        (clean(&words::heading(bug.kind, &bug.message).0))
                        @if let Some(site) = bug.sites.first() { ", " code { (super::text::place(site)) } }
                        span class="note" { " – found by " (clean(&by.join(", "))) }
                    }
                }
            }
        }
        @if comparison.programs.iter().all(|program| program.bugs.is_empty()) { p { "None was found." } }
    }
}
