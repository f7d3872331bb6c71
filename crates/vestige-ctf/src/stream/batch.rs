//! A batch: event records of a data stream that are found but not decoded.

use std::sync::{Arc, OnceLock};

use super::boundary::{Boundary, BoundaryKind};
use super::data_stream::DataStream;
use super::packet::Packet;
use super::pool::Buffers;
use super::record_place::Record;
use super::scan::MAX_RECORDS;
use super::selection::Selection;
use crate::bits::BitReader;
use crate::model::{EventClass, FieldClass, StreamClass};
use crate::record::State;

/// Event records of one data stream, in order: those within one window of a packet, or those
/// of several small packets.
pub struct Batch {
    /// The data stream.
    pub stream: Arc<DataStream>,
    /// Index of the file of the packets among those of the data stream.
    pub file: usize,
    /// The bytes of all parts.
    pub data: Vec<u8>,
    /// The records.
    pub records: Vec<Record>,
    /// Which of them are wanted for themselves.
    pub selection: Arc<Selection>,
    first: Part,
    /// The parts after the first; each begins where its `at` and its `record` say.
    more: Vec<Part>,
    /// What begins or ends in between: each with the index of the record before which it
    /// stands. Empty unless asked for.
    boundaries: Vec<(usize, Boundary)>,
    /// Bytes of memory that the packets take.
    packets_size: u64,
    /// Whether its memory is of no use to other batches: windows are larger.
    is_thinned: bool,
    /// Which classes its records are of, once somebody asks.
    used: OnceLock<u64>,
}

/// Most bytes of memory that the packets of a batch of several take: metadata may ask for
/// megabytes to be kept of each.
const MOST_OF_PACKETS: u64 = 2 * 1024 * 1024;

/// How much is in a batch.
pub(super) struct Extent {
    bytes: usize,
    /// How many records.
    pub records: usize,
}

/// Where there is a record in so many bytes, or fewer, a batch keeps these records alone.
const SPARSE: usize = 512;

/// What a batch has of one packet: some bytes in a row, and the records in them.
pub struct Part {
    /// The packet.
    pub packet: Arc<Packet>,
    /// Byte offset of these bytes from the start of the packet.
    pub base: u64,
    /// Byte offset of these bytes in the data of the batch.
    at: usize,
    /// Index of its first record in the batch.
    record: usize,
}

/// Event record classes by their indexes, a bit for each; those from 63 on share one.
#[inline]
pub fn used_classes(indexes: impl Iterator<Item = u32>) -> u64 {
    indexes.fold(0, |all, index| all | 1 << index.min(63))
}

impl Drop for Batch {
    fn drop(&mut self) {
        if self.is_thinned {
            return;
        }
        let data = std::mem::take(&mut self.data);
        let records = std::mem::take(&mut self.records);
        self.stream.pool.give(Buffers { data, records });
    }
}

impl Batch {
    /// A batch of a window that begins at the byte `base` of a packet.
    #[must_use]
    pub(super) fn of_window(
        stream: Arc<DataStream>,
        selection: Arc<Selection>,
        (packet, base): (Arc<Packet>, u64),
        file: usize,
        Buffers { data, records }: Buffers,
    ) -> Self {
        let packets_size = packet.memory_size();
        let first = Part { packet, base, at: 0, record: 0 };
        let (more, boundaries, is_thinned) = (Vec::new(), Vec::new(), false);
        Self {
            stream,
            file,
            data,
            records,
            selection,
            first,
            more,
            boundaries,
            packets_size,
            is_thinned,
            used: OnceLock::new(),
        }
    }

    /// A batch of event records that were encoded in memory. Each packet that they are of comes
    /// with the byte at which it begins in the data, and the index of its first record.
    ///
    /// Returns `None` without any packet.
    #[must_use]
    pub(crate) fn of_encoded(
        stream: Arc<DataStream>,
        packets: Vec<(Arc<Packet>, usize, usize)>,
        data: Vec<u8>,
        records: Vec<Record>,
    ) -> Option<Self> {
        let packets_size = packets.iter().map(|(packet, ..)| packet.memory_size()).sum();
        let part = |(packet, at, record)| Part { packet, base: 0, at, record };
        let mut parts = packets.into_iter().map(part);
        let first = parts.next()?;
        let (more, selection) = (parts.collect(), Arc::default());
        let (file, boundaries, is_thinned) = (0, Vec::new(), true);
        Some(Self {
            stream,
            file,
            data,
            records,
            selection,
            first,
            more,
            packets_size,
            boundaries,
            is_thinned,
            used: OnceLock::new(),
        })
    }

