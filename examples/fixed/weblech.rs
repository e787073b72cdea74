//! A downloader of web sites: `../weblech.rs` with the bug taken out.
//!
//! A download is counted in and out in one step.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// The pages of a site by their paths.
type Site = BTreeMap<&'static str, &'static str>;

fn site() -> Site {
    BTreeMap::from([
        (
            "/index.html",
            r#"<h1>Home</h1> <a href="/news.html">News</a> <a href="http://elsewhere.org/">Friends</a>"#,
        ),
        (
            "/news.html",
            r##"<a href="#top">Up</a> <a href="/index.html">Home</a> <a href="gone.html#end">Old</a>"##,
        ),
    ])
}

/// The links of a page, in their order.
fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("href=\"")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('"')?.0))
}

/// The path on the same site that a link on the page at `base` leads to, if it does.
fn resolve(base: &str, link: &str) -> Option<String> {
    let link = link.split('#').next().unwrap_or_default();
    if link.is_empty() || link.contains("://") {
        return None;
    }
    if link.starts_with('/') {
        return Some(link.to_owned());
    }
    let directory = base.rsplit_once('/').map_or("", |(directory, _)| directory);
    Some(format!("{directory}/{link}"))
}

/// What there is to download, and what it was ever asked to.
#[derive(Clone, Default)]
struct Queue {
    waiting: VecDeque<String>,
    met: BTreeSet<String>,
}

impl Queue {
    fn add(&mut self, path: String) {
        if self.met.insert(path.clone()) {
            self.waiting.push_back(path);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Saved(usize),
    NotFound,
}

struct Spider {
    site: Site,
    queue: Mutex<Queue>,
    outcomes: Mutex<BTreeMap<String, Outcome>>,
    in_progress: AtomicI32,
}

impl Spider {
    fn new(site: Site, start: &str) -> Self {
        let mut queue = Queue::default();
        queue.add(start.to_owned());
        Self {
            site,
            queue: Mutex::new(queue),
            outcomes: Mutex::default(),
            in_progress: AtomicI32::new(0),
        }
    }

    fn count(&self, by: i32) {
        self.in_progress.fetch_add(by, Ordering::SeqCst);
    }

    /// Downloads as long as there is something to download.
    fn run(&self) {
        loop {
            let next = self.queue.lock().unwrap().waiting.pop_front();
            let Some(path) = next else {
                return;
            };
            self.count(1);
            let outcome = self.download(&path);
            self.outcomes.lock().unwrap().insert(path, outcome);
            self.count(-1);
        }
    }

    fn download(&self, path: &str) -> Outcome {
        let Some(page) = self.site.get(path) else {
            return Outcome::NotFound;
        };
        let found: Vec<_> = links(page).filter_map(|link| resolve(path, link)).collect();
        if !found.is_empty() {
            let mut queue = self.queue.lock().unwrap();
            for path in found {
                queue.add(path);
            }
        }
        Outcome::Saved(page.len())
    }
}

#[test]
fn a_site_is_downloaded() {
    let spider = Arc::new(Spider::new(site(), "/index.html"));
    let downloaders = [(); 2].map(|()| {
        let spider = Arc::clone(&spider);
        thread::spawn(move || spider.run())
    });
    for downloader in downloaders {
        downloader.join().unwrap();
    }
    let outcomes = spider.outcomes.lock().unwrap();
    assert_eq!(outcomes.len(), 3, "every page is downloaded once");
    assert_eq!(outcomes["/gone.html"], Outcome::NotFound);
    let in_progress = spider.in_progress.load(Ordering::SeqCst);
    assert_eq!(in_progress, 0, "a download is counted wrong");
}
