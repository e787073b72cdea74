//! Choices from bytes, for fuzzers.
//!
//! Each of the K non-local reads has two bytes at a fixed place: byte 2i says how many opportunities to pass over before
//! it, byte 2i+1 which write to pair it with. An opportunity is a read of T of something that T' wrote and that T has
//! not seen yet.
//!
//! | gap byte | opportunities passed over |
//! |---|---|
//! | 0 to 127 | the byte modulo 8 |
//! | 128 to 253 | the byte less 120: 8 to 133 |
//! | 254 | 134, and as many more as the next bytes of the extension say |
//! | 255 | all: no further non-local read, unless there has to be one |
//!
//! The pick byte counts along the writes in question, the latest one first, modulo their number, and the first write
//! from there on that some interleaving allows is taken. If no write is allowed, the next opportunity is taken. Where
//! there are more than 256 writes, a byte of the extension is the pick's upper half. In the extension, which comes
//! after the inputs, 255 is 255 and a further byte. Missing extension bytes are 0, a missing gap byte is 255, a missing
//! pick byte 0.
//!
//! A read that no interleaving allows to be local, after the non-local reads before it, does not wait for its turn: it
//! takes the next choice at once, and so does a read that later turns out to have had to be non-local: see
//! [`super::guide`]. So some interleaving has nearly all choices.
//!
//! Every list of non-local reads that some interleaving has is the meaning of some bytes, and the empty string is the
//! program without interference, if the program can come to its end without interference.

/// The gap byte that means no further non-local read.
pub(crate) const NO_MORE: u8 = 255;
/// The gap byte whose number goes on in the extension.
const LONG: u8 = 254;

/// A source of choices. Its buffers are kept between executions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bytes {
    /// The gap and pick bytes.
    choices: Vec<u8>,
    extension: Vec<u8>,
    /// The number of bytes of the extension that have been used.
    extended: usize,
    /// The most choices that can be made.
    k: usize,
    /// The number of choices made so far.
    made: usize,
    /// The number of opportunities to let pass before the next choice; `None` before the gap byte is read, or where all
    /// pass.
    gap: Option<u32>,
}

impl Bytes {
    /// Starts anew, with these bytes and at most `k` choices.
    pub(crate) fn fill(&mut self, k: usize, choices: &[u8], extension: &[u8]) {
        self.choices.clear();
        self.choices.extend_from_slice(choices);
        self.extension.clear();
        if !extension.is_empty() {
            self.extension.extend_from_slice(extension);
        }
        self.extended = 0;
        self.k = k;
        self.made = 0;
        self.begin();
    }

    /// Reads the next choice's gap.
    fn begin(&mut self) {
        self.gap = None;
        if self.made == self.k {
            return;
        }
        let byte = self.choices.get(2 * self.made).copied();
        self.gap = match byte.unwrap_or(NO_MORE) {
            NO_MORE => None,
            LONG => Some(134 + self.extend()),
            byte @ 128.. => Some(u32::from(byte) - 120),
            byte => Some(u32::from(byte) & 7),
        };
    }

    /// A number from the extension.
    fn extend(&mut self) -> u32 {
        let mut sum = 0;
        loop {
            let byte = self.extension.get(self.extended).copied().unwrap_or(0);
            self.extended += 1;
            sum += u32::from(byte);
            if byte < 255 {
                return sum;
            }
        }
    }

    /// Whether no choice is left.
    #[inline]
    pub(crate) const fn complete(&self) -> bool {
        self.made == self.k
    }

    /// The number of opportunities that pass before the next choice; `None` where all pass.
    #[inline]
    pub(crate) const fn gap(&self) -> Option<u32> {
        self.gap
    }

    /// The most choices that can be made.
    #[inline]
    pub(crate) const fn k(&self) -> usize {
        self.k
    }

    /// Whether this opportunity is the one to take. To be called once at each opportunity.
    #[inline]
    pub(crate) fn due(&mut self) -> bool {
        match &mut self.gap {
            None => false,
            Some(0) => true,
            Some(gap) => {
                *gap -= 1;
                false
            }
        }
    }

    /// The number of the picked write among `count` writes, the latest being 0.
    pub(crate) fn pick(&mut self, count: usize) -> usize {
        let low = self.choices.get(2 * self.made + 1).copied().unwrap_or(0);
        match u8::try_from(count) {
            Ok(1) => 0,
            // Short numbers are quicker to divide.
            Ok(count) => usize::from(low % count),
            Err(_) => {
                let high = if count > 256 { self.extend() } else { 0 };
                (usize::from(low) + 256 * high as usize) % count
            }
        }
    }

    /// Notes that the choice has been made.
    pub(crate) fn taken(&mut self) {
        self.made += 1;
        self.begin();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each choice, the number of opportunities that it passes over, and the number of the write that it picks out
    /// of `count`.
    fn read(k: usize, choices: &[u8], extension: &[u8], count: usize) -> Vec<(u32, usize)> {
        let mut bytes = Bytes::default();
        bytes.fill(k, choices, extension);
        let mut all = Vec::new();
        while bytes.gap().is_some() {
            let mut passed = 0;
            while !bytes.due() {
                passed += 1;
            }
            all.push((passed, bytes.pick(count)));
            bytes.taken();
        }
        all
    }

    #[test]
    fn the_empty_string_is_no_interference() {
        assert!(read(2, &[], &[], 3).is_empty());
        assert!(read(2, &[NO_MORE, 0, 0, 0], &[], 3).is_empty());
        assert!(read(0, &[0, 0, 0, 0], &[], 3).is_empty());
    }

    #[test]
    fn every_gap_and_every_write_has_its_bytes() {
        for gap in 0..2_000_u32 {
            let byte = match gap {
                0..8 => gap,
                8..134 => gap + 120,
                _ => u32::from(LONG),
            };
            let mut rest = gap.saturating_sub(134);
            let mut extension = Vec::new();
            while rest >= 255 {
                extension.push(255);
                rest -= 255;
            }
            extension.push(rest as u8);
            assert_eq!(read(1, &[byte as u8, 0], &extension, 1), [(gap, 0)]);
        }
        for wanted in 0..1000_usize {
            let [low, high] = (wanted as u16).to_le_bytes();
            assert_eq!(read(1, &[0, low], &[high], 1000), [(0, wanted)]);
        }
        assert_eq!(read(1, &[0, 7], &[], 5), [(0, 2)]);
    }

    #[test]
    fn one_byte_changes_one_choice() {
        let base = [3, 4, 9, 5, 1, 0];
        let before = read(3, &base, &[], 7);
        for at in 0..base.len() {
            for byte in 0..LONG {
                let mut other = base;
                other[at] = byte;
                let after = read(3, &other, &[], 7);
                let differing: Vec<_> = (0..3).filter(|&i| before[i] != after[i]).collect();
                assert!(differing.iter().all(|&i| i == at / 2), "{other:?}");
            }
        }
    }
}
