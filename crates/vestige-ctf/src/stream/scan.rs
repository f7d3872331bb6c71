//! Finding the event records in a window of a packet.

use super::damage::DamageKind;
use super::data_stream::DataStream;
use super::packet::Packet;
use super::record_place::Record;
use super::selection::Selection;
use crate::bits::BitReader;
use crate::filter::Evaluator;
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
    /// The packet, where expressions are judged.
    pub packet: Option<&'a Packet>,
    /// The bytes.
    pub data: &'a [u8],
    /// Where the first record begins, bits.
    pub start: u64,
    /// Where the content ends, bits.
    pub end: u64,
    /// The time before which no record may lie, cycles.
    pub floor: u64,
}

/// Scans a window; what is found goes behind `records`. The clock in `state` ends at the last one.
pub fn scan(
    (stream, class): (&DataStream, &StreamClass),
    window: &Window<'_>,
    mut records: Vec<Record>,
    state: &mut State,
    selection: &Selection,
) -> Scan {
    let reader = BitReader::new(window.data, window.start, window.end);
    // Records are seldom smaller than this; growing the list moves all of it.
    let likely = (window.end.saturating_sub(window.start) / LIKELY_BITS) as usize;
    if selection.filter.is_none() {
        records.reserve(likely.min(MAX_RECORDS));
    }
    let position = window.start;
    let last = window.floor;
    let found = Scan { records, position, last, progress: false, end: ScanEnd::Done };
    let finder = Finder { stream, class, reader, state, found };
    match (&selection.filter, window.packet) {
        _ if selection.is_everything() => finder.run(selection.check, Everything),
        (Some(filter), Some(packet)) => {
            let evaluator = Evaluator::new(filter, stream, packet, window.data);
            finder.run(selection.check, Filtered { stream, selection, evaluator })
        }
        _ => finder.run(selection.check, Chosen { stream, selection }),
    }
}

/// What is to be done with a record that was found.
enum Verdict {
    /// It is not selected.
    Skip,
    /// It is selected, but the expressions are not true of it.
    Refuse,
    /// It is wanted or needed.
    Keep,
}

/// Chooses among the records that are found.
trait Choice {
    /// Learns where a run of the next record begins.
    #[inline(always)]
    fn note(&mut self, _run: usize, _start: u64) {}

    /// What is to be done with a record; marks it.
    fn judge(&mut self, record: &mut Record) -> Verdict;
}

/// All records.
struct Everything;

impl Choice for Everything {
    #[inline(always)]
    fn judge(&mut self, _: &mut Record) -> Verdict {
        Verdict::Keep
    }
}

/// Records by class and time.
struct Chosen<'a> {
    stream: &'a DataStream,
    selection: &'a Selection,
}

impl Choice for Chosen<'_> {
    #[inline(always)]
    fn judge(&mut self, record: &mut Record) -> Verdict {
        match self.selection.accepts(self.stream, record) {
            true => Verdict::Keep,
            false => Verdict::Skip,
        }
    }
}

/// Records by class, time and expressions.
struct Filtered<'a> {
    stream: &'a DataStream,
    selection: &'a Selection,
    evaluator: Evaluator<'a>,
}

impl Choice for Filtered<'_> {
    #[inline(always)]
    fn note(&mut self, run: usize, start: u64) {
        self.evaluator.starts.note(run, start);
    }

    #[inline(always)]
    fn judge(&mut self, record: &mut Record) -> Verdict {
        let is_needed = self.selection.needs(record);
        let shows = self.selection.shows(self.stream, record);
        record.passes = shows && self.evaluator.passes(record);
        match record.passes || is_needed {
            true => Verdict::Keep,
            false if shows => Verdict::Refuse,
            false => Verdict::Skip,
        }
    }
}

/// Goes from record to record.
struct Finder<'a, 's> {
    stream: &'a DataStream,
    class: &'a StreamClass,
    reader: BitReader<'a>,
    state: &'s mut State,
    found: Scan,
}

impl Finder<'_, '_> {
    fn run(self, check: bool, choice: impl Choice) -> Scan {
        match check {
            true => self.find::<true>(choice),
            false => self.find::<false>(choice),
        }
    }

    fn find<const CHECK: bool>(self, mut choice: impl Choice) -> Scan {
        let Self { stream, class, mut reader, state, mut found } = self;
        // Those that an expression refuses count, too: where a scan ends, and so what is told
        // of damage behind it, is not a matter of expressions.
        let mut selected = found.records.len();
        while reader.remaining() > 0 && selected < MAX_RECORDS {
            let (clock, before) = (state.clock, reader.position());
            match record::<CHECK>(stream, class, &mut reader, state, &mut choice) {
                Ok((cycles, body, class)) => {
                    if cycles < found.last {
                        state.clock = clock;
                        found.end = goes_back(cycles, &found);
                        break;
                    }
                    found.last = cycles;
                    let start = before as u32;
                    let mut record = Record { cycles, start, body, class, passes: true };
                    match choice.judge(&mut record) {
                        Verdict::Keep => {
                            selected += 1;
                            found.records.push(record);
                        }
                        Verdict::Refuse => selected += 1,
                        Verdict::Skip => {}
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
        found
    }
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
    choice: &mut impl Choice,
) -> Result<(u64, u32, u32), Box<Wrong>> {
    let before = reader.position();
    if !CHECK {
        if let Some(quick) = quick_record(stream, class, reader, state.clock, choice) {
            state.clock = quick.0;
            return Ok(quick);
        }
    }
    state.forget_empty_elements();
    let id = stream.header.decode(reader, state)?;
    let cycles = state.clock;
    let body = reader.position();
    let index = class_index(class, id)?;
    if let Some(program) = stream.program(class, index) {
        let mut sum = state.checked;
        let note = |run, start| choice.note(run, start);
        program.run_noting::<CHECK>(reader, state, &mut sum, note)?;
        state.checked = sum;
    }
    if reader.position() == before {
        return Err(Wrong::Empty.boxed());
    }
    Ok((cycles, body as u32, index as u32))
}

/// The same for a record of whole bytes, if it is all there and nothing about it is special;
/// otherwise nothing has happened.
#[inline(always)]
fn quick_record(
    stream: &DataStream,
    class: &StreamClass,
    reader: &mut BitReader<'_>,
    clock: u64,
    choice: &mut impl Choice,
) -> Option<(u64, u32, u32)> {
    let (data, before) = (reader.data(), reader.position());
    let end = ((before + reader.remaining()) / 8) as usize;
    let at = (before / 8) as usize;
    let header = stream.header.decode_in_bytes(data, at, end, clock)?;
    let index = class_index(class, header.id).ok()?;
    let program = stream.program(class, index)?;
    let note = |run, start| choice.note(run, start);
    let behind = program.end_in_bytes(data, header.body, end, note)?;
    if before % 8 != 0 || behind == at {
        return None;
    }
    reader.skip((behind - at) as u64 * 8).ok()?;
    Some((header.clock, header.body as u32 * 8, index as u32))
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
