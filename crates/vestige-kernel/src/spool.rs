//! Pages that wait for records of our own, which belong among theirs.
//!
//! While the state of the machine is read, buffers run on: their pages are taken, so that nothing is
//! lost, and become records once all of our own are there that are earlier.

use std::collections::VecDeque;

use crate::page::{self, Page};

/// Bytes of pages that wait; what comes then stays in the kernel's buffer.
const MOST: usize = 32 << 20;

/// Pages that were read, and up to when they need not wait.
pub struct Spool {
    pages: VecDeque<Vec<u8>>,
    bytes: usize,
    until: u64,
}

impl Default for Spool {
    /// Nothing waits.
    fn default() -> Self {
        Self { pages: VecDeque::new(), bytes: 0, until: u64::MAX }
    }
}

impl Spool {
    /// Lets what comes wait until it is told to go on.
    pub fn wait(&mut self) {
        self.until = 0;
    }

    /// All records of our own up to a value of the clock are there.
    pub fn go_on(&mut self, until: u64) {
        self.until = until;
    }

    /// Whether pages go behind others, or wait themselves.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.until < u64::MAX || !self.pages.is_empty()
    }

    /// Whether there is room for one more.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.bytes < MOST
    }

    /// Takes a page; how many bytes of records it has.
    pub fn add(&mut self, bytes: &[u8]) -> usize {
        let kept = page::used_part(bytes);
        self.bytes += kept.len();
        self.pages.push_back(kept.to_vec());
        Page::new(bytes).length()
    }

    /// Whether there is a page that need not wait.
    #[must_use]
    pub fn has_ready(&self) -> bool {
        // A page has records up to the time where the next one begins.
        let end = self.pages.get(1).map_or(u64::MAX, |next| Page::new(next).time());
        !self.pages.is_empty() && end <= self.until
    }

    /// Gives the first page, if it need not wait.
    pub fn take_ready(&mut self) -> Option<Vec<u8>> {
        let page = if self.has_ready() { self.pages.pop_front() } else { None }?;
        self.bytes -= page.len();
        Some(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(time: u64) -> Vec<u8> {
        let mut page = time.to_le_bytes().to_vec();
        page.resize(4096, 0);
        page
    }

    fn times(spool: &mut Spool) -> Vec<u64> {
        std::iter::from_fn(|| spool.take_ready()).map(|one| Page::new(&one).time()).collect()
    }

    #[test]
    fn pages_wait_for_what_may_be_earlier_than_their_records() {
        let mut spool = Spool::default();
        assert!(!spool.is_used());
        spool.wait();
        for time in [100, 200, 300] {
            spool.add(&page(time));
        }
        assert_eq!(times(&mut spool), []);

        spool.go_on(199);
        assert_eq!(times(&mut spool), []);
        spool.go_on(200);
        assert_eq!(times(&mut spool), [100]);
        spool.go_on(u64::MAX);
        assert!(spool.is_used());
        assert_eq!(times(&mut spool), [200, 300]);
        assert!(!spool.is_used());
    }

    #[test]
    fn no_more_waits_than_there_is_room_for() {
        let mut spool = Spool::default();
        spool.wait();
        let mut full = page(100);
        full[8..10].copy_from_slice(&4080_u16.to_le_bytes());
        let mut count = 0;
        while spool.has_room() {
            spool.add(&full);
            count += 1;
        }
        assert_eq!(count, MOST / full.len());

        spool.go_on(u64::MAX);
        assert_eq!(times(&mut spool).len(), count);
        assert!(spool.has_room() && spool.bytes == 0);
    }
}
