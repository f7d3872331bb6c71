//! From an address to the one range that answers for it.
//!
//! Ranges of debug information nest (functions in functions) and, in damaged
//! or unusual files, overlap. Building settles once which range wins at each
//! address, so that a lookup is a binary search whatever the input was.

use std::collections::BinaryHeap;
use std::ops::Range;

/// A half-open range of addresses with a value and a rank.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interval<K> {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Where intervals overlap, the greatest rank wins.
    pub(crate) rank: K,
    pub(crate) value: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) value: u32,
}

/// Disjoint ranges in ascending order, each with a value.
#[derive(Debug, Default, Clone)]
pub(crate) struct RangeMap(Vec<Segment>);

impl RangeMap {
    /// Settles the overlaps of `intervals`; of equal ranks, the later one wins.
    pub(crate) fn build<K: Ord + Copy>(mut intervals: Vec<Interval<K>>) -> Self {
        intervals.retain(|interval| interval.start < interval.end);
        intervals.sort_by_key(|interval| interval.start);
        let disjoint =
            intervals.iter().zip(intervals.iter().skip(1)).all(|(one, next)| one.end <= next.start);
        if disjoint {
            return Self(intervals.iter().map(segment_of).collect());
        }
        Self(flatten(&intervals))
    }

    /// The value of the range that covers `address`.
    pub(crate) fn find(&self, address: u64) -> Option<u32> {
        let after = self.0.partition_point(|segment| segment.start <= address);
        let segment = self.0.get(after.checked_sub(1)?)?;
        (address < segment.end).then_some(segment.value)
    }

    /// Where the last range that ends at or before `address` ends, unless one covers it.
    pub(crate) fn end_before(&self, address: u64) -> Option<u64> {
        let after = self.0.partition_point(|segment| segment.start <= address);
        let segment = self.0.get(after.checked_sub(1)?)?;
        (segment.end <= address).then_some(segment.end)
    }

    /// The disjoint ranges, in ascending order.
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// The start of each range with its value, and of each gap behind one with `nothing`.
    pub(crate) fn steps(&self, nothing: u32) -> Vec<(u64, u32)> {
        let mut steps: Vec<(u64, u32)> = Vec::with_capacity(self.0.len() + 1);
        for segment in &self.0 {
            match steps.last_mut() {
                Some(last) if last.0 == segment.start => last.1 = segment.value,
                _ => steps.push((segment.start, segment.value)),
            }
            steps.push((segment.end, nothing));
        }
        steps
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn segment_of<K>(interval: &Interval<K>) -> Segment {
    Segment { start: interval.start, end: interval.end, value: interval.value }
}

/// Sweeps over all boundaries with a heap of the intervals open there.
fn flatten<K: Ord + Copy>(intervals: &[Interval<K>]) -> Vec<Segment> {
    let mut bounds: Vec<u64> = intervals.iter().flat_map(|one| [one.start, one.end]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let mut waiting = intervals.iter().enumerate().peekable();
    let mut open: BinaryHeap<(K, usize)> = BinaryHeap::new();
    let mut segments: Vec<Segment> = Vec::new();
    for (start, end) in bounds.iter().zip(bounds.iter().skip(1)) {
        while let Some((index, interval)) = waiting.next_if(|(_, one)| one.start <= *start) {
            open.push((interval.rank, index));
        }
        let ended = |index: usize| intervals.get(index).is_none_or(|one| one.end <= *start);
        while open.peek().is_some_and(|(_, index)| ended(*index)) {
            open.pop();
        }
        let winner = open.peek().and_then(|(_, index)| intervals.get(*index));
        if let Some(winner) = winner {
            append(&mut segments, *start..*end, winner.value);
        }
    }
    segments
}

/// Adds a segment, as part of the one before where they belong together.
fn append(segments: &mut Vec<Segment>, range: Range<u64>, value: u32) {
    match segments.last_mut() {
        Some(last) if last.end == range.start && last.value == value => last.end = range.end,
        _ => segments.push(Segment { start: range.start, end: range.end, value }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(start: u64, end: u64, rank: u32, value: u32) -> Interval<u32> {
        Interval { start, end, rank, value }
    }

    #[test]
    fn finds_only_inside_disjoint_ranges() {
        let map = RangeMap::build(vec![interval(20, 30, 0, 2), interval(5, 10, 0, 1)]);
        let found: Vec<_> = [4, 5, 9, 10, 19, 20, 29, 30].map(|at| map.find(at)).into();
        assert_eq!(found, [None, Some(1), Some(1), None, None, Some(2), Some(2), None]);
    }

    #[test]
    fn agrees_with_a_search_of_all_ranges() {
        let mut seed = 7u64;
        let mut next = |limit| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % limit
        };
        for _ in 0..200 {
            let intervals: Vec<_> = (0..next(20))
                .map(|value| {
                    let start = next(50);
                    interval(start, start + next(20), next(4) as u32, value as u32)
                })
                .collect();
            let map = RangeMap::build(intervals.clone());
            for address in 0..80 {
                let mut best: Vec<_> = intervals
                    .iter()
                    .filter(|one| one.start <= address && address < one.end)
                    .collect();
                best.sort_by_key(|one| (one.rank, one.start));
                let found = map.find(address);
                // Where rank and start are equal, the later of the list wins.
                assert_eq!(found, best.last().map(|one| one.value), "{address} {intervals:?}");
            }
        }
    }
}
