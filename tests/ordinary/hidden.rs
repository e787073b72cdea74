//! What is shared out of sight: whatever becomes of it, it is named, and nothing is promised.

use std::cell::UnsafeCell;
use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};
use std::thread;

static GATE: AtomicUsize = AtomicUsize::new(0);

// not followed: memory behind a raw pointer
#[test]
fn named_atomic_pointer() {
    let p: &'static AtomicPtr<u32> =
        Box::leak(Box::new(AtomicPtr::new(Box::into_raw(Box::new(0)))));
    let t = thread::spawn(|| unsafe { *p.load(SeqCst) += 1 });
    unsafe { *p.load(SeqCst) += 1 };
    t.join().unwrap();
    assert_eq!(unsafe { *p.load(SeqCst) }, 2, "lost");
}

// not followed: `unsafe impl Send` for a type with a `NonNull` in it
#[test]
fn named_non_null() {
    #[derive(Clone, Copy)]
    struct P(NonNull<u32>);
    unsafe impl Send for P {}
    impl P {
        fn inc(self) {
            unsafe { *self.0.as_ptr() += 1 }
        }
    }
    let p = P(NonNull::from(Box::leak(Box::new(0))));
    let t = thread::spawn(move || p.inc());
    p.inc();
    t.join().unwrap();
    assert_eq!(unsafe { *p.0.as_ptr() }, 2, "lost");
}

// not followed: an `UnsafeCell`
#[test]
fn named_cell_in_a_struct() {
    struct C {
        n: UnsafeCell<u32>,
    }
    unsafe impl Sync for C {}
    impl C {
        fn inc(&self) {
            unsafe { *self.n.get() += 1 }
        }
    }
    let c = Arc::new(C {
        n: UnsafeCell::new(0),
    });
    let d = c.clone();
    let t = thread::spawn(move || d.inc());
    c.inc();
    t.join().unwrap();
    assert_eq!(unsafe { *c.n.get() }, 2, "lost");
}

// not followed: memory behind a raw pointer
#[test]
fn named_slice_from_parts() {
    let v: &'static mut [u32] = Box::leak(vec![0, 0].into_boxed_slice());
    let at = v.as_mut_ptr().expose_provenance();
    let work = move || {
        let s = unsafe {
            std::slice::from_raw_parts_mut(ptr::with_exposed_provenance_mut::<u32>(at), 2)
        };
        s[0] += 1;
    };
    let t = thread::spawn(work);
    work();
    t.join().unwrap();
    assert_eq!(v[0], 2, "lost");
}

// not followed: memory behind a raw pointer
#[test]
fn named_pointer_methods() {
    let p = Box::into_raw(Box::new(0u32)) as usize;
    let work = move || unsafe {
        let p = p as *mut u32;
        p.write(p.read() + 1)
    };
    let t = thread::spawn(work);
    work();
    t.join().unwrap();
    assert_eq!(unsafe { ptr::read(p as *const u32) }, 2, "lost");
}

// not followed: memory behind a raw pointer
#[test]
fn named_union() {
    #[derive(Clone, Copy)]
    union U {
        at: usize,
        p: *mut u32,
    }
    let p = Box::into_raw(Box::new(0u32));
    let at = unsafe { U { p }.at };
    let work = move || unsafe { *U { at }.p += 1 };
    let t = thread::spawn(work);
    work();
    t.join().unwrap();
    assert_eq!(unsafe { *p }, 2, "lost");
}

// not followed: a `transmute`
#[test]
fn named_transmuted_pointer() {
    let p = Box::into_raw(Box::new(0u32));
    let at: usize = unsafe { mem::transmute(p) };
    let work = move || unsafe {
        let p: *mut u32 = mem::transmute(at);
        *p += 1
    };
    let t = thread::spawn(work);
    work();
    t.join().unwrap();
    assert_eq!(unsafe { *p }, 2, "lost");
}

// not followed: memory behind a raw pointer
#[test]
fn named_lifetime_by_a_pointer() {
    let mut n = 0u32;
    let r: &'static mut u32 = unsafe { &mut *(&raw mut n) };
    let t = thread::spawn(move || *r += 1);
    n += 1;
    t.join().unwrap();
    assert_eq!(n, 2, "lost");
}

// not followed: a pointer to `static mut SLOT`
#[test]
fn named_maybe_uninit() {
    static mut SLOT: MaybeUninit<u32> = MaybeUninit::uninit();
    let t = thread::spawn(|| unsafe {
        (*(&raw mut SLOT)).write(1);
    });
    GATE.load(SeqCst);
    t.join().unwrap();
}

// not followed: memory behind a raw pointer
#[test]
fn named_const_as_mut() {
    let n = Arc::new(0u32);
    let m = n.clone();
    let work = |n: &Arc<u32>| unsafe { *(Arc::as_ptr(n) as *mut u32) += 1 };
    let t = thread::spawn(move || work(&m));
    work(&n);
    t.join().unwrap();
    assert_eq!(*n, 2, "lost");
}

// not followed: memory behind a raw pointer
#[test]
fn named_vec_from_parts() {
    let mut v = ManuallyDrop::new(vec![0u32]);
    let at = v.as_mut_ptr() as usize;
    let work = move || {
        let mut v = ManuallyDrop::new(unsafe { Vec::from_raw_parts(at as *mut u32, 1, 1) });
        v[0] += 1;
    };
    let t = thread::spawn(work);
    work();
    t.join().unwrap();
    assert_eq!(v[0], 2, "lost");
}

