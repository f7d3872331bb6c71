//! Following blocks of memory through their events.
//!
//! What is kept grows with the blocks that are there, and not with the trace. Of blocks that
//! are gone, the last ones of each process are remembered, to tell a second `free` from that
//! of a block that nobody saw coming.
//!
//! `free` makes its event before it acts, the others do so after it. So of two threads, one
//! may be seen to get a block that the other one's `realloc` has left already.

use std::collections::{HashSet, VecDeque};

use super::fold::{Call, Follower};
use crate::keyed_hash::{KeyedHash, KeyedMap};

/// How many blocks that are given back twice are kept one by one.
const MOST_DOUBLE_FREES: usize = 100;

/// Blocks of memory as they were asked for, without what the allocator adds. Sums of bytes
/// have more bits than any address, so that what a damaged trace tells does not overflow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    /// How many blocks were got.
    pub allocations: u64,
    /// Their bytes.
    pub allocated: u128,
    /// How many of these blocks were given back.
    pub freed: u64,
    /// Bytes that are not given back.
    pub live: u128,
    /// Most bytes at a time.
    pub peak: u128,
    /// Bytes of the largest block.
    pub longest_block: u64,
}

impl MemoryCounts {
    fn get(&mut self, size: u64) {
        self.allocations += 1;
        self.allocated += u128::from(size);
        self.live += u128::from(size);
        self.peak = self.peak.max(self.live);
        self.longest_block = self.longest_block.max(size);
    }

    fn give(&mut self, size: u64) {
        self.freed += 1;
        self.live = self.live.saturating_sub(u128::from(size));
    }
}

/// A block that was given back when it was no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DoubleFree {
    /// When, nanoseconds from the origin.
    pub time: i64,
    /// Who gave it back the second time, by the number of the thread.
    pub thread: u32,
    /// The block.
    pub address: u64,
    /// Where, by the number of the site.
    pub site: u32,
    /// Where it was given back before.
    pub first: u32,
}

/// What is known of the memory of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessMemory {
    /// Its blocks.
    pub counts: MemoryCounts,
    /// When it had most.
    pub peak_time: Option<i64>,
    /// Blocks that were given back and not seen to be got.
    pub unknown_frees: u64,
    /// How often there was no memory.
    pub failed: u64,
}

/// Blocks that are gone: the last ones, and where each was given back.
#[derive(Debug, Default)]
struct Gone {
    /// By address: the site, and the number of its entry in the queue.
    sites: KeyedMap<u64, (u32, u64)>,
    /// Addresses and their numbers; those with another number have been taken out.
    queue: VecDeque<(u64, u64)>,
    next: u64,
}

impl Gone {
    fn take(&mut self, address: u64) -> Option<u32> {
        self.sites.remove(&address).map(|(site, _)| site)
    }

    fn add(&mut self, address: u64, site: u32, most: usize) {
        let Self { sites, queue, next } = self;
        while sites.len() >= most.max(1) {
            let Some((oldest, number)) = queue.pop_front() else { break };
            if sites.get(&oldest).is_some_and(|known| known.1 == number) {
                sites.remove(&oldest);
            }
        }
        if queue.len() >= 2 * most.max(32) {
            queue.retain(|(one, number)| sites.get(one).is_some_and(|known| known.1 == *number));
        }
        sites.insert(address, (site, *next));
        queue.push_back((address, *next));
        *next += 1;
    }
}

/// The blocks of a process: size and origin, by address.
#[derive(Debug, Default)]
struct Blocks {
    known: ProcessMemory,
    live: KeyedMap<u64, (u64, u32)>,
    gone: Gone,
    /// Blocks that another thread got before the event of what left them.
    displaced: HashSet<u64, KeyedHash>,
}

/// Follows the blocks of memory of traces. Kinds of calls, with their integers, are `malloc`
/// and `memalign` (size, block), `calloc` (number, size, block), `posix_memalign` (size, block,
/// result), `realloc` (block before, size, block) and `free` (block).
#[derive(Debug)]
pub struct MemoryFollower {
    /// How many blocks of a process are remembered that are gone.
    most_gone: usize,
    /// The number of each process, and what is known of it.
    processes: Vec<(u32, Blocks)>,
    indexes: KeyedMap<u32, usize>,
    /// Path and site of each origin, and what was got there.
    origins: Vec<((u32, u32), MemoryCounts)>,
    origin_indexes: KeyedMap<(u32, u32), u32>,
    doubles: Vec<DoubleFree>,
    /// How many blocks were given back twice.
    pub double_free_count: u64,
    /// All processes together.
    pub total: MemoryCounts,
}

