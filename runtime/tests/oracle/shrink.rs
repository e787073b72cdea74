//! Makes a program that shows a difference smaller, greedily, as long as it still shows one.

use crate::program::{HeldFromStart, HeldOverJoin, Joins, Program, Shape, Stmt};

/// The smallest program reached from this one by single edits that all keep `shows` true.
pub(crate) fn shrink(program: &Program, mut shows: impl FnMut(&Program) -> bool) -> Program {
    let mut least = program.clone();
    while let Some(smaller) = edits(&least)
        .into_iter()
        .find(|edit| edit.is_valid() && shows(edit))
    {
        least = smaller;
    }
    least
}

/// Every program that is one edit smaller.
fn edits(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    let mut push = |change: &dyn Fn(&mut Program)| {
        let mut edit = program.clone();
        change(&mut edit);
        if edit != *program {
            all.push(edit);
        }
    };
    for list in list_edits(&program.after) {
        push(&|edit| edit.after.clone_from(&list));
    }
    for index in 0..program.init.len() {
        push(&|edit| {
            edit.init.remove(index);
        });
    }
    push(&|edit| edit.statics = false);
    push(&|edit| edit.safe = false);
    match &program.shape {
        Shape::Two {
            first,
            second,
            joins,
        } => {
            let with = |first: &[Stmt], second: &[Stmt], joins: &Joins| Shape::Two {
                first: first.to_vec(),
                second: second.to_vec(),
                joins: joins.clone(),
            };
            for list in list_edits(first) {
                push(&|edit| edit.shape = with(&list, second, joins));
            }
            for list in list_edits(second) {
                push(&|edit| edit.shape = with(first, &list, joins));
            }
            match joins {
                Joins::Implicit => {
                    let plain = Joins::FirstThenSecond(Vec::new());
                    push(&|edit| {
                        edit.shape = with(first, second, &plain);
                        edit.scoped = false;
                    });
                }
                Joins::FirstThenSecond(between) => {
                    for list in list_edits(between) {
                        push(&|edit| {
                            edit.shape = with(first, second, &Joins::FirstThenSecond(list.clone()))
                        });
                    }
                    push(&|edit| edit.scoped = false);
                }
                Joins::SecondThenFirst(between) => {
                    for list in list_edits(between) {
                        push(&|edit| {
                            edit.shape = with(first, second, &Joins::SecondThenFirst(list.clone()))
                        });
                    }
                    let plain = Joins::FirstThenSecond(between.clone());
                    push(&|edit| edit.shape = with(first, second, &plain));
                    push(&|edit| edit.scoped = false);
                }
            }
        }
        Shape::One { spawned, main } => {
            let with = |spawned: &[Stmt], main: &[Stmt]| Shape::One {
                spawned: spawned.to_vec(),
                main: main.to_vec(),
            };
            for list in list_edits(spawned) {
                push(&|edit| edit.shape = with(&list, main));
            }
            for list in list_edits(main) {
                push(&|edit| edit.shape = with(spawned, &list));
            }
            push(&|edit| edit.scoped = false);
        }
    }
    if let Some(start) = &program.held_from_start {
        push(&|edit| edit.held_from_start = None);
        for under in list_edits(&start.under) {
            let start = HeldFromStart {
                under,
                ..start.clone()
            };
            push(&|edit| edit.held_from_start = Some(start.clone()));
        }
    }
    if let Some(over) = &program.held_over_join {
        push(&|edit| edit.held_over_join = None);
        for before in list_edits(&over.before) {
            let over = HeldOverJoin {
                before,
                ..over.clone()
            };
            push(&|edit| edit.held_over_join = Some(over.clone()));
        }
        for after in list_edits(&over.after) {
            let over = HeldOverJoin {
                after,
                ..over.clone()
            };
            push(&|edit| edit.held_over_join = Some(over.clone()));
        }
    }
    all
}

/// Every list that is one edit smaller: a statement less, or a block replaced by what is in it.
fn list_edits(list: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut all = Vec::new();
    for (index, stmt) in list.iter().enumerate() {
        let mut splice = |with: Vec<Stmt>| {
            let mut edit = list[..index].to_vec();
            edit.extend(with);
            edit.extend_from_slice(&list[index + 1..]);
            all.push(edit);
        };
        splice(Vec::new());
        match stmt {
            Stmt::Hold { lock, body } => {
                splice(body.clone());
                for body in list_edits(body) {
                    splice(vec![Stmt::Hold { lock: *lock, body }]);
                }
            }
            Stmt::Try {
                lock,
                body,
                otherwise,
            } => {
                splice(body.clone());
                splice(otherwise.clone());
                for body in list_edits(body) {
                    splice(vec![Stmt::Try {
                        lock: *lock,
                        body,
                        otherwise: otherwise.clone(),
                    }]);
                }
                for otherwise in list_edits(otherwise) {
                    splice(vec![Stmt::Try {
                        lock: *lock,
                        body: body.clone(),
                        otherwise,
                    }]);
                }
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                splice(then.clone());
                splice(otherwise.clone());
                for then in list_edits(then) {
                    splice(vec![Stmt::If {
                        cond: *cond,
                        then,
                        otherwise: otherwise.clone(),
                    }]);
                }
                for otherwise in list_edits(otherwise) {
                    splice(vec![Stmt::If {
                        cond: *cond,
                        then: then.clone(),
                        otherwise,
                    }]);
                }
            }
            Stmt::Repeat { times, body } => {
                splice(body.clone());
                for body in list_edits(body) {
                    splice(vec![Stmt::Repeat {
                        times: *times,
                        body,
                    }]);
                }
            }
            _ => {}
        }
    }
    all
}
