//! Random programs that get somewhere, and fail in some interleavings.

use seqz_explore::random_numbers::RandomNumbers;

use crate::program::{ATOMICS, Assert, Channel, LOCALS, Program, Stmt};

/// What the programs are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Condvar,
    Limits,
    Parking,
    Barrier,
    Once,
    OnceLock,
    Channel(Option<usize>),
    /// All of them.
    Any,
}

/// A source of choices.
struct Random(RandomNumbers);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn local(&mut self) -> usize {
        self.below(LOCALS)
    }

    fn value(&mut self) -> u8 {
        [1, 1, 2, 2, 3, 0][self.below(6)]
    }

    fn atomic(&mut self) -> Stmt {
        let (x, into, value) = (self.below(ATOMICS), self.local(), self.value());
        match self.below(5) {
            0 | 1 => Stmt::Load { x, into },
            2 | 3 => Stmt::Store { x, value },
            _ => Stmt::Add { x, into },
        }
    }

    /// What stands under the lock.
    fn under(&mut self, waits: &[Stmt], gives: bool, list: &mut Vec<Stmt>) {
        list.push(Stmt::Lock);
        if gives {
            if self.chance(80) {
                let value = self.value();
                list.push(Stmt::Put { value });
            }
            if self.chance(60) {
                list.push([Stmt::NotifyOne, Stmt::NotifyAll][self.below(2)]);
            }
        } else {
            if self.chance(20) {
                list.push(self.atomic());
            }
            if !waits.is_empty() && self.chance(70) {
                let wait = waits[self.below(waits.len())];
                list.push(wait);
            }
            if self.chance(60) {
                let into = self.local();
                list.push(Stmt::Get { into });
            }
        }
        list.push(Stmt::Unlock);
        if gives && self.chance(50) {
            if self.chance(20) {
                let (local, value) = (self.local(), self.value());
                list.push(Stmt::Unless { local, value });
            }
            list.push([Stmt::NotifyOne, Stmt::NotifyAll][self.below(2)]);
        }
    }

    /// Adds what concerns the item. `gives` is whether the thread does rather what lets the other one go on.
    fn about(&mut self, item: Item, gives: bool, program: &Shape, me: usize, list: &mut Vec<Stmt>) {
        let gives = if self.chance(25) { !gives } else { gives };
        let (x, into, value) = (self.below(ATOMICS), self.local(), self.value());
        match item {
            Item::Condvar => {
                self.under(&[Stmt::WaitWhile, Stmt::WaitWhile, Stmt::Wait], gives, list)
            }
            Item::Limits => self.under(
                &[
                    Stmt::WaitTimeout { into },
                    Stmt::WaitTimeout { into },
                    Stmt::Wait,
                    Stmt::WaitWhile,
                ],
                gives,
                list,
            ),
            Item::Parking if gives => {
                let has_other = program.main_goes_on || me == 1;
                let unpark = if has_other && self.chance(85) {
                    Stmt::UnparkOther
                } else {
                    Stmt::UnparkSelf
                };
                list.push(unpark);
            }
            Item::Parking => {
                list.push([Stmt::Park, Stmt::Park, Stmt::ParkTimeout][self.below(3)]);
            }
            Item::Barrier => list.push(Stmt::Barrier { into }),
            Item::Once => {
                let stmt = match (self.below(4), gives) {
                    (0, _) => Stmt::IsCompleted { into },
                    (1 | 2, false) => Stmt::AwaitOnce,
                    _ => Stmt::CallOnce { x, value },
                };
                self.perhaps_under_lock(stmt, list);
            }
            Item::OnceLock => {
                let stmt = match (self.below(4), gives) {
                    (0, _) => Stmt::GetCell { into },
                    (1, true) => Stmt::Set { value, into },
                    (1 | 2, false) => Stmt::AwaitCell { into },
                    _ => Stmt::GetOrInit { value, x, into },
                };
                self.perhaps_under_lock(stmt, list);
            }
            Item::Channel(bound) => {
                let sends = program.channel.is_some_and(|channel| channel.senders[me]);
                let receives = program
                    .channel
                    .is_some_and(|channel| channel.receiver == me);
                if !sends && !receives {
                    return;
                }
                let sends = sends && (!receives || gives);
                let ends = self.chance(12);
                list.push(match (sends, self.below(5)) {
                    (true, _) if ends => Stmt::DropSender,
                    (false, _) if ends => Stmt::DropReceiver,
                    (true, 0) if bound == Some(1) => Stmt::TrySend { value, into },
                    (true, _) => Stmt::Send { value, into },
                    (false, 0 | 1) => Stmt::Recv { into },
                    (false, 2 | 3) => Stmt::TryRecv { into },
                    (false, _) => Stmt::RecvTimeout { into },
                });
            }
            Item::Any => {
                let items = [
                    Item::Condvar,
                    Item::Limits,
                    Item::Parking,
                    Item::Barrier,
                    Item::Once,
                    Item::OnceLock,
                    Item::Channel(program.channel.and_then(|channel| channel.bound)),
                    Item::Channel(program.channel.and_then(|channel| channel.bound)),
                ];
                let item = items[self.below(items.len())];
                self.about(item, gives, program, me, list);
            }
        }
    }

    fn perhaps_under_lock(&mut self, stmt: Stmt, list: &mut Vec<Stmt>) {
        let locked = self.chance(30);
        if locked {
            list.push(Stmt::Lock);
        }
        list.push(stmt);
        if locked {
            list.push(Stmt::Unlock);
        }
    }

    fn channel(&mut self, item: Item) -> Option<Channel> {
        let bound = match item {
            Item::Channel(bound) => bound,
            Item::Any => [None, Some(1), Some(0)][self.below(3)],
            _ => return None,
        };
        let receiver = self.below(2);
        let mut senders = [receiver == 1, receiver == 0];
        if self.chance(15) {
            senders[receiver] = true;
            if self.chance(50) {
                senders[1 - receiver] = false;
            }
        }
        Some(Channel {
            bound,
            senders,
            receiver,
        })
    }
}

