//! A report for tests to draw: the bluetooth driver's bug, shortened.

use super::document::*;
use super::exploration::{
    Causality, Counts, Coupling, Exploration, Failure, HarnessExploration, HeldUp, Promise, Waiting,
};
use super::lone::{Lone, Reasonless};
use super::schedule::{Action, Awaited, Confirmation, Event};

pub(crate) fn site(line: u32, text: &str) -> Site {
    Site {
        file: "examples/bluetooth.rs".into(),
        line,
        column: 9,
        text: text.into(),
    }
}

fn step(thread: Role, op: Op, variable: &str, line: u32, text: &str) -> Step {
    Step {
        thread,
        op,
        object: Some(0),
        variable: Some(variable.into()),
        value: None,
        site: Some(site(line, text)),
        pair: None,
    }
}

pub(crate) fn bug() -> Bug {
    let (first, second) = (Role::FIRST, Role::SECOND);
    let mut trace = vec![
        step(
            first,
            Op::Read,
            "stopping_flag",
            12,
            "if driver.stopping_flag.load(SeqCst) {",
        ),
        step(
            second,
            Op::Write,
            "stopping_flag",
            29,
            "driver.stopping_flag.store(true, SeqCst);",
        ),
        step(
            second,
            Op::Update,
            "pending_io",
            31,
            "if driver.pending_io.fetch_sub(1, SeqCst) == 1 {",
        ),
        step(
            first,
            Op::Update,
            "pending_io",
            15,
            "driver.pending_io.fetch_add(1, SeqCst);",
        ),
        step(
            second,
            Op::Write,
            "stopping_event",
            32,
            "driver.stopping_event.store(true, SeqCst);",
        ),
        step(
            second,
            Op::Read,
            "stopping_event",
            34,
            "while !driver.stopping_event.load(SeqCst) {}",
        ),
        step(
            second,
            Op::Read,
            "stopping_event",
            34,
            "while !driver.stopping_event.load(SeqCst) {}",
        ),
        step(
            second,
            Op::Write,
            "stopped",
            35,
            "driver.stopped.store(true, SeqCst);",
        ),
        step(
            first,
            Op::Read,
            "stopped",
            17,
            "assert!(!driver.stopped.load(SeqCst));",
        ),
    ];
    for (at, pair) in [(2, 0), (3, 0), (7, 1), (8, 1)] {
        trace[at].pair = Some(pair);
    }
    let read = |read, write, variable: &str, value: &str, steps: (u32, u32), trace: &[Step]| {
        NonLocalRead {
            read,
            write,
            variable: Some(variable.into()),
            value: Some(value.into()),
            read_step: Some(steps.0),
            write_step: Some(steps.1),
            read_site: trace[steps.0 as usize].site.clone(),
            write_site: trace[steps.1 as usize].site.clone(),
        }
    };
    Bug {
        kind: Kind::Assertion,
        message: "assertion failed: !driver.stopped.load(SeqCst)".into(),
        site: Some(site(17, "assert!(!driver.stopped.load(SeqCst));")),
        other_site: None,
        other_pending: false,
        other_thread: None,
        k: 2,
        under_test: first,
        inputs: vec![Input {
            name: "requests".into(),
            value: "1".into(),
        }],
        non_local_reads: vec![
            read(1, 1, "pending_io", "0", (3, 2), &trace),
            read(2, 3, "stopped", "true", (8, 7), &trace),
        ],
        trace,
        confirmation: Confirmation::Confirmed {
            schedule: vec![Event {
                thread: 0,
                action: Action::Read,
                object: 3,
                variable: Some("stopping_flag".into()),
                site: Some(site(12, "")),
                saw: None,
            }],
        },
        run_alone: None,
        met: Met {
            executions: 3,
            seconds: 0.5,
        },
        count: 3,
        also_found: vec![AlsoFound {
            under_test: second,
            k: 3,
            count: 1,
        }],
        finding: Some("target/seqz/findings/device-0123456789abcdef/1.json".into()),
    }
}

pub(crate) fn not_followed() -> NotFollowed {
    NotFollowed {
        package: Some("x".into()),
        what: "a `Mutex`".into(),
        site: Some(site(12, "x")),
        distorts: false,
        synchronizes: false,
    }
}

