//! Maps by what a file says.
//!
//! Who knows how keys are hashed can choose thousands of them that all fall into one
//! place of a table, so that each is compared with all others: 50,000 such ids of messages
//! took 6 s instead of 0.1. Here each table has secret numbers `a` and `b` of its own, and
//! a word `x` of a key becomes
//!
//! ```text
//! h = fold(h ^ x, a)      fold(x, y) = upper half of x * y  ^  lower half of it
//! ```
//!
//! from `h = b` on, which takes two multiplications for a number. Nothing may be told by the
//! order of such a map: it differs from run to run.
//!
//! ```
//! use retime_model::FileMap;
//! let mut numbers: FileMap<u64, &str> = FileMap::default();
//! numbers.insert(7, "seven");
//! assert_eq!(numbers.get(&7), Some(&"seven"));
//! ```

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A map whose keys are read from a file.
pub type FileMap<K, V> = HashMap<K, V, Keyed>;

/// Makes hashers with secret numbers.
#[derive(Clone, Debug)]
pub struct Keyed {
    factor: u64,
    start: u64,
}

impl Default for Keyed {
    fn default() -> Self {
        let secret = RandomState::new();
        Self {
            // An odd one loses no bit of what it is multiplied with.
            factor: secret.hash_one(0) | 1,
            start: secret.hash_one(1),
        }
    }
}

impl BuildHasher for Keyed {
    type Hasher = KeyedHasher;

    fn build_hasher(&self) -> KeyedHasher {
        KeyedHasher {
            factor: self.factor,
            hash: self.start,
        }
    }
}

/// Hashes with secret numbers.
#[derive(Clone, Debug)]
pub struct KeyedHasher {
    factor: u64,
    hash: u64,
}

impl KeyedHasher {
    #[inline]
    fn add(&mut self, word: u64) {
        self.hash = fold(self.hash ^ word, self.factor);
    }
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

impl Hasher for KeyedHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.add(word.iter().fold(0, |all, &it| all << 8 | u64::from(it)));
        }
        let rest = words.remainder();
        let rest = rest.iter().fold(0, |all, &it| all << 8 | u64::from(it));
        self.add(rest ^ (bytes.len() as u64) << 56);
    }

    fn write_u8(&mut self, word: u8) {
        self.add(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.add(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.add(word as u64);
    }

    fn finish(&self) -> u64 {
        fold(self.hash, self.factor.rotate_left(32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of the keys fall into the fullest of 256 places, by the low bits.
    fn fullest<T: std::hash::Hash>(keys: impl Iterator<Item = T>) -> usize {
        let keyed = Keyed::default();
        let mut places = [0; 256];
        for key in keys {
            places[keyed.hash_one(key) as usize % 256] += 1;
        }
        places.into_iter().max().unwrap()
    }

    #[test]
    fn keys_spread_whatever_they_have_in_common() {
        // 16 on average.
        assert!(fullest((0..4_096_u64).map(|it| it << 40)) < 64);
        assert!(fullest(0..4_096_u64) < 64);
        assert!(fullest((0..4_096).map(|it| format!("location {it}"))) < 64);
        // What all fall into one place where numbers are multiplied by a known one.
        let inverse = {
            let factor = 0xf135_7aea_2e62_a9c5_u64;
            (0..6).fold(1_u64, |it, _| {
                it.wrapping_mul(2_u64.wrapping_sub(factor.wrapping_mul(it)))
            })
        };
        let chosen = (0..4_096_u64).map(|it| (it << 24).rotate_right(26).wrapping_mul(inverse));
        assert!(fullest(chosen) < 64);
    }
}
