//! Values of performance counters: records of their own right before those of events.
//!
//! A program in the kernel writes them (`bpf`), as it does with texts of system calls: before the
//! event's record, on the same CPU and at the same level of interrupts, of which those of a higher level
//! are complete before a lower one goes on. What has its values elsewhere gets none: they are unknown
//! then, and never those of another event.

use crate::record_header::{thread, Level, LEVELS};

/// How such a text begins; a token of the channel, the number of the event and the values follow.
const MARK: &[u8] = b"vestige:c";
/// Digits of token, number and values: six bits each, the lowest first, from `0` on.
const TOKEN: usize = 4;
const NUMBER: usize = 3;
const VALUE: usize = 11;
const DIGIT_BITS: u32 = 6;
const FIRST_DIGIT: u8 = b'0';
/// Values that an event may have.
const MOST: usize = 16;
/// Values from here on are numbers of errors: the kernel could not read the counter.
const ERRORS: u64 = u64::MAX - 4094;
/// What is in the trace where a value is unknown.
pub const UNKNOWN: u64 = u64::MAX;

/// The values at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values {
    /// Which event it is, as the program was told.
    number: u32,
    count: usize,
    values: [u64; MOST],
}

impl Values {
    /// The value of a counter at the event of a number, if it is known.
    #[must_use]
    pub fn of(&self, number: u32, counter: usize) -> Option<u64> {
        let values = self.values.get(..self.count)?;
        values.get(counter).copied().filter(|one| number == self.number && *one < ERRORS)
    }
}

/// The values for the events that come next on a CPU, by levels of interrupts.
#[derive(Default)]
pub struct Counters {
    next: [Option<(i32, Values)>; LEVELS],
    /// When the oldest of them was written.
    since: u64,
}

impl Counters {
    /// Takes a record with values; whether it is one.
    pub fn give(&mut self, token: u32, (record, time): (&[u8], u64), text: &[u8]) -> bool {
        let Some(digits) = text.strip_prefix(MARK) else { return false };
        let values = read(digits, token).zip(thread(record));
        // Whether interrupts are off is another matter: older kernels switch them off to print.
        let level = Level::of(record) as usize;
        // Values of other channels tell nothing of ours.
        let Some((values, told)) = values else { return true };
        if self.waiting_since().is_none() {
            self.since = time;
        }
        self.clear_from(level);
        if let Some(slot) = self.next.get_mut(level) {
            *slot = Some((told, values));
        }
        true
    }

    /// The values for a record.
    pub fn take(&mut self, record: &[u8]) -> Option<Values> {
        self.waiting_since()?;
        // Whether interrupts are off is another matter: older kernels switch them off to print.
        let level = Level::of(record) as usize;
        let found = self.next.get(level).copied().flatten();
        // Whatever it interrupts goes on later; what has interrupted it has come to its end.
        self.clear_from(level);
        found.filter(|(told, _)| Some(*told) == thread(record)).map(|(_, values)| values)
    }

    /// The time of the oldest values for which no record has come yet, or of older ones.
    #[must_use]
    pub fn waiting_since(&self) -> Option<u64> {
        self.next.iter().any(Option::is_some).then_some(self.since)
    }

    /// Forgets all of them: their records may have been lost.
    pub fn forget(&mut self) {
        self.clear_from(0);
    }

    fn clear_from(&mut self, level: usize) {
        self.next.iter_mut().skip(level).for_each(|one| *one = None);
    }
}

/// The values in a text, if it is of the channel with a token.
fn read(digits: &[u8], token: u32) -> Option<Values> {
    let digits = digits.split(|one| *one == 0).next().unwrap_or_default();
    let (told, rest) = digits.split_at_checked(TOKEN)?;
    let (number, rest) = rest.split_at_checked(NUMBER)?;
    if number_of(told)? != u64::from(token) {
        return None;
    }
    let (count, mut values) = (rest.len() / VALUE, [UNKNOWN; MOST]);
    if count > MOST || count * VALUE != rest.len() {
        return None;
    }
    for (slot, digits) in values.iter_mut().zip(rest.chunks_exact(VALUE)) {
        *slot = number_of(digits)?;
    }
    Some(Values { number: u32::try_from(number_of(number)?).ok()?, count, values })
}

