//! Hash tables of numbers that traces name: quick, and with seeds that no trace knows.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A hash table by numbers, or some of them together.
pub type KeyedMap<K, V> = HashMap<K, V, KeyedHash>;

/// Multiplies with seeds of its own, so that nobody can choose numbers that collide.
#[derive(Debug, Clone)]
pub struct KeyedHash {
    begin: u64,
    factor: u64,
}

impl Default for KeyedHash {
    fn default() -> Self {
        let random = RandomState::new();
        Self { begin: random.hash_one(1), factor: random.hash_one(2) | 1 }
    }
}

impl BuildHasher for KeyedHash {
    type Hasher = NumberHasher;

    #[inline]
    fn build_hasher(&self) -> NumberHasher {
        NumberHasher { state: self.begin, factor: self.factor }
    }
}

/// The hash of the numbers so far.
#[derive(Debug)]
pub struct NumberHasher {
    state: u64,
    factor: u64,
}

impl Hasher for NumberHasher {
    #[inline]
    fn finish(&self) -> u64 {
        self.state
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.state ^ number) * u128::from(self.factor);
        self.state = (product as u64) ^ ((product >> 64) as u64);
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    #[inline]
    fn write_i32(&mut self, number: i32) {
        self.write_u64(number as u64);
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut number = [0; 8];
            number.iter_mut().zip(chunk).for_each(|(to, &from)| *to = from);
            self.write_u64(u64::from_le_bytes(number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_has_seeds_of_its_own() {
        let one = KeyedHash::default();
        assert_eq!(one.hash_one((1u32, 7u64)), one.hash_one((1u32, 7u64)));
        assert_ne!(one.hash_one((1u32, 7u64)), KeyedHash::default().hash_one((1u32, 7u64)));
    }

    #[test]
    fn numbers_that_differ_little_are_spread() {
        let hash = KeyedHash::default();
        // Tables look at the lowest bits, and at the highest.
        for shift in [0, 57] {
            for step in [1u64, 16, 4096, 1 << 32] {
                let mut slots = [0u32; 128];
                for number in 0..12_800 {
                    slots[(hash.hash_one((0u32, number * step)) >> shift) as usize % 128] += 1;
                }
                let most = slots.iter().max().copied().unwrap_or(0);
                assert!(most < 300, "{most} of 12,800 in one of 128, step {step}");
            }
        }
    }

    #[test]
    fn what_was_put_in_is_found() {
        let mut map: KeyedMap<(i32, &str), u32> = KeyedMap::default();
        for number in 0..1000 {
            map.insert((-number, "a longer text than eight bytes"), number as u32);
        }
        assert_eq!(map.get(&(-77, "a longer text than eight bytes")), Some(&77));
        assert_eq!(map.get(&(77, "a longer text than eight bytes")), None);
    }
}
