//! Pages that stay in memory until somebody asks for them: the newest ones.

use std::collections::VecDeque;

use crate::page::{used_part, Page};

/// The newest pages of a CPU.
pub struct Kept {
    pages: VecDeque<Vec<u8>>,
    bytes: usize,
    most: usize,
}

impl Kept {
    /// None yet; up to so many bytes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { pages: VecDeque::new(), bytes: 0, most }
    }

    /// Keeps a page, for which old ones make room; how many bytes of records it has.
    pub fn add(&mut self, bytes: &[u8]) -> usize {
        let kept = used_part(bytes);
        self.pages.push_back(kept.to_vec());
        self.bytes += kept.len();
        while self.bytes > self.most && self.pages.len() > 1 {
            self.bytes -= self.pages.pop_front().map_or(0, |one| one.len());
        }
        Page::new(bytes).length()
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
}