fn number_of(digits: &[u8]) -> Option<u64> {
    digits.iter().rev().try_fold(0_u64, |number, digit| {
        let digit = digit.checked_sub(FIRST_DIGIT).filter(|one| *one < 1 << DIGIT_BITS)?;
        // Of the last digit of a value, two bits are behind its end: they are zeros.
        Some(number << DIGIT_BITS | u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HARD: u8 = 0x08;
    const SOFT: u8 = 0x10;

    fn record(thread: i32, flags: u8) -> Vec<u8> {
        [&[1, 0, flags, 0][..], &thread.to_le_bytes()].concat()
    }

    fn digits(mut number: u64, count: usize) -> Vec<u8> {
        let mut made = Vec::new();
        for _ in 0..count {
            made.push(FIRST_DIGIT + (number & 63) as u8);
            number >>= DIGIT_BITS;
        }
        made
    }

    fn text(token: u64, number: u64, values: &[u64]) -> Vec<u8> {
        let mut made = [MARK.to_vec(), digits(token, TOKEN), digits(number, NUMBER)].concat();
        made.extend(values.iter().flat_map(|one| digits(*one, VALUE)));
        made.push(0);
        made
    }

    fn given(counters: &mut Counters, flags: u8, value: u64) {
        assert!(counters.give(9, (&record(7, flags), value), &text(9, 5, &[value, value + 1])));
    }

    fn first(counters: &mut Counters, flags: u8) -> Option<u64> {
        counters.take(&record(7, flags)).and_then(|one| one.of(5, 0))
    }

    #[test]
    fn an_event_gets_the_values_before_it_once() {
        let mut counters = Counters::default();
        assert!(counters.give(9, (&record(7, 0), 4), &text(9, 5, &[3, u64::MAX - 4095, u64::MAX])));
        assert_eq!(counters.waiting_since(), Some(4));
        let values = counters.take(&record(7, 0)).unwrap();

        let of = |number| [0, 1, 2, 3].map(|one| values.of(number, one));
        assert_eq!(of(5), [Some(3), Some(u64::MAX - 4095), None, None]);
        assert_eq!(of(6), [None; 4]);
        assert_eq!((counters.take(&record(7, 0)), counters.waiting_since()), (None, None));
    }

    #[test]
    fn interrupts_have_their_own() {
        let mut counters = Counters::default();
        given(&mut counters, 0, 1);
        given(&mut counters, SOFT, 2);
        given(&mut counters, HARD, 3);

        assert_eq!(
            [HARD, SOFT, HARD, 0].map(|one| first(&mut counters, one)),
            [Some(3), Some(2), None, Some(1)]
        );
    }

    #[test]
    fn what_has_interrupted_is_over_when_something_goes_on() {
        let mut counters = Counters::default();
        given(&mut counters, HARD, 1);
        given(&mut counters, 0, 2);
        assert_eq!([HARD, 0].map(|one| first(&mut counters, one)), [None, Some(2)]);
        given(&mut counters, HARD, 3);
        assert_eq!([0, HARD].map(|one| first(&mut counters, one)), [None, None]);
    }

    #[test]
    fn values_of_others_are_none_of_its_own() {
        let mut counters = Counters::default();
        given(&mut counters, 0, 1);
        assert!(counters.give(9, (&record(7, 0), 2), &text(8, 5, &[9])));
        assert!(!counters.give(9, (&record(7, 0), 2), b"vestige: 0 a text"));
        assert_eq!(first(&mut counters, 0), Some(1));
        given(&mut counters, 0, 2);
        assert_eq!(counters.take(&record(8, 0)), None);
        given(&mut counters, 0, 3);
        counters.forget();
        assert_eq!(first(&mut counters, 0), None);
    }

    #[test]
    fn what_makes_no_sense_is_left_out() {
        let mut counters = Counters::default();
        for text in [
            &b"vestige:c"[..],
            b"vestige:c9000500",
            b"vestige:c90005003",
            b"vestige:c9000500/0000000000",
            b"vestige:c9000500p0000000000",
            &text(9, 5, &[1; MOST + 1]),
        ] {
            assert!(counters.give(9, (&record(7, 0), 1), text));
            assert!(counters.take(&record(7, 0)).is_none_or(|one| one.of(5, 0).is_none()));
        }
        assert!(counters.give(9, (&[1], 1), &text(9, 5, &[1])));
        assert_eq!(counters.take(&[1]), None);
    }
}
