//! Programs with known numbers of executions under RC11 and under sequential consistency.
//!
//! The numbers are those of GenMC's tests, as far as they count the model: where GenMC's psc is stricter than the paper's,
//! the paper's number stands here (`Z6.U`, `WWmerge1`).

use std::collections::HashSet;

use seqz_explore::Rc11;
use seqz_explore::event::Order::{self, AcqRel, Acquire, Plain, Relaxed, Release, SeqCst};

use super::program::{Body, Program, Thread};
use super::search;

const X: u32 = 0;
const Y: u32 = 1;
const Z: u32 = 2;
const W: u32 = 3;

type Run = fn(&mut Thread<'_>) -> Option<()>;

fn threads(all: &[Run]) -> Program {
    Program::new(all.iter().map(|&run| Box::new(run) as Body).collect())
}

fn count(name: &str, program: &Program, rc11: usize, sc: usize) {
    for (expected, strategy) in [
        (rc11, Rc11::new().choosing_data()),
        (sc, Rc11::new().choosing_data().strengthened()),
    ] {
        let found = search(program, strategy);
        let distinct: HashSet<_> = found.graphs.iter().collect();
        assert_eq!(found.graphs.len(), expected, "{name}");
        assert_eq!(distinct.len(), expected, "{name}: twice");
        assert!(!found.failed, "{name}: an assertion");
    }
}

macro_rules! rows {
    ($($name:literal, $rc11:literal, $sc:literal: $($run:expr),+;)*) => {
        $(count($name, &threads(&[$($run),+]), $rc11, $sc);)*
    };
}

/// Two stores by each thread, to `x` and `y`, and to `y` and `x`.
fn two_stores(orders: [Order; 4], fences: [bool; 2]) -> Program {
    let [a, b, c, d] = orders;
    let [first, second] = fences;
    Program::new(vec![
        Box::new(move |t| {
            t.store(X, 1, a)?;
            if first {
                t.fence(SeqCst)?;
            }
            t.store(Y, 2, b)
        }),
        Box::new(move |t| {
            t.store(Y, 1, c)?;
            if second {
                t.fence(SeqCst)?;
            }
            t.store(X, 2, d)
        }),
    ])
}

#[test]
fn two_stores_by_two_threads() {
    let (rel, sc, rlx) = (Release, SeqCst, Relaxed);
    count("2+2W", &two_stores([rel; 4], [false; 2]), 4, 3);
    count(
        "2+2W+2sc+scf",
        &two_stores([sc, sc, rlx, rlx], [false, true]),
        3,
        3,
    );
    count(
        "2+2W+3sc+rel1",
        &two_stores([sc, sc, rel, sc], [false; 2]),
        4,
        3,
    );
    count("2+2W+4sc", &two_stores([sc; 4], [false; 2]), 3, 3);
    count("2+2W+scfs", &two_stores([rlx; 4], [true; 2]), 3, 3);
}

/// Store buffering.
fn buffering(orders: [Order; 4], fences: [bool; 2]) -> Program {
    let [a, b, c, d] = orders;
    let [first, second] = fences;
    Program::new(vec![
        Box::new(move |t| {
            t.store(X, 1, a)?;
            if first {
                t.fence(SeqCst)?;
            }
            t.load(Y, b).map(|_| ())
        }),
        Box::new(move |t| {
            t.store(Y, 1, c)?;
            if second {
                t.fence(SeqCst)?;
            }
            t.load(X, d).map(|_| ())
        }),
    ])
}

#[test]
fn store_buffering() {
    let (acq, rel, sc, rlx) = (Acquire, Release, SeqCst, Relaxed);
    count("SB", &buffering([rel, acq, rel, acq], [false; 2]), 4, 3);
    count(
        "SB+2sc+scf",
        &buffering([sc, sc, rlx, rlx], [false, true]),
        3,
        3,
    );
    count(
        "SB+3sc+acq",
        &buffering([sc, sc, sc, acq], [false; 2]),
        4,
        3,
    );
    count(
        "SB+3sc+rel",
        &buffering([sc, sc, rel, sc], [false; 2]),
        4,
        3,
    );
    count("SB+4sc", &buffering([sc; 4], [false; 2]), 3, 3);
    count("SB+scfs", &buffering([rlx; 4], [true; 2]), 3, 3);
    rows! {
        "SB+rfis", 4, 3:
            |t| { t.store(X, 1, Release)?; t.load(X, SeqCst)?; t.load(Y, SeqCst).map(|_| ()) },
            |t| { t.store(Y, 1, Release)?; t.load(Y, SeqCst)?; t.load(X, SeqCst).map(|_| ()) };
    }
}

/// A message by `x`, told of by `y`. `writes`: what is told of is overwritten.
fn message(release: bool, sequence: bool, acquire: bool, last: Option<u64>, rmws: u64) -> Program {
    let mut all: Vec<Body> = vec![Box::new(move |t| {
        t.store(X, 1, Plain)?;
        if sequence {
            t.store(Y, 0, Release)?;
        } else if !release {
            t.fence(Release)?;
        }
        t.store(
            Y,
            1,
            if release && !sequence {
                Release
            } else {
                Relaxed
            },
        )
    })];
    match rmws {
        1 => all.push(Box::new(|t| t.add(Y, 1, Relaxed).map(|_| ()))),
        2 => {
            all.push(Box::new(|t| t.cas(Y, 2, 3, Relaxed).map(|_| ())));
            all.push(Box::new(|t| t.cas(Y, 1, 2, Relaxed).map(|_| ())));
        }
        _ => {}
    }
    all.push(Box::new(move |t| {
        if t.load(Y, if acquire { Acquire } else { Relaxed })? > rmws {
            if !acquire {
                t.fence(Acquire)?;
            }
            match last {
                Some(value) => t.store(X, value, Plain)?,
                None => drop(t.load(X, Plain)?),
            }
        }
        Some(())
    }));
    Program::new(all)
}

#[test]
fn messages() {
    for acquire in [true, false] {
        for release in [true, false] {
            count(
                "MP+rel+acq",
                &message(release, false, acquire, None, 0),
                2,
                2,
            );
            count(
                "S+rel+acq",
                &message(release, false, acquire, Some(2), 0),
                2,
                2,
            );
            count(
                "MPU+rel+acq",
                &message(release, false, acquire, Some(2), 1),
                6,
                6,
            );
            count(
                "MPU2+rel+acq",
                &message(release, false, acquire, Some(2), 2),
                14,
                14,
            );
        }
        count("MP+rels+acq", &message(true, true, acquire, None, 0), 4, 3);
        count(
            "S+rels+acq",
            &message(true, true, acquire, Some(2), 0),
            4,
            3,
        );
        count(
            "MPU+rels+acq",
            &message(true, true, acquire, Some(2), 1),
            13,
            12,
        );
        count(
            "MPU2+rels+acq",
            &message(true, true, acquire, Some(2), 2),
            36,
            35,
        );
    }
    rows! {
        "MP", 3, 3:
            |t| { t.store(X, 1, Release)?; t.store(Y, 1, Release) },
            |t| { t.load(Y, Acquire)?; t.load(X, Acquire).map(|_| ()) };
        "MP2", 9, 9:
            |t| {
                t.store(X, 1, Relaxed)?; t.store(Z, 1, Relaxed)?; t.fence(AcqRel)?;
                t.store(Y, 1, Relaxed)?; t.store(W, 1, Relaxed)
            },
            |t| { t.load(Y, Relaxed)?; t.fence(AcqRel)?; t.load(X, Relaxed).map(|_| ()) },
            |t| { t.load(W, Relaxed)?; t.fence(AcqRel)?; t.load(Z, Relaxed).map(|_| ()) };
        "S", 4, 3:
            |t| { t.store(X, 2, Relaxed)?; t.store(Y, 1, Relaxed) },
            |t| { t.load(Y, Relaxed)?; t.store(X, 1, Relaxed) };
    }
}

#[test]
fn load_buffering() {
    rows! {
        "LB", 3, 3:
            |t| { t.load(Y, Acquire)?; t.store(X, 1, Release) },
            |t| { t.load(X, Acquire)?; t.store(Y, 1, Release) };
        "LB+acq", 3, 3:
            |t| { t.load(X, Acquire)?; t.store(Y, 1, Relaxed) },
            |t| { t.load(Y, Acquire)?; t.store(X, 1, Relaxed) };
        "LB+rel", 3, 3:
            |t| { t.load(X, Relaxed)?; t.store(Y, 1, Release) },
            |t| { t.load(Y, Relaxed)?; t.store(X, 1, Release) };
        "LB2", 3, 3:
            |t| { t.load(X, Relaxed)?; t.store(Y, 1, Relaxed) },
            |t| { t.load(Y, Relaxed)?; t.store(X, 1, Relaxed) };
        "LB3", 7, 7:
            |t| { t.load(X, Relaxed)?; t.store(Y, 1, Relaxed) },
            |t| { t.load(Y, Relaxed)?; t.store(Z, 1, Relaxed) },
            |t| { t.load(Z, Relaxed)?; t.store(X, 1, Relaxed) };
        "LB+dep", 3, 3:
            |t| { let r = t.load(X, Relaxed)?; t.store(Y, r + 1, Relaxed) },
            |t| { let r = t.load(Y, Relaxed)?; t.store(X, r + 1, Relaxed) };
        "LB+ctrl", 3, 3:
            |t| { let r = t.load(X, Relaxed)?; t.store(Y, if r == 0 { 1 } else { 2 }, Relaxed) },
            |t| { let r = t.load(Y, Relaxed)?; t.store(X, if r == 0 { 1 } else { 2 }, Relaxed) };
        "LB+ctrl+rel", 3, 3:
            |t| { let r = t.load(X, Relaxed)?; t.store(Y, if r == 0 { 1 } else { 2 }, Relaxed) },
            |t| { t.load(Y, Relaxed)?; t.store(X, 1, Release) };
        "LB+addr", 3, 3:
            |t| { let a = t.load(X, Relaxed)?; t.load(8 + a as u32, Relaxed)?; t.store(8, 1, Relaxed) },
            |t| { let r = t.load(8, Relaxed)?; t.store(X, r, Release) };
    }
}

#[test]
fn causality() {
    rows! {
        "IRIW-acq-sc", 16, 15:
            |t| t.store(X, 1, SeqCst),
            |t| { t.load(X, Acquire)?; t.load(Y, SeqCst).map(|_| ()) },
            |t| { t.load(Y, Acquire)?; t.load(X, SeqCst).map(|_| ()) },
            |t| t.store(Y, 1, SeqCst);
        "IRIWish", 28, 27:
            |t| t.store(X, 1, Relaxed),
            |t| { let r = t.load(X, Relaxed)?; t.store(Y, r, Release) },
            |t| { t.load(X, Relaxed)?; t.fence(AcqRel)?; t.load(Y, Relaxed).map(|_| ()) },
            |t| { t.load(Y, Relaxed)?; t.fence(AcqRel)?; t.load(X, Relaxed).map(|_| ()) };
        "WRC+dep", 8, 7:
            |t| t.store(X, 1, Relaxed),
            |t| { let r = t.load(X, Relaxed)?; t.store(Y, r, Relaxed) },
            |t| { t.load(Y, Relaxed)?; t.fence(AcqRel)?; t.load(X, Relaxed).map(|_| ()) };
        "Z6.U", 24, 18:
            |t| { t.store(X, 1, SeqCst)?; t.store(Y, 1, Release) },
            |t| { t.add(Y, 1, SeqCst)?; t.load(Y, Relaxed).map(|_| ()) },
            |t| { t.store(Y, 3, SeqCst)?; t.load(X, SeqCst).map(|_| ()) };
        "Z6+acq", 7, 7:
            |t| { t.store(X, 1, Relaxed)?; t.fence(SeqCst)?; t.store(Y, 1, Relaxed) },
            |t| { t.load(Y, Acquire)?; t.store(Z, 1, Relaxed) },
            |t| { t.store(Z, 2, Relaxed)?; t.fence(SeqCst)?; t.load(X, Relaxed).map(|_| ()) };
        "RWC+syncs", 7, 7:
            |t| t.store(X, 1, Relaxed),
            |t| { t.load(X, Relaxed)?; t.fence(SeqCst)?; t.load(Y, Relaxed).map(|_| ()) },
            |t| { t.store(Y, 1, Relaxed)?; t.fence(SeqCst)?; t.load(X, Relaxed).map(|_| ()) };
        "W+RWC", 7, 7:
            |t| { t.store(X, 1, Relaxed)?; t.store(Z, 1, Release) },
            |t| { t.load(Z, Acquire)?; t.fence(SeqCst)?; t.load(Y, Relaxed).map(|_| ()) },
            |t| { t.store(Y, 1, Relaxed)?; t.fence(SeqCst)?; t.load(X, Relaxed).map(|_| ()) };
        "cumul-release", 8, 7:
            |t| { t.store(X, 1, Relaxed)?; t.store(Y, 1, Release) },
            |t| { let r = t.load(Y, Relaxed)?; t.store(Z, r, Relaxed) },
            |t| { t.load(Z, Relaxed)?; t.fence(AcqRel)?; t.load(X, Relaxed).map(|_| ()) };
        "rel-B-cumul-acq", 16, 14:
            |t| { t.store(X, 1, Relaxed)?; t.store(Y, 1, Release) },
            |t| { let r = t.load(Y, Relaxed)?; t.store(Z, r, Relaxed) },
            |t| { t.load(Z, Relaxed)?; t.fence(AcqRel)?; t.load(X, Relaxed).map(|_| ()) },
            |t| t.load(Y, Acquire).map(|_| ());
        "psc-ar", 1, 0:
            |t| {
                let y = t.load(Y, Relaxed)?; t.assume(y == 1)?; t.fence(SeqCst)?;
                let z = t.load(Z, Relaxed)?; t.assume(z == 0)
            },
            |t| { t.store(Z, 1, Relaxed)?; t.fence(SeqCst)?; t.store(X, 1, Relaxed) },
            |t| {
                let d = t.load(X, Relaxed)?;
                if d == 1 { t.store(Y, 1, Relaxed)?; }
                t.assume(d == 1)?;
                t.store(W, d, Plain)
            };
        "psc-base-notin-ar", 2, 1:
            |t| { let x = t.load(X, Relaxed)?; t.assume(x == 2)?; t.store(Y, 1, SeqCst) },
            |t| t.store(Y, 2, SeqCst),
            |t| { let b = t.load(Y, Relaxed)?; t.assume(b == 2)?; t.store(X, b, Relaxed) };
        "psc-sbhbsb", 1, 1:
            |t| { t.store(X, 1, SeqCst)?; t.store(Y, 1, SeqCst) },
            |t| {
                let x = t.load(X, Acquire)?; t.assume(x == 1)?;
                let y = t.load(Y, SeqCst)?; t.assume(y == 0)
            };
        "WWmerge1", 18, 15:
            |t| { t.load(X, Acquire)?; t.load(Y, SeqCst).map(|_| ()) },
            |t| { t.store(X, 1, SeqCst)?; t.store(X, 2, SeqCst) },
            |t| { t.store(Y, 1, SeqCst)?; t.load(X, SeqCst).map(|_| ()) };
        "WWmerge2", 8, 7:
            |t| { t.load(X, Acquire)?; t.load(Y, SeqCst).map(|_| ()) },
            |t| t.store(X, 2, SeqCst),
            |t| { t.store(Y, 1, SeqCst)?; t.load(X, SeqCst).map(|_| ()) };
    }
}

#[test]
fn coherence() {
    rows! {
        "CoRR", 6, 6:
            |t| { t.store(X, 1, Release)?; t.store(X, 2, Release) },
            |t| { t.load(X, Acquire)?; t.load(X, Acquire).map(|_| ()) };
        "CoRR0", 4, 4:
            |t| t.store(X, 1, Release),
            |t| t.load(X, Acquire).map(|_| ()),
            |t| t.load(X, Acquire).map(|_| ());
        "CoRR1", 36, 36:
            |t| t.store(X, 1, Release),
            |t| t.store(X, 2, Release),
            |t| { t.load(X, Acquire)?; t.load(X, Acquire).map(|_| ()) },
            |t| t.load(X, Acquire).map(|_| ());
        "CoRR2", 72, 72:
            |t| t.store(X, 1, Release),
            |t| t.store(X, 2, Release),
            |t| { t.load(X, Acquire)?; t.load(X, Acquire).map(|_| ()) },
            |t| { t.load(X, Acquire)?; t.load(X, Acquire).map(|_| ()) };
        "relseq", 20, 16:
            |t| { t.store(X, 1, Relaxed)?; t.store(Y, 1, Release)?; t.store(Y, 2, Relaxed) },
            |t| t.swap(Y, 3, Relaxed).map(|_| ()),
            |t| { t.load(Y, Relaxed)?; t.fence(AcqRel)?; t.load(X, Relaxed).map(|_| ()) };
        "viktor-relseq", 180, 180:
            |t| { t.add(X, 1, Relaxed)?; t.add(X, 1, Relaxed).map(|_| ()) },
            |t| { t.add(X, 1, Acquire)?; t.add(X, 1, Relaxed).map(|_| ()) },
            |t| t.add(X, 1, Release).map(|_| ()),
            |t| t.add(X, 1, Relaxed).map(|_| ());
        "inc2w", 6, 6:
            |t| t.add(X, 1, Relaxed).map(|_| ()),
            |t| t.store(X, 4, Release),
            |t| t.add(X, 2, Relaxed).map(|_| ());
        "atomicpo", 4, 3:
            |t| { t.store(Y, 1, Relaxed)?; t.fence(AcqRel)?; t.store(X, 1, Relaxed) },
            |t| { t.swap(X, 1, Relaxed)?; t.swap(Y, 1, Relaxed).map(|_| ()) };
        "detour", 9, 9:
            |t| t.store(X, 1, Relaxed),
            |t| {
                let a = t.load(Z, Relaxed)?; t.store(X, a.wrapping_sub(1), Relaxed)?;
                let b = t.load(X, Relaxed)?; t.store(Y, b, Relaxed)
            },
            |t| { let c = t.load(Y, Relaxed)?; t.store(Z, c, Relaxed) };
        "rinc", 2, 2:
            |t| t.add(X, 1, Relaxed).map(|_| ()),
            |t| t.add(X, 1, Relaxed).map(|_| ());
        "wrc11_fp", 4, 4:
            |t| t.store(X, 1, Release),
            |t| {
                t.store(X, 2, Release)?;
                let a = t.load(X, Acquire)?;
                let b = t.load(X, Acquire)?;
                t.assert(!(a == 1 && b == 2))
            };
    }
    for (n, rc11, sc) in [(1, 4, 4), (2, 16, 15), (3, 144, 130)] {
        let mut all: Vec<Body> = vec![
            Box::new(|t| {
                t.store(X, 1, Release)?;
                t.load(Y, Acquire)?;
                t.load(X, Acquire).map(|_| ())
            }),
            Box::new(|t| {
                t.store(X, 2, Release)?;
                t.load(Z, Acquire)?;
                t.load(X, Acquire).map(|_| ())
            }),
        ];
        for i in 0..n - 1 {
            all.push(Box::new(move |t| {
                t.store(Y, i, Release)?;
                t.store(Z, i, Release)
            }));
        }
        count("CoA", &Program::new(all), rc11, sc);
    }
    for (n, executions) in [(2, 2), (3, 5), (4, 14), (5, 43), (6, 144)] {
        let all =
            (1..=n).map(|i| -> Body { Box::new(move |t| t.cas(X, i - 1, i, Relaxed).map(|_| ())) });
        count(
            "casrot",
            &Program::new(all.collect()),
            executions,
            executions,
        );
    }
}

#[test]
fn mutual_exclusion() {
    let peterson = |store: Order, load: Order| {
        Program::new(vec![
            Box::new(move |t: &mut Thread<'_>| {
                t.store(Y, 1, store)?;
                t.store(Z, 1, store)?;
                let other = t.load(W, load)?;
                let open = other != 1 || t.load(Z, load)? != 1;
                t.assume(open)?;
                t.store(X, 0, store)?;
                t.load(X, load)?;
                t.store(Y, 0, store)
            }) as Body,
            Box::new(move |t: &mut Thread<'_>| {
                t.store(W, 1, store)?;
                t.store(Z, 0, store)?;
                let other = t.load(Y, load)?;
                let open = other != 1 || t.load(Z, load)? != 0;
                t.assume(open)?;
                t.store(X, 1, store)?;
                t.load(X, load)?;
                t.store(W, 0, store)
            }),
        ])
    };
    count("peterson", &peterson(Release, Acquire), 22, 4);
    count("peterson-sc", &peterson(SeqCst, SeqCst), 4, 4);
    rows! {
        "dekker_f", 3, 3:
            |t| {
                t.store(Y, 1, Relaxed)?; t.fence(SeqCst)?;
                if t.load(X, Relaxed)? == 0 {
                    t.store(Z, 1, Relaxed)?;
                    let c = t.load(Z, Relaxed)?; t.assert(c == 1)?;
                }
                Some(())
            },
            |t| {
                t.store(X, 1, Relaxed)?; t.fence(SeqCst)?;
                if t.load(Y, Relaxed)? == 0 {
                    t.store(Z, 0, Relaxed)?;
                    let c = t.load(Z, Relaxed)?; t.assert(c == 0)?;
                }
                Some(())
            };
    }
}

#[test]
fn data_structures() {
    let sieve = |n: u64| -> Body {
        Box::new(move |t| {
            for k in 0..n {
                if t.load(8 + k as u32, Acquire)? == 0 {
                    t.store(8 + k as u32, 1, Release)?;
                    let mut j = 2 * k + 2;
                    for _ in 0..n {
                        if j < n {
                            t.store(8 + j as u32, 2, Release)?;
                            j += k + 2;
                        }
                    }
                }
            }
            Some(())
        })
    };
    count(
        "eratosthenes",
        &Program::new(vec![sieve(5), sieve(5)]),
        1512,
        398,
    );
}
