//! Points of time at which it is known what is open.
//!
//! Whoever reads from one of them on needs nothing that is before it. There are at most
//! [`MOST`] of them, at about equal distances, whatever the length of the trace.

use super::packing::{put, put_bytes, put_signed, Unpacker};

/// How many there are at most.
const MOST: usize = 4096;
/// How many bytes they take at most.
const MOST_BYTES: usize = 1 << 24;
/// How many records there are between two of them, if nobody says otherwise.
pub const EVERY: u64 = 1 << 15;

/// A point of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckPoint {
    /// All records before this time were seen, and none at it; nanoseconds.
    pub time: i64,
    /// What is open.
    pub state: Vec<u8>,
}

/// The points, in the order of time.
#[derive(Debug, Clone)]
pub struct CheckPoints {
    points: Vec<CheckPoint>,
    bytes: usize,
    /// How many records there are between two of them.
    every: u64,
    /// How many records come before the next one.
    left: u64,
    /// The latest time of a record so far.
    latest: Option<i64>,
}

impl Default for CheckPoints {
    fn default() -> Self {
        Self::new(EVERY)
    }
}

impl CheckPoints {
    /// Points with so many records between two of them, at first.
    #[must_use]
    pub fn new(every: u64) -> Self {
        let (points, bytes, latest) = (Vec::new(), 0, None);
        Self { points, bytes, every, left: every, latest }
    }

    /// Takes note of records, before they are seen: their number, their earliest and latest
    /// time. Returns whether there should be a point at the earliest one.
    pub fn is_due(&mut self, records: u64, earliest: i64, latest: i64) -> bool {
        // After a clock went back, what was open at a time is not what a reading finds.
        while self.points.last().is_some_and(|point| point.time > earliest) {
            self.points.pop();
        }
        let is_cut = self.latest.is_some_and(|before| before < earliest);
        self.latest = self.latest.max(Some(latest));
        let is_due = self.left == 0 && is_cut;
        self.left = if is_due { self.every } else { self.left };
        self.left = self.left.saturating_sub(records);
        is_due
    }

    /// Adds a point.
    pub fn add(&mut self, time: i64, state: Vec<u8>) {
        self.bytes += state.len();
        self.points.push(CheckPoint { time, state });
        while self.points.len() > MOST || (self.bytes > MOST_BYTES && self.points.len() > 1) {
            let mut number = 0;
            self.points.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.bytes = self.points.iter().map(|point| point.state.len()).sum();
            self.every = self.every.saturating_mul(2);
        }
        if self.bytes > MOST_BYTES {
            self.points.clear();
            self.bytes = 0;
        }
    }

    /// The last point that is not behind a time.
    #[must_use]
    pub fn before(&self, time: i64) -> Option<&CheckPoint> {
        let behind = self.points.partition_point(|point| point.time <= time);
        self.points.get(behind.checked_sub(1)?)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Writes the points.
    pub fn write(&self, into: &mut Vec<u8>) {
        put(into, self.points.len() as u64);
        for point in &self.points {
            put_signed(into, point.time);
            put_bytes(into, &point.state);
        }
    }

    /// Reads what [`CheckPoints::write`] wrote; `None` if it is anything else.
    #[must_use]
    pub fn read(from: &mut Unpacker<'_>) -> Option<Self> {
        let mut read = Self::default();
        for _ in 0..from.count()? {
            let time = from.take_signed()?;
            if read.points.last().is_some_and(|point| point.time >= time) {
                return None;
            }
            read.points.push(CheckPoint { time, state: from.bytes()?.to_vec() });
        }
        Some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_few_and_far_enough_apart() {
        let mut points = CheckPoints::default();
        for time in 0..20_000 {
            if points.is_due(EVERY, time * 10, time * 10 + 9) {
                points.add(time * 10, vec![0; 10]);
            }
        }
        assert!((MOST / 2..=MOST).contains(&points.len()), "{}", points.len());
        let distances: Vec<i64> =
            points.points.windows(2).map(|pair| pair[1].time - pair[0].time).collect();
        assert!(distances.iter().all(|&distance| distance <= 80), "{distances:?}");
        assert_eq!(points.before(9), None);
        let point = points.before(100_003).unwrap();
        assert!(point.time <= 100_003 && point.time > 100_003 - 80);
        let mut bytes = Vec::new();
        points.write(&mut bytes);
        let read = CheckPoints::read(&mut Unpacker::new(&bytes)).unwrap();
        assert_eq!(read.points, points.points);
    }

    #[test]
    fn there_is_none_where_times_overlap_or_go_back() {
        let mut points = CheckPoints::default();
        assert!(!points.is_due(EVERY, 0, 10));
        // At 10 a record was seen, and there are more.
        assert!(!points.is_due(1, 10, 20));
        assert!(points.is_due(1, 21, 30));
        points.add(21, Vec::new());
        assert!(!points.is_due(1, 15, 40));
        assert!(points.is_empty());
    }
}
