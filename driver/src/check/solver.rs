//! Feasibility, decided in the driver on a worker's behalf.

use crate::worker::message::{Log, Verdict};

/// Decides the logs that a worker hands over.
pub(super) trait RemoteSolver {
    /// Whether the log has a feasible interleaving.
    fn check(&mut self, log: &Log) -> Verdict;
}

/// Where workers decide for themselves, nothing is asked.
pub(super) struct Unasked;

impl RemoteSolver for Unasked {
    fn check(&mut self, _: &Log) -> Verdict {
        Verdict::Unknown("this seqz has no solver but the workers' own".into())
    }
}

#[cfg(feature = "z3")]
pub(super) use with_z3::Z3;

#[cfg(feature = "z3")]
mod with_z3 {
    use seqz_runtime::feasibility::{self, Feasibility as _};
    use seqz_runtime::log;

    use super::RemoteSolver;
    use crate::worker::message::{self, Log, Verdict};

    /// Z3, with the paper's encoding.
    pub(in super::super) struct Z3(feasibility::Z3);

    impl Z3 {
        pub(in super::super) fn new() -> Self {
            Self(feasibility::Z3::new())
        }
    }

    impl RemoteSolver for Z3 {
        fn check(&mut self, log: &Log) -> Verdict {
            let under_test: Vec<_> = log
                .under_test
                .iter()
                .map(|&(op, source)| log::TEvent { op: of(op), source })
                .collect();
            let interfering: Vec<_> = log.interfering.iter().map(|&op| of(op)).collect();
            let log = log::Log {
                under_test: &under_test,
                interfering: &interfering,
            };
            match self.0.check(&log) {
                feasibility::Verdict::Feasible(order) => Verdict::Feasible(
                    order
                        .0
                        .into_iter()
                        .map(|step| match step {
                            feasibility::Step::UnderTest(at) => message::Step::UnderTest(at),
                            feasibility::Step::Interfering(at) => message::Step::Interfering(at),
                        })
                        .collect(),
                ),
                feasibility::Verdict::Infeasible => Verdict::Infeasible,
                feasibility::Verdict::Unknown(why) => Verdict::Unknown(why),
            }
        }
    }

    fn of(op: message::Op) -> log::Op {
        use message::Op as M;
        match op {
            M::Read(x) => log::Op::Read(x),
            M::Write(x) => log::Op::Write(x),
            M::Update(x) => log::Op::Update(x),
            M::Acquire(x, m) => log::Op::Acquire(x, mode(m)),
            M::Release(x, m) => log::Op::Release(x, mode(m)),
            M::TryFail(x, m) => log::Op::TryFail(x, mode(m)),
            M::Join => log::Op::Join,
        }
    }

    const fn mode(mode: message::LockMode) -> log::LockMode {
        match mode {
            message::LockMode::Exclusive => log::LockMode::Exclusive,
            message::LockMode::Shared => log::LockMode::Shared,
        }
    }
}
