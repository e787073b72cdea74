// `Mutex`, `RwLock`, `Condvar`, `Barrier` and their guards and results.

use std::fmt::{Debug, Display};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::time::Duration;

use subject::sync::{
    Arc, Barrier, BarrierWaitResult, Condvar, LockResult, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard,
    RwLockWriteGuard, TryLockError, TryLockResult, WaitTimeoutResult,
};

static MUTEX: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static LOCK: RwLock<Option<String>> = RwLock::new(None);
static CHANGED: Condvar = Condvar::new();
static BARRIER: Barrier = Barrier::new(2);
const MADE: Mutex<u8> = Mutex::new(0);
const ALL: [Mutex<u8>; 4] = [const { Mutex::new(0) }; 4];

struct Opaque;

fn mutex(mut mutex: Mutex<u8>, shared: &Mutex<u8>) -> LockResult<u8> {
    let guard: LockResult<MutexGuard<'_, u8>> = shared.lock();
    let tried: TryLockResult<MutexGuard<'_, u8>> = shared.try_lock();
    match shared.try_lock() {
        Ok(_) | Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Poisoned(error)) => drop::<MutexGuard<'_, u8>>(error.into_inner()),
    }
    let is: bool = shared.is_poisoned();
    shared.clear_poison();
    let inside: LockResult<&mut u8> = mutex.get_mut();
    drop(inside);
    let made: fn(u8) -> Mutex<u8> = Mutex::new;
    let all: Vec<Mutex<u8>> = [1].into_iter().map(Mutex::new).collect();
    let from: Mutex<u8> = 1.into();
    let usual: Mutex<Vec<Opaque>> = Mutex::default();
    let text = format!("{mutex:?} {:#?}", Mutex::new("text"));
    mutex.into_inner()
}

fn mutex_guard<'a, T: Debug + Display>(mutex: &'a Mutex<T>) -> MutexGuard<'a, T> {
    let mut guard = mutex.lock().unwrap_or_else(PoisonError::into_inner);
    let inside: &T = &guard;
    let inside: &mut T = &mut guard;
    let text = format!("{guard} {guard:?}");
    guard
}

fn any_mutex<T: ?Sized + Debug>(mutex: &mut Mutex<T>) {
    let guard: LockResult<MutexGuard<'_, T>> = mutex.lock();
    drop(guard);
    drop(mutex.try_lock());
    let is: bool = mutex.is_poisoned();
    mutex.clear_poison();
    drop(mutex.get_mut());
    let text = format!("{mutex:?}");
}

fn any_lock<T: ?Sized + Debug>(lock: &mut RwLock<T>) {
    let guard: LockResult<RwLockReadGuard<'_, T>> = lock.read();
    drop(guard);
    let guard: LockResult<RwLockWriteGuard<'_, T>> = lock.write();
    drop(guard);
    drop((lock.try_read(), lock.try_write()));
    let is: bool = lock.is_poisoned();
    lock.clear_poison();
    drop(lock.get_mut());
    let text = format!("{lock:?}");
}

fn any_guards<T: ?Sized + Debug + Display>(
    mut one: MutexGuard<'_, T>,
    reads: RwLockReadGuard<'_, T>,
    mut writes: RwLockWriteGuard<'_, T>,
) {
    let (first, second, third): (&T, &T, &T) = (&one, &reads, &writes);
    let (first, third): (&mut T, &mut T) = (&mut one, &mut writes);
    let text = format!("{one} {one:?} {reads} {reads:?} {writes} {writes:?}");
    let lowered: RwLockReadGuard<'_, T> = RwLockWriteGuard::downgrade(writes);
}

// Types that hold locks of anything, and their guards, as wrappers of locks do.
struct Wrapped<T: ?Sized>(u8, Mutex<T>);
struct Both<T: ?Sized> {
    changed: Condvar,
    lock: RwLock<T>,
}
struct Held<'a, T: ?Sized>(MutexGuard<'a, T>);
struct Read<'a, T: ?Sized>(RwLockReadGuard<'a, T>);
struct Written<'a, T: ?Sized>(RwLockWriteGuard<'a, T>);
impl<T: ?Sized> Wrapped<T> {
    fn held(&self) -> Held<'_, T> {
        Held(self.1.lock().unwrap())
    }
}

