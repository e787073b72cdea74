use std::thread;

use rust_i18n_support::AtomicStr;

#[test]
fn a_string_is_replaced_while_it_is_read() {
    static LOCALE: std::sync::OnceLock<AtomicStr> = std::sync::OnceLock::new();
    let locale = LOCALE.get_or_init(|| AtomicStr::from("en"));
    let writing = thread::spawn(move || drop(locale.replace("zh-CN")));
    let read = locale.as_str().to_owned();
    assert!(read == "en" || read == "zh-CN");
    writing.join().unwrap();
}