// not followed: an `UnsafeCell`
#[test]
fn named_get_mut_unchecked_by_hand() {
    struct Racy<T>(UnsafeCell<T>);
    unsafe impl<T: Send> Sync for Racy<T> {}
    static R: Racy<Vec<u32>> = Racy(UnsafeCell::new(Vec::new()));
    let t = thread::spawn(|| unsafe { (*R.0.get()).push(1) });
    unsafe { (*R.0.get()).push(1) };
    t.join().unwrap();
    assert_eq!(unsafe { (*R.0.get()).len() }, 2, "lost");
}

// not followed: a pointer to `static mut N`
#[test]
fn named_static_mut_by_reference() {
    static mut N: u32 = 0;
    fn n() -> &'static mut u32 {
        unsafe { &mut *(&raw mut N) }
    }
    let t = thread::spawn(|| *n() += 1);
    *n() += 1;
    t.join().unwrap();
    assert_eq!(*n(), 2, "lost");
}

// refused: atomic
#[test]
fn named_atomic_from_pointer() {
    let p = Box::into_raw(Box::new(0usize));
    let at = p as usize;
    let work = move || {
        let a = unsafe { AtomicUsize::from_ptr(at as *mut usize) };
        let n = a.load(SeqCst);
        a.store(n + 1, SeqCst);
    };
    let t = thread::spawn(work);
    work();
    t.join().unwrap();
    assert_eq!(unsafe { *p }, 2, "lost");
}

// not followed: a file: `fs::remove_file`
#[test]
fn named_file_created_once() {
    let p = std::env::temp_dir().join(format!("seqz-p5-{}", std::process::id()));
    let _ = std::fs::remove_file(&p);
    let q = p.clone();
    let make = |p: &std::path::Path| {
        if std::fs::metadata(p).is_err() {
            std::fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(p)
                .expect("created by the other");
        }
    };
    let t = thread::spawn(move || make(&q));
    make(&p);
    t.join().unwrap();
    let _ = std::fs::remove_file(&p);
}

// not followed: a file: `fs::write`
#[test]
fn named_file_appended() {
    use std::io::Write as _;
    let p = std::env::temp_dir().join("seqz-p5-append");
    std::fs::write(&p, "").unwrap();
    let q = p.clone();
    let add = |p: &std::path::Path| {
        let n = std::fs::read_to_string(p).unwrap().len();
        let mut f = std::fs::File::create(p).unwrap();
        f.write_all("x".repeat(n + 1).as_bytes()).unwrap();
    };
    let t = thread::spawn(move || add(&q));
    add(&p);
    t.join().unwrap();
    assert_eq!(std::fs::read(&p).unwrap().len(), 2, "lost");
}

// not followed: the environment: `env::set_var`
#[test]
fn named_variable() {
    let add = || {
        let n: u32 = std::env::var("SEQZ_P5_N").map_or(0, |n| n.parse().unwrap());
        unsafe { std::env::set_var("SEQZ_P5_N", (n + 1).to_string()) };
    };
    let t = thread::spawn(add);
    add();
    t.join().unwrap();
    assert_eq!(std::env::var("SEQZ_P5_N").as_deref(), Ok("2"), "lost");
}

// not followed: the current directory: `env::set_current_dir`
#[test]
fn named_current_dir() {
    let t = thread::spawn(|| std::env::set_current_dir("/").unwrap());
    let here = std::env::current_dir().unwrap();
    t.join().unwrap();
    assert_ne!(here, std::path::Path::new("/"), "moved");
}

// not followed: another process: `process::Command::new`
#[test]
fn named_child() {
    let t = thread::spawn(|| {
        std::process::Command::new("true")
            .status()
            .unwrap()
            .success()
    });
    GATE.load(SeqCst);
    assert!(t.join().unwrap());
}

// not followed: assembly
#[test]
fn named_assembly() {
    let n = Box::into_raw(Box::new(0u32)) as usize;
    let work = move || unsafe { std::arch::asm!("inc dword ptr [{0}]", in(reg) n) };
    let t = thread::spawn(work);
    work();
    t.join().unwrap();
}

// not followed: memory behind a raw pointer
#[test]
fn named_volatile() {
    let p = Box::into_raw(Box::new(0u32)) as usize;
    let work = move || unsafe {
        let p = p as *mut u32;
        ptr::write_volatile(p, ptr::read_volatile(p) + 1)
    };
    let t = thread::spawn(work);
    work();
    t.join().unwrap();
    assert_eq!(unsafe { *(p as *const u32) }, 2, "lost");
}

// not followed: memory behind a raw pointer
#[test]
fn named_copied() {
    let p = Box::into_raw(Box::new([0u32; 2])) as usize;
    let work = move || unsafe {
        let p = p as *mut u32;
        let mut n = 0;
        ptr::copy_nonoverlapping(p, &mut n, 1);
        n += 1;
        ptr::copy_nonoverlapping(&n, p, 1);
    };
    let t = thread::spawn(work);
    work();
    t.join().unwrap();
    assert_eq!(unsafe { *(p as *const u32) }, 2, "lost");
}
