//! Choices from bytes, for fuzzers.

/// Choices made by the bytes of a fuzzer's input: per non-local read one byte for how many opportunities to let pass, and
/// one for which write to pair it with.
#[derive(Clone, Debug)]
pub(crate) struct Bytes {
    data: Vec<u8>,
    at: usize,
    left: usize,
    /// How many opportunities to let pass; `None` before the byte is read.
    gap: Option<u8>,
}

impl Bytes {
    pub(crate) fn new(data: Vec<u8>, k: usize) -> Self {
        Self {
            data,
            at: 0,
            left: k,
            gap: None,
        }
    }

    fn next(&mut self) -> u8 {
        let byte = self.data.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte
    }

    pub(crate) const fn exhausted(&self) -> bool {
        self.left == 0
    }

    /// Whether this opportunity is the one to take.
    pub(crate) fn due(&mut self) -> bool {
        let gap = match self.gap {
            Some(gap) => gap,
            None => self.next() % 32,
        };
        self.gap = Some(gap.saturating_sub(1));
        gap == 0
    }

    /// Which of `count` writes.
    pub(crate) fn pick(&mut self, count: usize) -> usize {
        usize::from(self.next()) % count
    }

    pub(crate) const fn taken(&mut self) {
        self.left -= 1;
        self.gap = None;
    }
}