pub(crate) fn harness() -> HarnessReport {
    let level = |k, executions, infeasible, failing| Level {
        k,
        executions,
        infeasible,
        failing,
        assumed: 0,
        waiting: 0,
        cut: 0,
        undecided: 0,
        exhausted: true,
        reasons: Vec::new(),
    };
    HarnessReport {
        seconds: 0.5,
        name: "add_while_stopping".into(),
        site: site(40, "fn add_while_stopping() {"),
        status: Status::Checked,
        threads: vec![
            Thread {
                name: Some("adder".into()),
                spawned: Some(site(44, "")),
            },
            Thread {
                name: None,
                spawned: Some(site(45, "")),
            },
        ],
        inputs: vec![InputDomain {
            name: "requests".into(),
            ty: "u32".into(),
            given: None,
        }],
        roles: vec![RoleReport {
            under_test: Role::FIRST,
            levels: vec![
                level(0, 1, 0, 0),
                level(1, 3, 1, 0),
                Level {
                    exhausted: false,
                    reasons: vec![Reason::StepBound, Reason::SampledInputs],
                    ..level(2, 1204, 2, 3)
                },
            ],
        }],
        bugs: vec![bug()],
        faults: Vec::new(),
        not_followed: Vec::new(),
        reads: None,
        lone: Vec::new(),
        notes: vec!["inputs were sampled with seed 7".into()],
        verdict: "not exhausted: inputs were sampled".into(),
    }
}

pub(crate) fn report() -> Report {
    Report {
        schema: SCHEMA,
        seqz: "0.1.0".into(),
        path: "examples/bluetooth.rs".into(),
        k_max: 3,
        solver: "grid".into(),
        seed: None,
        cut: None,
        findings: Some("target/seqz/findings/bluetooth".into()),
        harnesses: vec![harness()],
        explored: None,
        summary: Summary {
            memory: Some(2 << 20),
            bugs: 1,
            failures: 0,
            faults: 0,
            checked: 1,
            unsupported: 0,
            doubtful: 0,
            executions: 1208,
            exhausted: false,
            seconds: 0.25,
            building: 0.25,
        },
    }
}

/// Returns a call that may fail without a reason.
pub(crate) fn lone() -> Lone {
    Lone {
        what: Reasonless::WeakExchange,
        site: site(
            14,
            "taken.compare_exchange_weak(false, true, SeqCst, SeqCst)",
        ),
    }
}

/// Returns an exploration that has every field.
pub(crate) fn exploration() -> Exploration {
    let schedule = bug().confirmation.schedule().to_vec();
    let failure = Failure {
        met: Met {
            executions: 1,
            seconds: 0.5,
        },
        kind: Kind::Deadlock,
        message: "threads wait for each other".into(),
        site: Some(site(12, "a.lock()")),
        thread: 1,
        waiting: vec![Waiting {
            thread: 1,
            action: Action::Lock,
            object: 3,
            awaited: Some(Awaited::Message),
            held_by: Some(2),
            missed: Some(site(13, "changed.notify_all()")),
            instead: Some(3),
            variable: Some("a".into()),
            site: Some(site(12, "a.lock()")),
            after: None,
        }],
        inputs: bug().inputs,
        threads: vec![None, Some(harness().threads[0].clone())],
        schedule,
        fails_after: Some(1),
        execution: 7,
        spurious: 0,
        spurious_in_loops: true,
        random_numbers: 0,
        stack_size: 1 << 20,
        count: 2,
        couplings: vec![Coupling {
            under_test: Role::FIRST,
            k: 1,
        }],
        held_up: Some(HeldUp {
            thread: 2,
            site: Some(site(12, "a.lock()")),
            nanoseconds: 50_000_000,
            by: 1,
            passing: Some(site(13, "changed.wait_timeout(guard, limit)")),
            is_limit: true,
            took: 100_000_000,
        }),
        finding: Some("target/seqz/findings/device-0123456789abcdef/2.json".into()),
    };
    let explored = |status, promise| HarnessExploration {
        name: "add_while_stopping".into(),
        site: site(40, "fn add_while_stopping() {"),
        status,
        inputs: harness().inputs,
        sampled_inputs: false,
        not_followed: vec![not_followed()],
        reads: None,
        lone: vec![lone()],
        spurious: 1,
        spurious_in_loops: false,
        promise,
        counts: Counts {
            causality: Some(Causality::default()),
            ..Counts::default()
        },
        failures: vec![failure.clone()],
        notes: Vec::new(),
        verdict: "not exhausted: --time is over".into(),
    };
    Exploration {
        schema: SCHEMA,
        seqz: "0.1.0".into(),
        path: "examples/bluetooth.rs".into(),
        strategy: "odpor".into(),
        solver: Some("order".into()),
        bound: None,
        seed: None,
        cut: None,
        harnesses: vec![
            explored(
                Status::Unsupported {
                    reason: "r".into(),
                    help: None,
                    site: None,
                },
                Promise::Bounded {
                    preemptions: Some(2),
                    truncated: true,
                },
            ),
            explored(
                Status::Checked,
                Promise::Unfinished {
                    reasons: vec![Reason::TimeLimit],
                },
            ),
        ],
        findings: None,
        summary: super::exploration::Summary::default(),
    }
}
