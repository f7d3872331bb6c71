//! Writing the packets of a copied data stream.

use std::io;
use std::sync::Arc;

use super::added::{write_added, AddedColumns};
use super::error::CopyError;
use super::facts::{has_role, id_size, own_members};
use super::fields::FieldCopy;
use super::layout::CopyLayout;
use super::same::{greatest_alignment, same_bits};
use crate::bits::BitReader;
use crate::encode::value::Cell;
use crate::encode::{BitWriter, Encoder, Facts, Mark, Output};
use crate::model::{ByteOrder, FieldClass, Role, StreamClass};
use crate::record::{skip, State};
use crate::stream::{Batch, Packet, Record};

type Result<T> = std::result::Result<T, CopyError>;

/// A file that is written at any offset.
pub trait WriteAt {
    /// Writes all of some bytes.
    ///
    /// # Errors
    ///
    /// What the system said.
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Removes what is behind a number of bytes, as far as the system lets it.
    fn truncate(&mut self, length: u64);
}

/// So many bytes of a packet are written at once: a multiple of all alignments.
const CHUNK: usize = 64 * 1024;
/// From so many bytes on, a packet that nobody told of ends before the next record: as many as
/// Babeltrace 2 lets it have.
const OWN_PACKET: u64 = 4 * 1024 * 1024;

/// How the bodies of records of an event record class are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// As they are, if they begin at offsets that are the same for this alignment, bits.
    Whole(u32),
    /// Field by field.
    Fields,
}

/// The packet that is being written.
#[derive(Debug)]
struct OpenPacket {
    beginning: Option<u64>,
    /// Clock value of the last record, if there is any.
    last: Option<u64>,
    marks: Vec<Mark>,
    /// Header and context.
    head: Vec<u8>,
    /// How many of its bytes are in the file.
    written: u64,
    /// Whether nobody told of it: its records were of no packet.
    is_own: bool,
}

/// Writes the packets of one data stream.
pub struct StreamCopy<W> {
    file: W,
    layout: Arc<CopyLayout>,
    stream: usize,
    id: u64,
    id_size: u32,
    order: ByteOrder,
    has_clock: bool,
    /// What of the open packet is not in the file yet.
    buffer: BitWriter,
    open: Option<OpenPacket>,
    /// Bytes of the packets in the file.
    length: u64,
    sequence: Option<u64>,
    discarded: u64,
    ways: Vec<Option<Way>>,
    slots: Vec<i128>,
}

impl<W: WriteAt> StreamCopy<W> {
    /// A data stream without packets; `stream` is the index of its class.
    pub fn new(file: W, layout: Arc<CopyLayout>, stream: usize, id: u64) -> Self {
        let class = layout.target.stream_classes.get(stream);
        let events = class.map_or(0, |class| class.event_classes.len());
        Self {
            id_size: class.map_or(16, id_size),
            order: class.map_or(ByteOrder::Little, order_of_header),
            has_clock: class.is_some_and(|class| class.clock.is_some()),
            file,
            layout,
            stream,
            id,
            buffer: BitWriter::default(),
            open: None,
            length: 0,
            sequence: None,
            discarded: 0,
            ways: vec![None; events],
            slots: Vec::new(),
        }
    }

    /// Goes on with a layout that has more event record classes.
    ///
    /// # Errors
    ///
    /// When its headers are others.
    pub(super) fn learn(&mut self, layout: Arc<CopyLayout>) -> Result<()> {
        let class = layout.target.stream_classes.get(self.stream);
        if class.map(id_size) != Some(self.id_size) {
            let message = "the metadata have grown to more event record classes than the IDs of \
                           the copy can tell";
            return Err(CopyError::Field(message.to_owned()));
        }
        self.ways = vec![None; class.map_or(0, |class| class.event_classes.len())];
        self.layout = layout;
        Ok(())
    }

    /// Counts event records that the tracer discarded; one when their number is unknown.
    pub fn discard_events(&mut self, count: Option<u64>) {
        self.discarded = self.discarded.saturating_add(count.unwrap_or(1));
    }

    /// Counts packets that the tracer discarded; one when their number is unknown.
    pub fn discard_packets(&mut self, count: Option<u64>) {
        if self.layout.discarded_packets {
            let count = count.unwrap_or(1);
            self.sequence = self.sequence.map(|number| number.saturating_add(count));
        }
    }

