//! Finding the event records in a window of a packet.

use super::batch::Record;
use super::reader::{DataStream, Selection};
use crate::bits::BitReader;
use crate::model::{EventClass, Role, StreamClass};
use crate::record::{skip, DecodeError, State};

/// Most records of one batch, so that merging and rendering work on bounded pieces.
const MAX_RECORDS: usize = 16_384;

/// How a scan ended.
#[derive(Debug, PartialEq, Eq)]
pub enum ScanEnd {
    /// All bits of the window are used up, or the batch is full.
    Done,
    /// The record at the end of the window is not all in it.
    Partial,
    /// The record at this bit offset cannot be decoded.
    Failed {
        /// Bit offset of the record.
        start: u64,
        /// What is wrong.
        message: String,
    },
}

/// The result of a scan.
pub struct Scan {
    /// The records found and selected.
    pub records: Vec<Record>,
    /// Bit offset behind the last record that was stepped over.
    pub position: u64,
    /// Whether any record was found, selected or not.
    pub progress: bool,
    /// How it ended.
    pub end: ScanEnd,
}

/// What one step of a scan found wrong.
enum Wrong {
    Decode(DecodeError),
    UnknownClass(u64),
    Empty,
}

impl From<DecodeError> for Wrong {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

/// Scans bits `start..end` of a window. The clock in `state` ends at the last record.
pub fn scan(
    stream: &DataStream,
    class: &StreamClass,
    data: &[u8],
    (start, end): (u64, u64),
    state: &mut State,
    selection: &Selection,
) -> Scan {
    let mut reader = BitReader::new(data, start, end);
    let mut found =
        Scan { records: Vec::new(), position: start, progress: false, end: ScanEnd::Done };
    while reader.remaining() > 0 && found.records.len() < MAX_RECORDS {
        let clock = state.clock;
        match record(class, &mut reader, state) {
            Ok(record) => {
                if selection.accepts(stream, &record) {
                    found.records.push(record);
                }
                found.position = reader.position();
                found.progress = true;
            }
            Err(wrong) => {
                state.clock = clock;
                found.end = end_of(wrong, found.position);
                break;
            }
        }
    }
    found
}

fn end_of(wrong: Wrong, start: u64) -> ScanEnd {
    match wrong {
        Wrong::Decode(DecodeError::OutOfData | DecodeError::TooLong { .. }) => ScanEnd::Partial,
        Wrong::Decode(error) => ScanEnd::Failed { start, message: error.to_string() },
        Wrong::UnknownClass(id) => ScanEnd::Failed {
            start,
            message: format!("event record of class {id}, which the metadata does not declare"),
        },
        Wrong::Empty => ScanEnd::Failed {
            start,
            message: "event record without a single bit: the metadata gives it no field".to_owned(),
        },
    }
}

#[inline]
fn record(
    class: &StreamClass,
    reader: &mut BitReader<'_>,
    state: &mut State,
) -> Result<Record, Wrong> {
    let before = reader.position();
    let mut id = None;
    if let Some(header) = &class.event_header {
        state.forget_roles();
        skip(header, reader, state)?;
        id = state.role(Role::EventClassId);
    }
    let cycles = state.clock;
    let body = reader.position();
    let index = class_index(class, id)?;
    if let Some(context) = &class.event_context {
        skip(context, reader, state)?;
    }
    if let Some(EventClass { context, payload, .. }) = class.event_classes.get(index) {
        if let Some(context) = context {
            skip(context, reader, state)?;
        }
        if let Some(payload) = payload {
            skip(payload, reader, state)?;
        }
    }
    if reader.position() == before {
        return Err(Wrong::Empty);
    }
    Ok(Record { cycles, start: before as u32, body: body as u32, class: index as u32 })
}

/// Classes mostly stand in the order of their IDs; only others need a search.
#[inline]
fn class_index(class: &StreamClass, id: Option<u64>) -> Result<usize, Wrong> {
    let Some(id) = id else {
        return if class.event_classes.is_empty() { Err(Wrong::UnknownClass(0)) } else { Ok(0) };
    };
    let guess = id as usize;
    if class.event_classes.get(guess).is_some_and(|event| event.id == id) {
        return Ok(guess);
    }
    class.event_class_index.get(&id).copied().ok_or(Wrong::UnknownClass(id))
}
