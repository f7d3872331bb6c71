//! The size of a recording, and the files that go away first.

use std::collections::VecDeque;

/// What a file takes beside its packets: the rest of a block.
pub const FILE_BYTES: u64 = 4096;
/// What packets without records may take, which tell the losses around one with records.
const LOSS_BYTES: u64 = 1024;
/// Into how many files a recording in overwrite mode is divided.
const PARTS: u64 = 64;
const LARGEST_PART: u64 = 64 << 20;
/// So many files of others later, a thread that records seldom begins a new one: else its new
/// packets would go away with its old ones.
const OLD_AFTER: u64 = 4;

/// The bytes of a recording; all files count, each with at least a block.
#[derive(Default)]
pub struct Budget {
    /// 0: no limit.
    most: u64,
    is_overwriting: bool,
    used: u64,
    /// Of those: the ones for which there was no room to be asked for.
    beyond: u64,
    /// Of those: packets that are never taken away.
    kept: u64,
    overwritten: u64,
    /// In overwrite mode: numbers of files with their bytes, the oldest first.
    rings: VecDeque<(u64, u64)>,
    last_ring: u64,
}

impl Budget {
    /// A budget of `most` bytes, of which some are taken.
    pub fn new(most: u64, is_overwriting: bool, used: u64) -> Self {
        Self { most, is_overwriting, used, ..Self::default() }
    }

    /// Begins after files that are there: numbers and bytes, in their order.
    pub fn begin_after(&mut self, rings: Vec<(u64, u64)>) {
        self.last_ring = rings.last().map_or(0, |ring| ring.0);
        self.rings = rings.into();
    }

    /// Counts anew: of what was there, so many bytes are left.
    pub fn begin_anew(&mut self, used: u64) {
        let (most, is_overwriting, last_ring) = (self.most, self.is_overwriting, self.last_ring);
        let overwritten = self.overwritten;
        *self = Self { most, is_overwriting, last_ring, overwritten, used, ..Self::default() };
    }

    /// The limit; 0: there is none.
    pub const fn most(&self) -> u64 {
        self.most
    }

    /// Whether the oldest packets make room for new ones.
    pub const fn is_overwriting(&self) -> bool {
        self.is_overwriting
    }

    /// Bytes that were recorded and taken away again.
    pub const fn overwritten(&self) -> u64 {
        self.overwritten
    }

    /// Takes bytes; those files are to be removed that `gone` names. False: there is no room.
    pub fn take(&mut self, bytes: u64, gone: &mut Vec<u64>) -> bool {
        self.used = self.used.saturating_add(bytes);
        let beyond = if self.is_overwriting { 0 } else { self.beyond };
        while self.most != 0 && self.used > self.most.saturating_add(beyond) {
            let oldest = if self.is_overwriting { self.rings.pop_front() } else { None };
            let Some((number, size)) = oldest else {
                self.give(bytes);
                return false;
            };
            self.give(size);
            self.overwritten += size;
            gone.push(number);
        }
        true
    }

    /// Counts bytes that must be written, whether there is room or not. What was promised for
    /// chunks that are filled already is kept all the same.
    pub const fn add(&mut self, bytes: u64) {
        self.used = self.used.saturating_add(bytes);
        self.beyond = self.beyond.saturating_add(bytes);
    }

    /// Gives bytes back that were not written.
    pub const fn give(&mut self, bytes: u64) {
        self.used = self.used.saturating_sub(bytes);
    }

    /// Whether a packet may stay for ever; packets that do take a quarter at most.
    pub const fn keep(&mut self, bytes: u64) -> bool {
        if self.most != 0 && self.kept + bytes > self.most / 4 {
            return false;
        }
        self.kept += bytes;
        true
    }

    /// Takes `keep` back.
    pub const fn unkeep(&mut self, bytes: u64) {
        self.kept = self.kept.saturating_sub(bytes);
    }

    /// Chunks of a size that can be handed out so that all that is in them has room.
    pub const fn chunks(&self, chunk_bytes: u32) -> u64 {
        if self.most == 0 || self.is_overwriting {
            return u64::MAX;
        }
        self.most.saturating_sub(self.used) / (chunk_bytes as u64 + FILE_BYTES + LOSS_BYTES)
    }

    /// Whether a file takes more packets, of a stream that wrote to it before.
    pub fn is_ring_open(&self, number: u64, bytes: u64) -> bool {
        let part =
            if self.most == 0 { LARGEST_PART } else { (self.most / PARTS).min(LARGEST_PART) };
        let is_there = self.rings.front().is_some_and(|first| first.0 <= number);
        number != 0 && is_there && bytes < part && self.last_ring <= number + OLD_AFTER
    }

    /// The number of a new file, for which `FILE_BYTES` were taken.
    pub fn new_ring(&mut self) -> u64 {
        self.last_ring += 1;
        self.rings.push_back((self.last_ring, FILE_BYTES));
        self.last_ring
    }

    fn ring(&mut self, number: u64) -> Option<&mut (u64, u64)> {
        let place = self.rings.binary_search_by_key(&number, |ring| ring.0).ok()?;
        self.rings.get_mut(place)
    }

    /// Makes bytes that were taken those of a file; they go with it. False: it is gone.
    pub fn add_to_ring(&mut self, number: u64, bytes: u64) -> bool {
        self.ring(number).map(|ring| ring.1 += bytes).is_some()
    }

    /// Takes `add_to_ring` back; the bytes are given back, too.
    pub fn take_from_ring(&mut self, number: u64, bytes: u64) {
        if let Some(ring) = self.ring(number) {
            ring.1 = ring.1.saturating_sub(bytes);
            self.give(bytes);
        }
    }

    /// Forgets a file that could not be made.
    pub fn remove_ring(&mut self, number: u64) {
        if let Ok(place) = self.rings.binary_search_by_key(&number, |ring| ring.0) {
            if let Some((_, bytes)) = self.rings.remove(place) {
                self.give(bytes);
            }
        }
    }
}
