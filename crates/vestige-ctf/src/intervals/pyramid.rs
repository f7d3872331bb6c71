//! Calls as blocks of a timeline, at several levels of detail.
//!
//! Level k shows what lasts [`FINEST`] times 4 to the power of k nanoseconds or more: each
//! such call is a block of its own. Shorter ones of the same depth of a thread share a block
//! while the gap between them is less than half of that, and the block less than twice of
//! it. A level is made of the blocks of the one below, so that a call costs the same
//! whatever the number of levels.
//!
//! So the size of a level is bounded by the time that it shows, and by how many threads and
//! depths there are; one that gets too large all the same is given up, and the next one is
//! the finest.

use super::blocks::{Block, Blocks, MERGED};
use super::packed_bytes::Stored;
use super::packing::{put, Unpacker};

/// What the finest level shows by itself, nanoseconds.
pub const FINEST: u64 = 16_000;
/// How many levels there are: the coarsest shows 67 s.
pub const LEVELS: usize = 12;
/// How many bytes a level may take.
const MOST_BYTES: usize = 1 << 25;
/// How many blocks are looked at for [`Levels::spans`], and about how many of these there are.
const MOST_SPANNED: u64 = 1 << 16;
const MOST_SPANS: i64 = 1 << 10;
/// How many depths of threads are followed.
pub const MOST_LANES: usize = 1 << 16;
/// How many depths a thread has at most.
const MOST_DEPTHS: u16 = 512;

/// What a level shows by itself, nanoseconds.
#[must_use]
pub fn width(level: usize) -> u64 {
    FINEST << (2 * level.min(LEVELS - 1))
}

/// The blocks of one depth of a thread that may still grow, by level.
#[derive(Debug, Clone, Default)]
struct Lane {
    open: Vec<Option<Open>>,
}

/// A block that may still grow.
#[derive(Debug, Clone, Copy)]
struct Open {
    block: Block,
    /// How long the longest of its calls took.
    longest: u64,
}

/// The levels, and what may still be added to their last blocks.
#[derive(Debug, Clone, Default)]
pub struct Pyramid {
    /// By thread and depth.
    rows: Vec<Vec<Lane>>,
    lanes: usize,
    levels: Levels,
    left_out: u64,
}

/// The blocks of all levels.
#[derive(Debug, Clone, Default)]
pub struct Levels {
    blocks: [Blocks; LEVELS],
    /// The finest level that there is.
    finest: usize,
}

impl Pyramid {
    /// Adds a call that has ended. Those of a thread and a depth come in the order of time.
    #[inline]
    pub fn add(&mut self, block: Block) {
        let Self { rows, lanes, levels, left_out } = self;
        let (row, depth) = (block.row as usize, usize::from(block.depth));
        if row >= rows.len() {
            rows.resize_with(row + 1, Vec::new);
        }
        let Some(row) = rows.get_mut(row) else { return };
        if depth >= row.len() {
            if block.depth >= MOST_DEPTHS || *lanes + depth + 1 - row.len() > MOST_LANES {
                *left_out += 1;
                return;
            }
            *lanes += depth + 1 - row.len();
            row.resize_with(depth + 1, Lane::default);
        }
        if let Some(lane) = row.get_mut(depth) {
            lane.add(levels, 0, Open { block, longest: block.duration });
        }
    }

    /// How many calls are in no block, since they are too deep, or of too many threads.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Ends all blocks, and gives the levels away.
    #[must_use]
    pub fn finish(&mut self) -> Levels {
        for lane in self.rows.iter_mut().flatten() {
            for level in 0..LEVELS {
                lane.flush(&mut self.levels, level);
            }
        }
        self.rows = Vec::new();
        std::mem::take(&mut self.levels)
    }
}

impl Lane {
    /// Adds a block of a finer level to one, and to coarser ones what is ended by that.
    #[inline]
    fn add(&mut self, levels: &mut Levels, level: usize, one: Open) {
        if level >= self.open.len() {
            if level >= LEVELS {
                return;
            }
            self.open.resize(level + 1, None);
        }
        let width = width(level);
        if one.block.flags & MERGED == 0 && one.block.duration >= width {
            self.flush(levels, level);
            self.end(levels, level, one);
            return;
        }
        let Some(place) = self.open.get_mut(level) else { return };
        if let Some(open) = place {
            if open.takes(&one, width) {
                open.grow(&one);
                return;
            }
        }
        if let Some(before) = place.replace(one) {
            self.end(levels, level, before);
        }
    }

