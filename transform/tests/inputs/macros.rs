//! Shared state inside of macros, and macros inside of macros.
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

static mut LEVEL: usize = 0;
static HITS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// One for each thread.
    static SEEN: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    static NAMES: std::cell::RefCell<Vec<String>> = std::cell::RefCell::new(vec![format!("{}", HITS.load(SeqCst))]);
}

/// Says it louder.
macro_rules! shout {
    ($($arg:tt)*) => { println!($($arg)*) };
}

macro_rules! start {
    ($body:expr) => {{
        let lock = std::sync::Arc::new(::std::sync::Mutex::new(0u8));
        let inner = $crate::Arc::clone(&lock);
        std::thread::spawn(move || {
            let _guard = inner.lock().unwrap();
            $body
        })
    }};
}

macro_rules! bump {
    () => {
        unsafe { LEVEL += 1 }
    };
}

macro_rules! counter {
    ($($name:ident),* $(,)?) => { $(static $name: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);)* };
}

counter!(ALPHA, BETA);

mod quiet {
    macro_rules! println {
        ($($t:tt)*) => {
            ()
        };
    }
    pub fn speak() {
        println!("{} {}", 1, nothing.here());
    }
}

fn all(shared: &Arc<Mutex<Vec<usize>>>) -> bool {
    assert!(HITS.load(SeqCst) < 10, "hits: {}", HITS.load(SeqCst));
    assert_eq!(unsafe { LEVEL }, unsafe { LEVEL + 0 }, "levels {level}", level = unsafe { LEVEL });
    debug_assert!(matches!(shared.lock().unwrap().first(), None | Some(_) if unsafe { LEVEL } < 100));
    println!("{} {:?}", unsafe { LEVEL }, vec![unsafe { LEVEL }; unsafe { LEVEL }]);
    unsafe {
        std::println!("{LEVEL} {0:>LEVEL$}", 1);
        eprintln!("{LEVEL}",);
        let _ = format!("{:?}", format_args!("{}", format!("{}", LEVEL)));
        let _ = dbg!(LEVEL, HITS.load(SeqCst));
    }
    let mut text = String::new();
    use std::fmt::Write as _;
    write!(text, "{}", unsafe { LEVEL }).unwrap();
    if cfg!(test) {
        bump!();
    }
    if HITS.load(SeqCst) > 1000 {
        unreachable!("{}", unsafe { LEVEL });
    }
    if HITS.load(SeqCst) > 2000 {
        todo!("{}", std::sync::atomic::AtomicBool::new(true).load(SeqCst));
    }
    shout!("{}", HITS.fetch_add(1, SeqCst));
    quiet::speak();
    true
}

pub fn macros() {
    let shared = Arc::new(Mutex::new(vec![0, 1]));
    let copy = shared.clone();
    let handle = start!(all(&copy));
    SEEN.with(|seen| seen.set(seen.get() + 1));
    NAMES.with_borrow_mut(|names| names.push(String::new()));
    ALPHA.store(1, SeqCst);
    BETA.store(1, SeqCst);
    all(&shared);
    handle.join().unwrap();
}
