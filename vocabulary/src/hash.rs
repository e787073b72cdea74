//! Mixing of 64-bit words. Not for adversaries: collisions among n hashes have probability about n² / 2⁶⁵.

/// Mixes a word into a hash; order matters.
#[inline]
#[must_use]
pub const fn mix(hash: u64, word: u64) -> u64 {
    scatter(hash.rotate_left(5) ^ word.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Spreads a word over all bits (the finaliser of SplitMix64).
#[inline]
#[must_use]
pub const fn scatter(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A hasher for short keys of words, by [`mix`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Mixer(u64);

impl std::hash::Hasher for Mixer {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        for &word in words {
            self.write_u64(u64::from_ne_bytes(word));
        }
        for &byte in rest {
            self.write_u64(u64::from(byte));
        }
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = mix(self.0, word);
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    #[inline]
    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }
}
