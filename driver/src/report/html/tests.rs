//! Pages of findings.

use std::collections::HashSet;

use super::finding::draw;
use crate::findings::{Finding, Found};
use crate::model::document::SCHEMA;
use crate::model::sample;

fn of(found: Found) -> Finding {
    Finding {
        schema: SCHEMA,
        seqz: "0.0.0".into(),
        path: "examples/bluetooth.rs".into(),
        program: "/examples/bluetooth.rs".into(),
        harness: "stop_during_a_request".into(),
        harness_site: sample::site(60, "fn stop_during_a_request() {"),
        followed: Vec::new(),
        features: Vec::new(),
        found,
    }
}

fn bug() -> Found {
    Found::Bug {
        threads: sample::harness().threads,
        bug: Box::new(sample::bug()),
    }
}

/// The pictures inside of a page.
fn pictures(html: &str) -> Vec<&str> {
    let mut rest = html;
    let mut all = Vec::new();
    while let Some(from) = rest.find("<svg") {
        let to = rest[from..].find("</svg>").expect("an end") + from + "</svg>".len();
        all.push(&rest[from..to]);
        rest = &rest[to..];
    }
    all
}

#[test]
fn a_finding_has_its_interleaving_and_its_progress_graph() {
    let report = draw(&of(bug()), "1.json");
    for said in [
        "Two reads of the thread under test see values",
        "driver.pending_io.fetch_add(1, SeqCst);",
        "class=\"progress\"",
        "seqz replay 1.json",
    ] {
        assert!(report.html.contains(said), "{said}");
    }
    assert_eq!(report.pictures.len(), 1);
    let drawn = roxmltree::Document::parse(&report.pictures[0].svg).unwrap();
    let has = |class: &str| {
        drawn
            .descendants()
            .any(|node| node.attribute("class") == Some(class))
    };
    assert!(has("way") && has("end"), "{}", report.pictures[0].svg);
    // The path has a mark for each non-local read and for each write that one sees.
    let marks = drawn.descendants().filter(|node| {
        node.attribute("class")
            .is_some_and(|class| class.starts_with("read "))
    });
    assert_eq!(marks.count(), 2 * sample::bug().non_local_reads.len());
    assert!(
        drawn
            .root_element()
            .children()
            .any(|node| node.has_tag_name("title")
                || node.has_tag_name(("http://www.w3.org/2000/svg", "title")))
    );
}

#[test]
fn a_failure_of_many_threads_is_drawn_without_a_plane() {
    let failure = sample::exploration().harnesses[0].failures[0].clone();
    let report = draw(
        &of(Found::Failure {
            failure: Box::new(failure),
        }),
        "1.json",
    );
    assert!(report.html.contains("class=\"lanes"));
}

#[test]
fn no_text_of_the_program_becomes_markup() {
    let hostile = "</code></script><script>alert('1')</script><img src=x onerror=alert(1)>&lt;\"'\u{0}\u{1b}[31m\u{202e}";
    let mut bug = sample::bug();
    bug.message = hostile.into();
    for site in bug
        .site
        .iter_mut()
        .chain(bug.trace.iter_mut().filter_map(|step| step.site.as_mut()))
    {
        site.text = hostile.into();
        site.file = hostile.into();
    }
    for step in &mut bug.trace {
        step.variable = Some(hostile.into());
        step.value = Some(hostile.into());
    }
    for read in &mut bug.non_local_reads {
        read.variable = Some(hostile.into());
        read.value = Some(hostile.into());
    }
    let mut threads = sample::harness().threads;
    for thread in &mut threads {
        thread.name = Some(hostile.into());
    }
    let mut finding = of(Found::Bug {
        threads,
        bug: Box::new(bug),
    });
    finding.harness = hostile.into();
    finding.path = hostile.into();
    let report = draw(&finding, hostile);
    assert!(
        !report.html.contains("<script"),
        "there is none in a finding's page"
    );
    assert!(!report.html.contains("<img"));
    assert!(report.html.contains("&lt;img"));
    assert!(!report.html.contains(['\0', '\u{1b}', '\u{202e}']));
    for svg in pictures(&report.html)
        .into_iter()
        .chain(report.pictures.iter().map(|p| p.svg.as_str()))
    {
        roxmltree::Document::parse(svg).unwrap_or_else(|e| panic!("{e}: {svg}"));
    }
}

#[test]
fn ids_are_there_once_and_all_that_are_named_exist() {
    let report = draw(&of(bug()), "1.json");
    let values = |name: &str| {
        let name = format!(" {name}=\"");
        let parts = report.html.split(&name).skip(1);
        parts
            .map(|part| part.split('"').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let ids = values("id");
    let unique: HashSet<_> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
    for names in values("aria-labelledby") {
        for name in names.split(' ') {
            assert!(unique.contains(&name.to_owned()), "{name}");
        }
    }
    assert!(
        !report.html.contains("http://")
            || report.html.matches("http://").count()
                == report.html.matches("http://www.w3.org/").count()
    );
    assert!(!report.html.contains("https://"));
}

#[test]
fn a_comparison_has_its_plots_and_its_tables() {
    let mut comparison = crate::compare::sample::comparison();
    let hostile = "</td><script>x</script>\u{0}&";
    comparison.programs[0].subject.path = hostile.into();
    comparison.programs[0].bugs[0].message = hostile.into();
    comparison.programs[0].runs[0].method = hostile.into();
    comparison.programs[0].runs[0].ended = crate::compare::document::Ended::Exhausted;
    let report = super::comparison::draw(&comparison);
    let script = report.html.matches("<script").count();
    assert_eq!(script, 1, "the one that sorts");
    assert!(!report.html.contains('\0'));
    assert_eq!(report.pictures.len(), 3);
    for svg in pictures(&report.html)
        .into_iter()
        .chain(report.pictures.iter().map(|p| p.svg.as_str()))
    {
        roxmltree::Document::parse(svg).unwrap_or_else(|e| panic!("{e}: {svg}"));
    }
    assert_eq!(report.html.matches("<table").count(), 2);
}
