//! What people read.

mod documented;

use super::human::Detail;
use super::{human, trace};
use crate::model::document::*;
use crate::model::sample;

fn plain(text: &[u8]) -> String {
    anstream::adapter::strip_bytes(text)
        .into_vec()
        .try_into()
        .unwrap_or_default()
}

fn draw(bug: &Bug, columns: usize) -> String {
    let mut out = Vec::new();
    trace::draw(&mut out, bug, &[], columns).unwrap();
    plain(&out)
}

#[test]
fn a_bug_is_explained_before_it_is_drawn() {
    let mut out = Vec::new();
    human::harness(&mut out, &sample::harness(), Detail::Table, 100).unwrap();
    insta::assert_snapshot!(plain(&out));
}

#[test]
fn narrow_terminals_get_one_column() {
    insta::assert_snapshot!(draw(&sample::bug(), 50));
}

#[test]
fn wide_characters_stay_in_their_column() {
    let mut bug = sample::bug();
    bug.trace[0].site = Some(sample::site(
        12,
        "if 停止フラグ.load(SeqCst) { return Err(\"もう止まった、もう何もできない\") }",
    ));
    let text = draw(&bug, 80);
    for line in text.lines() {
        assert!(crate::layout::width(line) <= 80, "{line}");
        if let Some((left, _)) = line.split_once('│') {
            assert_eq!(crate::layout::width(left), 4 + 36 + 1, "{line}");
        }
    }
    assert!(text.contains("停止フラグ"));
}

#[test]
fn long_traces_are_shortened_around_what_matters() {
    let mut bug = sample::bug();
    let lead = (0..200).map(|i| Step {
        pair: None,
        site: Some(sample::site(50 + i % 7, "work();")),
        ..bug.trace[0].clone()
    });
    bug.trace = lead.chain(bug.trace.clone()).collect();
    let text = draw(&bug, 100);
    assert!(text.contains("more lines"), "{text}");
    assert!(text.lines().count() < 40, "{text}");
    for kept in [
        "(1) reads `pending_io` = 0",
        "(2) writes `stopped` = true",
        "the assertion fails here",
    ] {
        assert!(text.contains(kept), "{kept} in\n{text}");
    }
}

#[test]
fn several_files_are_named() {
    let mut bug = sample::bug();
    if let Some(site) = &mut bug.trace[1].site {
        site.file = "src/other.rs".into();
    }
    let text = draw(&bug, 100);
    assert!(text.contains("other.rs:29"), "{text}");
    assert!(text.contains("bluetooth.rs:12"), "{text}");
}

#[test]
fn no_interference_has_its_own_words() {
    let mut harness = sample::harness();
    let bug = &mut harness.bugs[0];
    bug.k = 0;
    bug.non_local_reads.clear();
    for step in &mut bug.trace {
        step.pair = None;
    }
    let mut out = Vec::new();
    human::harness(&mut out, &harness, Detail::Table, 100).unwrap();
    assert!(plain(&out).contains("(k = 0)"));
}

#[test]
fn a_harness_that_cannot_be_checked_says_why() {
    let harness = HarnessReport {
        status: Status::Unsupported {
            reason: "more than two threads run side by side: those started at lines 44, 45 and 46".into(),
            help: Some("bounded interference is about two threads; split the test, or join one thread earlier".into()),
            site: Some(sample::site(46, "let c = thread::spawn(run);")),
        },
        bugs: Vec::new(),
        roles: Vec::new(),
        notes: Vec::new(),
        ..sample::harness()
    };
    let mut out = Vec::new();
    human::harness(&mut out, &harness, Detail::Table, 80).unwrap();
    insta::assert_snapshot!(plain(&out));
}

#[test]
fn what_the_original_program_refutes_is_a_fault_of_seqz() {
    let mut harness = sample::harness();
    let schedule = harness.bugs[0].confirmation.schedule().to_vec();
    let mut fault = harness.bugs.remove(0);
    fault.confirmation = crate::model::schedule::Confirmation::Diverged {
        difference: "event 1: thread 2 is over".into(),
        schedule,
    };
    harness.faults.push(fault);
    let mut out = Vec::new();
    human::harness(&mut out, &harness, Detail::Table, 100).unwrap();
    insta::assert_snapshot!(plain(&out));
}
