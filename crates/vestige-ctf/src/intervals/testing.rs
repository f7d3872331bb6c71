//! Calls made up at random, always the same ones.

use super::blocks::Block;

/// Random numbers (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }
}

/// Calls of some threads and depths, in the order in which they end; those of a thread and a
/// depth do not overlap.
pub fn random_calls(random: &mut Random, count: usize) -> Vec<Block> {
    let mut ends = [[0i64; 4]; 3];
    let mut calls = Vec::with_capacity(count);
    for _ in 0..count {
        let (row, depth) = (random.below(3) as usize, random.below(4) as usize);
        // Of any size, mostly short.
        let bits = random.below(26);
        let (gap, duration) = (random.below(1 << 16), random.below(1 << bits));
        let start = ends[row][depth] + gap as i64;
        ends[row][depth] = start + duration as i64;
        calls.push(Block {
            row: row as u32,
            depth: depth as u16,
            flags: 0,
            function: random.below(100) as u32,
            start,
            duration,
            count: 1,
            busy: duration,
        });
    }
    calls.sort_by_key(Block::end);
    calls
}
