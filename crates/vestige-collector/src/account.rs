//! What is written of a slot: kept in its ledger, so that another collector can go on.
//!
//! The collector may be killed at any instruction, so an account is stored twice, and a word
//! tells which of the two is whole.

use std::sync::atomic::{fence, Ordering};

use crate::views::Ledger;

/// How far the records of a slot are in files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The last chunk that is wholly in a file.
    pub drained_seq: u64,
    /// Bytes of the chunk after it that are in a file, counted from its start; 0: none.
    pub flushed: u32,
    /// Whether the slot has a data stream; what follows is about that.
    pub opened: u32,
    pub instance_id: u64,
    /// The data file is the nth of the stream; 0: there is none yet.
    pub file_number: u32,
    pub file_bytes: u64,
    /// In overwrite mode: the file that goes away, from 1 on.
    pub ring_number: u64,
    pub ring_bytes: u64,
    /// The number of the next packet.
    pub packets: u64,
    /// Lost records as the last packet counts them.
    pub told_lost: u64,
    /// Of those: the ones of a thread before, whose stream the slot goes on with.
    pub inherited: u64,
    /// When the last packet ends.
    pub last_end: u64,
}

const fn pair(low: u32, high: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

impl Account {
    const fn words(&self) -> [u64; 10] {
        [
            self.drained_seq,
            self.file_bytes,
            self.instance_id,
            self.packets,
            self.told_lost,
            pair(self.flushed, self.file_number),
            self.last_end,
            self.inherited,
            self.ring_number,
            pair(self.ring_bytes as u32, self.opened),
        ]
    }

    const fn of_words(words: [u64; 10]) -> Self {
        let [drained_seq, file_bytes, instance_id, packets, told_lost, file, last_end, inherited, ring_number, ring] =
            words;
        Self {
            drained_seq,
            flushed: file as u32,
            opened: (ring >> 32) as u32,
            instance_id,
            file_number: (file >> 32) as u32,
            file_bytes,
            ring_number,
            ring_bytes: ring & 0xFFFF_FFFF,
            packets,
            told_lost,
            inherited,
            last_end,
        }
    }

    /// Stores the account.
    pub fn store(&self, ledger: Ledger<'_>) {
        for (number, word) in (0..).zip(self.words()) {
            ledger.copy(number).store(word, Ordering::Relaxed);
        }
        ledger.redo().store(1, Ordering::Release);
        fence(Ordering::SeqCst);
        self.store_again(ledger);
    }

    /// Stores what the copy has where it is read from.
    fn store_again(&self, ledger: Ledger<'_>) {
        ledger.drained_seq().store(self.drained_seq, Ordering::Relaxed);
        ledger.file_bytes().store(self.file_bytes, Ordering::Relaxed);
        ledger.instance_id().store(self.instance_id, Ordering::Relaxed);
        ledger.packets().store(self.packets, Ordering::Relaxed);
        ledger.told_lost().store(self.told_lost, Ordering::Relaxed);
        ledger.flushed().store(self.flushed, Ordering::Relaxed);
        ledger.file_number().store(self.file_number, Ordering::Relaxed);
        ledger.last_end().store(self.last_end, Ordering::Relaxed);
        ledger.inherited().store(self.inherited, Ordering::Relaxed);
        ledger.ring_number().store(self.ring_number, Ordering::Relaxed);
        ledger.ring_bytes().store(self.ring_bytes, Ordering::Relaxed);
        ledger.opened().store(self.opened, Ordering::Relaxed);
        ledger.redo().store(0, Ordering::Release);
    }

    /// Reads what a collector stored that was killed, and does what it did not come to: the next
    /// account goes to the copy first, which must not be needed then.
    pub fn take_over(ledger: Ledger<'_>) -> Self {
        if ledger.redo().load(Ordering::Acquire) != 0 {
            let mut words = [0; 10];
            for (number, word) in (0..).zip(&mut words) {
                *word = ledger.copy(number).load(Ordering::Relaxed);
            }
            let account = Self::of_words(words);
            account.store_again(ledger);
            return account;
        }
        Self {
            drained_seq: ledger.drained_seq().load(Ordering::Relaxed),
            file_bytes: ledger.file_bytes().load(Ordering::Relaxed),
            instance_id: ledger.instance_id().load(Ordering::Relaxed),
            packets: ledger.packets().load(Ordering::Relaxed),
            told_lost: ledger.told_lost().load(Ordering::Relaxed),
            flushed: ledger.flushed().load(Ordering::Relaxed),
            file_number: ledger.file_number().load(Ordering::Relaxed),
            last_end: ledger.last_end().load(Ordering::Relaxed),
            inherited: ledger.inherited().load(Ordering::Relaxed),
            ring_number: ledger.ring_number().load(Ordering::Relaxed),
            ring_bytes: ledger.ring_bytes().load(Ordering::Relaxed),
            opened: ledger.opened().load(Ordering::Relaxed),
        }
    }
}
