//! A bound on work that input may ask for.
//!
//! References let a small damaged file ask for much: a million entries that
//! all point at the same long list. In an honest file each byte is decoded
//! once, so work counted against a small multiple of the data's size bounds a
//! hostile file and is never noticed by another.

use std::sync::atomic::{AtomicU64, Ordering};

/// What may still be spent, shared by all threads.
#[derive(Debug)]
pub(crate) struct Budget(AtomicU64);

impl Budget {
    pub(crate) fn new(amount: u64) -> Self {
        Self(AtomicU64::new(amount))
    }

    /// Whether nothing is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// Starts counting on a copy, because counting each step in common would be slow.
    pub(crate) fn meter(&self) -> Meter<'_> {
        let granted = self.0.load(Ordering::Relaxed);
        Meter { budget: self, granted, left: granted }
    }
}

/// One thread's count; what it used leaves the budget when it is dropped.
#[derive(Debug)]
pub(crate) struct Meter<'a> {
    budget: &'a Budget,
    granted: u64,
    left: u64,
}

impl Meter<'_> {
    /// Takes `amount`; `None` when so much is not left, and from then on always.
    pub(crate) fn take(&mut self, amount: u64) -> Option<()> {
        let left = self.left.checked_sub(amount);
        self.left = left.unwrap_or(0);
        left.map(|_| ())
    }
}

impl Drop for Meter<'_> {
    fn drop(&mut self) {
        let used = self.granted - self.left;
        let subtract = |left: u64| Some(left.saturating_sub(used));
        // The closure never refuses, so there is no failure to look at.
        let _ = self.budget.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, subtract);
    }
}
