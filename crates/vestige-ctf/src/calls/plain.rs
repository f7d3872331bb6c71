//! Merges of data streams whose packets tell the thread, and whose records have nothing but
//! numbers at fixed places: entries and exits are read where they are, one after the other,
//! without a list of what each record tells.

use std::collections::HashMap;
use std::sync::Arc;

use super::scan::{CallScan, Kind, Layout, Shared};
use crate::model::EventClass;
use crate::muxer::{Merge, Run};
use crate::record::{NumberPlace, Program};
use crate::stream::{Batch, DataStream, Record};

/// What the records of a class do to the calls of their thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// A function is entered.
    Enter,
    /// The innermost function is left.
    Leave,
    /// The function at an address is left, called from some place.
    LeaveCall,
    /// Something else, or what is not told by numbers at fixed places.
    Other,
}

/// A class of event records, and where its numbers lie.
#[derive(Debug, Clone, Copy)]
pub struct PlainClass {
    /// What its records do.
    pub doing: Doing,
    address: Option<NumberPlace>,
    site: Option<NumberPlace>,
    /// The alignment of the payload in bits, less one.
    mask: u64,
}

impl PlainClass {
    fn of(event: &EventClass, kind: Kind, [address, site]: [Option<usize>; 2]) -> Self {
        let other = Self { doing: Doing::Other, address: None, site: None, mask: 0 };
        let doing = match kind {
            Kind::Entry => Doing::Enter,
            Kind::Exit => Doing::Leave,
            Kind::ExitOfCall => Doing::LeaveCall,
            _ => return other,
        };
        let Some(payload) = event.payload.as_ref().filter(|_| event.context.is_none()) else {
            let is_told = address.or(site).is_some() || event.context.is_some();
            return if is_told { other } else { Self { doing, ..other } };
        };
        let place = |index: usize| {
            let class = &payload.members().get(index)?.class;
            Program::place_of([payload], class).filter(NumberPlace::is_in_first_run)
        };
        let places = [address, site].map(|index| (index, index.and_then(place)));
        if places.iter().any(|(index, place)| index.is_some() && place.is_none()) {
            return other;
        }
        let [address, site] = places.map(|(_, place)| place);
        Self { doing, address, site, mask: u64::from(payload.alignment()).saturating_sub(1) }
    }

    /// The address that a record tells, and the place of the call; 0 where it does not.
    #[inline(always)]
    pub fn call(&self, data: &[u8], record: &Record) -> (u64, u64) {
        let start = (u64::from(record.body) + self.mask) & !self.mask;
        let read = |place: Option<NumberPlace>| {
            place.map_or(0, |place| place.value_from(data, start) as u64)
        };
        (read(self.address), read(self.site))
    }
}

/// The classes of a data stream.
pub struct PlainLayout {
    /// Where fields are in general.
    pub layout: Arc<Layout>,
    classes: Vec<PlainClass>,
    /// Which classes may change a process image, or tell of a place of a call.
    notable: Vec<bool>,
}

impl PlainLayout {
    fn of(stream: &DataStream, layout: Arc<Layout>) -> Option<Self> {
        let class = stream.trace.stream_classes.get(stream.class)?;
        if stream.header_needed || class.event_context.is_some() {
            return None;
        }
        let (mut classes, mut notable) = (Vec::new(), Vec::new());
        for (index, event) in class.event_classes.iter().enumerate() {
            let (kind, places) = layout.class(index).unwrap_or((Kind::Nothing, [None; 2]));
            classes.push(PlainClass::of(event, kind, places));
            let tells_site = matches!(kind, Kind::Entry) && places[1].is_some();
            notable.push(kind == Kind::State || tells_site);
        }
        Some(Self { layout, classes, notable })
    }

    /// Whether a record may change a process image, or tells of a place of a call.
    #[inline(always)]
    pub fn is_notable(&self, record: &Record) -> bool {
        self.notable.get(record.class as usize).copied().unwrap_or(false)
    }