    /// Ends the block of a level that may still grow, if there is one.
    fn flush(&mut self, levels: &mut Levels, level: usize) {
        if let Some(open) = self.open.get_mut(level).and_then(Option::take) {
            self.end(levels, level, open);
        }
    }

    fn end(&mut self, levels: &mut Levels, level: usize, one: Open) {
        levels.push(level, &one.block);
        self.add(levels, level + 1, one);
    }
}

impl Open {
    #[inline]
    fn takes(&self, next: &Self, width: u64) -> bool {
        let gap = next.block.start.saturating_sub(self.block.end());
        let length = next.block.end().saturating_sub(self.block.start);
        gap < (width / 2) as i64 && length < (2 * width) as i64
    }

    #[inline]
    fn grow(&mut self, next: &Self) {
        let end = self.block.end().max(next.block.end());
        self.block.duration = u64::try_from(end.saturating_sub(self.block.start)).unwrap_or(0);
        self.block.count = self.block.count.saturating_add(next.block.count);
        self.block.busy = self.block.busy.saturating_add(next.block.busy);
        self.block.flags |= next.block.flags | MERGED;
        if next.longest > self.longest {
            self.longest = next.longest;
            self.block.function = next.block.function;
        }
    }
}

impl Levels {
    fn push(&mut self, level: usize, block: &Block) {
        if level < self.finest {
            return;
        }
        let Some(blocks) = self.blocks.get_mut(level) else { return };
        blocks.push(block);
        if blocks.size() > MOST_BYTES && level + 1 < LEVELS {
            blocks.clear();
            self.finest = level + 1;
        }
    }

    /// What each level shows by itself, nanoseconds, and how many blocks it has.
    #[must_use]
    pub fn sizes(&self) -> Vec<(u64, u64)> {
        let levels = self.blocks.iter().enumerate().skip(self.finest);
        levels.map(|(level, blocks)| (width(level), blocks.len())).collect()
    }

    /// The finest level that there is.
    #[must_use]
    pub fn finest(&self) -> usize {
        self.finest
    }

    /// The blocks of a level in a range of time, both ends included; by row, depth and start.
    /// In place of a level that was given up it is the finest that there is.
    #[must_use]
    pub fn within(&self, level: usize, begin: i64, end: i64) -> Vec<Block> {
        let mut found = self.level(level).map_or_else(Vec::new, |one| one.within(begin, end));
        found.sort_by_key(|block| (block.row, block.depth, block.start));
        found
    }

    fn level(&self, level: usize) -> Option<&Blocks> {
        self.blocks.get(level.clamp(self.finest, LEVELS - 1))
    }

    /// Goes through the blocks of a level: those of a row and a depth in the order of time.
    pub fn visit(&self, level: usize, take: impl FnMut(Block)) {
        if let Some(blocks) = self.level(level) {
            blocks.visit(i64::MIN, i64::MAX, take);
        }
    }

    /// The parts of a range of time in which there is any block: begin and end of each, in
    /// order. Those that are near each other are one, and not more than the range is long.
    #[must_use]
    pub fn spans(&self, begin: i64, end: i64) -> Vec<(i64, i64)> {
        let is_small = |blocks: &&Blocks| blocks.len() <= MOST_SPANNED;
        let Some(blocks) = self.blocks.iter().skip(self.finest).find(is_small) else {
            return vec![(begin, end)];
        };
        let mut found = Vec::new();
        blocks
            .visit(begin, end, |block| found.push((block.start.max(begin), block.end().min(end))));
        found.sort_unstable();
        let near = end.saturating_sub(begin) / MOST_SPANS;
        let mut spans: Vec<(i64, i64)> = Vec::new();
        for (start, stop) in found {
            match spans.last_mut() {
                Some(last) if start.saturating_sub(last.1) <= near => last.1 = last.1.max(stop),
                _ => spans.push((start, stop)),
            }
        }
        spans
    }

    /// Writes the levels.
    pub fn write(&self, into: &mut Vec<u8>) {
        put(into, self.finest as u64);
        for blocks in self.blocks.iter().skip(self.finest) {
            blocks.write(into);
        }
    }

