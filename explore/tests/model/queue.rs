//! A condition variable's queue of waiters and permits, written a second time, as a list of marks.

const LENGTH: usize = 16;
const PERMIT: u8 = u8::MAX;

/// Waiters (their thread + 1) and permits, in their order; then zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Queue([u8; LENGTH]);

impl Queue {
    fn count(&self, of: impl Fn(u8) -> bool) -> usize {
        self.0.iter().filter(|&&mark| of(mark)).count()
    }

    fn push(&mut self, mark: u8) {
        let end = self.count(|mark| mark != 0);
        self.0[end] = mark;
    }

    fn remove(&mut self, at: usize) {
        self.0.copy_within(at + 1.., at);
        self.0[LENGTH - 1] = 0;
    }

    pub(crate) fn wait(&mut self, thread: usize) {
        self.push(thread as u8 + 1);
    }

    pub(crate) fn notify_one(&mut self) {
        let permits = self.count(|mark| mark == PERMIT);
        if self.count(|mark| mark != 0) > 2 * permits {
            self.push(PERMIT);
        }
    }

    pub(crate) fn notify_all(&mut self) {
        for _ in 0..LENGTH / 2 {
            self.notify_one();
        }
    }

    /// Where the thread waits, and the first permit behind that.
    fn find(&self, thread: usize) -> (Option<usize>, Option<usize>) {
        let mut marks = self.0.iter();
        let at = marks.position(|&mark| mark == thread as u8 + 1);
        let behind = marks.position(|&mark| mark == PERMIT);
        (at, at.zip(behind).map(|(at, behind)| at + 1 + behind))
    }

    pub(crate) fn covers(&self, thread: usize) -> bool {
        self.find(thread).1.is_some()
    }

    pub(crate) fn wake(&mut self, thread: usize) -> bool {
        let (at, permit) = self.find(thread);
        if let Some(permit) = permit {
            self.remove(permit);
        }
        if let Some(at) = at {
            self.remove(at);
        }
        permit.is_some()
    }
}
