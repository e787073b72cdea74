//! `static mut` in every position.
#![allow(static_mut_refs)]
use std::thread;

type Count = u32;

#[derive(Clone, Copy, PartialEq)]
struct Point {
    x: i32,
    y: i32,
}

struct Log {
    lines: Vec<String>,
    last: Option<usize>,
}

impl Log {
    fn add(&mut self, line: &str) {
        self.lines.push(line.to_string());
    }
    fn count(&self) -> usize {
        self.lines.len()
    }
}

struct Holder {
    COUNT: Count,
    other: u32,
}

static mut COUNT: Count = 0;
pub static mut FLAG: bool = false;
static mut GRID: [[u8; 3]; 2] = [[0; 3]; 2];
static mut ORIGIN: Point = Point { x: 0, y: 0 };
static mut LOG: Log = Log { lines: Vec::new(), last: None };
static mut NAME: String = String::new();
static mut FOUND: Option<u32> = None;
static mut PAIR: (u32, bool) = (0, false);

mod inner {
    pub static mut DEPTH: u32 = 1;
    pub const COUNT: u32 = 9;
    pub fn constant() -> u32 {
        COUNT
    }
}

const fn three() -> u32 {
    3
}

fn shadowed<const COUNT: usize>() -> usize {
    COUNT
}

unsafe fn touch(i: usize) -> u32 {
    COUNT = 1;
    COUNT += 1;
    COUNT -= COUNT + three();
    COUNT <<= 1;
    COUNT *= three() - 2;
    FLAG = COUNT == 2 || FLAG && !FLAG;
    FLAG |= true;
    GRID[0][i] = COUNT as u8;
    GRID[1][i] += 2;
    let seqz = i;
    GRID[0][seqz] += three() as u8;
    let _ = GRID;
    GRID[1][2] = GRID[0][i] + GRID[1][0];
    ORIGIN.x = 4;
    ORIGIN.y -= ORIGIN.x;
    ORIGIN = Point { x: ORIGIN.y, ..ORIGIN };
    LOG.add("ä");
    LOG.lines.push(format!("{}", COUNT));
    LOG.last = Some(LOG.count());
    NAME.push_str("x");
    NAME += "y";
    NAME = NAME.clone() + &"z".repeat(COUNT as usize);
    FOUND = Some(COUNT.wrapping_add(1));
    PAIR.0 += 1;
    PAIR.1 = FOUND.is_some();
    inner::DEPTH += 1;
    if let Some(found) = FOUND {
        COUNT = found;
    }
    match FOUND {
        Some(n) if n > 3 => COUNT = n,
        Some(_) | None => {}
    }
    while COUNT < 3 {
        COUNT += 1;
    }
    for _ in 0..COUNT.min(2) {}
    let closure = || COUNT + 1;
    let holder = Holder { COUNT, other: closure() };
    {
        static mut COUNT: u8 = 0;
        COUNT = 3;
        let _ = COUNT;
    }
    let COUNT_ = COUNT;
    let tuple = (COUNT, [COUNT; 2], -(COUNT as i32));
    let _ = (tuple, if FLAG { COUNT } else { 0 }, NAME == "x", NAME.len());
    let _ = shadowed::<3>() + self::inner::constant() as usize;
    let from = crate::COUNT;
    return from + COUNT_ + holder.COUNT + holder.other + self::COUNT;
}

#[test]
fn statics() {
    let one = thread::spawn(|| unsafe { touch(0) });
    let two = thread::spawn(|| unsafe { touch(1) });
    one.join().unwrap();
    two.join().unwrap();
    assert!(unsafe { COUNT } < 1000);
}