    /// Reads what [`Levels::write`] wrote; `None` if it is anything else.
    #[must_use]
    pub fn read(from: &mut Unpacker<'_>, stored: Option<&Stored>) -> Option<Self> {
        let finest = usize::try_from(from.take()?).ok().filter(|&finest| finest < LEVELS)?;
        let mut levels = Self { finest, ..Self::default() };
        for blocks in levels.blocks.iter_mut().skip(finest) {
            *blocks = Blocks::read(from, stored)?;
        }
        Some(levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::testing::{random_calls, Random};

    fn levels_of(calls: &[Block]) -> Levels {
        let mut pyramid = Pyramid::default();
        for call in calls {
            pyramid.add(*call);
        }
        assert_eq!(pyramid.left_out(), 0);
        pyramid.finish()
    }

    #[test]
    fn each_level_has_every_call_once() {
        for seed in 1..20 {
            let calls = random_calls(&mut Random(seed), 5_000);
            let levels = levels_of(&calls);
            let busy: u64 = calls.iter().map(|one| one.busy).sum();
            let mut sizes = Vec::new();
            for (level, (width, _)) in levels.sizes().into_iter().enumerate() {
                let blocks = levels.within(level, i64::MIN, i64::MAX);
                sizes.push(blocks.len());
                assert_eq!(blocks.iter().map(|one| one.count).sum::<u64>(), calls.len() as u64);
                assert_eq!(blocks.iter().map(|one| one.busy).sum::<u64>(), busy);
                for block in &blocks {
                    let is_merged = block.flags & MERGED != 0;
                    assert_eq!(is_merged, block.count > 1);
                    assert!(!is_merged || block.duration < 2 * width);
                    assert!(is_merged || block.duration == block.busy);
                }
            }
            assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
            assert_eq!(sizes.len(), LEVELS);
        }
    }

    #[test]
    fn spans_have_all_blocks_and_leave_gaps_out() {
        let event = |start| Block {
            row: 0,
            depth: 0,
            flags: 0,
            function: super::super::blocks::EVENTS,
            start,
            duration: 0,
            count: 1,
            busy: 0,
        };
        let times = [0, 1, 5_000, 70_000_000, 70_000_001, 1_000_000_000];
        let levels = levels_of(&times.map(event));
        let spans = vec![(0, 5_000), (70_000_000, 70_000_001), (1_000_000_000, 1_000_000_000)];
        assert_eq!(levels.spans(0, 1_000_000_000), spans);
        assert_eq!(levels.spans(2, 70_000_000), [(2, 5_000), (70_000_000, 70_000_000)]);
        assert_eq!(levels.spans(80_000_000, 90_000_000), []);
        assert_eq!(Levels::default().spans(i64::MIN, i64::MAX), []);
    }

    #[test]
    fn long_calls_are_blocks_of_their_own() {
        let calls = random_calls(&mut Random(7), 5_000);
        let levels = levels_of(&calls);
        for (level, (width, _)) in levels.sizes().into_iter().enumerate() {
            let blocks = levels.within(level, i64::MIN, i64::MAX);
            for call in calls.iter().filter(|call| call.duration >= width) {
                assert!(blocks.contains(call), "{call:?}");
            }
        }
    }

    #[test]
    fn a_window_has_what_is_in_it() {
        let calls = random_calls(&mut Random(3), 20_000);
        let levels = levels_of(&calls);
        let mut random = Random(11);
        let last = calls.iter().map(Block::end).max().unwrap();
        for _ in 0..50 {
            let begin = random.below(last as u64) as i64;
            let end = begin + random.below(1 << 24) as i64;
            for level in 0..4 {
                let mut all = levels.within(level, i64::MIN, i64::MAX);
                all.retain(|block| block.start <= end && block.end() >= begin);
                assert_eq!(levels.within(level, begin, end), all);
            }
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let levels = levels_of(&random_calls(&mut Random(5), 5_000));
        let mut bytes = Vec::new();
        levels.write(&mut bytes);
        let mut unpacker = Unpacker::new(&bytes);
        let read = Levels::read(&mut unpacker, None).unwrap();
        assert!(unpacker.is_empty());
        assert_eq!(read.sizes(), levels.sizes());
        let all = |levels: &Levels| levels.within(0, i64::MIN, i64::MAX);
        assert_eq!(all(&read), all(&levels));
        for length in (0..bytes.len()).step_by(97) {
            assert!(Levels::read(&mut Unpacker::new(&bytes[..length]), None).is_none());
        }
    }

    #[test]
    fn a_level_that_gets_too_large_is_given_up() {
        let mut levels = Levels::default();
        let block = Block {
            row: 1,
            depth: 1,
            flags: 0,
            function: 1,
            start: 0,
            duration: FINEST,
            count: 1,
            busy: FINEST,
        };
        let each = 8;
        for number in 0..(MOST_BYTES / each) as i64 {
            levels.push(0, &Block { start: number << 20, ..block });
        }
        assert_eq!(levels.finest, 1);
        assert_eq!(levels.sizes().len(), LEVELS - 1);
    }
}
