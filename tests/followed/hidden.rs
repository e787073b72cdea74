use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

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

/// Two threads lock what their own maps hold: which of them comes first goes by random numbers.
#[test]
fn locks_in_the_order_of_a_map() {
    let all: Vec<Arc<Mutex<u32>>> = (0..6).map(|_| Default::default()).collect();
    let map = || all.iter().cloned().enumerate().collect::<HashMap<_, _>>();
    let (mine, theirs) = (map(), map());
    let count = |map: HashMap<usize, Arc<Mutex<u32>>>| {
        map.values().for_each(|it| *it.lock().unwrap() += 1);
    };
    let t = thread::spawn(move || count(theirs));
    count(mine);
    t.join().unwrap();
}

#[test]
fn goes_by_a_set() {
    let n = Arc::new(AtomicUsize::new(0));
    let theirs = n.clone();
    let t = thread::spawn(move || {
        let set: HashSet<usize> = (0..20).collect();
        theirs.store(*set.iter().next().unwrap(), SeqCst);
    });
    n.fetch_add(100, SeqCst);
    t.join().unwrap();
    assert!(n.load(SeqCst) < 120);
}

/// The order of what is in the map shows nowhere.
#[test]
fn counts_in_a_map() {
    let map = Arc::new(Mutex::new(HashMap::new()));
    let theirs = map.clone();
    let t = thread::spawn(move || *theirs.lock().unwrap().entry(1).or_insert(0) += 1);
    *map.lock().unwrap().entry(2).or_insert(0) += 1;
    t.join().unwrap();
    assert_eq!(map.lock().unwrap().values().sum::<i32>(), 2);
}

fn number() -> u64 {
    let shown = format!("{:?}", thread::current().id());
    let digits = shown.chars().filter(char::is_ascii_digit);
    digits.collect::<String>().parse().unwrap()
}

/// Who is started first has the lower number: two threads start one each.
#[test]
fn shards_by_id() {
    static SHARDS: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let first = number();
    let work = move || {
        let shard = (number() - first) % 2;
        SHARDS[shard as usize].fetch_add(1, SeqCst)
    };
    let t = thread::spawn(move || thread::spawn(work).join().unwrap());
    thread::spawn(work).join().unwrap();
    t.join().unwrap();
}

#[test]
fn compares_ids() {
    let mine = thread::current().id();
    let of_nobody_else = move || assert_ne!(thread::current().id(), mine);
    let t = thread::spawn(move || thread::spawn(of_nobody_else).join().unwrap());
    thread::spawn(of_nobody_else).join().unwrap();
    t.join().unwrap();
}

#[test]
fn shows_ids_of_one_starter() {
    let n = Arc::new(AtomicUsize::new(0));
    let theirs = n.clone();
    let t = thread::spawn(move || theirs.fetch_add(number() as usize, SeqCst));
    n.fetch_add(1, SeqCst);
    t.join().unwrap();
}
