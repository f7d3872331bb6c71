//! Reading a data stream packet by packet, window by window.

use std::collections::VecDeque;
use std::sync::Arc;

use super::batch::{Batch, Record};
use super::file::DataFile;
use super::lost::{losses, Lost};
use super::packet::{read_exactly, read_packet, Packet, PacketProperties, SharedPacket};
use super::pool::{Buffers, Pool};
use super::scan::{scan, Scan, ScanEnd, Window};
use super::MAX_ALIGNMENT;
use crate::error::{CtfError, Result};
use crate::model::TraceClass;
use crate::record::{HeaderDecoder, State};

/// Bytes of a packet that are read at once.
const WINDOW: u64 = 256 * 1024;
/// Largest event record: bit offsets inside a window are 32 bits wide.
const MAX_RECORD: u64 = 256 * 1024 * 1024;

/// Which of the traces that are read together a data stream belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceIdentity {
    /// Index among the traces.
    pub index: usize,
    /// Name of the trace, for whoever shows it.
    pub name: String,
}

/// A data stream: packets of one stream class and one instance, in time order.
pub struct DataStream {
    /// The trace class.
    pub trace: Arc<TraceClass>,
    /// Index of the stream class.
    pub class: usize,
    /// The files with their packets.
    pub files: Vec<Arc<DataFile>>,
    /// All packets in order: index of the file and of the packet in it.
    pub packets: Vec<(usize, usize)>,
    /// Whether fields of a record's body refer to its header.
    pub header_needed: bool,
    /// How the headers of its records are decoded.
    pub header: HeaderDecoder,
    /// The trace it belongs to.
    pub identity: TraceIdentity,
    /// Upper bound of the bytes that names add to the text of a record.
    pub names_size: u64,
    /// Memory for its batches.
    pub(super) pool: Pool,
    base: i64,
    frequency: Option<u64>,
}

impl DataStream {
    /// A data stream of some files, whose packets are put in time order. A packet that
    /// stands in two files, as in overlapping snapshots, is read once.
    #[must_use]
    pub fn new(
        trace: Arc<TraceClass>,
        class: usize,
        files: Vec<Arc<DataFile>>,
        identity: TraceIdentity,
    ) -> Self {
        let mut packets: Vec<(usize, usize)> = Vec::new();
        for (file, data) in files.iter().enumerate() {
            packets.extend((0..data.packets.len()).map(|packet| (file, packet)));
        }
        if files.len() > 1 {
            order_packets(&files, &mut packets);
        }
        let stream_class = trace.stream_classes.get(class);
        let header_needed = trace.header_needed;
        let header = stream_class.and_then(|class| class.event_header.as_ref());
        let header = if header_needed {
            // The fast way leaves no slots for the fields behind the header.
            header.map_or(HeaderDecoder::None, |header| HeaderDecoder::General(header.clone()))
        } else {
            HeaderDecoder::new(header)
        };
        let clock = stream_class.and_then(|class| class.clock);
        let clock = clock.and_then(|index| trace.clocks.get(index));
        let base = clock.map_or(i64::MIN, crate::model::ClockClass::base_nanoseconds);
        let frequency = clock.map(|clock| clock.frequency);
        let names_size = stream_class.map_or(0, |class| super::names::names_size(&trace, class));
        Self {
            trace,
            class,
            files,
            packets,
            header_needed,
            header,
            identity,
            names_size,
            pool: Pool::default(),
            base,
            frequency,
        }
    }

    /// Nanoseconds from the origin at a clock value; the lowest time without a clock.
    #[inline]
    #[must_use]
    pub fn nanoseconds(&self, cycles: u64) -> i64 {
        match self.frequency {
            Some(frequency) => {
                let value = crate::model::cycles_to_nanoseconds(cycles, frequency);
                self.base.wrapping_add(value as i64)
            }
            None => i64::MIN,
        }
    }

    /// Whether its records have a time.
    #[inline]
    #[must_use]
    pub fn has_clock(&self) -> bool {
        self.frequency.is_some()
    }
}

fn order_packets(files: &[Arc<DataFile>], packets: &mut Vec<(usize, usize)>) {
    let entry = |&(file, packet): &(usize, usize)| {
        files.get(file).and_then(|file| file.packets.get(packet))
    };
    packets.sort_by_key(|at| entry(at).and_then(|entry| entry.beginning));
    packets.dedup_by(|right, left| match (entry(left), entry(right)) {
        (Some(left), Some(right)) => {
            (left.size, left.beginning, left.end, left.sequence_number)
                == (right.size, right.beginning, right.end, right.sequence_number)
        }
        _ => false,
    });
}

