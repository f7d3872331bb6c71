//! A batch: event records of one packet that are found but not decoded.

use std::sync::Arc;

use super::data_stream::DataStream;
use super::packet::Packet;
use super::pool::Buffers;
use super::record_place::Record;
use super::selection::Selection;
use crate::bits::BitReader;
use crate::model::{EventClass, FieldClass, StreamClass};
use crate::record::State;

/// Event records of one data stream, in order, within one window of a packet.
pub struct Batch {
    /// The data stream.
    pub stream: Arc<DataStream>,
    /// The packet.
    pub packet: Arc<Packet>,
    /// Index of the file of the packet among those of the data stream.
    pub file: usize,
    /// Byte offset of `data` from the start of the packet.
    pub base: u64,
    /// The window.
    pub data: Vec<u8>,
    /// The records.
    pub records: Vec<Record>,
    /// Which of them are wanted for themselves.
    pub selection: Arc<Selection>,
}

impl Drop for Batch {
    fn drop(&mut self) {
        let data = std::mem::take(&mut self.data);
        let records = std::mem::take(&mut self.records);
        self.stream.pool.give(Buffers { data, records });
    }
}

impl Batch {
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
    pub fn state(&self) -> State {
        let mut state = State::new(0);
        state.slots.clone_from(&self.packet.slots);
        state
    }

    /// A reader at the body of a record. Where fields of the body refer to the record's
    /// header, the header is decoded into `state` first.
    #[inline]
    pub fn body_reader(&self, record: &Record, state: &mut State) -> BitReader<'_> {
        let end = self.data.len() as u64 * 8;
        if self.stream.header_needed {
            if let Some(header) = self.stream_class().and_then(|c| c.event_header.as_ref()) {
                let mut reader = BitReader::new(&self.data, u64::from(record.start), end);
                // The scan decoded this header before, so it cannot fail now.
                let _ = crate::record::skip(header, &mut reader, state);
            }
        }
        BitReader::new(&self.data, u64::from(record.body), end)
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

    /// Upper bound of the text of a record beside that of its own bytes.
    #[must_use]
    pub fn repeated_text(&self) -> u64 {
        // The packet context is shown with each record; a number takes no more than this.
        const TEXT_OF_BYTE: u64 = 16;
        let context = (self.packet.head.len() as u64).saturating_mul(TEXT_OF_BYTE);
        self.stream.names_size.saturating_add(context).max(1)
    }

    /// Byte offset of a record in its file.
    #[must_use]
    pub fn file_offset(&self, record: &Record) -> u64 {
        self.packet.properties.offset + self.base + u64::from(record.start) / 8
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
