use std::thread;
#[test]
fn a_failed_initialization_beside_another_one() {
    let once: spin::Once<u32> = spin::Once::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = once.try_call_once(|| Err::<u32, ()>(()));
        });
        assert_eq!(*once.call_once(|| 7), 7);
    });
}
