//! What stands before the event records of a packet that is never written to a file.

use std::sync::Arc;

use super::bit_writer::{BitWriter, Output};
use super::error::EncodeError;
use super::fields::{Encoder, Facts};
use super::value::{Cell, Value};
use crate::bits::low_bits;
use crate::model::{Role, TraceClass};

/// The header and the context of a packet.
#[derive(Debug)]
pub struct PacketHead {
    /// The bytes.
    pub data: Vec<u8>,
    /// Where the context begins, bits.
    pub context_at: u64,
    /// Where the first event record begins, bits.
    pub events_at: u64,
    /// The slots after the context.
    pub slots: Vec<u64>,
}

/// Encodes the header and the context of a packet of a stream class.
///
/// Fields that are known when a packet ends are 0: its sizes, and the time of its end.
///
/// # Errors
///
/// When a value of the context does not fit its field class.
pub fn packet_head(
    trace: &Arc<TraceClass>,
    stream_class: usize,
    stream_id: u64,
    beginning: Option<u64>,
    context: &Value,
) -> Result<PacketHead, EncodeError> {
    let Some(class) = trace.stream_classes.get(stream_class) else {
        return Err(EncodeError::new("there is no such data stream class"));
    };
    let mut out = BitWriter::default();
    let mut slots = vec![-1; trace.slot_count];
    let facts =
        Facts { stream_class: class.id, stream: stream_id, uuid: trace.uuid, ..Facts::default() };
    let mut encoder =
        Encoder { out: &mut out, slots: &mut slots, facts: &facts, marks: Vec::new() };
    if let Some(header) = &trace.packet_header {
        encoder.field(header, Cell::absent_structure())?;
    }
    let context_at = encoder.out.position();
    let facts = Facts { uuid: None, ..facts };
    let mut encoder =
        Encoder { out: &mut out, slots: &mut slots, facts: &facts, marks: Vec::new() };
    if let Some(class) = &class.packet_context {
        encoder.field(class, Cell::Value(context))?;
    }
    let marks = encoder.marks;
    let events_at = out.position();
    for mark in marks.iter().filter(|mark| mark.role == Role::PacketBeginning) {
        let value = low_bits(beginning.unwrap_or(0), mark.size);
        out.patch(mark.position, value, mark.size, mark.order);
    }
    let slots = slots.into_iter().map(|value| value as u64).collect();
    Ok(PacketHead { data: out.into_data(), context_at, events_at, slots })
}
