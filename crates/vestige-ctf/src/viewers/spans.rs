//! Spans as slices. Those of a process may overlap in any way, also in one thread, so each
//! name has as many tracks in its process as there are such spans at once.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// What a record tells of a span.
#[derive(Debug, Clone)]
pub struct SpanMark {
    /// Index of the record among those of its task.
    pub row: usize,
    /// The number of the span, which counts in its process.
    pub number: u64,
    /// What it is called, where it begins.
    pub name: Option<SpanName>,
    /// Where its arguments and flows are in the bytes of the task.
    pub arguments: Range<usize>,
}

/// What spans are called: the name of the events without its end.
#[derive(Debug, Clone)]
pub struct SpanName {
    /// The number of the name.
    pub number: u64,
    /// The name.
    pub text: Arc<str>,
}

/// Process space and process ID.
type Process = (u32, i32);

/// The tracks of the spans of a name in a process.
#[derive(Debug, Default)]
struct Lanes {
    /// The numbers of the tracks.
    uuids: Vec<u64>,
    /// Indexes of those that no span is in.
    free: BTreeSet<usize>,
}

/// A track that is not described yet.
#[derive(Debug)]
pub struct NewLane {
    /// Its number.
    pub uuid: u64,
    /// The process that it is of.
    pub process: Process,
    /// What its spans are called.
    pub name: String,
}

/// Which spans are open, and in which tracks.
#[derive(Debug, Default)]
pub struct Spans {
    lanes: HashMap<(Process, u64), Lanes>,
    /// Name and lane, by process and number of the span.
    open: HashMap<(Process, u64), (u64, usize)>,
    fresh: Vec<NewLane>,
}

impl Spans {
    /// The track of a span that begins. A span that has its number and no end keeps its own.
    pub fn begin(
        &mut self,
        process: Process,
        span: u64,
        name: &SpanName,
        mut next_uuid: impl FnMut() -> u64,
    ) -> u64 {
        let Self { lanes, open, fresh } = self;
        let lanes = lanes.entry((process, name.number)).or_default();
        let lane = lanes.free.pop_first().unwrap_or(lanes.uuids.len());
        if lane == lanes.uuids.len() {
            let uuid = next_uuid();
            lanes.uuids.push(uuid);
            fresh.push(NewLane { uuid, process, name: name.text.to_string() });
        }
        open.insert((process, span), (name.number, lane));
        lanes.uuids.get(lane).copied().unwrap_or_default()
    }

    /// The track of a span that ends; `None` if it has not begun.
    pub fn end(&mut self, process: Process, span: u64) -> Option<u64> {
        let Entry::Occupied(found) = self.open.entry((process, span)) else { return None };
        let (name, lane) = found.remove();
        let lanes = self.lanes.get_mut(&(process, name))?;
        lanes.free.insert(lane);
        lanes.uuids.get(lane).copied()
    }

    /// Ends the spans that are open; returns their tracks, in order.
    pub fn end_all(&mut self) -> Vec<u64> {
        let mut open: Vec<_> = self.open.keys().copied().collect();
        open.sort_unstable();
        open.into_iter().filter_map(|(process, span)| self.end(process, span)).collect()
    }

    /// The tracks that are new since the last call.
    pub fn take_new(&mut self) -> Vec<NewLane> {
        std::mem::take(&mut self.fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESS: Process = (0, 7);

    fn name(number: u64) -> SpanName {
        SpanName { number, text: format!("name {number}").into() }
    }

    #[test]
    fn spans_that_overlap_have_tracks_of_their_own() {
        let mut spans = Spans::default();
        let mut uuid = 100;
        let mut next = || {
            uuid += 1;
            uuid
        };
        assert_eq!(spans.begin(PROCESS, 1, &name(1), &mut next), 101);
        assert_eq!(spans.begin(PROCESS, 2, &name(1), &mut next), 102);
        // Another name, and the same numbers in another process.
        assert_eq!(spans.begin(PROCESS, 3, &name(2), &mut next), 103);
        assert_eq!(spans.begin((0, 8), 1, &name(1), &mut next), 104);
        assert_eq!(spans.end(PROCESS, 1), Some(101));
        assert_eq!(spans.end(PROCESS, 1), None);
        // The lowest one that is free.
        assert_eq!(spans.begin(PROCESS, 4, &name(1), &mut next), 101);
        assert_eq!(spans.end((0, 8), 1), Some(104));
        let described: Vec<_> =
            spans.take_new().into_iter().map(|one| (one.uuid, one.process, one.name)).collect();
        let expected = [
            (101, PROCESS, "name 1"),
            (102, PROCESS, "name 1"),
            (103, PROCESS, "name 2"),
            (104, (0, 8), "name 1"),
        ];
        assert_eq!(described, expected.map(|(uuid, of, name)| (uuid, of, name.to_owned())));
        assert!(spans.take_new().is_empty());
        assert_eq!(spans.end_all(), [102, 103, 101]);
        assert!(spans.end_all().is_empty());
    }
}
