use rayon_core::ThreadPoolBuilder;

#[test]
fn all_threads_of_a_pool_hear_of_a_broadcast() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let heard = pool.broadcast(|context| context.index());
    assert_eq!(heard, [0, 1]);
}
