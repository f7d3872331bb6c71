//! Which addresses of code are in records: those that names are needed for.
//!
//! Of the kernel they are the addresses themselves; of programs, whose objects lie elsewhere in each
//! process, threads and pages of memory. A trace of millions of records has some thousand distinct ones, so each CPU remembers what it has
//! seen and asks the others seldom.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Most distinct addresses that are noted; more have no names.
const MOST: usize = 1 << 16;
/// Slots of what a CPU remembers, as a power of two.
const SLOT_BITS: u32 = 11;
/// Bits of an address within a page of memory, at least.
const PAGE_BITS: u32 = 12;
/// Spreads addresses over slots (Knuth, The Art of Computer Programming, 6.4).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The addresses that all CPUs have seen.
pub struct Addresses {
    /// Where code of the kernel begins.
    lowest: AtomicU64,
    /// Whether those of programs are noted.
    has_pages: AtomicBool,
    seen: Mutex<Seen>,
}

/// A thread, and the number of a page of memory.
pub type ThreadPage = (i32, u64);

#[derive(Default)]
struct Seen {
    all: HashSet<u64>,
    /// Those that nobody has taken.
    fresh: Vec<u64>,
    all_pages: HashSet<ThreadPage>,
    fresh_pages: Vec<ThreadPage>,
}

impl Default for Addresses {
    fn default() -> Self {
        let (lowest, has_pages) = (AtomicU64::new(u64::MAX), AtomicBool::new(false));
        Self { lowest, has_pages, seen: Mutex::default() }
    }
}

impl Addresses {
    /// Notes addresses from one on; before this, none are.
    pub fn note_from(&self, lowest: u64) {
        self.lowest.store(lowest, Ordering::Relaxed);
    }

    /// The addresses that came since the last call.
    pub fn take(&self) -> Vec<u64> {
        std::mem::take(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner).fresh)
    }

    /// Notes pages of programs, too, from now on.
    pub fn note_pages(&self) {
        self.has_pages.store(true, Ordering::Relaxed);
    }

    /// The pages of programs that came since the last call.
    pub fn take_pages(&self) -> Vec<ThreadPage> {
        std::mem::take(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner).fresh_pages)
    }

    fn add_page(&self, page: ThreadPage) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.all_pages.len() < MOST && seen.all_pages.insert(page) {
            seen.fresh_pages.push(page);
        }
    }

    fn add(&self, address: u64) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.all.len() < MOST && seen.all.insert(address) {
            seen.fresh.push(address);
        }
    }
}

/// Where records of an event have addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    fields: Vec<usize>,
    has_stack: bool,
}

impl Places {
    /// Fields, and whether there is a call stack; `None` if there is nothing.
    #[must_use]
    pub fn new(fields: Vec<usize>, has_stack: bool) -> Option<Self> {
        (has_stack || !fields.is_empty()).then_some(Self { fields, has_stack })
    }
}

/// What one CPU has seen.
pub struct Noted {
    slots: Box<[u64]>,
    pages: Box<[ThreadPage]>,
}

impl Default for Noted {
    fn default() -> Self {
        let pages = vec![(0, 0); 1 << SLOT_BITS].into();
        Self { slots: vec![0; 1 << SLOT_BITS].into(), pages }
    }
}

impl Noted {
    /// Notes the addresses of a record and of its call stack.
    pub fn note(&mut self, all: &Addresses, places: &Places, record: &[u8], stack: &[u8]) {
        let lowest = all.lowest.load(Ordering::Relaxed);
        let word = |at: usize| record.get(at..at.checked_add(8)?);
        for bytes in places.fields.iter().filter_map(|at| word(*at)) {
            self.note_one(all, lowest, bytes);
        }
        if places.has_stack {
            for bytes in stack.chunks_exact(8) {
                self.note_one(all, lowest, bytes);
            }
        }
    }

    /// Notes the pages of a call stack of a program.
    pub fn note_pages(&mut self, all: &Addresses, thread: i32, stack: &[u8]) {
        if stack.is_empty() || !all.has_pages.load(Ordering::Relaxed) {
            return;
        }
        for bytes in stack.chunks_exact(8) {
            let Ok(bytes) = bytes.try_into() else { continue };
            let address = u64::from_le_bytes(bytes);
            if address == 0 || address == u64::MAX {
                continue;
            }
            let page = (thread, address >> PAGE_BITS);
            let key = page.1 ^ (u64::from(thread as u32) << u32::BITS);
            let slot = key.wrapping_mul(SPREAD) >> (u64::BITS - SLOT_BITS);
            if let Some(slot) = self.pages.get_mut(slot as usize) {
                if *slot != page {
                    *slot = page;
                    all.add_page(page);
                }
            }
        }
    }

    #[inline]
    fn note_one(&mut self, all: &Addresses, lowest: u64, bytes: &[u8]) {
        let Ok(bytes) = bytes.try_into() else { return };
        let address = u64::from_le_bytes(bytes);
        // All ones mark the end of a stack that may have gone on.
        if address < lowest || address == u64::MAX {
            return;
        }
        let slot = address.wrapping_mul(SPREAD) >> (u64::BITS - SLOT_BITS);
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            if *slot != address {
                *slot = address;
                all.add(address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(all: &[u64]) -> Vec<u8> {
        all.iter().flat_map(|one| one.to_le_bytes()).collect()
    }

    fn noted(from: Option<u64>, records: &[(&[u64], &[u64])]) -> Vec<u64> {
        let places = Places::new(vec![8], true).unwrap();
        let (all, mut cpu) = (Addresses::default(), Noted::default());
        if let Some(lowest) = from {
            all.note_from(lowest);
        }
        for (record, stack) in records {
            cpu.note(&all, &places, &words(record), &words(stack));
        }
        all.take()
    }

    #[test]
    fn each_address_of_the_kernel_is_noted_once() {
        let records: [(&[u64], &[u64]); 3] =
            [(&[0, 500], &[600, 7, u64::MAX]), (&[0, 600], &[500, 501]), (&[0], &[])];

        assert_eq!(noted(Some(100), &records), [500, 600, 501]);
        assert_eq!(noted(None, &records), [0; 0]);
    }

    #[test]
    fn there_is_a_most_of_them() {
        let many: Vec<u64> = (1..=MOST as u64 + 9).collect();

        assert_eq!(noted(Some(1), &[(&[], &many)]).len(), MOST);
    }

    #[test]
    fn pages_of_programs_are_of_their_threads() {
        let (all, mut cpu) = (Addresses::default(), Noted::default());
        let stack = words(&[0x1234, 0x1fff, 0x2000, u64::MAX]);
        cpu.note_pages(&all, 7, &stack);
        assert_eq!(all.take_pages(), []);
        all.note_pages();
        for thread in [7, 8, 7] {
            cpu.note_pages(&all, thread, &stack);
        }

        assert_eq!(all.take_pages(), [(7, 1), (7, 2), (8, 1), (8, 2)]);
        assert_eq!(all.take_pages(), []);
    }

    #[test]
    fn what_is_taken_does_not_come_again() {
        let all = Addresses::default();
        for one in [5, 5, 6] {
            all.add(one);
        }

        assert_eq!(all.take(), [5, 6]);
        for one in [6, 7] {
            all.add(one);
        }
        assert_eq!(all.take(), [7]);
    }
}
