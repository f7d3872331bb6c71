//! What a scan needs of each event record class, in one place.

use std::collections::BTreeMap;

use super::data_stream::DataStream;
use super::selection::{ClassUse, Selection};
use crate::model::StreamClass;
use crate::record::{Program, Segment};

/// IDs below have a place of their own: in nearly all traces these are all.
const NEAR: usize = 4096;

/// How to step over records of whole bytes, by the IDs of their classes, under one selection.
///
/// Where a record ends is known only once its class is, and where the next one begins only
/// then. So what is looked up in between is what a scan waits for: an entry is one load
/// behind an ID. Entries are made when an ID is first seen.
#[derive(Debug, Default)]
pub struct StepTable {
    /// By ID.
    entries: Vec<Entry>,
    /// Those of IDs above.
    far: BTreeMap<u64, Entry>,
    more: Vec<Segment>,
}

/// How to step over the records of a class.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Entry {
    /// The first part of their bodies.
    first: Segment,
    is_known: bool,
    /// Whether their records are whole bytes and strings; others go the general way.
    pub is_in_bytes: bool,
    /// What is wanted of them.
    pub usage: ClassUse,
    /// Index of the class in the stream class.
    pub class: u32,
    /// Where the other parts are in the table.
    more: (u32, u32),
}

impl StepTable {
    /// The entry of a class ID, which is 0 where headers have none.
    #[inline(always)]
    pub fn get(&self, id: u64) -> Option<&Entry> {
        match self.entries.get(id as usize) {
            Some(entry) => entry.is_known.then_some(entry),
            None => self.far.get(&id),
        }
    }

    /// Where a record ends whose body begins at a byte; `None` when it is not all there.
    /// `note` is called with the index of each run and the bit where it begins.
    #[inline(always)]
    pub fn end(
        &self,
        entry: &Entry,
        (data, body, end): (&[u8], usize, usize),
        mut note: impl FnMut(usize, u64),
    ) -> Option<usize> {
        let start = entry.first.start(body);
        note(0, start as u64 * 8);
        let mut at = entry.first.end(data, start, end)?;
        if entry.more.0 < entry.more.1 {
            let more = self.more.get(entry.more.0 as usize..entry.more.1 as usize)?;
            for (index, segment) in more.iter().enumerate() {
                let start = segment.start(at);
                note(index + 1, start as u64 * 8);
                at = segment.end(data, start, end)?;
            }
        }
        (at <= end).then_some(at)
    }

    /// Makes the entry of a class ID, if there is such a class.
    #[cold]
    pub fn learn(
        &mut self,
        (stream, class): (&DataStream, &StreamClass),
        selection: &Selection,
        id: Option<u64>,
    ) {
        let Some(event) = class.index_of(id) else { return };
        let segments = stream.program(class, event).and_then(Program::segments);
        let from = self.more.len() as u32;
        self.more.extend(segments.iter().flat_map(|all| all.iter().skip(1)));
        let entry = Entry {
            first: segments.and_then(<[Segment]>::first).copied().unwrap_or_default(),
            is_known: true,
            is_in_bytes: segments.is_some(),
            usage: selection.use_of_class(event),
            class: event as u32,
            more: (from, self.more.len() as u32),
        };
        self.put(id.unwrap_or(0), entry);
    }

    fn put(&mut self, id: u64, entry: Entry) {
        let place = usize::try_from(id).unwrap_or(usize::MAX);
        if place >= NEAR {
            self.far.insert(id, entry);
            return;
        }
        if self.entries.len() <= place {
            self.entries.resize(place + 1, Entry::default());
        }
        if let Some(near) = self.entries.get_mut(place) {
            *near = entry;
        }
    }
}
