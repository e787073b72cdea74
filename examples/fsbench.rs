//! The blocks of a small file system, which files are given as they grow.
//!
//! Source: `fsbench_bad` of SCTBench; the file system of Flanagan and Godefroid, *Dynamic Partial-Order Reduction for
//! Model Checking Software* (2005), which has no bug.
//!
//! The bug: a file looks for a block that is not busy, and gives the block's lock back before it takes the block. Files
//! start to look at different blocks, so that most of them never meet.
//!
//! Threads: three, with a file each. Files 0 and 2 start at the same block.

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
    /// Whether the block is free.
    fn free(&self, block: usize) -> bool {
        self.owners[block].lock().unwrap().is_none()
    }

    /// Gives a file its first block, if it has none; false if the disk is full.
    fn allocate(&self, file: usize) -> bool {
        let mut inode = self.inodes[file].lock().unwrap();
        if inode.is_some() {
            return true;
        }
        let start = file * 2;
        for block in (start..start + BLOCKS).map(|block| block % BLOCKS) {
            if self.free(block) {
                *self.owners[block].lock().unwrap() = Some(file);
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
