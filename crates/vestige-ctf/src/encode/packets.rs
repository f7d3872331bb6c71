//! Event records in packets, packets in a data stream (CTF 1.8.3, section 5; CTF2-SPEC-2.0,
//! section 6).

use std::io;
use std::sync::Arc;

use super::bit_writer::{BitWriter, Measure, Output};
use super::error::{EncodeError, WriteError};
use super::fields::{Encoder, Facts, Mark, MAX_RECORD};
use super::value::{Cell, Column, Value};
use crate::bits::low_bits;
use crate::model::{FieldClass, Role, StreamClass, TraceClass};

/// A file that grows.
pub trait Append {
    /// Appends all of some bytes, or nothing.
    ///
    /// # Errors
    ///
    /// What the system said.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// How event records of one class are written: the trace class has it alone.
#[derive(Debug, Clone)]
pub struct EventLayout {
    trace: Arc<TraceClass>,
    stream: usize,
    event: usize,
}

impl EventLayout {
    /// The layout of an event record class.
    #[must_use]
    pub fn new(trace: Arc<TraceClass>, stream: usize, event: usize) -> Option<Self> {
        trace.stream_classes.get(stream)?.event_classes.get(event)?;
        Some(Self { trace, stream, event })
    }

    fn stream(&self) -> Option<&StreamClass> {
        self.trace.stream_classes.get(self.stream)
    }

    /// Field classes of the common context, the specific context and the payload.
    #[must_use]
    pub fn scopes(&self) -> [Option<&FieldClass>; 3] {
        let Some(stream) = self.stream() else { return [None; 3] };
        let event = stream.event_classes.get(self.event);
        [
            stream.event_context.as_ref(),
            event.and_then(|event| event.context.as_ref()),
            event.and_then(|event| event.payload.as_ref()),
        ]
    }

    fn event_id(&self) -> u64 {
        let event = self.stream().and_then(|stream| stream.event_classes.get(self.event));
        event.map_or(0, |event| event.id)
    }

