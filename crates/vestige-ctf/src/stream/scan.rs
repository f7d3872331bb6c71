//! Finding the event records in a window of a packet.

use super::damage::DamageKind;
use super::data_stream::DataStream;
use super::packet::Packet;
use super::record_place::Record;
use super::selection::{ClassUse, Selection};
use super::step_table::{Entry, StepTable};
use crate::bits::BitReader;
use crate::filter::Evaluator;
use crate::model::StreamClass;
use crate::record::{DecodeError, HeaderDecoder, HeaderInBytes, State};

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
    UnknownClass { id: u64, stream_class: u64 },
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
/// `steps` is of this selection.
pub fn scan(
    (stream, class): (&DataStream, &StreamClass),
    window: &Window<'_>,
    mut records: Vec<Record>,
    state: &mut State,
    (selection, steps): (&Selection, &mut StepTable),
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
    let finder = Finder { stream, class, selection, steps, reader, state, found };
    match (&selection.filter, window.packet) {
        _ if selection.is_everything() => finder.run(Everything),
        (Some(filter), Some(packet)) => {
            let evaluator = Evaluator::new(filter, stream, packet, window.data);
            finder.run(Filtered { stream, selection, evaluator })
        }
        _ => finder.run(Chosen { stream, selection }),
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

    /// What is to be done with a record of a class of some use; marks it.
    fn judge(&mut self, record: &mut Record, usage: ClassUse) -> Verdict;
}

/// All records.
struct Everything;

impl Choice for Everything {
    #[inline(always)]
    fn judge(&mut self, _: &mut Record, _: ClassUse) -> Verdict {
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
    fn judge(&mut self, record: &mut Record, usage: ClassUse) -> Verdict {
        let shows = || usage.shown && self.selection.is_in_time(self.stream, record);
        match usage.needed || shows() {
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
    fn judge(&mut self, record: &mut Record, usage: ClassUse) -> Verdict {
        let shows = usage.shown && self.selection.is_in_time(self.stream, record);
        record.passes = shows && self.evaluator.passes(record);
        match record.passes || usage.needed {
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
    selection: &'s Selection,
    steps: &'s mut StepTable,
    reader: BitReader<'a>,
    state: &'s mut State,
    found: Scan,
}

impl Finder<'_, '_> {
    fn run<C: Choice>(self, choice: C) -> Scan {
        let stream = self.stream;
        let general = |_: &mut Self, _: &mut C, selected| selected;
        match &stream.header {
            _ if self.selection.check => self.find::<true, C>(choice, general),
            HeaderDecoder::Plain(header) => self.find_quickly(choice, header.as_ref()),
            HeaderDecoder::Compact(header) => self.find_quickly(choice, header.as_ref()),
            _ => self.find::<false, C>(choice, general),
        }
    }

    #[inline(never)]
    fn find_quickly<C: Choice>(self, choice: C, header: &impl HeaderInBytes) -> Scan {
        self.find::<false, C>(choice, |finder, choice, selected| {
            finder.find_in_bytes(header, choice, selected)
        })
    }

    /// Goes through the window; `quick` goes on as long as records are simple, and returns how many
    /// are selected then.
    #[inline(always)]
    fn find<const CHECK: bool, C: Choice>(
        mut self,
        mut choice: C,
        quick: impl Fn(&mut Self, &mut C, usize) -> usize,
    ) -> Scan {
        // Those that an expression refuses count, too: where a scan ends, and so what is told
        // of damage behind it, is not a matter of expressions.
        let mut selected = self.found.records.len();
        loop {
            selected = quick(&mut self, &mut choice, selected);
            if self.reader.remaining() == 0 || selected >= MAX_RECORDS {
                break;
            }
            let Self { stream, class, selection, reader, state, found, .. } = &mut self;
            let (clock, before) = (state.clock, reader.position());
            match record::<CHECK>(stream, class, reader, state, &mut choice) {
                Ok((cycles, body, class)) => {
                    if cycles < found.last {
                        state.clock = clock;
                        found.end = goes_back(cycles, found);
                        break;
                    }
                    found.last = cycles;
                    let record = Record { cycles, start: before as u32, body, class, passes: true };
                    let usage = selection.use_of_class(class as usize);
                    selected += keep(&mut choice, record, usage, &mut found.records);
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
        std::hint::black_box(self.state.checked);
        self.found
    }

    /// Goes through records of whole bytes, as long as they are all there and nothing about
    /// them is special; at any other, nothing of it has happened. Returns how many are selected.
    #[inline(always)]
    fn find_in_bytes(
        &mut self,
        header: &impl HeaderInBytes,
        choice: &mut impl Choice,
        mut selected: usize,
    ) -> usize {
        let (data, position) = (self.reader.data(), self.reader.position());
        if position % 8 != 0 {
            return selected;
        }
        let end = ((position + self.reader.remaining()) / 8) as usize;
        let mut at = (position / 8) as usize;
        let (mut clock, mut last) = (self.state.clock, self.found.last);
        // Often a record is of one of the last two classes. A guess which one lets the processor look
        // for the next record before it knows, where it would have to wait otherwise.
        let (mut id, mut entry) = (u64::MAX, Entry::default());
        let (mut other_id, mut other) = (id, entry);
        while at < end && selected < MAX_RECORDS {
            let Some(quick) = header.decode_in_bytes(data, at, clock) else { break };
            if quick.id != id {
                std::mem::swap(&mut id, &mut other_id);
                std::mem::swap(&mut entry, &mut other);
                if quick.id != id {
                    let Some(found) = self.entry_of(header, quick.id) else { break };
                    (id, entry) = (quick.id, found);
                }
            }
            if !entry.is_in_bytes {
                break;
            }
            let note = |run, start| choice.note(run, start);
            let Some(behind) = self.steps.end(&entry, (data, quick.body, end), note) else {
                break;
            };
            if quick.clock < last || behind == at {
                break;
            }
            (clock, last) = (quick.clock, quick.clock);
            let (start, body) = (at as u32 * 8, quick.body as u32 * 8);
            let record = Record { cycles: clock, start, body, class: entry.class, passes: true };
            selected += keep(choice, record, entry.usage, &mut self.found.records);
            at = behind;
        }
        let behind = at as u64 * 8;
        if behind > position && self.reader.skip(behind - position).is_ok() {
            self.state.clock = clock;
            self.found.last = last;
            self.found.position = behind;
            self.found.progress = true;
        }
        selected
    }

    /// The entry of a class ID in headers of a kind, which is made if there is none.
    #[inline(always)]
    fn entry_of(&mut self, header: &impl HeaderInBytes, id: u64) -> Option<Entry> {
        if let Some(entry) = self.steps.get(id) {
            return Some(*entry);
        }
        let wanted = header.has_id().then_some(id);
        self.steps.learn((self.stream, self.class), self.selection, wanted);
        self.steps.get(id).copied()
    }
}

/// Adds a record to the others if it is wanted; returns 1 if it counts as selected.
#[inline(always)]
fn keep(
    choice: &mut impl Choice,
    mut record: Record,
    usage: ClassUse,
    records: &mut Vec<Record>,
) -> usize {
    match choice.judge(&mut record, usage) {
        Verdict::Keep => records.push(record),
        Verdict::Refuse => {}
        Verdict::Skip => return 0,
    }
    1
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
        Wrong::UnknownClass { id, stream_class } => ScanEnd::Failed {
            start,
            kind: DamageKind::UnknownEventClass,
            message: format!(
                "event record of class {id}, which the metadata does not declare for stream \
                 class {stream_class}"
            ),
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
    state.forget_empty_elements();
    let id = stream.header.decode(reader, state)?;
    let cycles = state.clock;
    let body = reader.position();
    let unknown = || Wrong::UnknownClass { id: id.unwrap_or(0), stream_class: class.id };
    let index = class.index_of(id).ok_or_else(|| unknown().boxed())?;
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