/// What is settled before the statements are made.
struct Shape {
    main_goes_on: bool,
    channel: Option<Channel>,
}

/// A random program about this item.
pub(crate) fn generate(item: Item, seed: u64) -> Program {
    let mut random = Random(RandomNumbers::new(seed));
    let shape = Shape {
        main_goes_on: random.chance(50),
        channel: random.channel(item),
    };
    let giver = random.below(2);
    let mut asserts = 0;
    let threads = [0, 1].map(|me| {
        let mut list = Vec::new();
        let pieces = 2 + random.below(3);
        for _ in 0..pieces {
            let from = list.len();
            if random.chance(55) {
                random.about(item, me == giver, &shape, me, &mut list);
            } else {
                let atomic = random.atomic();
                list.push(atomic);
            }
            // A single statement may be left out.
            if random.chance(25) && list.len() == from + 1 {
                let (local, value) = (random.local(), random.value());
                list.insert(from, Stmt::Unless { local, value });
            }
            if random.chance(6) && asserts < 2 {
                let local = random.local();
                let value = random.value();
                list.push(Stmt::Assert(Assert {
                    id: asserts,
                    these: [(local, value); 2],
                }));
                asserts += 1;
            }
        }
        // Two threads run side by side in any case.
        let is_idle = |stmt: &Stmt| matches!(stmt, Stmt::Unless { .. } | Stmt::Assert(_));
        if list.first().is_none_or(is_idle) {
            let x = random.below(ATOMICS);
            let into = random.local();
            list.insert(0, Stmt::Load { x, into });
        }
        list
    });
    let mut program = Program {
        main_goes_on: shape.main_goes_on,
        threads,
        channel: shape.channel,
        after: Vec::new(),
    };
    // What holds in some outcomes is what must not hold.
    let outcomes = Vec::from_iter(program.interpret(None).outcomes);
    for id in 2..4 {
        if outcomes.is_empty() {
            break;
        }
        let outcome = &outcomes[random.below(outcomes.len())];
        let these = [(); 2].map(|()| {
            let varies = |&at: &usize| outcomes.iter().any(|other| other[at] != outcome[at]);
            let all = Vec::from_iter((0..outcome.len()).filter(varies));
            let local = if all.is_empty() {
                0
            } else {
                all[random.below(all.len())]
            };
            (local, outcome[local])
        });
        program.after.push(Assert { id, these });
    }
    program
}
