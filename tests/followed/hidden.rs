use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

fn with_a_thread(run: impl Fn() + Send + Sync + 'static) {
    let count = Arc::new(AtomicU32::new(0));
    let other = count.clone();
    let thread = std::thread::spawn(move || {
        run();
        other.fetch_add(1, SeqCst);
    });
    count.fetch_add(1, SeqCst);
    thread.join().unwrap();
}

#[test]
fn file() {
    with_a_thread(|| {
        let path = std::env::temp_dir().join("seqz-hidden-file");
        let _ = named::of_std!(fs write => (path, "x"));
    });
}

#[test]
fn directory() {
    with_a_thread(|| {
        let path = std::env::temp_dir().join("seqz-hidden-directory");
        let _ = named::of_std!(fs create_dir => (&path));
        let _ = named::of_std!(fs remove_dir => (&path));
    });
}

#[test]
fn process() {
    with_a_thread(|| {
        let _ = named::of_std!(process Command => ::new("true").status());
    });
}

#[test]
fn socket() {
    with_a_thread(|| {
        let _ = named::of_std!(net UdpSocket => ::bind("127.0.0.1:0"));
    });
}

#[test]
fn thread() {
    with_a_thread(|| {
        let _ = named::of_std!(thread spawn => (|| 1).join());
    });
}

#[test]
fn reads_only() {
    with_a_thread(|| {
        let _ = named::of_std!(fs read => ("/dev/null"));
        let _ = named::of_std!(thread available_parallelism => ());
    });
}