    fn encode<O: Output>(
        &self,
        out: &mut O,
        slots: &mut Vec<i128>,
        time: u64,
        scopes: [Cell<'_>; 3],
    ) -> Result<(), EncodeError> {
        slots.clear();
        slots.resize(self.trace.slot_count, -1);
        self.encode_after(out, slots, time, scopes).map(|_| ())
    }

    /// Encodes an event record behind a packet whose slots are known; returns the bit offset
    /// of what follows its header.
    ///
    /// # Errors
    ///
    /// When a value does not fit.
    pub fn encode_after<O: Output>(
        &self,
        out: &mut O,
        slots: &mut Vec<i128>,
        time: u64,
        scopes: [Cell<'_>; 3],
    ) -> Result<u64, EncodeError> {
        let facts = Facts { event_class: self.event_id(), time, ..Facts::default() };
        let start = out.position();
        let mut encoder = Encoder { out, slots, facts: &facts, marks: Vec::new() };
        if let Some(header) = self.stream().and_then(|stream| stream.event_header.as_ref()) {
            encoder.field(header, Cell::absent_structure())?;
        }
        let body = encoder.out.position();
        for (class, cell) in self.scopes().into_iter().zip(scopes) {
            if let Some(class) = class {
                encoder.field(class, cell)?;
            }
        }
        if out.position() - start > MAX_RECORD * 8 {
            return Err(EncodeError::new("an event record of more than 256 MiB"));
        }
        Ok(body)
    }
}

/// An event record to write.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Clock value.
    pub time: u64,
    /// Common context, specific context and payload: structures.
    pub scopes: [&'a Value; 3],
}

/// Event records of one class to write.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// Clock values.
    pub times: &'a [u64],
    /// Common context, specific context and payload: structures of columns.
    pub scopes: [&'a Column; 3],
}

impl<'a> Rows<'a> {
    #[inline]
    fn cells(&self, row: usize) -> [Cell<'a>; 3] {
        let [common, specific, payload] = self.scopes;
        [Cell::Row(common, row), Cell::Row(specific, row), Cell::Row(payload, row)]
    }
}

/// The packet that is being filled.
#[derive(Debug)]
struct OpenPacket {
    begin: u64,
    first_record: u64,
    marks: Vec<Mark>,
}

/// Writes a data stream.
#[derive(Debug)]
pub struct PacketWriter<W> {
    file: W,
    trace: Arc<TraceClass>,
    stream: usize,
    id: u64,
    packet_size: u64,
    latest: u64,
    context: Value,
    buffer: BitWriter,
    open: Option<OpenPacket>,
    last: u64,
    sequence: u64,
    discarded: u64,
    process: u32,
    slots: Vec<i128>,
}

impl<W: Append> PacketWriter<W> {
    /// A data stream without packets. Packets end before they have more than `packet_size`
    /// bytes, unless one record is longer; no time stamp may be above `latest`.
    pub fn new(
        file: W,
        trace: Arc<TraceClass>,
        stream: usize,
        id: u64,
        packet_size: u64,
        latest: u64,
    ) -> Self {
        Self {
            file,
            trace,
            stream,
            id,
            packet_size: packet_size.min(MAX_RECORD).saturating_mul(8),
            latest,
            context: Value::Absent,
            buffer: BitWriter::default(),
            open: None,
            last: 0,
            sequence: 0,
            discarded: 0,
            process: std::process::id(),
            slots: Vec::new(),
        }
    }

    /// Where the packets go.
    pub fn output_mut(&mut self) -> &mut W {
        &mut self.file
    }

    /// The field class of the packet context.
    #[must_use]
    pub fn context_class(&self) -> Option<&FieldClass> {
        self.trace.stream_classes.get(self.stream)?.packet_context.as_ref()
    }

    /// Sets the fields of the packet context that have no role, for packets from now on.
    ///
    /// # Errors
    ///
    /// When a value does not fit, or the packet before cannot be written.
    pub fn set_context(&mut self, context: Value) -> Result<(), WriteError> {
        self.flush()?;
        let before = std::mem::replace(&mut self.context, context);
        let tried = self.begin(self.last);
        self.open = None;
        self.buffer.truncate(0);
        if tried.is_err() {
            self.context = before;
        }
        tried
    }

    /// Counts event records that were not written, as those that a tracer discards.
    pub fn discard(&mut self, count: u64) {
        self.discarded = self.discarded.saturating_add(count);
    }

    /// Time stamp of the last event record.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Writes an event record, or nothing of it.
    ///
    /// # Errors
    ///
    /// When a value or the time stamp does not fit, or a full packet cannot be written.
    pub fn write(&mut self, layout: &EventLayout, record: Record<'_>) -> Result<(), WriteError> {
        self.check_times(&[record.time], false)?;
        self.put(layout, record.time, record.scopes.map(Cell::Value))
    }

    /// Writes event records: all, or none unless the file cannot be written.
    ///
    /// # Errors
    ///
    /// As [`PacketWriter::write`], with the row.
    pub fn write_rows(&mut self, layout: &EventLayout, rows: Rows<'_>) -> Result<(), WriteError> {
        self.check_times(rows.times, true)?;
        for (class, column) in layout.scopes().into_iter().zip(rows.scopes) {
            check_rows(class, column, rows.times.len())?;
        }
        let mut measure = Measure::default();
        for (row, &time) in rows.times.iter().enumerate() {
            measure.restart(0);
            let cells = rows.cells(row);
            layout
                .encode(&mut measure, &mut self.slots, time, cells)
                .map_err(|error| WriteError::Value(error, Some(row)))?;
        }
        for (row, &time) in rows.times.iter().enumerate() {
            let cells = rows.cells(row);
            self.put(layout, time, cells).map_err(|error| match error {
                WriteError::Io(error, _) => WriteError::Io(error, row),
                WriteError::Value(error, _) => WriteError::Value(error, Some(row)),
                other => other,
            })?;
        }
        Ok(())
    }

    /// Ends the packet, if there is one, and writes it.
    ///
    /// # Errors
    ///
    /// When the file cannot be written: nothing of the packet is then in it.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        let Some(open) = &self.open else { return Ok(()) };
        if std::process::id() != self.process {
            return Err(WriteError::Forked);
        }
        let content = self.buffer.position();
        let size = content.next_multiple_of(8);
        for mark in &open.marks {
            let value = match mark.role {
                Role::PacketSize => size,
                Role::ContentSize => content,
                Role::PacketBeginning => open.begin,
                Role::PacketEnd => self.last,
                Role::EventsDiscarded => self.discarded,
                _ => continue,
            };
            self.buffer.patch(mark.position, low_bits(value, mark.size), mark.size, mark.order);
        }
        self.file.append(self.buffer.data()).map_err(|error| WriteError::Io(error, 0))?;
        self.buffer.truncate(0);
        self.buffer.shrink(2 * (self.packet_size / 8) as usize);
        self.open = None;
        self.sequence += 1;
        Ok(())
    }

    fn check_times(&self, times: &[u64], bulk: bool) -> Result<(), WriteError> {
        let mut last = self.last;
        for (row, &time) in times.iter().enumerate() {
            let row = bulk.then_some(row);
            if time < last {
                return Err(WriteError::Time { time, limit: last, back: true, row });
            }
            if time > self.latest {
                return Err(WriteError::Time { time, limit: self.latest, back: false, row });
            }
            last = time;
        }
        Ok(())
    }

    fn put(
        &mut self,
        layout: &EventLayout,
        time: u64,
        cells: [Cell<'_>; 3],
    ) -> Result<(), WriteError> {
        if self.open.is_none() {
            self.begin(time)?;
        }
        let start = self.buffer.position();
        let first = self.open.as_ref().is_none_or(|open| open.first_record == start);
        if let Err(error) = layout.encode(&mut self.buffer, &mut self.slots, time, cells) {
            self.buffer.truncate(start);
            if first {
                self.drop_packet();
            }
            return Err(error.into());
        }
        if self.buffer.position() > self.packet_size && !first {
            // The record is the first of the next packet: where it stands decides how its
            // fields are aligned, so it is encoded anew.
            self.buffer.truncate(start);
            self.flush()?;
            return self.put(layout, time, cells);
        }
        self.last = time;
        Ok(())
    }

    fn drop_packet(&mut self) {
        self.open = None;
        self.buffer.truncate(0);
    }

    fn begin(&mut self, time: u64) -> Result<(), WriteError> {
        self.buffer.truncate(0);
        let Some(stream) = self.trace.stream_classes.get(self.stream) else { return Ok(()) };
        self.slots.clear();
        self.slots.resize(self.trace.slot_count, -1);
        let facts = Facts {
            stream_class: stream.id,
            stream: self.id,
            sequence: self.sequence,
            uuid: self.trace.uuid,
            ..Facts::default()
        };
        let (out, slots) = (&mut self.buffer, &mut self.slots);
        let mut encoder = Encoder { out, slots, facts: &facts, marks: Vec::new() };
        if let Some(header) = &self.trace.packet_header {
            encoder.field(header, Cell::absent_structure())?;
        }
        let marks = encoder.marks;
        let facts = Facts { uuid: None, ..facts };
        let (out, slots) = (&mut self.buffer, &mut self.slots);
        let mut encoder = Encoder { out, slots, facts: &facts, marks };
        if let Some(context) = &stream.packet_context {
            encoder.field(context, Cell::Value(&self.context))?;
        }
        let marks = encoder.marks;
        let first_record = self.buffer.position();
        self.open = Some(OpenPacket { begin: time, first_record, marks });
        Ok(())
    }
}

/// Refuses columns of other lengths than there are time stamps.
fn check_rows(
    class: Option<&FieldClass>,
    column: &Column,
    expected: usize,
) -> Result<(), WriteError> {
    let (Some(class), Column::Structure(columns)) = (class, column) else { return Ok(()) };
    for (member, column) in class.members().iter().zip(columns) {
        match column.rows() {
            Some(rows) if rows != expected => {
                return Err(WriteError::Rows { rows, expected, name: member.name().to_owned() });
            }
            _ => check_rows(Some(&member.class), column, expected)?,
        }
    }
    Ok(())
}