/// Which event records are wanted; the rest is stepped over.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Earliest time, nanoseconds from the origin.
    pub begin: Option<i64>,
    /// Latest time, nanoseconds from the origin.
    pub end: Option<i64>,
    /// Per event record class whether it is wanted; all when absent.
    pub classes: Option<Vec<bool>>,
    /// Per event record class whether a filter needs it, wanted or not, from the beginning.
    pub needed: Option<Vec<bool>>,
    /// Whether to decode every field of every record, to be sure that it can be decoded.
    pub check: bool,
}

impl Selection {
    /// Whether all records are wanted.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.begin.is_none() && self.end.is_none() && self.classes.is_none()
    }

    /// Whether a record is wanted for itself.
    #[inline]
    #[must_use]
    pub fn shows(&self, stream: &DataStream, record: &Record) -> bool {
        if let Some(classes) = &self.classes {
            if !classes.get(record.class as usize).copied().unwrap_or(false) {
                return false;
            }
        }
        if self.begin.is_none() && self.end.is_none() {
            return true;
        }
        let time = stream.nanoseconds(record.cycles);
        self.begin.is_none_or(|begin| time >= begin) && self.end.is_none_or(|end| time <= end)
    }

    /// Whether a record is wanted or needed.
    #[inline]
    pub(super) fn accepts(&self, stream: &DataStream, record: &Record) -> bool {
        let needed = self.needed.as_ref().and_then(|needed| needed.get(record.class as usize));
        needed.copied().unwrap_or(false) || self.shows(stream, record)
    }

    /// Whether a packet can hold a wanted record. Packets with lying times are another
    /// matter: they are read when the time range is not limited.
    fn accepts_packet(&self, stream: &DataStream, packet: &super::PacketEntry) -> bool {
        let before = match (self.begin, packet.end) {
            (Some(begin), Some(end)) if end != 0 => stream.nanoseconds(end) < begin,
            _ => false,
        };
        let after = match (self.end, packet.beginning) {
            (Some(end), Some(beginning)) => stream.nanoseconds(beginning) > end,
            _ => false,
        };
        let needed = self.needed.as_ref().is_some_and(|needed| needed.contains(&true));
        !after && (needed || !before)
    }
}

/// What a data stream yields.
pub enum Item {
    /// Event records.
    Batch(Batch),
    /// A loss that the tracer counted.
    Lost(Lost),
}

/// Where the reader is in a packet.
struct Place {
    packet: SharedPacket,
    file: usize,
    /// Bit offset of the next record, from the start of the packet.
    position: u64,
}

/// Reads the items of a data stream in order.
pub struct StreamReader {
    stream: Arc<DataStream>,
    selection: Arc<Selection>,
    state: State,
    next_packet: usize,
    place: Option<Place>,
    previous: Option<PacketProperties>,
    pending: VecDeque<Item>,
    problems: VecDeque<(usize, CtfError)>,
    failed: bool,
}

impl StreamReader {
    /// A reader at the beginning of a data stream.
    #[must_use]
    pub fn new(stream: Arc<DataStream>, selection: Selection) -> Self {
        let problems = stream.files.iter().enumerate();
        let problems = problems
            .filter_map(|(index, file)| file.problem.clone().map(|problem| (index, problem)))
            .collect();
        Self {
            state: State::new(stream.trace.slot_count),
            stream,
            selection: Arc::new(selection),
            next_packet: 0,
            place: None,
            previous: None,
            pending: VecDeque::new(),
            problems,
            failed: false,
        }
    }

    /// The next item, or `None` at the end of the data stream. After an error, which comes
    /// with the index of its file, the data stream has ended.
    ///
    /// # Errors
    ///
    /// Damage, after everything that stands before it was yielded.
    pub fn next_item(&mut self) -> std::result::Result<Option<Item>, (usize, CtfError)> {
        loop {
            if self.failed {
                return Ok(None);
            }
            if let Some(item) = self.pending.pop_front() {
                return Ok(Some(item));
            }
            if let Some(place) = self.place.take() {
                let file = place.file;
                match self.read_window(place) {
                    Ok(Some(batch)) => return Ok(Some(Item::Batch(batch))),
                    Ok(None) => continue,
                    Err(error) => return Err(self.fail(file, error)),
                }
            }
            match self.stream.packets.get(self.next_packet).copied() {
                Some(at) => self.enter_packet(at)?,
                None => match self.problems.pop_front() {
                    Some((file, problem)) => return Err(self.fail(file, problem)),
                    None => return Ok(None),
                },
            }
        }
    }

    fn fail(&mut self, file: usize, error: CtfError) -> (usize, CtfError) {
        self.failed = true;
        (file, error)
    }

