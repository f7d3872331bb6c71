//! A page of a ring buffer, as `trace_pipe_raw` gives it (Linux, `include/linux/ring_buffer.h`).
//!
//! A page begins with its time and a word with the length of what it holds; two bits of that word
//! say that events were lost before it, and how many stands behind the last one. A record begins with 5
//! bits of its kind and 27 bits of the time since the one before. Words are little-endian.

/// Bytes before the first record.
pub const HEADER: usize = 16;
const LENGTH: u64 = (1 << 20) - 1;
/// Events were lost before this page.
const MISSED: u64 = 1 << 31;
/// How many is told behind the records.
const MISSED_IS_TOLD: u64 = 1 << 30;
/// Bytes of that.
const TOLD: usize = 8;
/// Bytes that a page has at least, whatever is in it.
pub const LEAST: usize = 64;
const KIND_BITS: u32 = 5;
const DELTA_BITS: u32 = 27;
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// Bits of a time that a record may tell as a whole.
const STAMP_BITS: u32 = 59;

/// Of a page as it was read, what is used: its records, and what may be told behind them.
#[must_use]
pub fn used_part(bytes: &[u8]) -> &[u8] {
    let room = Page::new(bytes).length() + HEADER + TOLD;
    bytes.get(..room.max(LEAST)).unwrap_or(bytes)
}

/// What was lost before a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// So many event records.
    Counted(u64),
    /// Some; there was no room for their number.
    Some,
}

/// An event record of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The value of the clock.
    pub time: u64,
    /// From the ID of the event on.
    pub body: &'a [u8],
}

/// The records of a page.
pub struct Page<'a> {
    left: &'a [u8],
    time: u64,
    lost: Option<Lost>,
    is_damaged: bool,
}

impl<'a> Page<'a> {
    /// A page; one that is too short has no records.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        let (Some(time), Some(commit)) = (long(bytes, 0), long(bytes, 8)) else {
            return Self { left: &[], time: 0, lost: None, is_damaged: !bytes.is_empty() };
        };
        let rest = bytes.get(HEADER..).unwrap_or_default();
        // At most 20 bits.
        let length = (commit & LENGTH) as usize;
        let lost = (commit & MISSED != 0).then(|| {
            let told = if commit & MISSED_IS_TOLD != 0 { long(rest, length) } else { None };
            told.map_or(Lost::Some, Lost::Counted)
        });
        let left = rest.get(..length);
        Self { left: left.unwrap_or(rest), time, lost, is_damaged: left.is_none() }
    }

    /// The time from which its records are counted.
    #[must_use]
    pub fn time(&self) -> u64 {
        self.time
    }

    /// What was lost before its first record.
    #[must_use]
    pub fn lost(&self) -> Option<Lost> {
        self.lost
    }

    /// Bytes of records that are still to be read.
    #[must_use]
    pub fn length(&self) -> usize {
        self.left.len()
    }

    /// Whether something in it made no sense; the rest was left alone then.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let left = self.left;
        let Some((taken, rest)) = left.split_at_checked(bytes) else {
            self.left = &[];
            self.is_damaged = true;
            return None;
        };
        self.left = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u32> {
        let bytes = self.take(4)?;
        bytes.try_into().ok().map(u32::from_le_bytes)
    }
}

impl<'a> Iterator for Page<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        while !self.left.is_empty() {
            let head = self.word()?;
            let kind = head & ((1 << KIND_BITS) - 1);
            let delta = u64::from(head >> KIND_BITS);
            match kind {
                PADDING if delta == 0 => {
                    self.left = &[];
                    return None;
                }
                PADDING => {
                    let length = self.word()?;
                    // The length counts its own word.
                    self.take((length as usize).saturating_sub(4))?;
                    self.time = self.time.wrapping_add(delta);
                }
                TIME_EXTEND | TIME_STAMP => {
                    let more = (u64::from(self.word()?) << DELTA_BITS) | delta;
                    self.time = if kind == TIME_EXTEND {
                        self.time.wrapping_add(more)
                    } else {
                        stamp(self.time, more)
                    };
                }
                _ => {
                    let length = match kind {
                        0 => (self.word()? as usize).saturating_sub(4),
                        words => words as usize * 4,
                    };
                    self.time = self.time.wrapping_add(delta);
                    return Some(Record { time: self.time, body: self.take(length)? });
                }
            }
        }
        None
    }
}

