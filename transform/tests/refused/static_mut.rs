//! Uses of `static mut` that no event could stand for.
use std::thread;

static mut A: u32 = 0;
static mut V: Vec<u32> = Vec::new();

macro_rules! id {
    ($e:expr) => {
        $e
    };
}

macro_rules! bump {
    ($x:ident) => {
        $x += 1
    };
}

macro_rules! each {
    ($($e:expr),*) => {
        $(A = $e;)*
    };
}

fn f() -> usize {
    0
}

fn touch() {
    unsafe {
        let r = &A;
        let r = &mut A;
        let p = &raw mut A;
        let p = std::ptr::addr_of!(A);
        id!(A + 1);
        bump!(A);
        V.frobnicate();
        V[f()] = 3;
        f2(&mut V);
        match V { ref mut v => v.push(1) }
    }
}

#[test]
fn t() {
    thread::spawn(touch).join().unwrap();
}
