//! How often a collector looks at what threads have recorded.

use std::time::Duration;

/// What was recorded is written after so long at the latest.
const QUIET_NS: u64 = 1_000_000_000;
/// How often slots that have no complete chunk are looked at for that.
const LOOK_NS: u64 = 100_000_000;
/// So long a thread may have no processor that has read the clock for a record.
const GRACE_NS: u64 = 2_000_000;
/// No timer is faster.
const LEAST_NS: u64 = 1_000_000;

/// Periods in nanoseconds; 0: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timers {
    /// After it, chunks are written that are not yet full.
    pub switch_ns: u64,
    /// After it, chunks are looked for that are full: no thread rings for them.
    pub read_ns: u64,
    /// After it, all that was recorded is written, and it is told until when.
    pub live_ns: u64,
}

impl Timers {
    /// After how long a chunk is written that is not full.
    #[must_use]
    pub fn quiet_ns(&self) -> u64 {
        within(self.switch_ns, QUIET_NS)
    }

    /// How often slots are looked at that have no complete chunk.
    #[must_use]
    pub fn look_ns(&self) -> u64 {
        within(self.switch_ns, LOOK_NS)
    }

    /// How long a collector rests that would do so for a time.
    #[must_use]
    pub fn rest(&self, time: Duration) -> Duration {
        let most = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let timers = [self.read_ns, self.switch_ns, self.live_ns];
        Duration::from_nanos(timers.into_iter().fold(most, |most, one| within(one, most)))
    }

    /// When all that was recorded is written for viewers again, and never without any.
    #[must_use]
    pub fn next_show(&self, now: u64) -> u64 {
        match self.live_ns {
            0 => u64::MAX,
            period => now.saturating_add(period.max(LEAST_NS)),
        }
    }

    /// For how long threads may complete what they had begun, before that.
    #[must_use]
    pub fn grace_ns(&self) -> u64 {
        GRACE_NS.min(self.live_ns / 2)
    }

    /// Whether threads ring when they have filled some chunks.
    #[must_use]
    pub const fn has_bells(&self) -> bool {
        self.read_ns == 0
    }
}

/// The period of a timer, if there is one and it is the shorter one.
fn within(period: u64, most: u64) -> u64 {
    if period == 0 {
        most
    } else {
        most.min(period.max(LEAST_NS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_timers_it_is_as_it_was() {
        let none = Timers::default();
        assert_eq!((none.quiet_ns(), none.look_ns()), (QUIET_NS, LOOK_NS));
        assert_eq!(none.rest(Duration::from_millis(50)), Duration::from_millis(50));
        assert!(none.has_bells());
        assert_eq!(none.next_show(5), u64::MAX);
    }

    #[test]
    fn timers_only_make_it_faster() {
        let fast = Timers { switch_ns: 20_000_000, read_ns: 5_000_000, live_ns: 0 };
        assert_eq!((fast.quiet_ns(), fast.look_ns()), (20_000_000, 20_000_000));
        assert_eq!(fast.rest(Duration::from_millis(50)), Duration::from_millis(5));
        assert_eq!(fast.rest(Duration::from_millis(1)), Duration::from_millis(1));
        assert!(!fast.has_bells());
        let slow = Timers { switch_ns: u64::MAX, read_ns: u64::MAX, live_ns: u64::MAX };
        assert_eq!((slow.quiet_ns(), slow.look_ns()), (QUIET_NS, LOOK_NS));
    }

    #[test]
    fn no_timer_makes_it_spin() {
        let mad = Timers { switch_ns: 1, read_ns: 1, live_ns: 1 };
        assert_eq!(mad.rest(Duration::from_millis(50)), Duration::from_nanos(LEAST_NS));
        assert_eq!((mad.next_show(5), mad.grace_ns()), (LEAST_NS + 5, 0));
    }
}