    /// Whether a packet is being written.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether a packet is being written that nobody told of and that is large enough.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let own = self.open.as_ref().filter(|open| open.is_own);
        own.is_some_and(|open| open.written + self.buffer.data().len() as u64 >= OWN_PACKET)
    }

    fn class(&self) -> Option<&StreamClass> {
        self.layout.target.stream_classes.get(self.stream)
    }

    /// Begins a packet like one of the data stream that is copied.
    ///
    /// # Errors
    ///
    /// When its context cannot be copied.
    pub fn begin_packet(&mut self, packet: &Packet, beginning: Option<u64>) -> Result<()> {
        let layout = Arc::clone(&self.layout);
        let target = &layout.target;
        let Some(class) = target.stream_classes.get(self.stream) else { return Ok(()) };
        let first = packet.properties.sequence_number.unwrap_or(0);
        let sequence = self.sequence.unwrap_or(first);
        self.buffer.truncate(0);
        self.slots.clear();
        self.slots.resize(target.slot_count, 0);
        let facts = Facts {
            stream_class: class.id,
            stream: self.id,
            sequence,
            uuid: target.uuid,
            ..Facts::default()
        };
        let (out, slots) = (&mut self.buffer, &mut self.slots);
        let mut encoder = Encoder { out, slots, facts: &facts, marks: Vec::new() };
        if let Some(header) = &target.packet_header {
            encoder.field(header, Cell::absent_structure()).map_err(no_header)?;
        }
        if let Some(context) = &class.packet_context {
            encoder.out.align(context.alignment());
            let own = own_members(context);
            for member in context.members().iter().take(own) {
                encoder.field(&member.class, Cell::absent()).map_err(no_header)?;
            }
        }
        let marks = encoder.marks;
        if let Some(context) = &class.packet_context {
            self.packet_context(packet, context)?;
        }
        self.sequence = Some(sequence);
        let head = self.buffer.data().to_vec();
        self.open =
            Some(OpenPacket { beginning, last: None, marks, head, written: 0, is_own: false });
        Ok(())
    }

    /// Begins a packet for records that are of none.
    ///
    /// # Errors
    ///
    /// As [`Self::begin_packet`].
    pub fn begin_own_packet(&mut self, packet: &Packet, beginning: Option<u64>) -> Result<()> {
        self.begin_packet(packet, beginning)?;
        if let Some(open) = &mut self.open {
            open.is_own = true;
        }
        Ok(())
    }

    /// Copies the members of a packet context that have no role.
    fn packet_context(&mut self, packet: &Packet, target: &FieldClass) -> Result<()> {
        let layout = Arc::clone(&self.layout);
        let class = layout.source.stream_classes.get(self.stream);
        let Some(source) = class.and_then(|class| class.packet_context.as_ref()) else {
            return Ok(());
        };
        let mut kept = target.members().iter().skip(own_members(target));
        let (mut reader, mut state) = (packet.context_reader(), packet.state());
        reader.align(source.alignment())?;
        for member in source.members() {
            if has_role(&member.class) {
                skip(&member.class, &mut reader, &mut state)?;
                continue;
            }
            let Some(other) = kept.next() else { break };
            let (reader, state, out) = (&mut reader, &mut state, &mut self.buffer);
            FieldCopy { reader, state, out }.field(&member.class, &other.class)?;
        }
        Ok(())
    }

    /// Copies records of a batch, which are of the open packet; `first` is the index of the first
    /// of them in the columns that filters added. Returns how many fit into the packet.
    ///
    /// # Errors
    ///
    /// When a field cannot be copied, or the file cannot be written.
    pub fn records(
        &mut self,
        batch: &Batch,
        records: &[Record],
        state: &mut State,
        (columns, first): (&AddedColumns<'_>, usize),
    ) -> Result<usize> {
        let mut count = 0;
        for (index, record) in records.iter().enumerate() {
            if self.is_full() {
                break;
            }
            count += 1;
            self.header(batch, record);
            if !self.whole_body(batch, record, state) {
                self.body(batch, record, state, (columns, first + index))?;
            }
            if self.buffer.data().len() >= CHUNK {
                self.write_chunks()?;
            }
        }
        let last = records.get(..count).and_then(<[Record]>::last);
        if let (Some(open), Some(last)) = (&mut self.open, last) {
            open.last = Some(last.cycles);
        }
        Ok(count)
    }

    #[inline]
    fn header(&mut self, batch: &Batch, record: &Record) {
        let id = batch.event_class(record).map_or(0, |event| event.id);
        self.buffer.align(8);
        self.buffer.unsigned(id, self.id_size, self.order);
        if self.has_clock {
            self.buffer.unsigned(record.cycles, 64, self.order);
        }
    }

    /// Copies the bytes of a body, if that is possible.
    #[inline]
    fn whole_body(&mut self, batch: &Batch, record: &Record, state: &mut State) -> bool {
        let Way::Whole(alignment) = self.way(batch, record) else { return false };
        let mask = u64::from(alignment.max(8)) - 1;
        let body = u64::from(record.body);
        if (body ^ self.buffer.position()) & mask != 0 || body % 8 != 0 {
            return false;
        }
        let end = batch.body_end(record, state).filter(|end| end % 8 == 0);
        let bytes = end.and_then(|end| batch.data.get((body / 8) as usize..(end / 8) as usize));
        if let Some(bytes) = bytes {
            self.buffer.bytes(bytes);
        }
        bytes.is_some()
    }

    #[inline]
    fn way(&mut self, batch: &Batch, record: &Record) -> Way {
        if let Some(Some(way)) = self.ways.get(record.class as usize) {
            return *way;
        }
        let target = self.class().and_then(|class| {
            let event = class.event_classes.get(record.class as usize)?;
            Some([class.event_context.as_ref(), event.context.as_ref(), event.payload.as_ref()])
        });
        let mut way = Way::Fields;
        if let Some(target) = target {
            let source = batch.body_scopes(record);
            let is_same = source.iter().zip(&target).all(|pair| match pair {
                (Some(source), Some(target)) => same_bits(source, target),
                (None, None) => true,
                _ => false,
            });
            if is_same {
                let alignments = source.iter().flatten().map(|one| greatest_alignment(one));
                way = Way::Whole(alignments.max().unwrap_or(1));
            }
        }
        if let Some(place) = self.ways.get_mut(record.class as usize) {
            *place = Some(way);
        }
        way
    }

    /// Copies a body field by field.
    fn body(
        &mut self,
        batch: &Batch,
        record: &Record,
        state: &mut State,
        (columns, index): (&AddedColumns<'_>, usize),
    ) -> Result<()> {
        let layout = Arc::clone(&self.layout);
        let Some(class) = layout.target.stream_classes.get(self.stream) else { return Ok(()) };
        let added = layout.added.get(self.stream).map_or(&[][..], Vec::as_slice);
        let Some(event) = class.event_classes.get(record.class as usize) else {
            let message = "an event record of a class that the metadata of the copy do not have";
            return Err(CopyError::Field(message.to_owned()));
        };
        let target = [class.event_context.as_ref(), event.context.as_ref(), event.payload.as_ref()];
        let mut reader: BitReader<'_> = batch.body_reader(record, state);
        state.forget_empty_elements();
        for (scope, (source, target)) in
            batch.body_scopes(record).into_iter().zip(target).enumerate()
        {
            let (reader, state, out) = (&mut reader, &mut *state, &mut self.buffer);
            match (source, target) {
                (Some(source), Some(target)) => {
                    FieldCopy { reader, state, out }.field(source, target)?;
                }
                (None, Some(target)) => out.align(target.alignment()),
                _ => {}
            }
            if scope == 0 && !added.is_empty() {
                let members = target.map_or(&[][..], FieldClass::members);
                let own = members.len().saturating_sub(added.len());
                let classes = members.get(own..).unwrap_or_default();
                write_added(added, (columns, index), classes, &mut self.buffer)?;
            }
        }
        Ok(())
    }

    /// Ends the open packet.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn end_packet(&mut self, end: Option<u64>) -> Result<()> {
        let Some(mut open) = self.open.take() else { return Ok(()) };
        self.buffer.align(1);
        let content = open.written * 8 + self.buffer.position();
        let size = content.next_multiple_of(8);
        let mut head = BitWriter::default();
        head.bytes(&open.head);
        for mark in &open.marks {
            let value = match mark.role {
                Role::PacketSize => size,
                Role::ContentSize => content,
                Role::PacketBeginning => open.beginning.unwrap_or(0),
                Role::PacketEnd => end.or(open.last).or(open.beginning).unwrap_or(0),
                Role::EventsDiscarded => self.discarded,
                _ => continue,
            };
            let value = crate::bits::low_bits(value, mark.size);
            if open.written == 0 {
                self.buffer.patch(mark.position, value, mark.size, mark.order);
            } else {
                head.patch(mark.position, value, mark.size, mark.order);
            }
        }
        let (at, start) = (self.length + open.written, self.length);
        let mut written = self.file.write_all_at(self.buffer.data(), at);
        if open.written > 0 {
            written = written.and_then(|()| self.file.write_all_at(head.data(), start));
        }
        self.or_cut(written)?;
        open.written += self.buffer.data().len() as u64;
        self.length += open.written;
        self.buffer.truncate(0);
        self.sequence = self.sequence.map(|number| number.wrapping_add(1));
        Ok(())
    }

    /// Writes what is whole chunks of the open packet.
    fn write_chunks(&mut self) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let count = self.buffer.data().len() / CHUNK * CHUNK;
        let bytes = self.buffer.data().get(..count).unwrap_or_default();
        let written = self.file.write_all_at(bytes, self.length + open.written);
        self.buffer.remove_front(count);
        open.written += count as u64;
        self.or_cut(written)
    }

    /// Leaves whole packets in the file when the open one cannot be written.
    fn or_cut(&mut self, written: io::Result<()>) -> Result<()> {
        if written.is_err() {
            self.open = None;
            self.file.truncate(self.length);
        }
        Ok(written?)
    }
}

/// The byte order of what each event record header of a copy has.
fn order_of_header(class: &StreamClass) -> ByteOrder {
    let members = class.event_header.as_ref().map_or(&[][..], FieldClass::members);
    let first = members.first().and_then(|member| member.class.as_integer());
    first.map_or(ByteOrder::Little, |id| id.order)
}

fn no_header(error: crate::encode::EncodeError) -> CopyError {
    CopyError::Field(error.message)
}
