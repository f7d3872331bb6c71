//! Finding the event records in a window of a packet.

use super::damage::DamageKind;
use super::data_stream::DataStream;
use super::record_place::Record;
use super::selection::Selection;
use crate::bits::BitReader;
use crate::model::StreamClass;
use crate::record::{DecodeError, State};

/// Most records of one batch, so that merging and rendering work on bounded pieces.
pub(super) const MAX_RECORDS: usize = 16_384;

/// A common size of an event record, bits.
const LIKELY_BITS: u64 = 8 * 24;

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
        /// Of which kind the damage is.
        kind: DamageKind,
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
    /// Time of the last record that was stepped over, or of what lies before the window.
    pub last: u64,
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

impl From<DecodeError> for Box<Wrong> {
    #[cold]
    fn from(error: DecodeError) -> Self {
        Self::new(Wrong::Decode(error))
    }
}

impl Wrong {
    #[cold]
    fn boxed(self) -> Box<Self> {
        Box::new(self)
    }
}

/// Bits `start..end` of some bytes of a packet.
pub struct Window<'a> {
    /// The bytes.
    pub data: &'a [u8],
    /// Where the first record begins, bits.
    pub start: u64,
    /// Where the content ends, bits.
    pub end: u64,
    /// The time before which no record may lie, cycles.
    pub floor: u64,
}

/// Scans a window into the empty list `records`. The clock in `state` ends at the last one.
pub fn scan(
    stream: &DataStream,
    class: &StreamClass,
    window: &Window<'_>,
    mut records: Vec<Record>,
    state: &mut State,
    selection: &Selection,
) -> Scan {
    let mut reader = BitReader::new(window.data, window.start, window.end);
    // Records are seldom smaller than this; growing the list moves all of it.
    let likely = (window.end.saturating_sub(window.start) / LIKELY_BITS) as usize;
    records.reserve(likely.min(MAX_RECORDS));
    let position = window.start;
    let last = window.floor;
    let mut found = Scan { records, position, last, progress: false, end: ScanEnd::Done };
    if selection.check {
        find_records::<true>(stream, class, &mut reader, state, selection, &mut found);
    } else {
        find_records::<false>(stream, class, &mut reader, state, selection, &mut found);
    }
    found
}

fn find_records<const CHECK: bool>(
    stream: &DataStream,
    class: &StreamClass,
    reader: &mut BitReader<'_>,
    state: &mut State,
    selection: &Selection,
    found: &mut Scan,
) {
    let everything = selection.is_everything();
    while reader.remaining() > 0 && found.records.len() < MAX_RECORDS {
        let (clock, before) = (state.clock, reader.position());
        match record::<CHECK>(stream, class, reader, state) {
            Ok((cycles, body, index)) => {
                if cycles < found.last {
                    state.clock = clock;
                    found.end = goes_back(cycles, found);
                    break;
                }
                found.last = cycles;
                let start = before as u32;
                if everything {
                    // Built in its place: what lies in registers has to go nowhere else.
                    found.records.push(Record { cycles, start, body, class: index });
                } else {
                    let record = Record { cycles, start, body, class: index };
                    if selection.accepts(stream, &record) {
                        found.records.push(record);
                    }
                }
                found.position = reader.position();
                found.progress = true;
            }
            Err(wrong) => {
                state.clock = clock;
                found.end = end_of(*wrong, found.position);
                break;
            }
        }
    }
    // Nobody looks at the sum, but nobody can tell: so no decoding can be left out.
    std::hint::black_box(state.checked);
}

#[cold]
fn goes_back(cycles: u64, found: &Scan) -> ScanEnd {
    let message = format!(
        "event record at clock value {cycles}, before the {} of what stands in front of it",
        found.last
    );
    ScanEnd::Failed { start: found.position, kind: DamageKind::TimeGoesBack, message }
}

fn end_of(wrong: Wrong, start: u64) -> ScanEnd {
    match wrong {
        Wrong::Decode(DecodeError::OutOfData | DecodeError::TooLong { .. }) => ScanEnd::Partial,
        Wrong::Decode(error) => {
            ScanEnd::Failed { start, kind: DamageKind::BadField, message: error.to_string() }
        }
        Wrong::UnknownClass(id) => ScanEnd::Failed {
            start,
            kind: DamageKind::UnknownEventClass,
            message: format!("event record of class {id}, which the metadata does not declare"),
        },
        Wrong::Empty => ScanEnd::Failed {
            start,
            kind: DamageKind::BadField,
            message: "event record without a single bit: the metadata gives it no field".to_owned(),
        },
    }
}

/// Steps over the next record: its time, where its body begins and the index of its class.
#[inline(always)]
fn record<const CHECK: bool>(
    stream: &DataStream,
    class: &StreamClass,
    reader: &mut BitReader<'_>,
    state: &mut State,
) -> Result<(u64, u32, u32), Box<Wrong>> {
    let before = reader.position();
    state.forget_empty_elements();
    let id = stream.header.decode(reader, state)?;
    let cycles = state.clock;
    let body = reader.position();
    let index = class_index(class, id)?;
    if let Some(program) = stream.program(class, index) {
        let mut sum = state.checked;
        program.run::<CHECK>(reader, state, &mut sum)?;
        state.checked = sum;
    }
    if reader.position() == before {
        return Err(Wrong::Empty.boxed());
    }
    Ok((cycles, body as u32, index as u32))
}

/// Classes mostly stand in the order of their IDs; only others need a search.
#[inline(always)]
fn class_index(class: &StreamClass, id: Option<u64>) -> Result<usize, Box<Wrong>> {
    let Some(id) = id else {
        let any = !class.event_classes.is_empty();
        return if any { Ok(0) } else { Err(Wrong::UnknownClass(0).boxed()) };
    };
    let guess = id as usize;
    if class.event_classes.get(guess).is_some_and(|event| event.id == id) {
        return Ok(guess);
    }
    let found = class.event_class_index.get(&id).copied();
    found.ok_or_else(|| Wrong::UnknownClass(id).boxed())
}
