//! Runs the only harness once with values, and prints what its events tell.

use std::collections::HashMap;

use seqz_explore::{Event, Executor, Pick, Scheduler, View};
use seqz_runtime::scheduled::{Machine, Settings};

#[global_allocator]
static ALLOCATOR: seqz_runtime::memory::arena::Allocator =
    seqz_runtime::memory::arena::Allocator;

struct Unpreempted;

impl Scheduler for Unpreempted {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        Pick::Run(view.unpreempted())
    }
    fn ran(&mut self, _: &Event) {}
    fn blocked(&mut self, _: &View<'_>) {}
}

fn main() {
    let harness = sample::p_hat::HARNESSES[0];
    let set = harness.bind(&[], 1, 0).unwrap();
    let settings = Settings {
        values: true,
        ..Settings::default()
    };
    let mut machine = Machine::new(&*set.bound[0].program, settings);
    for run in 0..2 {
        machine.run(&mut Unpreempted);
        assert!(machine.unsupported().is_none(), "{:?}", machine.unsupported());
        let failures: Vec<_> = machine.failures().iter().map(|it| &it.message).collect();
        assert!(failures.is_empty(), "{failures:?}");
        if run == 0 {
            // Types of blocks are registered when the block begins; nothing changes when they are known.
            print(&machine);
        }
    }
}

fn print(machine: &Machine<'_>) {
    let mut names = HashMap::new();
    let mut value = |word: u64| {
        let signed = word.cast_signed();
        if (-1000..1000).contains(&signed) {
            return signed.to_string();
        }
        let next = names.len() + 1;
        format!("#{}", names.entry(word).or_insert(next))
    };
    let tests: HashMap<_, _> = machine.tests().iter().copied().collect();
    for (number, traced) in machine.trace().iter().enumerate() {
        let event = traced.event;
        if !event.kind.has_value() {
            continue;
        }
        let line = traced.site.unwrap().line();
        let found = value(event.found);
        let left = if event.changes() {
            format!(" -> {}", value(event.left))
        } else {
            String::new()
        };
        let test = tests
            .get(&number)
            .map_or_else(String::new, |test| format!("  {test:?}"));
        println!("{line:>3} {:?} {found}{left}{test}", event.kind);
    }
}