    /// Adds the records of the packets behind this batch, as long as there is room in `most`
    /// bytes; returns the other batch when it does not fit.
    pub(super) fn append(&mut self, other: Self, most: usize) -> Option<Self> {
        let alignment = (self.stream.alignment / u8::BITS) as usize;
        let at = self.data.len().next_multiple_of(alignment.max(1));
        let before = self.records.last().map(|record| record.cycles);
        let after = other.records.first().map(|record| record.cycles);
        let fits = self.file == other.file
            && before <= after
            && at.saturating_add(other.data.len()) <= most.min(1 << 28)
            && self.records.len() + other.records.len() <= MAX_RECORDS
            && self.packets_size.saturating_add(other.packets_size) <= MOST_OF_PACKETS;
        if !fits {
            return Some(other);
        }
        self.data.resize(at, 0);
        self.data.extend_from_slice(&other.data);
        let record = self.records.len();
        let bits = at as u32 * u8::BITS;
        let moved =
            |one: &Record| Record { start: one.start + bits, body: one.body + bits, ..*one };
        self.records.extend(other.records.iter().map(moved));
        let moved = |part: &Part| Part {
            packet: Arc::clone(&part.packet),
            base: part.base,
            at: at + part.at,
            record: record + part.record,
        };
        self.more.extend(other.parts().map(moved));
        let moved = |(at, boundary): &(usize, Boundary)| (record + at, boundary.clone());
        self.boundaries.extend(other.boundaries.iter().map(moved));
        self.packets_size += other.packets_size;
        None
    }

    /// Adds the bytes of a packet behind this batch, as long as there is room in `most` bytes and
    /// for `packet_size` bytes that the packet takes beside them; returns where they begin,
    /// and the batch as it was.
    pub(super) fn add_bytes(
        &mut self,
        bytes: &[u8],
        packet_size: usize,
        most: usize,
    ) -> Option<(usize, Extent)> {
        let alignment = (self.stream.alignment / u8::BITS) as usize;
        let at = self.data.len().next_multiple_of(alignment.max(1));
        let fits = at.saturating_add(bytes.len()) <= most.min(1 << 28)
            && self.packets_size.saturating_add(packet_size as u64) <= MOST_OF_PACKETS;
        if !fits {
            return None;
        }
        let before = Extent { bytes: self.data.len(), records: self.records.len() };
        self.data.resize(at, 0);
        self.data.extend_from_slice(bytes);
        Some((at, before))
    }

    /// Leaves out the bytes and the records that were added since.
    pub(super) fn shrink_to(&mut self, before: &Extent) {
        self.data.truncate(before.bytes);
        self.records.truncate(before.records);
    }

    /// Whether the first record that was added since is not earlier than the one before it.
    pub(super) fn goes_on(&self, before: &Extent) -> bool {
        let time = |index: usize| self.records.get(index).map(|record| record.cycles);
        let last = before.records.checked_sub(1).and_then(time);
        time(before.records).is_none_or(|first| last <= Some(first))
    }

    /// Makes what was added since a part: all of a packet from byte `at` on.
    pub(super) fn add_part(&mut self, packet: Arc<Packet>, before: &Extent, at: usize) {
        self.packets_size += packet.memory_size();
        self.more.push(Part { packet, base: 0, at, record: before.records });
    }

