//! Lists of writes of T', all in one place: a list is passed on as two numbers, and costs no allocation of its own.

/// How many numbers may be kept.
const MOST: usize = 1 << 16;

/// One of the lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List {
    from: u32,
    to: u32,
}

/// Those of the execution, behind those that are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    numbers: Vec<u32>,
    kept: usize,
}

impl Lists {
    /// Forgets all but what is kept.
    pub(super) fn shorten(&mut self) {
        self.numbers.truncate(self.kept);
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.kept = 0;
        self.shorten();
    }

    /// One more list.
    pub(super) fn add(&mut self, writes: &[u32]) -> List {
        let end = |numbers: &Vec<u32>| u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        let from = end(&self.numbers);
        self.numbers.extend_from_slice(writes);
        let to = end(&self.numbers);
        List { from, to }
    }

    /// Keeps the lists that there are, if there is room.
    pub(super) fn keep(&mut self) -> bool {
        let room = self.numbers.len() <= MOST;
        if room {
            self.kept = self.numbers.len();
        }
        room
    }

    /// What is in the list.
    pub(super) fn get(&self, list: List) -> &[u32] {
        &self.numbers[list.from as usize..list.to as usize]
    }
}
