//! What the kernel counts of a ring buffer, in the text of its file `stats`.

/// Events that never came into the buffer, or were overwritten in it, since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// There was no room for them, or an interrupt came at a bad moment.
    pub dropped: u64,
    /// They made room for newer ones.
    pub overwritten: u64,
    /// The value of the trace's clock when they were told, or a little more; 0: it is not told.
    pub now: u64,
}

/// Nanoseconds of the microseconds with which times are told that are not the number of a counter.
const MICROSECOND: u64 = 1000;

impl Counts {
    /// The counts in a text.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let mut counts = Self::default();
        for line in text.lines() {
            let Some((name, value)) = line.split_once(':') else { continue };
            if name == "now ts" {
                counts.now = time(value.trim()).unwrap_or(0);
            }
            let value = value.trim().parse().unwrap_or(0);
            match name {
                "overrun" => counts.overwritten = value,
                "commit overrun" | "dropped events" => {
                    counts.dropped = counts.dropped.saturating_add(value);
                }
                _ => (),
            }
        }
        counts
    }
}

/// A time, rounded up: seconds with six digits behind the point, or the value of a counter.
fn time(text: &str) -> Option<u64> {
    let Some((seconds, more)) = text.split_once('.') else { return text.parse().ok() };
    let seconds = seconds.parse::<u64>().ok()?.checked_mul(1_000_000)?;
    let more = more.parse::<u64>().ok().filter(|_| more.len() == 6)?;
    seconds.checked_add(more)?.checked_add(1)?.checked_mul(MICROSECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_lines() {
        let text = "entries: 129\noverrun: 7\ncommit overrun: 2\nbytes: 4\n\
                    oldest event ts:  2724.3\nnow ts:  2725.6\ndropped events: 40\nread events: 4\n";

        let now = 0;
        assert_eq!(Counts::read(text), Counts { dropped: 42, overwritten: 7, now });
        assert_eq!(Counts::read("overrun 7\n:\n"), Counts::default());
    }

    #[test]
    fn times_are_seconds_or_values_of_a_counter() {
        let now = |text: &str| Counts::read(&format!("now ts: {text}\n")).now;

        assert_eq!(now(" 2725.600001"), 2_725_600_002_000);
        assert_eq!(now("123456789"), 123_456_789);
        assert_eq!([now("1.5"), now("-1.000000"), now("99999999999999999.000000")], [0; 3]);
    }
}
