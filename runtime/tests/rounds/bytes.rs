//! Choices from bytes against the enumeration: what bytes choose is one of the enumeration's choices, and ends as it does there;
//! and nearly all strings stand for what some interleaving has.

use std::collections::BTreeMap;

use seqz_runtime::engine::{ByBytes, Ending, Limits, Machine, Solver};
use seqz_runtime::{Bound, Pair, Role};

use crate::execute::bound;
use crate::program::{Random, generate};

/// The largest k.
const K: usize = 2;

/// All choices up to [`K`], as executions reveal them, and how each ends.
fn enumerate(machine: &mut Machine, role: Role, bound: &Bound) -> BTreeMap<Vec<Pair>, Ending> {
    let mut all = BTreeMap::new();
    let mut open: Vec<Vec<Pair>> = vec![Vec::new()];
    while let Some(pairs) = open.pop() {
        machine.forget_bugs();
        let ending = machine.run(role, &pairs, true, bound).unwrap();
        if pairs.len() < K {
            let next = machine.revealed().pairs();
            open.extend(next.map(|next| [&pairs[..], &[next]].concat()));
        }
        all.insert(pairs, ending);
    }
    all
}

#[test]
fn bytes_choose_what_the_enumeration_has() {
    let mut random = Random::new(11);
    let (mut strings, mut wasted, mut full) = (0_u32, 0_u32, 0_u32);
    for index in 0..60 {
        let program = generate(&mut random);
        for role in [Role::FIRST, Role::SECOND] {
            let bound = bound(&program, role);
            let mut machine = Machine::new(Limits::default(), Solver::Grid);
            let expected = enumerate(&mut machine, role, &bound);
            machine.forget();
            for _ in 0..40 {
                let choices: [u8; 2 * K] =
                    std::array::from_fn(|_| u8::try_from(random.below(256)).expect("a byte"));
                machine.forget_bugs();
                let ending = machine
                    .run_bytes(&ByBytes {
                        role,
                        k: K,
                        choices: &choices,
                        extension: &[],
                        program: &*bound.program,
                        safe: bound.safe,
                        same: Some((index, &[])),
                    })
                    .unwrap();
                let pairs = machine.pairs();
                assert_eq!(
                    Some(&ending),
                    expected.get(pairs),
                    "{choices:?} choose {pairs:?}, {role:?} under test: {program:?}"
                );
                strings += 1;
                wasted += u32::from(ending == Ending::Infeasible);
                full += u32::from(pairs.len() == K);
            }
        }
    }
    println!("{wasted} of {strings} strings stand for nothing, {full} for {K} non-local reads");
    assert!(wasted * 20 <= strings && full > 20);
}
