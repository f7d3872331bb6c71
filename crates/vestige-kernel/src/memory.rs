//! Memory to which arguments of system calls lead: records of their own right before those of calls.
//!
//! A program in the kernel writes it (`bpf`), as it does with texts: before the call's record, on
//! the same CPU. Since what it prints ends at a zero, 7 bytes are 8 characters of 7 bits each, the
//! lowest first, each with its highest bit set. What is longer than the kernel prints at once goes on
//! in further records, with a plus in place of the `b`.

use crate::record_header::thread;

/// How such a text begins.
const FIRST: &[u8] = b"vestige:b";
const FURTHER: &[u8] = b"vestige:+";
/// Characters for 7 bytes, and what all of them have.
const CHARACTERS: usize = 8;
const BYTES: usize = 7;
const MARK: u8 = 0x80;
/// Parts of memory that a call may have, each with its length in front (16 bits).
const PARTS: usize = 3;
/// Then: which call it is, its argument that the record lacks, whether there was more.
const CALL_AT: usize = 6;
const ARGUMENT_AT: usize = 8;
const EXCEEDS_AT: usize = 16;
const HEAD: usize = 17;
/// Bit of the call's number: this is its end.
const IS_END: u16 = 0x1000;
/// Where records of calls have the number (`__syscall_nr`).
const NUMBER: usize = 8;
/// Characters of all that a program writes for a call.
const MOST: usize = 8192;
/// What is put behind a record: words that lead to the parts, whether there was more, the argument.
pub(crate) const WORD: usize = 4;
pub(crate) const FLAG: usize = PARTS * WORD;
pub(crate) const ARGUMENT: usize = FLAG + WORD;
const BLOCK: usize = ARGUMENT + 8;

/// Where the record of a call gets it: behind the kernel's own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    pub at: usize,
    /// Whether it is the record of the call's end.
    pub is_end: bool,
}

/// The memory of the call that comes next on a CPU.
#[derive(Default)]
pub struct Memory {
    thread: Option<i32>,
    since: u64,
    characters: Vec<u8>,
}

impl Memory {
    /// Takes a record with a text; whether it is one of ours.
    pub fn give(&mut self, (record, time): (&[u8], u64), text: &[u8]) -> bool {
        let text = text.split(|one| *one == 0).next().unwrap_or_default();
        let thread = thread(record);
        if let Some(characters) = text.strip_prefix(FIRST) {
            self.thread = thread;
            self.since = time;
            self.characters.clear();
            self.characters.extend_from_slice(characters);
        } else if let Some(characters) = text.strip_prefix(FURTHER) {
            let has_room = self.characters.len() + characters.len() <= MOST;
            if self.thread.is_some() && thread == self.thread && has_room {
                self.characters.extend_from_slice(characters);
            }
        } else {
            return false;
        }
        true
    }

    /// Since when memory waits for its call, if it does.
    #[must_use]
    pub fn since(&self) -> Option<u64> {
        self.thread.map(|_| self.since)
    }

    /// The record of a call with its memory behind it, or with nothing, if that is another call's.
    pub fn join(&mut self, record: &[u8], plan: MemoryPlan) -> Vec<u8> {
        let mut joined = record.get(..plan.at).unwrap_or(record).to_vec();
        joined.resize(plan.at + BLOCK, 0);
        let waits = self.thread.take();
        if waits.is_some() && waits == thread(record) {
            let bytes = decoded(&self.characters);
            if is_of(&bytes, record, plan.is_end) {
                append(&mut joined, plan.at, &bytes);
            }
        }
        joined
    }
}

/// Whether memory is that of a record's call.
fn is_of(bytes: &[u8], record: &[u8], is_end: bool) -> bool {
    let told = short(bytes, CALL_AT);
    let number = record.get(NUMBER..NUMBER + 2).and_then(|two| two.try_into().ok());
    let number = number.map(u16::from_le_bytes);
    told.is_some() && told == number.map(|one| if is_end { one | IS_END } else { one })
}

/// Puts what a program tells behind a record's fields; as far as it is whole.
fn append(joined: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let Some((head, mut rest)) = bytes.split_at_checked(HEAD) else { return };
    let argument = head.get(ARGUMENT_AT..ARGUMENT_AT + 8).unwrap_or_default();
    put(joined, at + ARGUMENT, argument);
    put(joined, at + FLAG, head.get(EXCEEDS_AT..).unwrap_or_default());
    for part in 0..PARTS {
        let length = short(head, part * 2).unwrap_or(0);
        let Some((bytes, more)) = rest.split_at_checked(usize::from(length)) else { return };
        rest = more;
        let Ok(place) = u16::try_from(joined.len()) else { return };
        let word = u32::from(place) | u32::from(length) << 16;
        put(joined, at + part * WORD, &word.to_le_bytes());
        joined.extend_from_slice(bytes);
    }
}

