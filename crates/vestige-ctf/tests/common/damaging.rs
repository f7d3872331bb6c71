//! Damaging bytes at random, so that each byte remembers where it comes from.

use std::ops::Range;

use crate::recorded::Recording;

/// Numbers that look random and are the same in each run (xorshift, Marsaglia 2003).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            random.next();
        }
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// Bytes, and for each of them its offset in the undamaged file unless it was altered.
#[derive(Clone)]
pub struct Damaged {
    pub what: String,
    pub bytes: Vec<u8>,
    pub origins: Vec<Option<usize>>,
    /// Whether bytes were removed or inserted.
    pub has_moved: bool,
}

impl Damaged {
    pub fn none(bytes: &[u8]) -> Self {
        let origins = (0..bytes.len()).map(Some).collect();
        Self { what: String::new(), bytes: bytes.to_vec(), origins, has_moved: false }
    }

    /// Whether the bytes of a packet are all there in a row.
    pub fn holds_whole(&self, packet: &Range<usize>) -> bool {
        let at = self.origins.iter().position(|&origin| origin == Some(packet.start));
        at.and_then(|at| self.origins.get(at..at + packet.len()))
            .is_some_and(|bytes| bytes.iter().zip(packet.clone()).all(|(&at, to)| at == Some(to)))
    }

    fn alter(&mut self, at: usize, byte: u8) {
        if self.bytes[at] != byte {
            self.bytes[at] = byte;
            self.origins[at] = None;
        }
    }

    fn insert(&mut self, at: usize, bytes: &[u8]) {
        self.bytes.splice(at..at, bytes.iter().copied());
        self.origins.splice(at..at, bytes.iter().map(|_| None));
        self.has_moved = true;
    }

    pub fn remove(&mut self, range: Range<usize>) {
        self.bytes.drain(range.clone());
        self.origins.drain(range);
        self.has_moved = true;
    }
}

fn range(length: usize, random: &mut Random) -> Range<usize> {
    let start = random.below(length as u64) as usize;
    let most = [8, 100, 3000][random.below(3) as usize];
    start..(start + 1 + random.below(most) as usize).min(length)
}

/// Damages a recording in one of eight ways.
pub fn damage(recording: &Recording, whole: Damaged, random: &mut Random) -> Damaged {
    let mut damaged = whole;
    let length = damaged.bytes.len();
    let hit = range(length, random);
    let garbage: Vec<u8> = hit.clone().map(|_| random.below(256) as u8).collect();
    damaged.what = match random.below(9) {
        0 => {
            damaged.bytes.truncate(hit.start);
            damaged.origins.truncate(hit.start);
            format!("cut at {}", hit.start)
        }
        1 | 2 => {
            let flips: Vec<_> = (0..=random.below(3))
                .map(|_| (random.below(length as u64) as usize, random.below(8)))
                .collect();
            for &(at, bit) in &flips {
                damaged.alter(at, damaged.bytes[at] ^ 1 << bit);
            }
            format!("flipped (byte, bit) {flips:?}")
        }
        3 => {
            // The heads of packets are small; they must be hit often enough.
            let packet = &recording.packets[random.below(recording.packets.len() as u64) as usize];
            let at = packet.start + random.below(64) as usize;
            let bit = random.below(8);
            damaged.alter(at, damaged.bytes[at] ^ 1 << bit);
            format!("flipped bit {bit} of byte {at}, in a packet head")
        }
        4 => {
            hit.clone().for_each(|at| damaged.alter(at, 0));
            format!("zeroed {hit:?}")
        }
        5 => {
            let at = if random.below(2) == 0 { length } else { hit.start };
            damaged.insert(at, &garbage);
            format!("inserted {} bytes at {at}", garbage.len())
        }
        6 => {
            damaged.remove(hit.clone());
            format!("removed {hit:?}")
        }
        7 => {
            hit.clone().zip(&garbage).for_each(|(at, &byte)| damaged.alter(at, byte));
            format!("overwrote {hit:?}")
        }
        _ => {
            let count = recording.packets.len() as u64;
            let packet = recording.packets[random.below(count) as usize].clone();
            let target = recording.packets[random.below(count) as usize].end;
            let copy = damaged.bytes[packet.clone()].to_vec();
            damaged.bytes.splice(target..target, copy);
            damaged.origins.splice(target..target, packet.clone().map(Some));
            damaged.has_moved = true;
            format!("repeated {packet:?} at {target}")
        }
    };
    damaged
}
