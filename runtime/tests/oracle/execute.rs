//! The same programs on seqz's runtime: plain Rust over the runtime's `sync` and `thread`, as a transformed program is.

use seqz_runtime::std::sync::atomic::{AtomicU8, Ordering};
use seqz_runtime::std::sync::{Arc, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use seqz_runtime::std::thread;

use crate::program::{Cond, Expr, Init, Joins, LOCALS, Lock, Program, Shape, Stmt};

/// A program that can be run again and again.
pub(crate) struct Harness {
    program: Arc<Program>,
    /// The shared objects, if they are made once.
    statics: Option<Arc<Shared>>,
}

impl Harness {
    /// Makes the program ready to run.
    pub(crate) fn new(program: &Program) -> Self {
        Self {
            program: Arc::new(program.clone()),
            statics: program.statics.then(|| Arc::new(Shared::new(program))),
        }
    }

    /// One run.
    pub(crate) fn run(&self) {
        #[cfg(feature = "scheduler")]
        begins_in_an_empty_region();
        let program = &self.program;
        let shared = self
            .statics
            .clone()
            .unwrap_or_else(|| Arc::new(Shared::new(program)));
        for init in &program.init {
            match *init {
                Init::Store(atomic, value) => shared.atomics[atomic].store(value, Ordering::SeqCst),
                Init::Put(lock, value) => *Guard::lock(&shared, lock).value_mut() = value,
            }
        }
        let mut main = Thread::new(&shared);
        if program.scoped {
            thread::scope(|scope| {
                let mut spawn = |which: Which| -> Join<'_> {
                    let shared: &Shared = &shared;
                    let handle = scope.spawn(move || Thread::new(shared).body(which.of(program)));
                    Box::new(move || handle.join().unwrap())
                };
                main.beside(program, &mut spawn);
            });
        } else {
            let mut spawn = |which: Which| -> Join<'_> {
                let (shared, program) = (Arc::clone(&shared), Arc::clone(program));
                let handle = thread::spawn(move || Thread::new(&shared).body(which.of(&program)));
                Box::new(move || handle.join().unwrap())
            };
            main.beside(program, &mut spawn);
        }
        main.body(&program.after);
    }
}

/// Nothing of what these programs allocate outlives an execution, nor may anything else that is allocated where they do:
/// so every execution begins where the very first one did. Regions lie side by side.
#[cfg(feature = "scheduler")]
fn begins_in_an_empty_region() {
    use std::sync::OnceLock;

    const REGION: usize = 64 << 20;
    static FIRST: OnceLock<usize> = OnceLock::new();

    let first = std::ptr::from_ref(&*Box::new(0_u64)).addr() % REGION;
    let expected = *FIRST.get_or_init(|| first);
    assert_eq!(first, expected, "something is left in the region");
}

/// Joins a thread; the answer is its result.
type Join<'a> = Box<dyn FnOnce() -> u8 + 'a>;

/// Which spawned thread.
#[derive(Clone, Copy)]
enum Which {
    A,
    B,
}

impl Which {
    fn of(self, program: &Program) -> &[Stmt] {
        match (&program.shape, self) {
            (Shape::Two { first: list, .. } | Shape::One { spawned: list, .. }, Self::A) => list,
            (Shape::Two { second: list, .. }, Self::B) => list,
            (Shape::One { .. }, Self::B) => &[],
        }
    }
}

struct Shared {
    atomics: Vec<AtomicU8>,
    mutexes: Vec<Mutex<u8>>,
    rwlocks: Vec<RwLock<u8>>,
}

impl Shared {
    fn new(program: &Program) -> Self {
        Self {
            atomics: program.atomics.iter().copied().map(AtomicU8::new).collect(),
            mutexes: program.mutexes.iter().copied().map(Mutex::new).collect(),
            rwlocks: program.rwlocks.iter().copied().map(RwLock::new).collect(),
        }
    }
}