    /// A batch of the bytes of these records alone, if they are few of those that were read:
    /// then what was read makes room for what comes next. Each record is a part of its own.
    pub(super) fn thinned(&self) -> Option<Self> {
        let is_sparse = self.records.len().saturating_mul(SPARSE) <= self.data.len();
        let class = self.stream_class().filter(|_| is_sparse && self.more.is_empty())?;
        let alignment = ((self.stream.alignment / u8::BITS) as usize).max(1);
        let mut data = Vec::new();
        let mut records = Vec::with_capacity(self.records.len());
        let mut parts = Vec::with_capacity(self.records.len());
        for record in &self.records {
            let program = self.stream.program(class, record.class as usize)?;
            let body = (record.body % u8::BITS == 0).then_some(record.body / u8::BITS)?;
            let end =
                program.end_in_bytes(&self.data, body as usize, self.data.len(), |_, _| ())?;
            let start = (record.start / u8::BITS) as usize / alignment * alignment;
            let at = data.len().next_multiple_of(alignment);
            data.resize(at, 0);
            data.extend_from_slice(self.data.get(start..end)?);
            // Nothing moves up: what is left out is longer than what is put between.
            let bits = u32::try_from(start.checked_sub(at)?).ok()?.checked_mul(u8::BITS)?;
            let (start_bit, body) = (record.start - bits, record.body - bits);
            let base = self.first.base + start as u64;
            let packet = Arc::clone(&self.first.packet);
            parts.push(Part { packet, base, at, record: records.len() });
            records.push(Record { start: start_bit, body, ..*record });
        }
        let mut parts = parts.into_iter();
        let first = parts.next()?;
        let (stream, selection) = (Arc::clone(&self.stream), Arc::clone(&self.selection));
        let (file, packets_size, more) = (self.file, self.packets_size, parts.collect());
        let (boundaries, is_thinned) = (Vec::new(), true);
        Some(Self {
            stream,
            file,
            data,
            records,
            selection,
            first,
            more,
            boundaries,
            packets_size,
            is_thinned,
            used: OnceLock::new(),
        })
    }

    /// Adds what begins or ends behind the last record.
    pub(super) fn add_boundary(&mut self, boundary: Boundary) {
        self.boundaries.push((self.records.len(), boundary));
    }

    /// Adds both ends of a packet whose records were added last, from an index on.
    pub(super) fn add_packet_boundaries(
        &mut self,
        packet: &Arc<Packet>,
        before: &Extent,
        (beginning, end): (Option<u64>, Option<u64>),
    ) {
        if before.records == self.records.len() {
            self.packets_size += packet.memory_size();
        }
        let kind = BoundaryKind::PacketBeginning(Arc::clone(packet));
        self.boundaries.push((before.records, Boundary { kind, cycles: beginning, is_cut: false }));
        let kind = BoundaryKind::PacketEnd(Arc::clone(packet));
        self.boundaries.push((self.records.len(), Boundary { kind, cycles: end, is_cut: false }));
    }

    /// What begins or ends in between, in order: each with the index of the record before
    /// which it stands. Empty unless asked for.
    #[inline]
    #[must_use]
    pub fn boundaries(&self) -> &[(usize, Boundary)] {
        &self.boundaries
    }

    /// Leaves out the records behind the first ones.
    pub(super) fn truncate(&mut self, count: usize) {
        self.records.truncate(count);
        self.more.retain(|part| part.record < count);
    }