    /// The class of a record.
    #[inline(always)]
    pub fn class(&self, record: &Record) -> Option<&PlainClass> {
        self.classes.get(record.class as usize)
    }
}

/// The layouts of data streams, by the addresses of these, which the scan keeps alive.
pub type PlainLayouts = HashMap<usize, Option<Arc<PlainLayout>>>;

/// Records of one packet in a row, and what that tells of them.
pub struct Piece {
    /// Their batch.
    pub batch: Arc<Batch>,
    /// Where they are in it.
    pub run: Run,
    /// What their classes do.
    pub layout: Arc<PlainLayout>,
    /// What the packet tells.
    pub packet: Shared,
}

impl Piece {
    /// The records.
    pub fn records(&self) -> &[Record] {
        let (start, end) = (self.run.start as usize, self.run.end as usize);
        self.batch.records.get(start..end).unwrap_or_default()
    }

    /// What a record does.
    #[inline(always)]
    pub fn doing(&self, record: &Record) -> Doing {
        self.layout.class(record).map_or(Doing::Other, |class| class.doing)
    }
}

/// A place in a merge.
#[derive(Clone, Copy, Default)]
pub struct Cursor {
    /// How many runs are done, and how many records these have.
    done: (usize, usize),
    /// What the packet of the last piece tells, by batch and part.
    packet: Option<((u32, u32), Shared)>,
}

/// A merge that is read where it is.
pub struct PlainMerge {
    batches: Vec<(Arc<Batch>, Arc<PlainLayout>)>,
    runs: Vec<Run>,
    /// How many records there are.
    pub records: usize,
}

impl PlainMerge {
    /// A merge, if all of it is plain, and each record is wanted.
    pub fn of(merge: &Merge, scan: &mut CallScan, known: &mut PlainLayouts) -> Option<Self> {
        let mut plain = |batch: &Arc<Batch>| {
            if batch.is_marked() || batch.selection.begin.is_some() {
                return None;
            }
            let layout = scan.layout(&batch.stream);
            let key = Arc::as_ptr(&batch.stream) as usize;
            let of_stream = || PlainLayout::of(&batch.stream, layout).map(Arc::new);
            let layout = known.entry(key).or_insert_with(of_stream).clone()?;
            Some((Arc::clone(batch), layout))
        };
        let batches: Option<Vec<_>> = merge.batches.iter().map(&mut plain).collect();
        Some(Self { batches: batches?, runs: merge.runs.clone(), records: merge.records })
    }

    /// The records from an index on, up to another one, as far as they are of one packet; the
    /// index is none before that of the last piece.
    pub fn piece(&self, cursor: &mut Cursor, position: usize, end: usize) -> Option<Piece> {
        let mut run = *self.runs.get(cursor.done.0)?;
        while cursor.done.1 + run.length() <= position {
            cursor.done = (cursor.done.0 + 1, cursor.done.1 + run.length());
            run = *self.runs.get(cursor.done.0)?;
        }
        let first = cursor.done.1;
        let most = run.length().min(end.saturating_sub(first));
        let (start, end) = (run.start + (position - first) as u32, run.start + most as u32);
        let (batch, layout) = self.batches.get(run.batch as usize)?;
        let at = (run.batch, run.part);
        let packet = match cursor.packet.filter(|(known, _)| *known == at) {
            Some((_, packet)) => packet,
            None => layout.layout.shared(batch, batch.part(run.part)),
        };
        cursor.packet = Some((at, packet));
        let (batch, layout) = (Arc::clone(batch), Arc::clone(layout));
        (start < end).then(|| Piece { batch, run: Run { start, end, ..run }, layout, packet })
    }

    /// Gives its memory back: all of it is read.
    pub fn finish(&mut self) {
        (self.batches, self.runs) = (Vec::new(), Vec::new());
    }
}
