//! The header and the context of a packet (CTF 1.8.3, section 5).

use std::sync::Arc;

use super::damage::{Damage, DamageKind};
use super::expected_head::{expected_uuid, stream_class_of, MAGIC};
use super::file_window::FileWindow;
use super::head_layout::HeadLayout;
use super::header_faults::{HeaderFaults, OtherUuid, UnknownStreamClass};
use crate::bits::BitReader;
use crate::model::{FieldClass, Role, StreamClass, TraceClass};
use crate::record::{skip, DecodeError, State};
use crate::source::ReadAt;

/// Bytes in which a head is looked for at first.
const FIRST_READ: usize = 512;
/// Largest header and context together that is read, bytes.
const MAX_HEAD: u64 = 16 * 1024 * 1024;

/// What the header and the context of a packet say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PacketProperties {
    /// Byte offset of the packet in its file.
    pub offset: u64,
    /// Size of the packet with its padding, bits.
    pub total_bits: u64,
    /// Size of its content, bits.
    pub content_bits: u64,
    /// Bits of the content that the file really holds.
    pub available_bits: u64,
    /// Where the packet context begins, bits from the start of the packet.
    pub context_at: u64,
    /// Where the first event record begins, bits from the start of the packet.
    pub events_at: u64,
    /// Index of the stream class in the trace class.
    pub stream_class: usize,
    /// ID of the data stream.
    pub stream_instance: Option<u64>,
    /// Clock value at the beginning, cycles.
    pub beginning: Option<u64>,
    /// Clock value at the end, cycles.
    pub end: Option<u64>,
    /// Event records discarded since the stream began.
    pub events_discarded: Option<u64>,
    /// Sequence number in the stream.
    pub sequence_number: Option<u64>,
    /// What is wrong in its header, although the rest can be read.
    pub faults: Option<Box<HeaderFaults>>,
}

/// A packet whose header and context are decoded.
#[derive(Debug)]
pub struct Packet {
    /// The facts.
    pub properties: PacketProperties,
    /// The bytes of header and context, for those who show the context's fields.
    pub head: Vec<u8>,
    /// The slots after the context: what event records may refer to.
    pub slots: Vec<u64>,
}

impl Packet {
    /// About how many bytes of memory it takes.
    #[must_use]
    pub fn memory_size(&self) -> u64 {
        let lists = self.head.capacity() + self.slots.capacity() * size_of::<u64>();
        (size_of::<Self>() + lists) as u64
    }

    /// A state in which the fields of the bodies of its records can be decoded.
    #[must_use]
    pub fn state(&self) -> State {
        let mut state = State::new(0);
        state.slots.clone_from(&self.slots);
        state
    }

    /// A reader at its context.
    #[must_use]
    pub fn context_reader(&self) -> BitReader<'_> {
        BitReader::new(&self.head, self.properties.context_at, self.head.len() as u64 * 8)
    }
}

/// A packet at `offset` of a source, decoded up to its first event record.
///
/// `state` keeps its clock from the packet before and moves to this packet's beginning. A
/// packet with an unknown stream class ID is taken for one of the class `usual`, if any. Whoever
/// calls decides what faults in its header mean.
///
/// # Errors
///
/// When the bytes are no packet of this trace, or its sizes contradict each other.
pub(super) fn read_packet(
    window: &mut FileWindow,
    source: &dyn ReadAt,
    offset: u64,
    (trace, usual): (&TraceClass, Option<usize>),
    state: &mut State,
) -> Result<Packet, Damage> {
    let rest = source.len().saturating_sub(offset);
    let mut size = FIRST_READ;
    loop {
        let wanted = (size as u64).min(rest) as usize;
        let head = window.bytes(source, offset, wanted)?;
        let clock = state.clock;
        state.forget_roles();
        state.forget_empty_elements();
        if trace.version.0 >= 2 {
            // CTF2-SPEC-2.0, section 6.1: each packet begins with a clock value of 0.
            state.clock = 0;
        }
        match decode_head(head, (trace, usual), state) {
            Err(HeadError::OutOfData) if (wanted as u64) < rest.min(MAX_HEAD) => {
                state.clock = clock;
                size = size.saturating_mul(4);
            }
            Err(error) => return Err(error.into_damage(offset, rest)),
            Ok(mut decoded) => {
                let properties = properties(&mut decoded, state, offset, rest)?;
                let used = (properties.events_at.div_ceil(8) as usize).min(head.len());
                let head = head.get(..used).unwrap_or_default().to_vec();
                return Ok(Packet { properties, head, slots: state.slots.clone() });
            }
        }
    }
}

