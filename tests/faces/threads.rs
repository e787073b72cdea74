// `thread`.

use std::any::Any;
use std::collections::HashMap;
use std::num::NonZero;
use std::rc::Rc;
use std::time::Duration;

use subject::thread::{
    self, AccessError, Builder, JoinHandle, LocalKey, Result, Scope, ScopedJoinHandle, Thread, ThreadId,
};

fn spawned() -> Result<u8> {
    let handle: JoinHandle<u8> = thread::spawn(|| 1);
    let handle = thread::spawn::<fn() -> u8, u8>(|| 1);
    let (thread, is): (&Thread, bool) = (handle.thread(), handle.is_finished());
    let text = format!("{handle:?}");
    let error: std::result::Result<u8, Box<dyn Any + Send + 'static>> = thread::spawn(|| 1).join();
    handle.join()
}

fn built() -> std::io::Result<()> {
    let builder: Builder = Builder::new().name("name".to_owned()).stack_size(1 << 16);
    let text = format!("{builder:?}");
    let handle: JoinHandle<u8> = builder.spawn(|| 1)?;
    let local = 1;
    let handle: JoinHandle<u8> = unsafe { Builder::new().spawn_unchecked(|| local + 1)? };
    handle.join().unwrap();
    thread::scope(|scope| {
        let handle: ScopedJoinHandle<'_, u8> = Builder::new().spawn_scoped(scope, || 1)?;
        Ok(())
    })
}

fn scoped(mut all: Vec<u8>) -> usize {
    fn inside<'scope, 'env>(scope: &'scope Scope<'scope, 'env>, all: &'env [u8]) -> ScopedJoinHandle<'scope, usize> {
        let text = format!("{scope:?}");
        scope.spawn(|| all.len())
    }
    let length: usize = thread::scope(|scope| inside(scope, &all).join().unwrap());
    thread::scope(|scope| {
        let handle = scope.spawn(|| all.push(1));
        let (thread, is, text) = (handle.thread().id(), handle.is_finished(), format!("{handle:?}"));
        let joined: Result<()> = handle.join();
    });
    thread::scope(|scope| {
        scope.spawn(|| {
            scope.spawn(|| all.push(1));
        });
    });
    length
}

fn current() {
    let thread: Thread = thread::current();
    let (name, id): (Option<&str>, ThreadId) = (thread.name(), thread.id());
    thread.clone().unpark();
    let known: HashMap<ThreadId, u8> = [(id, 1)].into_iter().collect();
    let text = format!("{thread:?} {id:?} {}", id == thread::current().id());
    thread::park();
    thread::park_timeout(Duration::ZERO);
    thread::park_timeout_ms(1);
    thread::sleep(Duration::ZERO);
    thread::sleep_ms(1);
    thread::yield_now();
    let panics: bool = thread::panicking();
    let size: std::io::Result<NonZero<usize>> = thread::available_parallelism();
}

fn traits() {
    crate::plain::<Thread>();
    crate::plain::<ThreadId>();
    crate::plain::<Builder>();
    crate::plain::<AccessError>();
    fn shared<T: Send + Sync + Unpin>() {}
    fn copied<T: Copy + Eq + std::hash::Hash>() {}
    shared::<JoinHandle<Rc<u8>>>();
    shared::<ScopedJoinHandle<'static, u8>>();
    shared::<Scope<'static, 'static>>();
    copied::<ThreadId>();
    fn of_std<T: std::error::Error + Copy + Eq>() {}
    of_std::<AccessError>();
}

lacks!(Thread: PartialEq);
lacks!(JoinHandle<u8>: Clone);
