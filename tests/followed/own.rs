//! What a program may do by itself that is run but not followed, a harness each.
#[cfg(of_nobody)]
use loom::sync::atomic::AtomicBool as _;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::thread;

static N: AtomicUsize = AtomicUsize::new(0);

fn two(f: impl Fn() + Send + Copy + 'static) {
    let t = thread::spawn(f);
    f();
    t.join().unwrap();
}

#[test]
fn integer() {
    let mut number = 0u32;
    let p = &raw mut number as usize;
    two(move || unsafe { *(p as *mut u32) += 1 });
}

struct Raw(*mut u32);
unsafe impl Send for Raw {}

#[test]
fn wrapper() {
    let mut number = 0;
    let raw = Raw(&raw mut number);
    let t = thread::spawn(move || drop(raw));
    t.join().unwrap();
}

#[test]
fn dice() {
    use std::hash::{BuildHasher, Hasher};
    let rolled = std::hash::RandomState::new().build_hasher().finish() % 64;
    two(move || {
        if rolled == 0 {
            N.store(N.load(SeqCst) + 1, SeqCst);
        } else {
            N.fetch_add(1, SeqCst);
        }
    });
}

#[test]
fn lifetime() {
    let number = 0u32;
    let r: &'static u32 = unsafe { std::mem::transmute(&number) };
    two(move || drop(*r));
}

fn parts(at: usize) -> u8 {
    let all = unsafe { std::slice::from_raw_parts(at as *const u8, 1) };
    all[0]
}

#[test]
fn through_a_function() {
    let byte: &'static u8 = &1;
    let at = byte as *const u8 as usize;
    two(move || assert_eq!(parts(at), 1));
}

macro_rules! behind {
    ($p:expr) => {
        unsafe { std::ptr::read($p as *const u8) }
    };
}

#[test]
fn in_a_macro() {
    let byte: &'static u8 = &1;
    let at = byte as *const u8 as usize;
    two(move || assert_eq!(behind!(at), 1));
}

struct Cellular(UnsafeCell<u32>);
unsafe impl Sync for Cellular {}
static CELL: Cellular = Cellular(UnsafeCell::new(0));

#[test]
fn cell() {
    two(|| drop(CELL.0.get()));
}

struct Anything<T>(T);
unsafe impl<T> Sync for Anything<T> {}
static ANYTHING: Anything<std::cell::Cell<u32>> = Anything(std::cell::Cell::new(0));

#[test]
fn anything() {
    two(|| ANYTHING.0.set(1));
}

struct Dropped(usize);
impl Drop for Dropped {
    fn drop(&mut self) {
        drop(unsafe { Box::from_raw(self.0 as *mut u8) });
    }
}

#[test]
fn destructor() {
    let dropped = Dropped(Box::into_raw(Box::new(1u8)) as usize);
    let t = thread::spawn(move || drop(dropped));
    t.join().unwrap();
}

unsafe extern "C" {
    fn getpid() -> i32;
}

#[test]
fn foreign() {
    two(|| drop(unsafe { getpid() }));
}

#[test]
fn file() {
    let path = std::env::temp_dir().join("seqz-not-followed");
    std::fs::write(&path, "x").unwrap();
    two(move || drop(std::fs::read(std::env::temp_dir().join("seqz-not-followed"))));
}

#[test]
fn socket() {
    two(|| drop(std::net::UdpSocket::bind("127.0.0.1:0")));
}

#[test]
fn process() {
    two(|| drop(std::process::Command::new("true")));
}

#[test]
fn environment() {
    two(|| unsafe { std::env::set_var("SEQZ_NOT_FOLLOWED", "x") });
}

#[test]
fn input() {
    two(|| drop(std::io::stdin()));
}

/// The failure counts all the same.
#[test]
fn fails() {
    let byte: &'static u8 = &1;
    let at = byte as *const u8 as usize;
    two(move || {
        let n = N.load(SeqCst);
        N.store(n + usize::from(parts(at)), SeqCst);
    });
    assert_eq!(N.load(SeqCst), 2, "an increment is lost");
}

#[test]
fn refused() {
    let handle = thread::spawn(|| ());
    let _ = std::os::unix::thread::JoinHandleExt::as_pthread_t(&handle);
    handle.join().unwrap();
}

static mut COUNT: u32 = 0;

fn pointer() -> *mut u32 {
    &raw mut COUNT
}

#[test]
fn pointed_at() {
    thread::spawn(|| ()).join().unwrap();
    assert!(!pointer().is_null());
}

#[test]
fn followed_plain() {
    two(|| drop(N.fetch_add(1, SeqCst)));
}

#[test]
fn followed_reading_a_file() {
    two(|| drop(std::fs::read_to_string("Cargo.toml").unwrap()));
}

#[test]
fn followed_unsafe() {
    let all = [1u8, 2];
    two(move || assert_eq!(unsafe { *all.get_unchecked(1) }, 2));
}

#[cfg(not(target_has_atomic = "ptr"))]
mod shim {
    pub struct AtomicUsize(std::cell::Cell<usize>);
    unsafe impl Sync for AtomicUsize {}
}

#[cfg(windows)]
mod elsewhere {
    use loom::sync::atomic::AtomicUsize;
    pub struct S(std::cell::UnsafeCell<u32>, AtomicUsize);
}

#[test]
fn followed_compiled_out() {
    #[cfg(windows)]
    let x = elsewhere::S;
    two(|| drop(N.load(SeqCst)));
}