/// The facts of a packet at `offset` of a source, by the places of its fields; `None` when it is
/// not as they say, or anything is wrong with it: [`read_packet`] tells what.
#[inline]
pub(super) fn read_by_layout(
    window: &mut FileWindow,
    source: &dyn ReadAt,
    offset: u64,
    layout: &HeadLayout,
    state: &mut State,
) -> Option<PacketProperties> {
    let rest = source.len().saturating_sub(offset);
    let head = window.bytes(source, offset, layout.size().min(usize::try_from(rest).ok()?)).ok()?;
    let clock = state.clock;
    if !layout.decode(head, state) {
        return None;
    }
    let mut head = Head {
        stream_class: layout.stream_class,
        context_at: layout.context_at,
        events_at: layout.events_at,
        faults: HeaderFaults::default(),
    };
    let found = properties(&mut head, state, offset, rest);
    if found.is_err() {
        state.clock = clock;
    }
    found.ok()
}

struct Head {
    stream_class: usize,
    context_at: u64,
    events_at: u64,
    faults: HeaderFaults,
}

enum HeadError {
    OutOfData,
    Wrong(DamageKind, u64, String),
}

impl HeadError {
    fn into_damage(self, offset: u64, rest: u64) -> Damage {
        let end = offset.saturating_add(rest);
        match self {
            Self::OutOfData => {
                let message = format!(
                    "packet header cut: its header and context do not fit the {} bytes left",
                    rest.min(MAX_HEAD)
                );
                Damage::new(DamageKind::PacketHeader, offset, end, message)
            }
            Self::Wrong(kind, bits, message) => {
                Damage::new(kind, offset.saturating_add(bits / 8), end, message)
            }
        }
    }
}

fn decode_head(
    head: &[u8],
    (trace, usual): (&TraceClass, Option<usize>),
    state: &mut State,
) -> Result<Head, HeadError> {
    let mut reader = BitReader::new(head, 0, head.len() as u64 * 8);
    let mut found = Header::default();
    if let Some(header) = &trace.packet_header {
        decode_header(header, trace, &mut reader, state, &mut found)?;
    }
    let (stream_class, class) = match stream_class_of(trace, state.role(Role::StreamClassId)) {
        Some(known) => known,
        None => found.unknown_class(trace, usual, state, reader.position())?,
    };
    let context_at = reader.position();
    if let Some(context) = &class.packet_context {
        skip(context, &mut reader, state).map_err(|error| found.refuse(error, &reader))?;
    }
    Ok(Head { stream_class, context_at, events_at: reader.position(), faults: found.faults })
}

/// What decoding a packet header found.
#[derive(Default)]
struct Header {
    faults: HeaderFaults,
    /// The bytes with the stream class ID.
    class_id: (u64, u64),
}

impl Header {
    /// What is wrong with a header that cannot be decoded: its marks, if they are wrong, else
    /// what the bytes behind them would mean.
    fn refuse(&self, error: DecodeError, reader: &BitReader<'_>) -> HeadError {
        match error {
            DecodeError::OutOfData | DecodeError::TooLong { .. } if self.faults.is_empty() => {
                HeadError::OutOfData
            }
            _ if !self.faults.is_empty() => self.refusal(),
            other => {
                HeadError::Wrong(DamageKind::PacketHeader, reader.position(), other.to_string())
            }
        }
    }

    fn refusal(&self) -> HeadError {
        let damage = self.faults.refusal(0, 0);
        HeadError::Wrong(damage.kind, damage.start * 8, damage.message)
    }

