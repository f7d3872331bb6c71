//! The time since the event before, in three digits.

use super::options::Colors;
use super::width::push_spaces;

/// Columns of a step.
pub const STEP_COLUMNS: usize = 7;
const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
const DAY_SECONDS: u64 = 86_400;
/// Seconds of more than five digits are days.
const MOST_SECONDS: u64 = 99_999;

/// Appends a step of some nanoseconds, aligned to the right.
#[inline]
pub fn push_step(out: &mut Vec<u8>, step: i64, ascii: bool, colors: &Colors) {
    let mut text = [0; 16];
    let (length, wide) = write_step(&mut text, step, ascii);
    let text = text.get(..length).unwrap_or_default();
    push_spaces(out, STEP_COLUMNS.saturating_sub(length - usize::from(wide)));
    push_colored(out, text, step.unsigned_abs(), colors);
}

/// Appends a duration in nanoseconds, as a step without its sign.
pub fn push_duration(out: &mut Vec<u8>, duration: u64, ascii: bool, colors: &Colors) {
    let mut text = [0; 16];
    let step = i64::try_from(duration).unwrap_or(i64::MAX);
    let (length, _) = write_step(&mut text, step, ascii);
    push_colored(out, text.get(1..length).unwrap_or_default(), duration, colors);
}

#[inline]
fn push_colored(out: &mut Vec<u8>, text: &[u8], amount: u64, colors: &Colors) {
    let color = match amount {
        0..MILLISECOND => "",
        MILLISECOND..SECOND => colors.warning,
        _ => colors.alarm,
    };
    if color.is_empty() {
        out.extend_from_slice(text);
    } else {
        out.extend_from_slice(color.as_bytes());
        out.extend_from_slice(text);
        out.extend_from_slice(colors.reset.as_bytes());
    }
}

/// Writes a step; returns its bytes, and whether one of them is no column of its own.
#[inline]
fn write_step(text: &mut [u8; 16], step: i64, ascii: bool) -> (usize, bool) {
    let amount = step.unsigned_abs();
    let mut place = Writer { text, length: 0 };
    place.push(if step < 0 { b'-' } else { b'+' });
    let (whole, thousandths, unit) = match amount {
        0..1000 => (amount, None, "ns"),
        1000..MILLISECOND => {
            (amount / 1000, Some(amount % 1000), if ascii { "us" } else { "\u{b5}s" })
        }
        MILLISECOND..SECOND => (amount / MILLISECOND, Some(amount / 1000 % 1000), "ms"),
        _ if amount / SECOND <= MOST_SECONDS => {
            (amount / SECOND, Some(amount / MILLISECOND % 1000), "s")
        }
        _ => (amount / SECOND / DAY_SECONDS, None, "d"),
    };
    place.number(whole);
    if let Some(thousandths) = thousandths {
        let digits = if whole < 10 { 2 } else { usize::from(whole < 100) };
        place.fraction(thousandths, digits);
    }
    for byte in unit.bytes() {
        place.push(byte);
    }
    (place.length, !unit.is_ascii())
}

struct Writer<'a> {
    text: &'a mut [u8; 16],
    length: usize,
}

impl Writer<'_> {
    #[inline]
    fn push(&mut self, byte: u8) {
        if let Some(place) = self.text.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    #[inline]
    fn number(&mut self, value: u64) {
        if value >= 10 {
            self.number(value / 10);
        }
        self.push(b'0' + (value % 10) as u8);
    }

    #[inline]
    fn fraction(&mut self, thousandths: u64, digits: usize) {
        if digits > 0 {
            self.push(b'.');
            self.push(b'0' + (thousandths / 100) as u8);
        }
        if digits > 1 {
            self.push(b'0' + (thousandths / 10 % 10) as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_three_digits_and_seven_columns() {
        let cases = [
            (0, "   +0ns"),
            (999, " +999ns"),
            (1_239, "+1.23\u{b5}s"),
            (12_399, "+12.3\u{b5}s"),
            (123_999, " +123\u{b5}s"),
            (999_999, " +999\u{b5}s"),
            (1_000_000, "+1.00ms"),
            (59_999_999_999, " +59.9s"),
            (99_999_000_000_000, "+99999s"),
            (1_000_000_000_000_000, "   +11d"),
            (i64::MIN, "-106751d"),
            (-5, "   -5ns"),
        ];
        for (step, expected) in cases {
            let mut out = Vec::new();
            push_step(&mut out, step.max(-i64::MAX), false, &Colors::default());
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
        let mut out = Vec::new();
        push_step(&mut out, 1_500, true, &Colors::default());
        assert_eq!(out, b"+1.50us");
    }

    #[test]
    fn durations_have_no_sign_and_no_space() {
        let mut out = Vec::new();
        for duration in [0, 1_500, 4_600_000, u64::MAX] {
            push_duration(&mut out, duration, true, &Colors::default());
            out.push(b' ');
        }
        assert_eq!(String::from_utf8(out).unwrap(), "0ns 1.50us 4.60ms 106751d ");
    }
}
