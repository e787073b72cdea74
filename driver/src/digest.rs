//! A digest of much text. `build.rs` includes this file, too: what the binary carries is digested once, when the binary
//! is built.

/// FNV-1a over 128 bits. The standard library's hasher may change with the compiler, and the digest outlives a process.
pub(crate) struct Digest(u128);

impl Digest {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

    pub(crate) const fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Adds one part, its length first, so that no two different lists of parts give the same digest.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for part in [&(bytes.len() as u64).to_le_bytes()[..], bytes] {
            for byte in part {
                self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(Self::PRIME);
            }
        }
    }

    pub(crate) fn finish(&self) -> String {
        format!("{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        let digest = |parts: &[&str]| {
            let mut digest = Digest::new();
            for part in parts {
                digest.add(part.as_bytes());
            }
            digest.finish()
        };
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
        assert_ne!(digest(&["ab"]), digest(&["ab", ""]));
        assert_eq!(digest(&["ab", "c"]), digest(&["ab", "c"]));
    }
}
