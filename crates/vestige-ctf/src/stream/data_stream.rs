//! A data stream: which packets it has, and what its records have in common.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::file::DataFile;
use super::head_layout::HeadLayout;
use super::packet_entry::PacketEntry;
use super::packet_order::PacketOrder;
use super::pool::Pool;
use super::quirks::{PacketTimes, Quirks};
use super::record_place::Record;
use crate::bits::BitReader;
use crate::model::{StreamClass, TraceClass};
use crate::record::{HeaderDecoder, Program, State};

/// The number of the next data stream.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

/// Which of the traces that are read together a data stream belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceIdentity {
    /// Index among the traces.
    pub index: usize,
    /// Name of the trace, for whoever shows it.
    pub name: String,
    /// Where the process IDs of the stream count: the same number for all streams of a trace,
    /// or of a PID namespace in it where the trace tells of several.
    pub process_space: u32,
}

/// A data stream: packets of one stream class and one instance, in time order.
pub struct DataStream {
    /// The trace class.
    pub trace: Arc<TraceClass>,
    /// Index of the stream class.
    pub class: usize,
    /// The files with their packets.
    pub files: Vec<Arc<DataFile>>,
    /// All packets in order.
    pub packets: PacketOrder,
    /// Whether fields of a record's body refer to its header.
    pub header_needed: bool,
    /// How the headers of its records are decoded.
    pub header: HeaderDecoder,
    /// Where the fields of packet headers and contexts stand, when that is always the same.
    pub(super) layout: Option<HeadLayout>,
    /// The trace it belongs to.
    pub identity: TraceIdentity,
    /// Upper bound of the bytes that names add to the text of a record.
    pub names_size: u64,
    /// Greatest alignment of a field of its records, bits.
    pub(super) alignment: u32,
    /// Memory for its batches.
    pub(super) pool: Pool,
    /// The steps through the body of each event record class, made when first needed: a
    /// kernel declares hundreds of classes and a recording holds some of them.
    programs: Arc<Vec<OnceLock<Program>>>,
    /// A number that all parts of a data stream that grows have in common, and no other.
    origin: u64,
    /// The same for parts that have one trace class, too.
    classes: u64,
    /// What its tracer writes wrongly.
    pub(super) quirks: Quirks,
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
        let packets = PacketOrder::of(&files);
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
        let alignment = stream_class.map_or(8, super::alignment::greatest_alignment);
        let programs = stream_class.map_or(0, |class| class.event_classes.len());
        let programs = Arc::new((0..programs).map(|_| OnceLock::new()).collect());
        let quirks = Quirks::of(&trace);
        let layout = HeadLayout::new(&trace, class);
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        Self {
            quirks,
            layout,
            trace,
            class,
            files,
            packets,
            header_needed,
            header,
            identity,
            names_size,
            alignment,
            pool: Pool::default(),
            programs,
            origin: number,
            classes: number,
            base,
            frequency,
        }
    }

    /// The next part of this data stream, which grows: some files that are not in this part, by
    /// a trace class that may have more event record classes by now.
    #[must_use]
    pub fn following(&self, trace: Arc<TraceClass>, files: Vec<Arc<DataFile>>) -> Self {
        let mut next = Self::new(trace, self.class, files, self.identity.clone());
        next.origin = self.origin;
        if Arc::ptr_eq(&next.trace, &self.trace) {
            next.classes = self.classes;
            next.programs = Arc::clone(&self.programs);
        }
        next
    }

    /// A number that no other data stream has, but all parts of one that grows.
    #[inline]
    #[must_use]
    pub fn origin(&self) -> u64 {
        self.origin
    }

    /// A number for what depends on the classes: that of a part of a data stream is that of the
    /// part before, unless the metadata has changed.
    #[inline]
    #[must_use]
    pub fn classes(&self) -> u64 {
        self.classes
    }

    /// How many bytes its files had when they were opened.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.source.len()).fold(0, u64::saturating_add)
    }

    /// The boundary on which the bytes of a packet may be put, bytes.
    #[must_use]
    pub(crate) fn alignment_in_bytes(&self) -> usize {
        ((self.alignment / u8::BITS) as usize).max(1)
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

    /// The steps through the bodies of the records of an event record class.
    #[inline]
    pub(super) fn program(&self, class: &StreamClass, event: usize) -> Option<&Program> {
        let place = self.programs.get(event)?;
        Some(place.get_or_init(|| {
            let event = class.event_classes.get(event);
            let context = event.and_then(|event| event.context.as_ref());
            let payload = event.and_then(|event| event.payload.as_ref());
            Program::new([class.event_context.as_ref(), context, payload].into_iter().flatten())
        }))
    }

    /// A reader at the body of a record in some bytes. Where fields of the body refer to the
    /// record's header, the header is decoded into `state` first.
    #[inline]
    pub fn body_reader<'a>(
        &self,
        data: &'a [u8],
        record: &Record,
        state: &mut State,
    ) -> BitReader<'a> {
        let end = data.len() as u64 * 8;
        if self.header_needed {
            let class = self.trace.stream_classes.get(self.class);
            if let Some(header) = class.and_then(|class| class.event_header.as_ref()) {
                let mut reader = BitReader::new(data, u64::from(record.start), end);
                // The scan decoded this header before, so it cannot fail now.
                let _ = crate::record::skip(header, &mut reader, state);
            }
        }
        BitReader::new(data, u64::from(record.body), end)
    }

    /// The clock value at some nanoseconds from the origin, 0 before the clock began.
    #[must_use]
    pub fn cycles(&self, nanoseconds: i64) -> u64 {
        let since = i128::from(nanoseconds) - i128::from(self.base);
        let frequency = i128::from(self.frequency.unwrap_or(1_000_000_000));
        u64::try_from(since * frequency / 1_000_000_000).unwrap_or(0)
    }

    /// The times of the packet at an index, as far as its tracer can be believed.
    #[must_use]
    pub fn packet_times(&self, index: usize) -> PacketTimes {
        self.quirks.packet_times(self.entry(index).as_ref(), self.entry(index + 1).as_ref())
    }

    /// The clock value that the packet at an index states as its beginning.
    #[must_use]
    pub fn packet_beginning(&self, index: usize) -> Option<u64> {
        self.entry(index)?.beginning
    }

    /// What is known of the packet at an index.
    #[must_use]
    pub fn entry(&self, index: usize) -> Option<PacketEntry> {
        let (file, packet) = self.packets.get(index)?;
        self.files.get(file)?.packets.get(packet)
    }

    /// From the beginning of the first packet to the end of the last one, cycles. Where the
    /// tracer did not write a true end, it is the time of the last record.
    #[must_use]
    pub fn time_range(self: &Arc<Self>) -> Option<(u64, u64)> {
        let last = self.packets.len().checked_sub(1)?;
        let beginning = self.entry(0)?.beginning?;
        let end = match self.packet_times(last).end {
            Some(end) => end,
            None if self.entry(last)?.end.is_none() => return None,
            None => super::reader::last_time(self, last).or(self.entry(last)?.beginning)?,
        };
        Some((beginning, end))
    }

    /// Whether its records have a time.
    #[inline]
    #[must_use]
    pub fn has_clock(&self) -> bool {
        self.frequency.is_some()
    }
}