enum Guard<'a> {
    Mutex(MutexGuard<'a, u8>),
    Read(RwLockReadGuard<'a, u8>),
    Write(RwLockWriteGuard<'a, u8>),
}

impl<'a> Guard<'a> {
    fn lock(shared: &'a Shared, lock: Lock) -> Self {
        match lock {
            Lock::Mutex(m) => Self::Mutex(shared.mutexes[m].lock().unwrap()),
            Lock::Read(l) => Self::Read(shared.rwlocks[l].read().unwrap()),
            Lock::Write(l) => Self::Write(shared.rwlocks[l].write().unwrap()),
        }
    }

    /// As [`Self::lock`], in a place of its own: bugs are told apart by their places.
    fn lock_again(shared: &'a Shared, lock: Lock) -> Self {
        match lock {
            Lock::Mutex(m) => Self::Mutex(shared.mutexes[m].lock().unwrap()),
            Lock::Read(l) => Self::Read(shared.rwlocks[l].read().unwrap()),
            Lock::Write(l) => Self::Write(shared.rwlocks[l].write().unwrap()),
        }
    }

    fn try_lock(shared: &'a Shared, lock: Lock) -> Option<Self> {
        match lock {
            Lock::Mutex(m) => shared.mutexes[m].try_lock().ok().map(Self::Mutex),
            Lock::Read(l) => shared.rwlocks[l].try_read().ok().map(Self::Read),
            Lock::Write(l) => shared.rwlocks[l].try_write().ok().map(Self::Write),
        }
    }

    fn value(&self) -> u8 {
        match self {
            Self::Mutex(guard) => **guard,
            Self::Read(guard) => **guard,
            Self::Write(guard) => **guard,
        }
    }

    fn value_mut(&mut self) -> &mut u8 {
        match self {
            Self::Mutex(guard) => &mut *guard,
            Self::Write(guard) => &mut *guard,
            Self::Read(_) => unreachable!("valid programs never write through read guards"),
        }
    }
}

/// Whether a thread goes on with its next statement or returns.
#[derive(PartialEq, Eq)]
enum Flow {
    On,
    Return,
}

/// A running thread.
struct Thread<'a> {
    shared: &'a Shared,
    locals: [u8; LOCALS],
    held: Vec<(Lock, Guard<'a>)>,
}

/// The block of the innermost guard, which is dropped at the block's end, however that is reached.
struct Block<'t, 'a>(&'t mut Thread<'a>);

impl Drop for Block<'_, '_> {
    fn drop(&mut self) {
        self.0.held.pop();
    }
}

impl<'a> Thread<'a> {
    fn new(shared: &'a Shared) -> Self {
        Self {
            shared,
            locals: [0; LOCALS],
            held: Vec::new(),
        }
    }

    /// Runs a thread's code; the answer is what it returns.
    fn body(&mut self, list: &[Stmt]) -> u8 {
        self.list(list);
        self.locals[0]
    }

    /// What main does from the first spawn to the last join.
    fn beside<'s>(&mut self, program: &Program, spawn: &mut dyn FnMut(Which) -> Join<'s>) {
        match &program.shape {
            Shape::Two { joins, .. } => {
                let (a, b) = (spawn(Which::A), spawn(Which::B));
                match joins {
                    Joins::Implicit => {}
                    Joins::FirstThenSecond(between) => {
                        self.locals[0] = a();
                        self.list(between);
                        self.last_join(program, b, 1);
                    }
                    Joins::SecondThenFirst(between) => {
                        self.locals[1] = b();
                        self.list(between);
                        self.last_join(program, a, 0);
                    }
                }
            }
            Shape::One { main, .. } => {
                // Not the value of the block: that is leaked if the execution is ended where the block's lock is given back.
                let mut a = None;
                if let Some(start) = &program.held_from_start {
                    let guard = self.lock(start.lock);
                    self.held.push((start.lock, guard));
                    let block = Block(self);
                    a = Some(spawn(Which::A));
                    block.0.list(&start.under);
                }
                let a = a.unwrap_or_else(|| spawn(Which::A));
                self.list(main);
                self.last_join(program, a, 0);
            }
        }
    }

    /// Main's last join, and what is done under a lock that is held over it.
    fn last_join(&mut self, program: &Program, join: Join<'_>, into: usize) {
        let Some(over) = &program.held_over_join else {
            self.locals[into] = join();
            return;
        };
        let guard = self.lock(over.lock);
        self.held.push((over.lock, guard));
        let block = Block(self);
        block.0.list(&over.before);
        block.0.locals[into] = join();
        block.0.list(&over.after);
    }

    fn lock(&self, lock: Lock) -> Guard<'a> {
        let mut held = self.held.iter();
        if held.any(|(held, _)| held.same_lock(lock) && (held.exclusive() || lock.exclusive())) {
            Guard::lock_again(self.shared, lock)
        } else {
            Guard::lock(self.shared, lock)
        }
    }

    fn eval(&self, expr: Expr) -> u8 {
        match expr {
            Expr::Const(value) => value,
            Expr::Plus(local, add) => self.locals[local].wrapping_add(add),
        }
    }

    fn holds(&self, cond: Cond) -> bool {
        cond.test
            .holds(self.locals[cond.left], self.eval(cond.right))
    }

    fn guard(&mut self, lock: Lock) -> &mut Guard<'a> {
        let mut held = self.held.iter_mut().rev();
        let found = held.find(|(held, _)| held.same_lock(lock));
        &mut found.expect("valid programs use held guards only").1
    }

    fn list(&mut self, list: &[Stmt]) -> Flow {
        for stmt in list {
            if self.statement(stmt) == Flow::Return {
                return Flow::Return;
            }
        }
        Flow::On
    }

    /// Runs the block of a guard.
    fn inside(&mut self, lock: Lock, guard: Guard<'a>, body: &[Stmt]) -> Flow {
        self.held.push((lock, guard));
        Block(self).0.list(body)
    }

    fn statement(&mut self, stmt: &Stmt) -> Flow {
        let atomic = |index: usize| &self.shared.atomics[index];
        let order = Ordering::SeqCst;
        match stmt {
            Stmt::Set { into, value } => self.locals[*into] = self.eval(*value),
            Stmt::Load { atomic: a, into } => self.locals[*into] = atomic(*a).load(order),
            Stmt::Store { atomic: a, value } => atomic(*a).store(self.eval(*value), order),
            Stmt::FetchAdd {
                atomic: a,
                amount,
                into,
            } => {
                self.locals[*into] = atomic(*a).fetch_add(*amount, order);
            }
            Stmt::CompareExchange {
                atomic: a,
                current,
                new,
                into,
            } => {
                let new = self.eval(*new);
                let (Ok(old) | Err(old)) = atomic(*a).compare_exchange(*current, new, order, order);
                self.locals[*into] = old;
            }
            Stmt::Swap {
                atomic: a,
                value,
                into,
            } => {
                self.locals[*into] = atomic(*a).swap(self.eval(*value), order);
            }
            Stmt::Hold { lock, body } => {
                let guard = self.lock(*lock);
                return self.inside(*lock, guard, body);
            }
            Stmt::Try {
                lock,
                body,
                otherwise,
            } => {
                return match Guard::try_lock(self.shared, *lock) {
                    Some(guard) => self.inside(*lock, guard, body),
                    None => self.list(otherwise),
                };
            }
            Stmt::Get { lock, into } => self.locals[*into] = self.guard(*lock).value(),
            Stmt::Put { lock, value } => {
                let value = self.eval(*value);
                *self.guard(*lock).value_mut() = value;
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                return self.list(if self.holds(*cond) { then } else { otherwise });
            }
            Stmt::Repeat { times, body } => {
                for _ in 0..*times {
                    if self.list(body) == Flow::Return {
                        return Flow::Return;
                    }
                }
            }
            Stmt::Assert { id, cond } => assert!(self.holds(*cond), "assertion {id}"),
            Stmt::Return => return Flow::Return,
        }
        Flow::On
    }
}
