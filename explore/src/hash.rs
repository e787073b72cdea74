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