    fn enter_packet(
        &mut self,
        (file, packet): (usize, usize),
    ) -> std::result::Result<(), (usize, CtfError)> {
        self.next_packet += 1;
        let Some(data) = self.stream.files.get(file).cloned() else { return Ok(()) };
        let Some(entry) = data.packets.get(packet) else { return Ok(()) };
        if !self.selection.accepts_packet(&self.stream, entry) {
            self.previous = None;
            return Ok(());
        }
        let packet =
            read_packet(data.source.as_ref(), entry.offset, &self.stream.trace, &mut self.state)
                .map_err(|error| self.fail(file, error))?;
        let properties = &packet.properties;
        let found = losses(self.previous.as_ref(), properties);
        self.pending.extend(found.into_iter().map(Item::Lost));
        self.previous = Some(properties.clone());
        let position = properties.events_at;
        self.place = Some(Place { packet: Arc::new(packet), file, position });
        Ok(())
    }

    /// Reads a window at `place` and the records in it; `None` when it has no wanted one.
    fn read_window(&mut self, place: Place) -> Result<Option<Batch>> {
        let properties = &place.packet.properties;
        if place.position >= properties.available_bits {
            return check_cut(properties).map(|()| None);
        }
        let boundary = u64::from(MAX_ALIGNMENT) / 8;
        let base = place.position / 8 / boundary * boundary;
        let left = properties.available_bits.div_ceil(8) - base;
        let mut size = (place.position / 8 - base + WINDOW).min(left);
        let Buffers { mut data, mut records } = self.stream.pool.take();
        loop {
            data = self.read_bytes(&place, base, size, data)?;
            records.clear();
            let scan = self.scan(&place, base, &data, records);
            let whole = size == left;
            match (&scan.end, scan.progress, whole) {
                (ScanEnd::Partial, false, false) if size < MAX_RECORD => {
                    size = size.saturating_mul(4).min(left).min(MAX_RECORD);
                    records = scan.records;
                }
                _ => return Ok(self.finish(place, base, data, scan, whole)),
            }
        }
    }

    fn read_bytes(&self, place: &Place, base: u64, size: u64, buffer: Vec<u8>) -> Result<Vec<u8>> {
        let offset = place.packet.properties.offset + base;
        match self.stream.files.get(place.file) {
            Some(file) => read_exactly(file.source.as_ref(), offset, size as usize, buffer),
            None => Ok(Vec::new()),
        }
    }

    fn scan(&mut self, place: &Place, base: u64, data: &[u8], records: Vec<Record>) -> Scan {
        let start = place.position - base * 8;
        let content = place.packet.properties.available_bits - base * 8;
        let end = content.min(data.len() as u64 * 8);
        let stream = Arc::clone(&self.stream);
        let Some(class) = stream.trace.stream_classes.get(stream.class) else {
            return Scan { records, position: end, progress: true, end: ScanEnd::Done };
        };
        let window = Window { data, start, end };
        scan(&stream, class, &window, records, &mut self.state, &self.selection)
    }

    /// Notes where to go on and hands out what was found. An error waits in `problems`, so
    /// that the records before it come first.
    fn finish(
        &mut self,
        place: Place,
        base: u64,
        data: Vec<u8>,
        scan: Scan,
        whole: bool,
    ) -> Option<Batch> {
        let position = base * 8 + scan.position;
        let at = place.packet.properties.offset + position / 8;
        let error = match scan.end {
            ScanEnd::Failed { start, message } => {
                let at = place.packet.properties.offset + base + start / 8;
                Some(CtfError::record(at, message))
            }
            ScanEnd::Partial if whole || !scan.progress => Some(partial(&place.packet, at)),
            _ => None,
        };
        let Place { packet, file, .. } = place;
        match error {
            Some(error) => {
                self.next_packet = usize::MAX;
                self.problems.push_front((file, error));
            }
            None => self.place = Some(Place { packet: Arc::clone(&packet), file, position }),
        }
        if scan.records.is_empty() {
            self.stream.pool.give(Buffers { data, records: scan.records });
            return None;
        }
        let stream = Arc::clone(&self.stream);
        let selection = Arc::clone(&self.selection);
        Some(Batch { stream, packet, file, base, data, records: scan.records, selection })
    }
}

fn check_cut(packet: &PacketProperties) -> Result<()> {
    if packet.available_bits < packet.content_bits {
        return Err(cut(packet));
    }
    Ok(())
}

fn cut(packet: &PacketProperties) -> CtfError {
    let message = format!(
        "packet cut: its content has {} bytes, the file holds {} of them",
        packet.content_bits.div_ceil(8),
        packet.available_bits / 8
    );
    CtfError::packet(packet.offset, message)
}

fn partial(packet: &Packet, at: u64) -> CtfError {
    let properties = &packet.properties;
    if properties.available_bits < properties.content_bits {
        return cut(properties);
    }
    let message = format!(
        "event record runs past the end of its packet's content, {} bits from byte {}",
        properties.content_bits, properties.offset
    );
    CtfError::record(at, message)
}
