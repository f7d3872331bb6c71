//! Merges of data streams whose packets tell the thread, and whose records have nothing but
//! numbers at fixed places: entries and exits are read where they are, one after the other,
//! without a list of what each record tells.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use super::scan::{CallScan, Kind, Layout, Shared};
use crate::model::EventClass;
use crate::muxer::{Merge, Run};
use crate::record::{NumberPlace, Program};
use crate::stream::{used_classes, Batch, DataStream, Record};

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
    notable: u64,
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
            if kind == Kind::State || tells_site {
                notable.push(index as u32);
            }
        }
        let notable = used_classes(notable.into_iter());
        Some(Self { layout, classes, notable })
    }

    /// For each class, whether its records have no meaning to other threads; with `only_calls`,
    /// whether they are quickly read entries or exits.
    pub fn loose_classes(&self, only_calls: bool) -> Vec<bool> {
        let kinds = (0..).map(|index| self.layout.class(index));
        let is_loose = |(kind, _): (Kind, _)| !matches!(kind, Kind::State | Kind::Code);
        let of_class = |(class, kind): (&PlainClass, Option<_>)| {
            kind.is_some_and(is_loose) && !(only_calls && class.doing == Doing::Other)
        };
        self.classes.iter().zip(kinds).map(of_class).collect()
    }

    /// Whether a record may change a process image, or tell of a place of a call, if any of
    /// its batch does.
    #[inline(always)]
    pub fn is_notable(&self, record: &Record) -> bool {
        self.notable >> record.class.min(63) & 1 != 0
    }

    /// The class of a record.
    #[inline(always)]
    pub fn class(&self, record: &Record) -> Option<&PlainClass> {
        self.classes.get(record.class as usize)
    }
}

/// How many layouts are known before it is seen which of them are needed.
const MANY_LAYOUTS: usize = 1024;

/// A data stream that may be gone, and its layout if it is plain.
type Known = (Weak<DataStream>, Option<Arc<PlainLayout>>);

/// The layouts of data streams, by the addresses of these, which nothing else gets as long as
/// they are here.
#[derive(Clone, Default)]
pub struct PlainLayouts {
    known: HashMap<usize, Known>,
    room: usize,
}

impl PlainLayouts {
    /// The layout of a data stream, if it is plain.
    pub fn of(
        &mut self,
        stream: &Arc<DataStream>,
        scan: &mut CallScan,
    ) -> Option<Arc<PlainLayout>> {
        let key = Arc::as_ptr(stream) as usize;
        if let Some((_, layout)) = self.known.get(&key) {
            return layout.clone();
        }
        if self.known.len() >= self.room {
            self.known.retain(|_, (stream, _)| stream.strong_count() > 0);
            self.room = MANY_LAYOUTS.max(2 * self.known.len());
        }
        let layout = PlainLayout::of(stream, scan.layout(stream)).map(Arc::new);
        self.known.insert(key, (Arc::downgrade(stream), layout.clone()));
        layout
    }
}

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
    /// Whether records may change a process image, or tell of places of calls.
    pub fn is_notable(&self) -> bool {
        self.batch.used_classes() & self.layout.notable != 0
    }

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

/// A place in a merge: how many runs are done, and how many records these have.
#[derive(Clone, Copy, Default)]
pub struct Cursor {
    runs: usize,
    records: usize,
}

/// A batch, and what is known of its records.
#[derive(Clone)]
struct PlainBatch {
    batch: Arc<Batch>,
    layout: Arc<PlainLayout>,
    /// What the packet of the last piece tells, by the part.
    packet: Option<(u32, Shared)>,
}

/// A merge that is read where it is.
#[derive(Clone)]
pub struct PlainMerge {
    batches: Vec<PlainBatch>,
    runs: Vec<Run>,
    /// How many records there are.
    pub records: usize,
    /// Whether records of different data streams may not be in order.
    pub is_loose: bool,
}

impl PlainMerge {
    /// A merge, if all of it is plain, and each record is wanted.
    pub fn of(merge: &Merge, scan: &mut CallScan, known: &mut PlainLayouts) -> Option<Self> {
        let mut plain = |batch: &Arc<Batch>| {
            if batch.is_marked() || batch.has_earlier() {
                return None;
            }
            let layout = known.of(&batch.stream, scan)?;
            Some(PlainBatch { batch: Arc::clone(batch), layout, packet: None })
        };
        let batches: Option<Vec<_>> = merge.batches.iter().map(&mut plain).collect();
        let (runs, records, is_loose) = (merge.runs.clone(), merge.records, merge.is_loose);
        Some(Self { batches: batches?, runs, records, is_loose })
    }

    /// The records from an index on, up to another one, as far as they are of one packet; the
    /// index is none before that of the last piece.
    pub fn piece(&mut self, cursor: &mut Cursor, position: usize, end: usize) -> Option<Piece> {
        let mut run = *self.runs.get(cursor.runs)?;
        while cursor.records + run.length() <= position {
            *cursor = Cursor { runs: cursor.runs + 1, records: cursor.records + run.length() };
            run = *self.runs.get(cursor.runs)?;
        }
        let first = cursor.records;
        let most = run.length().min(end.saturating_sub(first));
        let (start, end) = (run.start + (position - first) as u32, run.start + most as u32);
        let PlainBatch { batch, layout, packet } = self.batches.get_mut(run.batch as usize)?;
        let shared = match packet.filter(|(part, _)| *part == run.part) {
            Some((_, shared)) => shared,
            None => layout.layout.shared(batch, batch.part(run.part)),
        };
        *packet = Some((run.part, shared));
        let (batch, layout, packet) = (Arc::clone(batch), Arc::clone(layout), shared);
        (start < end).then(|| Piece { batch, run: Run { start, end, ..run }, layout, packet })
    }

    /// Gives its memory back: all of it is read.
    pub fn finish(&mut self) {
        (self.batches, self.runs) = (Vec::new(), Vec::new());
    }
}
