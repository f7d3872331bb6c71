//! Times of day and dates, as C's `strftime` would print them in the local time zone.

use std::sync::Arc;

use super::digits::push_decimal_padded;
use super::options::ClockFormat;
use super::snippet::Snippet;

const NANOSECONDS: i64 = 1_000_000_000;
/// No zone changes its offset inside a quarter of an hour.
const ZONE_BLOCK: i64 = 900;

/// Tells the offset of local time from UTC, in seconds, at a time since the epoch.
pub type OffsetSource = Arc<dyn Fn(i64) -> i32 + Send + Sync>;

/// Prints times and remembers what stays the same from one to the next.
#[derive(Clone)]
pub struct TimeFormatter {
    format: ClockFormat,
    offset: OffsetSource,
    zone_block: Option<(i64, i32)>,
    second: Option<i64>,
    second_text: Snippet,
}

impl TimeFormatter {
    /// A formatter of a format; `offset` is asked for local time only.
    #[must_use]
    pub fn new(format: ClockFormat, offset: OffsetSource) -> Self {
        Self { format, offset, zone_block: None, second: None, second_text: Snippet::default() }
    }

    /// Appends a time, nanoseconds from the origin.
    #[inline]
    pub fn push(&mut self, out: &mut Vec<u8>, nanoseconds: i64) {
        let second = nanoseconds.div_euclid(NANOSECONDS);
        if nanoseconds < 0 {
            return push_negative(out, nanoseconds);
        }
        if self.second != Some(second) {
            self.second_text = self.text_of_second(second);
            self.second = Some(second);
        }
        self.second_text.push(out);
        push_nanoseconds(out, nanoseconds.rem_euclid(NANOSECONDS) as u64);
    }

    fn text_of_second(&mut self, second: i64) -> Snippet {
        let mut text = Vec::new();
        if self.format.seconds {
            push_decimal_padded(&mut text, second as u64, 1);
            return Snippet::new(&text);
        }
        let local = second + i64::from(self.zone_offset(second));
        let (days, rest) = (local.div_euclid(86_400), local.rem_euclid(86_400) as u64);
        if self.format.date {
            let (year, month, day) = civil_date(days);
            let date = format!("{year:04}-{month:02}-{day:02} ");
            text.extend_from_slice(date.as_bytes());
        }
        push_decimal_padded(&mut text, rest / 3600, 2);
        text.push(b':');
        push_decimal_padded(&mut text, rest / 60 % 60, 2);
        text.push(b':');
        push_decimal_padded(&mut text, rest % 60, 2);
        Snippet::new(&text)
    }

    fn zone_offset(&mut self, second: i64) -> i32 {
        if self.format.utc {
            return 0;
        }
        let block = second.div_euclid(ZONE_BLOCK);
        match self.zone_block {
            Some((known, offset)) if known == block => offset,
            _ => {
                let offset = (self.offset)(second);
                self.zone_block = Some((block, offset));
                offset
            }
        }
    }
}

/// `.` and nine digits.
#[inline]
pub fn push_nanoseconds(out: &mut Vec<u8>, nanoseconds: u64) {
    out.push(b'.');
    push_decimal_padded(out, nanoseconds, 9);
}

/// Times before the origin are always shown in seconds.
fn push_negative(out: &mut Vec<u8>, nanoseconds: i64) {
    let magnitude = nanoseconds.unsigned_abs();
    out.push(b'-');
    push_decimal_padded(out, magnitude / NANOSECONDS as u64, 1);
    push_nanoseconds(out, magnitude % NANOSECONDS as u64);
}

/// Year, month and day of a number of days since 1970-01-01, in the Gregorian calendar.
/// Years begin in March here, so that the leap day is the last day of a year.
pub(crate) fn civil_date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(format: ClockFormat, nanoseconds: i64) -> String {
        let mut out = Vec::new();
        TimeFormatter::new(format, Arc::new(|_| 7200)).push(&mut out, nanoseconds);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn dates_know_leap_years() {
        let format = ClockFormat { date: true, utc: true, ..ClockFormat::default() };
        assert_eq!(text(format, 951_782_400_000_000_001), "2000-02-29 00:00:00.000000001");
        assert_eq!(text(format, 1_735_689_599_999_999_999), "2024-12-31 23:59:59.999999999");
    }

    #[test]
    fn local_time_adds_the_offset_of_the_zone() {
        assert_eq!(text(ClockFormat::default(), 82_800_000_000_000), "01:00:00.000000000");
    }

    #[test]
    fn times_before_the_origin_are_seconds() {
        assert_eq!(text(ClockFormat::default(), -1_500_000_000), "-1.500000000");
    }
}
