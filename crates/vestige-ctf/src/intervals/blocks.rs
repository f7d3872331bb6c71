//! Blocks of a timeline, packed: about 14 bytes each, in chunks that are found by time.

use super::packed_bytes::{PackedBytes, Stored};
use super::packing::{put, put_signed, Unpacker};

/// How many blocks a chunk has at most.
const CHUNK: u32 = 2048;
/// How many bytes a block takes at least.
const LEAST_BYTES: usize = 6;
/// How many bytes a chunk takes at most.
const MOST_BYTES: usize = CHUNK as usize * 64;

/// It was open where its thread was seen first, or where the range of time begins.
pub const OPEN_AT_BEGIN: u8 = 1;
/// Its exit was not seen.
pub const OPEN_AT_END: u8 = 2;
/// It is several calls, none of which is as long as the level shows.
pub const MERGED: u8 = 4;
/// Records were lost within it.
pub const ACROSS_LOSS: u8 = 8;

/// In place of a function: event records that are no calls.
pub const EVENTS: u32 = u32::MAX;

/// A call, or some that are near each other at the same depth of the same thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The thread: an index.
    pub row: u32,
    /// How many calls of the thread are around it.
    pub depth: u16,
    /// What else is known of it: [`MERGED`] and others.
    pub flags: u8,
    /// The function; of several calls that of the longest one.
    pub function: u32,
    /// When it begins, nanoseconds.
    pub start: i64,
    /// How long it is, nanoseconds.
    pub duration: u64,
    /// How many calls it is.
    pub count: u64,
    /// How long these took together, nanoseconds.
    pub busy: u64,
}

impl Block {
    /// When it ends, nanoseconds.
    #[must_use]
    pub fn end(&self) -> i64 {
        self.start.saturating_add_unsigned(self.duration)
    }
}

/// Some blocks that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Chunk {
    /// Where its bytes begin.
    offset: usize,
    blocks: u32,
    /// When the first of them begins, and when the last one ends.
    begin: i64,
    end: i64,
    /// The beginning that was packed last.
    last: i64,
}

/// Blocks in the order in which they came.
#[derive(Debug, Clone, Default)]
pub struct Blocks {
    chunks: Vec<Chunk>,
    bytes: PackedBytes,
}

impl Blocks {
    /// Adds a block.
    pub fn push(&mut self, block: &Block) {
        if self.chunks.last().is_none_or(|chunk| chunk.blocks >= CHUNK) {
            let (begin, end, last) = (i64::MAX, i64::MIN, 0);
            self.chunks.push(Chunk { offset: self.bytes.size(), blocks: 0, begin, end, last });
        }
        let Some(chunk) = self.chunks.last_mut() else { return };
        let PackedBytes::Own(bytes) = &mut self.bytes else { return };
        put(bytes, u64::from(block.row));
        put(bytes, u64::from(block.depth));
        put(bytes, u64::from(block.flags));
        put(bytes, u64::from(block.function.wrapping_add(1)));
        put_signed(bytes, block.start.wrapping_sub(chunk.last));
        put(bytes, block.duration);
        if block.flags & MERGED != 0 {
            put(bytes, block.count);
            put(bytes, block.busy);
        }
        chunk.blocks += 1;
        chunk.begin = chunk.begin.min(block.start);
        chunk.end = chunk.end.max(block.end());
        chunk.last = block.start;
    }

    /// How many bytes they take.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.size() + self.chunks.len() * size_of::<Chunk>()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.chunks.iter().map(|chunk| u64::from(chunk.blocks)).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The blocks of which any part is in a range of time, both ends included.
    #[must_use]
    pub fn within(&self, begin: i64, end: i64) -> Vec<Block> {
        let mut found = Vec::new();
        self.visit(begin, end, |block| found.push(block));
        found
    }

    /// Goes through the blocks of which any part is in a range of time, both ends included.
    /// Those that cannot be read any more are left out.
    pub fn visit(&self, begin: i64, end: i64, mut take: impl FnMut(Block)) {
        let overlaps = |from: i64, to: i64| from <= end && to >= begin;
        let mut room = Vec::new();
        for (index, chunk) in self.chunks.iter().enumerate() {
            if !overlaps(chunk.begin, chunk.end) {
                continue;
            }
            let until = self.end_of(index);
            let bytes = self.bytes.part(chunk.offset..until, &mut room);
            let mut unpacker = Unpacker::new(bytes);
            let mut last = 0;
            for _ in 0..chunk.blocks {
                let Some(block) = unpack(&mut unpacker, &mut last) else { break };
                if overlaps(block.start, block.end()) {
                    take(block);
                }
            }
        }
    }

    /// Where the bytes of a chunk end.
    fn end_of(&self, index: usize) -> usize {
        self.chunks.get(index + 1).map_or(self.bytes.size(), |next| next.offset)
    }

    /// Forgets all blocks.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Writes the blocks.
    pub fn write(&self, into: &mut Vec<u8>) {
        put(into, self.chunks.len() as u64);
        for chunk in &self.chunks {
            put(into, chunk.offset as u64);
            put(into, u64::from(chunk.blocks));
            put_signed(into, chunk.begin);
            put_signed(into, chunk.end);
        }
        put(into, self.bytes.size() as u64);
        self.bytes.write(into);
    }

    /// Reads what [`Blocks::write`] wrote; `None` if it is anything else. The packed blocks stay
    /// where they are `stored`, if they are.
    #[must_use]
    pub fn read(from: &mut Unpacker<'_>, stored: Option<&Stored>) -> Option<Self> {
        let count = from.count()?;
        let mut chunks = Vec::with_capacity(count.min(1 << 16));
        for _ in 0..count {
            let offset = usize::try_from(from.take()?).ok()?;
            let blocks = u32::try_from(from.take()?).ok().filter(|&blocks| blocks <= CHUNK)?;
            let (begin, end) = (from.take_signed()?, from.take_signed()?);
            chunks.push(Chunk { offset, blocks, begin, end, last: 0 });
        }
        let bytes = from.bytes()?;
        let bytes = match stored {
            Some(stored) => stored.before(bytes.len(), from),
            None => PackedBytes::Own(bytes.to_vec()),
        };
        let read = Self { chunks, bytes };
        // Chunks that share bytes could be more blocks than fit into memory.
        let most = (read.bytes.size() / LEAST_BYTES) as u64;
        let is_size = |(index, chunk): (usize, &Chunk)| {
            let size = read.end_of(index).checked_sub(chunk.offset);
            size.is_some_and(|size| size <= MOST_BYTES)
        };
        let is_whole = read.len() <= most && read.chunks.iter().enumerate().all(is_size);
        is_whole.then_some(read)
    }
}

fn unpack(from: &mut Unpacker<'_>, last: &mut i64) -> Option<Block> {
    let row = u32::try_from(from.take()?).ok()?;
    let depth = u16::try_from(from.take()?).ok()?;
    let flags = u8::try_from(from.take()?).ok()?;
    let function = u32::try_from(from.take()?).ok()?.wrapping_sub(1);
    let start = last.wrapping_add(from.take_signed()?);
    *last = start;
    let duration = from.take()?;
    let (count, busy) =
        if flags & MERGED == 0 { (1, duration) } else { (from.take()?, from.take()?) };
    Some(Block { row, depth, flags, function, start, duration, count, busy })
}