impl Follower for MemoryFollower {
    fn take(&mut self, call: &Call) {
        let processes = &mut self.processes;
        let index = *self.indexes.entry(call.process).or_insert_with(|| {
            processes.push((call.process, Blocks::default()));
            processes.len() - 1
        });
        let [one, two, three, _] = call.values;
        match call.kind {
            0 | 1 => self.get(call, index, two, one),
            2 => self.get(call, index, three, one.saturating_mul(two)),
            3 if three == 0 => self.get(call, index, two, one),
            3 => self.fail(index),
            4 => self.move_to(call, index, (one, three), two),
            _ if one != 0 => self.give(call, index, one),
            _ => {}
        }
    }
}

impl MemoryFollower {
    /// A follower that remembers so many blocks of each process that are gone.
    #[must_use]
    pub fn new(most_gone: usize) -> Self {
        Self {
            most_gone,
            processes: Vec::new(),
            indexes: KeyedMap::default(),
            origins: Vec::new(),
            origin_indexes: KeyedMap::default(),
            doubles: Vec::new(),
            double_free_count: 0,
            total: MemoryCounts::default(),
        }
    }

    fn fail(&mut self, index: usize) {
        if let Some((_, blocks)) = self.processes.get_mut(index) {
            blocks.known.failed += 1;
        }
    }

    fn move_to(&mut self, call: &Call, index: usize, (before, address): (u64, u64), size: u64) {
        if address == 0 && size > 0 {
            self.fail(index);
            return;
        }
        let Some((_, blocks)) = self.processes.get_mut(index) else { return };
        if !blocks.displaced.remove(&before) && before != 0 {
            self.give(call, index, before);
        }
        if address != 0 {
            self.get(call, index, address, size);
        }
    }

    fn get(&mut self, call: &Call, index: usize, address: u64, size: u64) {
        let Some((_, blocks)) = self.processes.get_mut(index) else { return };
        if address == 0 {
            blocks.known.failed += u64::from(size > 0);
            return;
        }
        if let Some(block) = blocks.live.remove(&address) {
            // Its end is still to come, or was lost.
            end(&mut self.origins, &mut self.total, &mut blocks.known, block);
            blocks.displaced.insert(address);
        }
        blocks.gone.take(address);
        if !call.is_taken {
            return;
        }
        let (key, origins) = ((call.path, call.site), &mut self.origins);
        let origin = *self.origin_indexes.entry(key).or_insert_with(|| {
            origins.push((key, MemoryCounts::default()));
            (origins.len() - 1) as u32
        });
        blocks.live.insert(address, (size, origin));
        if let Some((_, counts)) = origins.get_mut(origin as usize) {
            counts.get(size);
        }
        self.total.get(size);
        let known = &mut blocks.known;
        let before = known.counts.peak;
        known.counts.get(size);
        if known.counts.peak > before {
            known.peak_time = Some(call.time);
        }
    }

    fn give(&mut self, call: &Call, index: usize, address: u64) {
        let Some((_, blocks)) = self.processes.get_mut(index) else { return };
        let block = blocks.live.remove(&address);
        let first = blocks.gone.take(address);
        match (block, first) {
            (Some(block), _) => end(&mut self.origins, &mut self.total, &mut blocks.known, block),
            (None, Some(first)) if call.is_taken => {
                self.double_free_count += 1;
                if self.doubles.len() < MOST_DOUBLE_FREES {
                    let Call { time, thread, site, .. } = *call;
                    self.doubles.push(DoubleFree { time, thread, address, site, first });
                }
            }
            (None, Some(_)) => {}
            (None, None) => blocks.known.unknown_frees += 1,
        }
        blocks.gone.add(address, call.site, self.most_gone);
    }

    /// The processes, by their numbers.
    pub fn processes(&self) -> impl Iterator<Item = (u32, &ProcessMemory)> {
        self.processes.iter().map(|(process, blocks)| (*process, &blocks.known))
    }

    /// Where memory was asked for: path and site.
    #[must_use]
    pub fn origins(&self) -> &[((u32, u32), MemoryCounts)] {
        &self.origins
    }

    /// The first blocks that were given back twice.
    #[must_use]
    pub fn double_frees(&self) -> &[DoubleFree] {
        &self.doubles
    }
}

fn end(
    origins: &mut [((u32, u32), MemoryCounts)],
    total: &mut MemoryCounts,
    process: &mut ProcessMemory,
    (size, origin): (u64, u32),
) {
    if let Some((_, counts)) = origins.get_mut(origin as usize) {
        counts.give(size);
    }
    total.give(size);
    process.counts.give(size);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_is_remembered_in_bounded_memory() {
        let mut gone = Gone::default();
        for round in 0..1000u64 {
            gone.add(round % 3, round as u32, 2);
            if round % 2 == 0 {
                gone.take(round % 3);
            }
        }
        assert!(gone.queue.len() <= 64 && gone.sites.len() <= 2);
        let mut gone = Gone::default();
        for address in 1..=3 {
            gone.add(address, 7, 2);
        }
        assert_eq!((gone.take(1), gone.take(2), gone.take(3)), (None, Some(7), Some(7)));
    }
}
