//! Pages that stay in memory until somebody asks for them: the newest ones.

use std::collections::VecDeque;

use crate::page::{used_part, Page};

/// The newest pages of a CPU.
pub struct Kept {
    pages: VecDeque<Vec<u8>>,
    bytes: usize,
    most: usize,
    overwritten: u64,
}

impl Kept {
    /// None yet; up to so many bytes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { pages: VecDeque::new(), bytes: 0, most, overwritten: 0 }
    }

    /// Keeps a page, for which old ones make room; how many bytes of records it has.
    pub fn add(&mut self, bytes: &[u8]) -> usize {
        let kept = used_part(bytes);
        self.pages.push_back(kept.to_vec());
        self.bytes += kept.len();
        while self.bytes > self.most && self.pages.len() > 1 {
            let Some(oldest) = self.pages.pop_front() else { break };
            self.bytes -= oldest.len();
            self.overwritten += Page::new(&oldest).count() as u64;
        }
        Page::new(bytes).length()
    }

    /// How many records made room for newer ones.
    #[must_use]
    pub fn overwritten(&self) -> u64 {
        self.overwritten
    }

    /// Keeps none of them.
    pub fn clear(&mut self) {
        self.pages.clear();
        self.bytes = 0;
    }

    /// The newest pages that have up to so many bytes.
    pub fn newest(&self, most: usize) -> impl Iterator<Item = &[u8]> {
        let mut bytes = 0_usize;
        let fits = |one: &&Vec<u8>| {
            bytes = bytes.saturating_add(one.len());
            bytes <= most
        };
        let count = self.pages.iter().rev().take_while(fits).count();
        self.pages.range(self.pages.len() - count..).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::LEAST;

    #[test]
    fn old_pages_make_room_and_the_newest_are_taken() {
        let mut kept = Kept::new(250);
        for number in 0..4 {
            kept.add(&[number; LEAST]);
        }
        let of = |kept: &Kept, most| kept.newest(most).map(|one| one[0]).collect::<Vec<_>>();

        assert_eq!(of(&kept, usize::MAX), [1, 2, 3]);
        assert_eq!(of(&kept, LEAST * 2), [2, 3]);
        kept.clear();
        assert_eq!(of(&kept, usize::MAX), [0_u8; 0]);
    }

    #[test]
    fn records_that_make_room_are_counted() {
        // A time, a length, and records of four bytes each.
        let page = |records: usize| {
            let mut bytes = 1000_u64.to_le_bytes().to_vec();
            bytes.extend((8 * records as u64).to_le_bytes());
            bytes.extend([1_u32, 7].repeat(records).iter().flat_map(|word| word.to_le_bytes()));
            bytes.resize(4096, 0);
            bytes
        };
        let mut kept = Kept::new(500);
        for records in [3, 20, 40, 50] {
            kept.add(&page(records));
        }

        assert_eq!(kept.newest(usize::MAX).count(), 1);
        assert_eq!(kept.overwritten(), 3 + 20 + 40);
    }
}
