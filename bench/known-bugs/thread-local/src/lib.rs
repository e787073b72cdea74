use std::sync::Arc;
use std::thread;

use thread_local::ThreadLocal;

#[test]
fn a_look_at_the_values_of_all_threads() {
    let locals: Arc<ThreadLocal<String>> = Arc::new(ThreadLocal::new());
    let other = Arc::clone(&locals);
    let setting = thread::spawn(move || other.get_or(|| String::from("x")).len());
    for value in locals.iter() {
        assert_eq!(value, "x");
    }
    setting.join().unwrap();
}
