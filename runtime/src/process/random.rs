//! Random numbers: the same in each execution and in each process, and of each thread's own.

use seqz_explore::hash::mix;

/// How many times each thread has drawn.
#[derive(Debug, Default)]
pub(super) struct Draws {
    by_thread: Vec<u64>,
}

impl Draws {
    /// Fills what a thread has asked for.
    pub(super) fn fill(&mut self, thread: u32, bytes: &mut [u8]) {
        let at = thread as usize;
        if self.by_thread.len() <= at {
            self.by_thread.resize(at + 1, 0);
        }
        fill(u64::from(thread) + 1, &mut self.by_thread[at], bytes);
    }

    #[inline]
    pub(super) fn restart(&mut self) {
        self.by_thread.clear();
    }
}

/// The same outside of programs, where one sequence is as good as any other.
pub(super) fn fill(seed: u64, drawn: &mut u64, bytes: &mut [u8]) {
    for piece in bytes.chunks_mut(8) {
        *drawn += 1;
        let number = mix(mix(0x5e92_d1a3, seed), *drawn).to_le_bytes();
        piece.copy_from_slice(&number[..piece.len()]);
    }
}
