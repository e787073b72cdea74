// `Arc` and `Weak`, but for what makes them handles of types without a size.

use std::borrow::{Borrow, Cow};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::error::Error;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fmt::{Debug, Display, Pointer};
use std::hash::Hash;
use std::mem::MaybeUninit;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::{Path, PathBuf};
use std::pin::Pin;

use subject::sync::{Arc, Weak};

static NONE: Weak<u8> = Weak::new();

#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
struct Held {
    text: Arc<str>,
    parts: Arc<[u8]>,
    one: Arc<u8>,
}

struct Node {
    this: Weak<Node>,
    parent: Option<Arc<Node>>,
}

impl Node {
    fn by_handle(self: Arc<Self>) -> Arc<Self> {
        self
    }
    fn by_reference(self: &Arc<Self>) -> Weak<Self> {
        Arc::downgrade(self)
    }
    fn pinned(self: Pin<Arc<Self>>) {}
}

fn arc(mut one: Arc<String>) -> Result<String, Arc<String>> {
    let node: Arc<Node> = Arc::new_cyclic(|this: &Weak<Node>| Node { this: this.clone(), parent: None });
    let weak = node.by_reference();
    let node = node.by_handle();
    let pinned: Pin<Arc<String>> = Arc::pin(String::new());
    let inside: Option<&mut String> = Arc::get_mut(&mut one);
    let inside: &mut String = Arc::make_mut(&mut one);
    let place: *const String = Arc::as_ptr(&one);
    let counts: (usize, usize) = (Arc::strong_count(&one), Arc::weak_count(&one));
    let same: bool = Arc::ptr_eq(&one, &one.clone());
    let raw: *const String = Arc::into_raw(one.clone());
    let again = unsafe {
        Arc::increment_strong_count(raw);
        Arc::decrement_strong_count(raw);
        Arc::from_raw(raw)
    };
    let value: String = Arc::unwrap_or_clone(again);
    let value: Option<String> = Arc::into_inner(one.clone());
    let length: usize = one.len();
    let all: Vec<Arc<u8>> = [1].into_iter().map(Arc::new).collect();
    let counted: u8 = all.iter().map(|it| **it).sum();
    Arc::try_unwrap(one)
}

fn uninit() {
    let mut made: Arc<MaybeUninit<u8>> = Arc::new_uninit();
    Arc::get_mut(&mut made).unwrap().write(1);
    let made: Arc<u8> = unsafe { made.assume_init() };
    let zeroed: Arc<MaybeUninit<u8>> = Arc::new_zeroed();
    let all: Arc<[MaybeUninit<u8>]> = Arc::new_uninit_slice(2);
    let all: Arc<[MaybeUninit<u8>]> = Arc::new_zeroed_slice(2);
    let all: Arc<[u8]> = unsafe { all.assume_init() };
}

fn weak(weak: Weak<u8>) -> Weak<u8> {
    let strong: Option<Arc<u8>> = weak.upgrade();
    let counts: (usize, usize) = (weak.strong_count(), weak.weak_count());
    let same: bool = weak.ptr_eq(&Weak::new());
    let place: *const u8 = weak.as_ptr();
    let usual: Weak<u8> = Weak::default();
    let text = format!("{weak:?}");
    let raw: *const u8 = weak.clone().into_raw();
    drop(weak);
    unsafe { Weak::from_raw(raw) }
}

fn conversions() {
    let of: Arc<str> = "text".into();
    let of: Arc<str> = Arc::from(String::from("text"));
    let of: Arc<str> = Cow::Borrowed("text").into();
    let of: Arc<str> = Box::<str>::from("text").into();
    let bytes: Arc<[u8]> = of.clone().into();
    let of: Arc<str> = Arc::from(String::from("text").as_mut_str());
    let of: Arc<[u8]> = vec![1].into();
    let of: Arc<[u8]> = Arc::from([1, 2]);
    let of: Arc<[u8]> = Arc::from(&[1, 2][..]);
    let of: Arc<[u8]> = Arc::from(&mut [1, 2][..]);
    let of: Arc<[u8]> = (0..3).collect();
    let of: Result<Arc<[u8; 3]>, Arc<[u8]>> = of.try_into();
    let of: Arc<Path> = Arc::from(Path::new("a"));
    let of: Arc<Path> = PathBuf::from("a").into();
    let of: Arc<OsStr> = Arc::from(OsStr::new("a"));
    let of: Arc<OsStr> = OsString::from("a").into();
    let of: Arc<CStr> = Arc::from(c"a");
    let of: Arc<CStr> = CString::default().into();
    let of: Arc<u8> = 1.into();
    let of: Arc<u8> = Box::new(1).into();
    let of: Arc<dyn Debug> = (Box::new(1) as Box<dyn Debug>).into();
    let usual: (Arc<u8>, Arc<str>, Arc<[u8]>, Arc<CStr>) = Default::default();
    let pinned: Pin<Arc<u8>> = Pin::default();
}

fn asked<T: ?Sized + Debug + Display + Ord + Hash>(one: &Arc<T>, two: &Arc<T>) {
    let of: &T = one.as_ref();
    let of: &T = one.borrow();
    let of: &T = one;
    let (is, before, order) = (one == two, one < two, one.cmp(two));
    let text = format!("{one} {one:?} {one:p}");
    let known: HashSet<Arc<T>> = HashSet::from([one.clone()]);
    let known: BTreeSet<Arc<T>> = BTreeSet::from([one.clone()]);
    let known = known.contains(&**one);
}

fn failures(error: Arc<std::io::Error>) -> Option<String> {
    let of: &dyn Error = &error;
    let text: HashMap<Arc<str>, u8> = HashMap::new();
    let found = text.get("name");
    Some(of.source()?.to_string())
}

fn files(mut owned: Arc<std::fs::File>) {
    use std::io::{Read, Seek, Write};
    let mut buffer = [0];
    drop(owned.read(&mut buffer));
    drop(owned.write(&buffer));
    drop(owned.rewind());
}

#[cfg(unix)]
fn described(file: Arc<std::fs::File>) {
    use std::os::fd::{AsFd, AsRawFd};
    let of = (file.as_fd(), file.as_raw_fd());
}

fn traits() {
    fn shared<T: Send + Sync + Unpin>() {}
    fn pinned<T: Unpin>() {}
    fn unwinds<T: UnwindSafe + RefUnwindSafe>() {}
    fn all<T: Clone + Debug + Display + Pointer + Hash + Ord + Default>() {}
    shared::<Arc<u8>>();
    shared::<Weak<u8>>();
    shared::<Arc<str>>();
    pinned::<Arc<std::marker::PhantomPinned>>();
    unwinds::<Arc<u8>>();
    unwinds::<Weak<u8>>();
    all::<Arc<u8>>();
}

lacks!(Arc<std::cell::Cell<u8>>: Send);
lacks!(Arc<std::cell::Cell<u8>>: Sync);
lacks!(Arc<std::rc::Rc<u8>>: Send);
lacks!(Weak<std::cell::Cell<u8>>: Send);
lacks!(Arc<u8>: Copy);
