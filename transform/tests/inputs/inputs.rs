//! Parameters of harnesses.
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;

type Amount = u8;

mod kinds {
    #[derive(Clone, Copy, Debug)]
    pub struct Money(pub i64);

    const LEGS: usize = 3;

    pub(super) enum Kind {
        Plain,
        #[cfg(windows)]
        Windows(std::path::PathBuf),
        Long {
            #[cfg(not(test))]
            never: u8,
            legs: [u8; LEGS],
        },
        Rich { by: Money, twice: bool },
        Pair(super::Amount, Option<char>),
    }
}

use kinds::{Kind, Money};

static TOTAL: AtomicI64 = AtomicI64::new(0);

/// Adds what it is given.
pub fn add(amount: Amount, kind: Kind, name: &str, many: &[(u8, bool)], mut rest: Vec<[u16; 2]>, extra: &mut Option<Money>, r#type: f64) {
    rest.pop();
    *extra = None;
    let more = match kind {
        Kind::Plain => 1,
        #[cfg(windows)]
        Kind::Windows(_) => 2,
        Kind::Long { legs, .. } => legs[0].into(),
        Kind::Rich { by: Money(n), twice } => n * (twice as i64 + 1),
        Kind::Pair(a, _) => a.into(),
    };
    thread::scope(|s| {
        s.spawn(|| TOTAL.fetch_add(amount.into(), Ordering::SeqCst));
        s.spawn(|| TOTAL.fetch_add(more + name.len() as i64 + many.len() as i64 + r#type as i64, Ordering::SeqCst));
    });
}

/// Can't be had from input.
pub fn callback(f: Box<dyn Fn() + Send>) {
    thread::spawn(move || f());
}

pub fn generic<T: Send + 'static>(t: T) {
    thread::spawn(move || drop(t));
}

pub async fn later() {
    thread::spawn(|| ());
}

fn private() {
    thread::spawn(|| ());
}

fn main() {
    private();
}