fn put(joined: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(room) = joined.get_mut(at..at + bytes.len()) {
        room.copy_from_slice(bytes);
    }
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_le_bytes)
}

/// The bytes of characters, up to one that is none of ours.
fn decoded(characters: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(characters.len() / CHARACTERS * BYTES);
    for group in characters.chunks_exact(CHARACTERS) {
        if group.iter().any(|one| one & MARK == 0) {
            break;
        }
        let number = group.iter().rev().fold(0_u64, |all, one| all << 7 | u64::from(one & !MARK));
        bytes.extend(number.to_le_bytes().iter().take(BYTES));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: MemoryPlan = MemoryPlan { at: 24, is_end: true };

    fn record(thread: i32, number: u64) -> Vec<u8> {
        let mut made = [&[1, 0, 0, 0][..], &thread.to_le_bytes()].concat();
        made.extend(number.to_le_bytes());
        made.extend([9; 8]);
        made
    }

    /// What a program prints of bytes.
    fn characters(bytes: &[u8]) -> Vec<u8> {
        let mut made = Vec::new();
        for group in bytes.chunks(BYTES) {
            let number = group.iter().rev().fold(0_u64, |all, one| all << 8 | u64::from(*one));
            made.extend((0..CHARACTERS).map(|one| (number >> (7 * one)) as u8 & 127 | MARK));
        }
        made
    }

    fn told(number: u16, parts: &[&[u8]]) -> Vec<u8> {
        let length = |part: usize| parts.get(part).map_or(0, |one| one.len() as u16);
        let mut made: Vec<u8> =
            [length(0), length(1), length(2), number].map(u16::to_le_bytes).concat();
        made.extend(0x1122_3344_5566_7788_u64.to_le_bytes());
        made.push(1);
        made.extend(parts.concat());
        made
    }

    fn given(memory: &mut Memory, thread: i32, mark: &[u8], characters: &[u8]) {
        let text = [mark, characters, b"\0"].concat();
        assert!(memory.give((&record(thread, 7), 1), &text));
    }

    #[test]
    fn a_call_gets_the_memory_before_it_once() {
        let mut memory = Memory::default();
        let all = characters(&told(7 | IS_END, &[&[0, 1, 255], &[], &[128; 20]]));
        let (first, further) = all.split_at(16);
        given(&mut memory, 7, FIRST, b"old");
        given(&mut memory, 7, FIRST, first);
        given(&mut memory, 8, FURTHER, b"of another thread");
        given(&mut memory, 7, FURTHER, further);
        assert_eq!(memory.since(), Some(1));
        let joined = memory.join(&record(7, 7), PLAN);

        assert_eq!(part_at(&joined, 24), [0, 1, 255]);
        assert_eq!((part_at(&joined, 28), part_at(&joined, 32)), (&[][..], &[128; 20][..]));
        assert_eq!(joined.get(36), Some(&1));
        assert_eq!(joined.get(40..48), Some(&0x1122_3344_5566_7788_u64.to_le_bytes()[..]));
        let empty = [record(7, 7), vec![0; BLOCK]].concat();
        assert_eq!((memory.join(&record(7, 7), PLAN), memory.since()), (empty, None));
    }

    fn part_at(joined: &[u8], at: usize) -> &[u8] {
        let word = short(joined, at).zip(short(joined, at + 2)).unwrap();
        joined.get(usize::from(word.0)..).and_then(|one| one.get(..usize::from(word.1))).unwrap()
    }

    #[test]
    fn memory_of_other_calls_is_none_of_its_own() {
        for (thread, number, is_end) in [(8, 7, true), (7, 8, true), (7, 7, false)] {
            let mut memory = Memory::default();
            given(&mut memory, 7, FIRST, &characters(&told(7 | IS_END, &[&[1; 9]])));
            let joined = memory.join(&record(thread, number), MemoryPlan { at: 24, is_end });

            assert_eq!(joined, [record(thread, number), vec![0; BLOCK]].concat());
        }
        assert!(!Memory::default().give((&[], 1), b"vestige: 0 a text"));
    }

    #[test]
    fn what_makes_no_sense_is_left_out() {
        let whole = characters(&told(7 | IS_END, &[&[1; 9]]));
        for text in [&b"vestige:bnothing"[..], &whole[..16], &whole[..24], &[MARK; 4096]] {
            let mut memory = Memory::default();
            given(&mut memory, 7, FIRST, text);
            for _ in 0..4 {
                given(&mut memory, 7, FURTHER, text);
            }
            let joined = memory.join(&record(7, 7), PLAN);
            assert!(joined.len() >= 24 + BLOCK);
            assert!(memory.characters.len() <= MOST);
        }
        let mut memory = Memory::default();
        given(&mut memory, 7, FIRST, &whole);
        assert_eq!(memory.join(&[1], MemoryPlan { at: 2, is_end: true }).len(), 2 + BLOCK);
    }
}
