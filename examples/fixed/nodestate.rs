//! Nodes of a document: `../nodestate.rs` with the bug taken out.
//!
//! `create` makes the node known when it has its state.

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
        *node.state.lock().unwrap() = Some(State::Loading);
        self.nodes.write().unwrap().push(node);
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
