//! Harnesses that can't be called.
use std::sync::Arc;
use std::thread;

pub fn callback(f: Box<dyn Fn() + Send>) {
    thread::spawn(move || f());
}

pub fn handle(shared: Arc<u32>) {
    thread::spawn(move || drop(shared));
}

pub fn lists(list: Vec<&'static str>) {
    thread::spawn(move || drop(list));
}

pub struct Generic<T>(T);

pub fn generic_input(value: Generic<u8>) {
    thread::spawn(move || drop(value));
}

pub fn generic<T: Send + 'static>(t: T) {
    thread::spawn(move || drop(t));
}

pub fn anything(t: impl Send + 'static) {
    thread::spawn(move || drop(t));
}

pub async fn later() {
    thread::spawn(|| ());
}

pub unsafe fn dangerous() {
    thread::spawn(|| ());
}

#[tokio::test]
async fn elsewhere() {
    thread::spawn(|| ());
}
