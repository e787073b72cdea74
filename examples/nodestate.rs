//! Nodes of a document, which are found by others before they have their state.
//!
//! Source: nodestate of the predecessor-set paper, an order violation extracted from Mozilla. Of the program itself the
//! paper says nothing.
//!
//! The bug: `create` makes a node known, and gives it its state after that.
//!
//! Threads: one that creates a node meets one that looks at all that are known. One read of the latter, of the list, sees
//! a write of the former.

use std::sync::{Arc, Mutex, RwLock};
use std::thread;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Loading,
}

#[derive(Clone, Default)]
struct Node {
    state: Arc<Mutex<Option<State>>>,
}

#[derive(Default)]
struct Document {
    nodes: RwLock<Vec<Node>>,
}

impl Document {
    fn create(&self) {
        let node = Node::default();
        self.nodes.write().unwrap().push(node.clone());
        *node.state.lock().unwrap() = Some(State::Loading);
    }

    /// How many nodes are being loaded.
    fn loading(&self) -> usize {
        let nodes = self.nodes.read().unwrap().clone();
        nodes
            .iter()
            .map(|node| node.state.lock().unwrap().expect("a node has no state"))
            .filter(|state| *state == State::Loading)
            .count()
    }
}

#[test]
fn look_at_a_new_node() {
    let document = Arc::new(Document::default());
    let creating = {
        let document = Arc::clone(&document);
        thread::spawn(move || document.create())
    };
    let looking = {
        let document = Arc::clone(&document);
        thread::spawn(move || document.loading())
    };
    creating.join().unwrap();
    assert!(looking.join().unwrap() <= 1, "there is one node");
}
