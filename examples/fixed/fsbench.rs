//! The blocks of a file system: `../fsbench.rs` with the bug taken out.
//!
//! A file looks at a block and takes it under one lock.

use std::sync::{Arc, Mutex};
use std::thread;

const FILES: usize = 3;
const BLOCKS: usize = 4;

#[derive(Default)]
struct Disk {
    /// The first block of each file.
    inodes: [Mutex<Option<usize>>; FILES],
    /// Which file a block belongs to.
    owners: [Mutex<Option<usize>>; BLOCKS],
}

impl Disk {
    /// Gives a file its first block, if it has none; false if the disk is full.
    fn allocate(&self, file: usize) -> bool {
        let mut inode = self.inodes[file].lock().unwrap();
        if inode.is_some() {
            return true;
        }
        let start = file * 2;
        for block in (start..start + BLOCKS).map(|block| block % BLOCKS) {
            let mut owner = self.owners[block].lock().unwrap();
            if owner.is_none() {
                *owner = Some(file);
                *inode = Some(block);
                return true;
            }
        }
        false
    }
}

#[test]
fn three_files() {
    let disk = Arc::new(Disk::default());
    let writers = [0, 1, 2].map(|file| {
        let disk = Arc::clone(&disk);
        thread::spawn(move || disk.allocate(file))
    });
    for writer in writers {
        assert!(writer.join().unwrap(), "there are more blocks than files");
    }
    for (file, inode) in disk.inodes.iter().enumerate() {
        let block = inode.lock().unwrap().unwrap();
        let owner = *disk.owners[block].lock().unwrap();
        assert_eq!(owner, Some(file), "a block has two owners");
    }
}
