use std::thread;

use internment::ArcIntern;

#[test]
fn a_value_lives_as_long_as_its_handle() {
    let first = ArcIntern::new(String::from("x"));
    let other = thread::spawn(move || drop(first));
    let second = ArcIntern::new(String::from("x"));
    assert_eq!(&*second, "x");
    other.join().unwrap();
    assert_eq!(&*second, "x");
}
