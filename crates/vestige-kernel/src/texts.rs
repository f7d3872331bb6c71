//! Texts to which arguments of system calls lead: records of their own right before those of calls.
//!
//! A program in the kernel writes them (`bpf`), each with the number of the text, so that they
//! stand before the call's record and on the same CPU. Older kernels print little at once: then a text
//! is in several records, those behind the first with a plus in place of the space. What interrupts a
//! thread there may write other records in between, but none of a system call.

use crate::record_header::thread;

/// How such a text begins; the number and a space follow.
const MARK: &[u8] = b"vestige: ";
/// Texts that a call may have.
const MOST: usize = 4;
/// Bytes behind which nothing is added to a text.
const MOST_BYTES: usize = 512;

/// Where the record of a call gets its texts: words that lead to them, as newer kernels have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextsPlan {
    /// Where the kernel's own fields end.
    pub at: usize,
    pub count: usize,
}

/// The texts of the call that comes next on a CPU.
#[derive(Default)]
pub struct Texts {
    thread: Option<i32>,
    /// When the first of them was written.
    since: u64,
    texts: Vec<Vec<u8>>,
}

impl Texts {
    /// Takes a record with a text; whether it is one of ours.
    pub fn give(&mut self, (record, time): (&[u8], u64), text: &[u8]) -> bool {
        let text = text.split(|one| *one == 0).next().unwrap_or_default();
        let Some([digit, mark @ (b' ' | b'+'), text @ ..]) = text.strip_prefix(MARK) else {
            return false;
        };
        let number = usize::from(digit.wrapping_sub(b'0'));
        let thread = thread(record);
        if *mark == b'+' {
            let begun = self.texts.get_mut(number).filter(|_| thread == self.thread);
            if let Some(begun) = begun.filter(|one| one.len() < MOST_BYTES) {
                begun.extend_from_slice(text);
            }
            return true;
        }
        if number == 0 || thread != self.thread {
            self.texts.clear();
            self.thread = thread;
            self.since = time;
        }
        if number >= self.texts.len() && number < MOST {
            self.texts.resize(number, Vec::new());
            self.texts.push(text.to_vec());
        }
        true
    }

    /// Since when texts wait for their call, if any do.
    #[must_use]
    pub fn since(&self) -> Option<u64> {
        self.thread.map(|_| self.since)
    }

    /// The record of a call with its texts behind it; without those, if they are another thread's.
    pub fn join(&mut self, record: &[u8], plan: TextsPlan) -> Vec<u8> {
        let mut joined = record.get(..plan.at).unwrap_or(record).to_vec();
        joined.resize(plan.at, 0);
        let words = plan.count.min(MOST);
        joined.resize(plan.at + words * 4, 0);
        let is_its = self.thread.is_some() && self.thread == thread(record);
        let texts = std::mem::take(&mut self.texts);
        self.thread = None;
        for (number, text) in texts.iter().take(words).enumerate().filter(|_| is_its) {
            let word = u16::try_from(joined.len()).ok().zip(u16::try_from(text.len()).ok());
            let at = plan.at + number * 4;
            if let (Some((place, length)), Some(room)) = (word, joined.get_mut(at..at + 4)) {
                let word = u32::from(place) | u32::from(length) << 16;
                room.copy_from_slice(&word.to_le_bytes());
                joined.extend_from_slice(text);
            }
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: TextsPlan = TextsPlan { at: 12, count: 2 };

    fn record(thread: i32) -> Vec<u8> {
        [&[1, 0, 0, 0][..], &thread.to_le_bytes(), &[9; 4]].concat()
    }

    fn joined(words: [u32; 2], texts: &[u8]) -> Vec<u8> {
        let words = words.iter().flat_map(|one| one.to_le_bytes()).collect();
        [record(7), words, texts.to_vec()].concat()
    }

    #[test]
    fn a_call_gets_the_texts_before_it() {
        let mut texts = Texts::default();
        for text in ["vestige: 0 old", "vestige: 0 one", "vestige: 1 three\0x"] {
            assert!(texts.give((&record(7), 1), text.as_bytes()));
        }

        assert_eq!(texts.join(&record(7), PLAN), joined([20 | 3 << 16, 23 | 5 << 16], b"onethree"));
        assert_eq!(texts.join(&record(7), PLAN), joined([0, 0], b""));
    }

    #[test]
    fn pieces_of_a_text_are_put_together() {
        let mut texts = Texts::default();
        for text in
            ["vestige: 0 on", "vestige: 0+e", "vestige: 1+lost", "vestige: 1 thr", "vestige: 1+ee"]
        {
            assert!(texts.give((&record(7), 1), text.as_bytes()));
        }
        assert!(texts.give((&record(8), 1), b"vestige: 1+ of another"));

        assert_eq!(texts.join(&record(7), PLAN), joined([20 | 3 << 16, 23 | 5 << 16], b"onethree"));
    }

    #[test]
    fn texts_of_others_are_none_of_its_own() {
        let mut texts = Texts::default();
        assert!(texts.give((&record(8), 1), b"vestige: 0 one"));
        assert!(!texts.give((&record(7), 1), b"vestige says"));

        assert_eq!(texts.join(&record(7), PLAN), joined([0, 0], b""));
    }

    #[test]
    fn what_makes_no_sense_is_left_out() {
        let mut texts = Texts::default();
        texts.give((&[], 1), b"vestige: 9 nine");
        texts.give((&[], 1), b"vestige: 3 three");

        assert_eq!(texts.join(&[1], TextsPlan { at: 2, count: 1 }), [1, 0, 0, 0, 0, 0]);
    }
}
