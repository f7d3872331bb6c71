//! How many event records there are, and when.

/// How many event records there are, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventCount {
    /// How many.
    pub records: u64,
    /// Time of the first one, nanoseconds from the origin of the clock.
    pub first: i64,
    /// Time of the last one.
    pub last: i64,
}

impl Default for EventCount {
    fn default() -> Self {
        Self { records: 0, first: i64::MAX, last: i64::MIN }
    }
}

impl EventCount {
    /// Counts a record.
    #[inline]
    pub(super) fn add(&mut self, time: i64) {
        self.records += 1;
        self.first = self.first.min(time);
        self.last = self.last.max(time);
    }

    /// Counts what another one has counted.
    pub(super) fn join(&mut self, other: &Self) {
        self.records += other.records;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}
