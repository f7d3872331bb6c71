//! The header and the context of a packet (CTF 1.8.3, section 5).

use std::sync::Arc;

use super::damage::{Damage, DamageKind};
use super::file_window::FileWindow;
use crate::bits::BitReader;
use crate::model::{ByteOrder, FieldClass, Role, StreamClass, TraceClass};
use crate::record::{skip, DecodeError, State};
use crate::source::ReadAt;

/// The first field of a packet header, in the trace's byte order.
pub(super) const MAGIC: u64 = 0xC1FC_1FC1;
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

/// A packet at `offset` of a source, decoded up to its first event record.
///
/// `state` keeps its clock from the packet before and moves to this packet's beginning.
///
/// # Errors
///
/// When the bytes are no packet of this trace, or its sizes contradict each other.
pub(super) fn read_packet(
    window: &mut FileWindow,
    source: &dyn ReadAt,
    offset: u64,
    trace: &TraceClass,
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
        match decode_head(head, trace, state) {
            Err(HeadError::OutOfData) if (wanted as u64) < rest.min(MAX_HEAD) => {
                state.clock = clock;
                size = size.saturating_mul(4);
            }
            Err(error) => return Err(error.into_damage(offset, rest)),
            Ok(decoded) => {
                let properties = properties(&decoded, state, offset, rest)?;
                let used = (properties.events_at.div_ceil(8) as usize).min(head.len());
                let head = head.get(..used).unwrap_or_default().to_vec();
                return Ok(Packet { properties, head, slots: state.slots.clone() });
            }
        }
    }
}

struct Head {
    stream_class: usize,
    context_at: u64,
    events_at: u64,
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

impl From<(DecodeError, u64)> for HeadError {
    fn from((error, position): (DecodeError, u64)) -> Self {
        match error {
            DecodeError::OutOfData | DecodeError::TooLong { .. } => Self::OutOfData,
            other => Self::Wrong(DamageKind::PacketHeader, position, other.to_string()),
        }
    }
}

fn decode_head(head: &[u8], trace: &TraceClass, state: &mut State) -> Result<Head, HeadError> {
    let mut reader = BitReader::new(head, 0, head.len() as u64 * 8);
    if let Some(header) = &trace.packet_header {
        decode_header(header, trace, &mut reader, state)?;
    }
    let (stream_class, class) = stream_class(trace, state, reader.position())?;
    let context_at = reader.position();
    if let Some(context) = &class.packet_context {
        skip(context, &mut reader, state).map_err(|error| (error, reader.position()))?;
    }
    Ok(Head { stream_class, context_at, events_at: reader.position() })
}

/// Decodes the packet header member by member, so that a wrong magic number or UUID is
/// reported as such and not as whatever the bytes behind it would mean.
fn decode_header(
    header: &FieldClass,
    trace: &TraceClass,
    reader: &mut BitReader<'_>,
    state: &mut State,
) -> Result<(), HeadError> {
    let failed = |error: DecodeError, reader: &BitReader<'_>| (error, reader.position());
    reader.align(header.alignment()).map_err(|error| failed(error.into(), reader))?;
    for member in header.members() {
        let start = reader.position();
        let mut ahead = reader.clone();
        skip(&member.class, reader, state).map_err(|error| failed(error, reader))?;
        let role = member.class.as_integer().and_then(|class| class.role);
        if role == Some(Role::Magic) {
            check_magic(state.role(Role::Magic), start)?;
        } else if trace.version.0 < 2 && member.name() == "uuid" {
            // In CTF 2 the BLOB with this role knows the bytes that it must have.
            check_uuid(trace, &mut ahead, start)?;
        }
    }
    Ok(())
}

fn check_magic(found: Option<u64>, at: u64) -> Result<(), HeadError> {
    match found {
        Some(MAGIC) | None => Ok(()),
        Some(found) => {
            let message = format!(
                "no packet begins here: expected the magic number {MAGIC:#x}, found {found:#x}"
            );
            Err(HeadError::Wrong(DamageKind::BadMagic, at, message))
        }
    }
}

fn check_uuid(trace: &TraceClass, reader: &mut BitReader<'_>, at: u64) -> Result<(), HeadError> {
    let Some(expected) = trace.uuid else { return Ok(()) };
    reader.align(8).map_err(|_| HeadError::OutOfData)?;
    for byte in expected {
        let found = reader.unsigned(8, ByteOrder::Little).map_err(|_| HeadError::OutOfData)?;
        if found != u64::from(byte) {
            let message = "the packet has another UUID than the metadata: \
                           it belongs to another trace";
            return Err(HeadError::Wrong(DamageKind::OtherUuid, at, message.to_owned()));
        }
    }
    Ok(())
}

fn stream_class<'a>(
    trace: &'a TraceClass,
    state: &State,
    at: u64,
) -> Result<(usize, &'a StreamClass), HeadError> {
    let classes = &trace.stream_classes;
    let found = match state.role(Role::StreamClassId) {
        Some(id) => classes.iter().enumerate().find(|(_, class)| class.id == id),
        None => {
            let default = classes.iter().position(|class| class.id == 0).unwrap_or(0);
            classes.iter().enumerate().nth(default)
        }
    };
    found.ok_or_else(|| {
        let id = state.role(Role::StreamClassId).unwrap_or(0);
        let message = format!("stream_id {id} is no stream of the metadata");
        HeadError::Wrong(DamageKind::PacketHeader, at, message)
    })
}

fn properties(
    head: &Head,
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
    let wrong = |message: String| {
        let end = offset.saturating_add(rest);
        Err(Damage::new(DamageKind::PacketSizes, offset, end, message))
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
    })
}

/// A shared, decoded packet.
pub type SharedPacket = Arc<Packet>;