    /// The class of a packet whose ID is unknown, where its neighbours tell it.
    fn unknown_class<'a>(
        &mut self,
        trace: &'a TraceClass,
        usual: Option<usize>,
        state: &State,
        at: u64,
    ) -> Result<(usize, &'a StreamClass), HeadError> {
        let id = state.role(Role::StreamClassId).unwrap_or(0);
        let (start, end) = self.class_id;
        let known = usual.and_then(|index| Some((index, trace.stream_classes.get(index)?)));
        let Some(known) = known.filter(|_| end > start) else {
            if !self.faults.is_empty() {
                return Err(self.refusal());
            }
            let message = format!("stream_id {id} is no stream of the metadata");
            return Err(HeadError::Wrong(DamageKind::PacketHeader, at, message));
        };
        self.faults.stream_class = Some(UnknownStreamClass { at: start, end, found: id });
        Ok(known)
    }
}

/// Decodes the packet header member by member, so that a wrong magic number or UUID is
/// noted as such.
fn decode_header(
    header: &FieldClass,
    trace: &TraceClass,
    reader: &mut BitReader<'_>,
    state: &mut State,
    found: &mut Header,
) -> Result<(), HeadError> {
    reader.align(header.alignment()).map_err(|error| found.refuse(error.into(), reader))?;
    for member in header.members() {
        let start = reader.position();
        let mut ahead = reader.clone();
        match skip(&member.class, reader, state) {
            // It has been read, and is looked at below.
            Ok(()) | Err(DecodeError::OtherMetadata) => {}
            Err(error) => return Err(found.refuse(error, reader)),
        }
        match member.class.as_integer().and_then(|class| class.role) {
            Some(Role::Magic) => {
                found.faults.magic = state.role(Role::Magic).filter(|&value| value != MAGIC);
            }
            Some(Role::StreamClassId) => {
                found.class_id = (start / 8, reader.position().div_ceil(8));
            }
            _ => {}
        }
        if let Some(expected) = expected_uuid(member, trace) {
            let read = read_uuid(&mut ahead).ok_or(HeadError::OutOfData)?;
            let at = ahead.position() / 8 - 16;
            found.faults.uuid = (read != expected).then_some(OtherUuid { at, found: read });
        }
    }
    Ok(())
}

fn read_uuid(reader: &mut BitReader<'_>) -> Option<[u8; 16]> {
    reader.align(8).ok()?;
    reader.bytes(16).ok()?.try_into().ok()
}

fn properties(
    head: &mut Head,
    state: &State,
    offset: u64,
    rest: u64,
) -> Result<PacketProperties, Damage> {
    let rest_bits = rest.saturating_mul(8);
    let (total_bits, content_bits) =
        match (state.role(Role::PacketSize), state.role(Role::ContentSize)) {
            (None, None) => (rest_bits, rest_bits),
            (Some(total), None) => (total, total),
            (None, Some(content)) => (content, content),
            (Some(total), Some(content)) => (total, content),
        };
    let faults = std::mem::take(&mut head.faults);
    let faults = (!faults.is_empty()).then(|| Box::new(faults));
    let wrong = |message: String| {
        let end = offset.saturating_add(rest);
        Err(match &faults {
            Some(faults) => faults.refusal(offset, end),
            None => Damage::new(DamageKind::PacketSizes, offset, end, message),
        })
    };
    if total_bits % 8 != 0 || total_bits == 0 {
        return wrong(format!(
            "packet size of {total_bits} bits: expected whole bytes, at least one"
        ));
    }
    if content_bits > total_bits {
        return wrong(format!(
            "content size of {content_bits} bits is greater than the packet size of {total_bits}"
        ));
    }
    if content_bits < head.events_at {
        return wrong(format!(
            "content size of {content_bits} bits is less than the {} bits of the packet's \
             own header and context",
            head.events_at
        ));
    }
    Ok(PacketProperties {
        offset,
        total_bits,
        content_bits,
        available_bits: content_bits.min(rest_bits),
        context_at: head.context_at,
        events_at: head.events_at,
        stream_class: head.stream_class,
        stream_instance: state.role(Role::DataStreamId),
        beginning: state.role(Role::PacketBeginning),
        end: state.role(Role::PacketEnd),
        events_discarded: state.role(Role::EventsDiscarded),
        sequence_number: state.role(Role::PacketSequenceNumber),
        faults,
    })
}

/// A shared, decoded packet.
pub type SharedPacket = Arc<Packet>;