fn lock(mut lock: RwLock<String>, shared: &RwLock<String>) -> LockResult<String> {
    let read: LockResult<RwLockReadGuard<'_, String>> = shared.read();
    let read: TryLockResult<RwLockReadGuard<'_, String>> = shared.try_read();
    let write: LockResult<RwLockWriteGuard<'_, String>> = shared.write();
    let write: TryLockResult<RwLockWriteGuard<'_, String>> = shared.try_write();
    let lowered = RwLockWriteGuard::downgrade(shared.write().unwrap());
    let is: bool = shared.is_poisoned();
    shared.clear_poison();
    drop(lock.get_mut());
    let made: fn(u8) -> RwLock<u8> = RwLock::new;
    let from: RwLock<u8> = RwLock::from(1);
    let usual: RwLock<Vec<Opaque>> = RwLock::default();
    let text = format!("{lock:?}");
    lock.into_inner()
}

// A read guard lends for less than it was made for.
fn shortened<'short, 'long: 'short>(
    guard: RwLockReadGuard<'short, &'long str>,
) -> RwLockReadGuard<'short, &'short str> {
    guard
}

fn poison<T: Debug>(mut error: PoisonError<T>) -> TryLockError<T> {
    let of: &dyn std::error::Error = &PoisonError::new(1);
    let (inside, outside): (&T, String) = (error.get_ref(), format!("{error} {error:?}"));
    let inside: &mut T = error.get_mut();
    let tried: TryLockError<T> = error.into();
    let text = format!("{tried} {tried:?}");
    let of: &dyn std::error::Error = &TryLockError::from(PoisonError::new(1));
    tried
}

fn condvar(changed: &Condvar, mutex: &Mutex<u8>) {
    let limit = Duration::from_secs(1);
    let guard = changed.wait(mutex.lock().unwrap()).unwrap();
    let guard = changed.wait_while(guard, |value: &mut u8| *value == 0).unwrap();
    let guard = changed.wait_while::<u8, fn(&mut u8) -> bool>(guard, |value| *value == 0).unwrap();
    let (guard, result): (MutexGuard<'_, u8>, WaitTimeoutResult) = changed.wait_timeout(guard, limit).unwrap();
    let (guard, notified): (_, bool) = changed.wait_timeout_ms(guard, 1).unwrap();
    let (guard, result) = changed.wait_timeout_while(guard, limit, |value| *value == 0).unwrap();
    let (over, same, text) = (result.timed_out(), result == result.clone(), format!("{result:?}"));
    changed.notify_one();
    changed.notify_all();
    let text = format!("{changed:?} {:?}", Condvar::default());
}

fn barrier(barrier: &Barrier) {
    let result: BarrierWaitResult = barrier.wait();
    let (leads, text) = (result.is_leader(), format!("{result:?} {barrier:?}"));
}

fn shared() -> (Arc<Mutex<u8>>, Arc<(Mutex<bool>, Condvar)>) {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let (lock, changed) = &*pair;
    let guard = changed.wait(lock.lock().unwrap());
    drop(guard);
    (Arc::default(), pair)
}

fn traits() {
    crate::plain::<Mutex<u8>>();
    crate::plain::<RwLock<u8>>();
    crate::plain::<Condvar>();
    crate::plain::<Barrier>();
    crate::plain::<BarrierWaitResult>();
    crate::plain::<WaitTimeoutResult>();
    fn sent<T: Send>() {}
    fn synced<T: Sync>() {}
    fn unwinds<T: UnwindSafe + RefUnwindSafe + Unpin>() {}
    fn copied<T: Copy + Eq>() {}
    sent::<Mutex<std::cell::Cell<u8>>>();
    synced::<Mutex<std::cell::Cell<u8>>>();
    sent::<RwLock<std::cell::Cell<u8>>>();
    synced::<MutexGuard<'static, u8>>();
    synced::<RwLockReadGuard<'static, u8>>();
    synced::<RwLockWriteGuard<'static, u8>>();
    unwinds::<MutexGuard<'static, u8>>();
    unwinds::<RwLockReadGuard<'static, u8>>();
    unwinds::<RwLockWriteGuard<'static, u8>>();
    unwinds::<Mutex<std::cell::Cell<u8>>>();
    copied::<WaitTimeoutResult>();
}

lacks!(Mutex<Rc<u8>>: Send);
lacks!(Mutex<Rc<u8>>: Sync);
lacks!(RwLock<std::cell::Cell<u8>>: Sync);
lacks!(RwLock<Rc<u8>>: Send);
lacks!(MutexGuard<'static, u8>: Send);
lacks!(MutexGuard<'static, std::cell::Cell<u8>>: Sync);
lacks!(RwLockReadGuard<'static, u8>: Send);
lacks!(RwLockWriteGuard<'static, u8>: Send);
lacks!(Mutex<u8>: Clone);
