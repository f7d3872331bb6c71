//! Which place each address of a process image has: the map that every record asks.
//!
//! With a hundred thousand places it is larger than what a core keeps at hand, and waiting
//! for memory is all the time it takes. So addresses are asked for in blocks: all entries
//! of a block are fetched at once, then compared.

use std::hash::{BuildHasher as _, RandomState};

/// Marks a record without an address to resolve.
pub const NO_PLACE: u32 = crate::derived::NO_VALUE;

/// How many addresses are asked for at once.
pub const BLOCK: usize = 64;

/// An address in a process image.
pub type Key = (u32, u64);

#[derive(Clone, Copy)]
struct Slot {
    ip: u64,
    image: u32,
    /// [`NO_PLACE`] in an empty slot.
    place: u32,
}

const EMPTY: Slot = Slot { ip: 0, image: 0, place: NO_PLACE };

/// A hash table with open addressing, at most half full.
pub struct KnownPlaces {
    slots: Vec<Slot>,
    length: usize,
    /// Not the same in two runs, so that no trace can be made of addresses that collide.
    seeds: (u64, u64),
}

impl KnownPlaces {
    /// An empty map.
    pub fn new() -> Self {
        let random = RandomState::new();
        Self {
            slots: vec![EMPTY; 1 << 10],
            length: 0,
            seeds: (random.hash_one(1), random.hash_one(2)),
        }
    }

    /// The places of at most [`BLOCK`] addresses. A new address gets the place that `make`
    /// returns for its index.
    pub fn get_or_insert(
        &mut self,
        keys: &[Key],
        mut make: impl FnMut(usize) -> u32,
    ) -> [u32; BLOCK] {
        let mut near = [EMPTY; BLOCK];
        for (slot, key) in near.iter_mut().zip(keys) {
            *slot = self.slots.get(self.start(*key)).copied().unwrap_or(EMPTY);
        }
        let mut places = [NO_PLACE; BLOCK];
        for (index, ((place, slot), &key)) in places.iter_mut().zip(near).zip(keys).enumerate() {
            let is_it = (slot.image, slot.ip) == key && slot.place != NO_PLACE;
            *place = if is_it { slot.place } else { self.search(key, || make(index)) };
        }
        places
    }

    #[inline]
    fn start(&self, (image, ip): Key) -> usize {
        let image = u64::from(image).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ self.seeds.1;
        let product = u128::from(ip ^ self.seeds.0) * u128::from(image | 1);
        let hash = (product as u64) ^ ((product >> 64) as u64);
        // The number of slots is a power of two.
        hash as usize & (self.slots.len() - 1)
    }

    fn search(&mut self, key: Key, make: impl FnOnce() -> u32) -> u32 {
        if (self.length + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let index = self.slot_of(key);
        let Some(slot) = self.slots.get_mut(index) else { return NO_PLACE };
        if slot.place == NO_PLACE {
            *slot = Slot { image: key.0, ip: key.1, place: make() };
            self.length += 1;
        }
        slot.place
    }

    /// The slot that has the key, or the empty one where it belongs.
    fn slot_of(&self, key: Key) -> usize {
        let mut index = self.start(key);
        // There always is an empty slot.
        while let Some(slot) = self.slots.get(index) {
            if slot.place == NO_PLACE || (slot.image, slot.ip) == key {
                break;
            }
            index = (index + 1) & (self.slots.len() - 1);
        }
        index
    }

    fn grow(&mut self) {
        let larger = vec![EMPTY; self.slots.len() * 2];
        for slot in std::mem::replace(&mut self.slots, larger) {
            if slot.place != NO_PLACE {
                let index = self.slot_of((slot.image, slot.ip));
                if let Some(to) = self.slots.get_mut(index) {
                    *to = slot;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn each_address_of_each_image_keeps_its_place() {
        let mut known = KnownPlaces::new();
        let mut expected: HashMap<Key, u32> = HashMap::new();
        let mut next = 0;
        for round in 0..3u64 {
            for first in (0..20_000u64).step_by(BLOCK) {
                // Every key stands twice in its block, and comes again in the next round.
                let numbers = (first..first + BLOCK as u64).map(|number| number / 2);
                let keys: Vec<Key> =
                    numbers.map(|n| ((n % 3) as u32, (n * 0x1000).rotate_left(n as u32))).collect();
                let places = known.get_or_insert(&keys, |_| {
                    next += 1;
                    next - 1
                });
                for (key, place) in keys.iter().zip(places) {
                    assert_eq!(*expected.entry(*key).or_insert(place), place, "round {round}");
                }
            }
        }
        assert_eq!(next as usize, expected.len());
    }
}