/// The time of a stamp, whose highest bits are those of the time before, or one more (Linux,
/// `kernel/trace/ring_buffer.c`, `rb_fix_abs_ts`).
fn stamp(before: u64, told: u64) -> u64 {
    let highest = before >> STAMP_BITS << STAMP_BITS;
    let time = highest | told;
    if highest > 0 && time < before {
        time.wrapping_add(1 << STAMP_BITS)
    } else {
        time
    }
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    let end = at.checked_add(8)?;
    bytes.get(at..end)?.try_into().ok().map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    fn page(commit: u64, words: &[u32]) -> Vec<u8> {
        let mut bytes = 1000_u64.to_le_bytes().to_vec();
        bytes.extend(commit.to_le_bytes());
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.resize(4096, 0);
        bytes
    }

    fn head(kind: u32, delta: u32) -> u32 {
        kind | delta << 5
    }

    #[test]
    fn records_have_their_times() {
        let words = [
            head(1, 5),
            11,
            head(TIME_EXTEND, 3),
            2,
            head(2, 1),
            12,
            13,
            head(TIME_STAMP, 7),
            1 << 8,
            head(0, 0),
            8,
            14,
        ];
        let bytes = page(words.len() as u64 * 4, &words);
        let found: Vec<_> = Page::new(&bytes).map(|one| (one.time, one.body.to_vec())).collect();

        let stamp = (1_u64 << 35) | 7;
        let body = |words: &[u32]| words.iter().flat_map(|one| one.to_le_bytes()).collect();
        assert_eq!(
            found,
            [
                (1005, body(&[11])),
                (1005 + 3 + (2 << 27) + 1, body(&[12, 13])),
                (stamp, body(&[14])),
            ]
        );
    }

    #[test]
    fn stamps_go_on_where_their_bits_end() {
        let highest = 3 << STAMP_BITS;

        assert_eq!([stamp(7, 9), stamp(highest | 7, 9)], [9, highest | 9]);
        assert_eq!(stamp(highest | 7, 2), (4 << STAMP_BITS) | 2);
    }

    #[test]
    fn padding_ends_a_page_or_is_skipped() {
        let words = [head(PADDING, 4), 8, 99, head(1, 1), 7, head(PADDING, 0), 9, head(1, 1), 8];
        let bytes = page(words.len() as u64 * 4, &words);
        let found: Vec<_> = Page::new(&bytes).map(|one| (one.time, one.body.to_vec())).collect();

        assert_eq!(found, [(1005, 7_u32.to_le_bytes().to_vec())]);
    }

    #[test]
    fn what_was_lost_is_told_or_not() {
        let told = page(8 | MISSED | MISSED_IS_TOLD, &[head(1, 1), 7, 397, 0]);
        let untold = page(8 | MISSED, &[head(1, 1), 7, 397, 0]);
        let full = page(4080 | MISSED | MISSED_IS_TOLD, &[]);

        assert_eq!(Page::new(&told).lost(), Some(Lost::Counted(397)));
        assert_eq!(Page::new(&untold).lost(), Some(Lost::Some));
        assert_eq!(Page::new(&full).lost(), Some(Lost::Some));
        assert_eq!(Page::new(&page(8, &[head(1, 1), 7])).lost(), None);
    }

    #[test]
    fn what_makes_no_sense_ends_it() {
        let long = page(8, &[head(9, 1), 7]);
        let mut found = Page::new(&long);
        assert_eq!(found.next(), None);
        assert!(found.is_damaged());

        let cut = page(8, &[head(1, 1), 7]);
        let mut beyond = Page::new(&cut[..20]);
        assert_eq!(beyond.next(), None);
        assert!(beyond.is_damaged());

        assert_eq!(Page::new(&[1; 15]).count(), 0);
        assert!(Page::new(&[1; 15]).is_damaged());
        assert!(!Page::new(&[]).is_damaged());
    }
}