    /// Its parts, in order.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        std::iter::once(&self.first).chain(&self.more)
    }

    /// The part at an index; the first when there is none.
    #[inline]
    #[must_use]
    pub fn part(&self, index: u32) -> &Part {
        let more = (index as usize).checked_sub(1).and_then(|index| self.more.get(index));
        more.unwrap_or(&self.first)
    }

    /// The index of the part of the record at an index.
    #[inline]
    #[must_use]
    pub fn part_of_row(&self, row: usize) -> u32 {
        self.more.partition_point(|part| part.record <= row) as u32
    }

    /// The index of the first record of a part.
    #[inline]
    #[must_use]
    pub fn start_of_part(&self, index: u32) -> usize {
        self.part(index).record
    }

    /// The index behind the last record of a part.
    #[inline]
    #[must_use]
    pub fn end_of_part(&self, index: u32) -> usize {
        self.more.get(index as usize).map_or(self.records.len(), |next| next.record)
    }

    /// The part that a record is in.
    #[inline]
    #[must_use]
    pub fn part_of(&self, record: &Record) -> &Part {
        let byte = (record.start / u8::BITS) as usize;
        self.part(self.more.partition_point(|part| part.at <= byte) as u32)
    }

    /// The classes of its records, as [`used_classes`] has them. To be asked once it is whole.
    #[must_use]
    pub fn used_classes(&self) -> u64 {
        *self.used.get_or_init(|| used_classes(self.records.iter().map(|record| record.class)))
    }

    /// Whether some records are here only since a filter needs them, by the expressions.
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.selection.filter.is_some() && self.selection.needs_any()
    }

    /// Whether some records may be from before the range of time, since something needs them.
    #[must_use]
    pub fn has_earlier(&self) -> bool {
        self.selection.begin.is_some() && self.selection.needs_any()
    }

    /// Whether a record is wanted for itself.
    #[inline]
    #[must_use]
    pub fn shows(&self, record: &Record) -> bool {
        record.passes && self.selection.shows(&self.stream, record)
    }

    /// The stream class of all records.
    #[must_use]
    pub fn stream_class(&self) -> Option<&StreamClass> {
        self.stream.trace.stream_classes.get(self.stream.class)
    }

    /// The class of a record.
    #[must_use]
    pub fn event_class(&self, record: &Record) -> Option<&EventClass> {
        self.stream_class()?.event_classes.get(record.class as usize)
    }

    /// A state in which the fields of a record's body can be decoded.
    #[must_use]
    pub fn state_of(&self, record: &Record) -> State {
        self.part_of(record).state()
    }

    /// A reader at the body of a record. Where fields of the body refer to the record's
    /// header, the header is decoded into `state` first.
    #[inline]
    pub fn body_reader(&self, record: &Record, state: &mut State) -> BitReader<'_> {
        self.stream.body_reader(&self.data, record, state)
    }

    /// The bit in the data of the batch behind the body of a record.
    #[inline]
    pub(crate) fn body_end(&self, record: &Record, state: &mut State) -> Option<u64> {
        let program = self.stream.program(self.stream_class()?, record.class as usize)?;
        let body = record.body;
        if body % u8::BITS == 0 {
            let at = (body / u8::BITS) as usize;
            if let Some(end) = program.end_in_bytes(&self.data, at, self.data.len(), |_, _| ()) {
                return Some(end as u64 * 8);
            }
        }
        let mut reader = self.body_reader(record, state);
        state.forget_empty_elements();
        program.run::<false>(&mut reader, state, &mut 0).ok()?;
        Some(reader.position())
    }

    /// The bytes of the records from one index to before another.
    #[must_use]
    pub fn size_of(&self, start: usize, end: usize) -> u64 {
        let whole = self.data.len() as u64;
        let at = |index: usize| {
            self.records.get(index).map_or(whole, |record| u64::from(record.start) / 8)
        };
        at(end).saturating_sub(at(start))
    }

    /// Upper bound of the text of a record of a part beside that of its own bytes.
    #[must_use]
    pub fn repeated_text(&self, part: u32) -> u64 {
        // The packet context is shown with each record; a number takes no more than this.
        const TEXT_OF_BYTE: u64 = 16;
        let head = self.part(part).packet.head.len() as u64;
        let context = head.saturating_mul(TEXT_OF_BYTE);
        self.stream.names_size.saturating_add(context).max(1)
    }

    /// Byte offset of a record in its file.
    #[must_use]
    pub fn file_offset(&self, record: &Record) -> u64 {
        let part = self.part_of(record);
        let inside = u64::from(record.start / u8::BITS).saturating_sub(part.at as u64);
        part.packet.properties.offset + part.base + inside
    }

    /// Nanoseconds from the clock's origin at a record; the lowest time without a clock.
    #[inline]
    #[must_use]
    pub fn nanoseconds(&self, record: &Record) -> i64 {
        self.stream.nanoseconds(record.cycles)
    }

    /// The scopes of the body of a record, in the order in which they are encoded.
    #[must_use]
    pub fn body_scopes(&self, record: &Record) -> [Option<&FieldClass>; 3] {
        let event = self.event_class(record);
        [
            self.stream_class().and_then(|class| class.event_context.as_ref()),
            event.and_then(|class| class.context.as_ref()),
            event.and_then(|class| class.payload.as_ref()),
        ]
    }
}

impl Part {
    /// A state in which the fields of the bodies of its records can be decoded.
    #[must_use]
    pub fn state(&self) -> State {
        self.packet.state()
    }

    /// A reader at the context of the packet.
    #[must_use]
    pub fn context_reader(&self) -> BitReader<'_> {
        self.packet.context_reader()
    }

    /// Byte offset in the packet of a bit in the data of the batch.
    #[must_use]
    pub fn bit_in_packet(&self, bit: u64) -> u64 {
        (self.base * 8 + bit).saturating_sub(self.at as u64 * 8)
    }
}
