//! Whether bytes are a packet although a fact of its header is wrong.
//!
//! The facts of a header vote: magic number, UUID, where it stands, where it ends, its times
//! and its first record. One wrong fact must not hide the records of a packet, and bytes that
//! are no packet must not pass by one that happens to be right.

use super::evidence_strength::EvidenceStrength;
use super::file_window::read_exactly;
use super::packet::{Packet, PacketProperties};
use crate::bits::BitReader;
use crate::model::{Role, StreamClass, TraceClass};
use crate::record::{skip, DecodeError, State};
use crate::source::ReadAt;

/// Votes that make a packet; one more where none is expected.
const ENOUGH: i32 = 3;
/// Bytes in which the first event record is looked for.
const FIRST_RECORD: u64 = 64 * 1024;
/// The greatest step in time that speaks for a packet, cycles: some hours.
const NEAR: u64 = 1 << 44;

/// What is known of a packet from around it.
pub struct Surroundings<'a> {
    /// The packet before it.
    pub before: Option<&'a PacketProperties>,
    /// Whether it stands where the packet before ends, or where the file begins.
    pub is_expected: bool,
    /// Whether the file or another packet begins where it ends.
    pub ends_well: bool,
    /// Whether packet headers have a magic number.
    pub has_magic: bool,
    /// Whether packet headers have a UUID.
    pub has_uuid: bool,
}

/// Whether more speaks for a packet than against it.
#[must_use]
pub fn is_packet(
    trace: &TraceClass,
    source: &dyn ReadAt,
    packet: &Packet,
    around: &Surroundings<'_>,
) -> bool {
    let properties = &packet.properties;
    let trust = EvidenceStrength::of(trace, properties.stream_class);
    let faults = properties.faults.as_deref();
    let magic = around.has_magic && faults.is_none_or(|faults| faults.magic.is_none());
    let uuid = around.has_uuid && faults.is_none_or(|faults| faults.uuid.is_none());
    let times = vote_of_times(properties, around.before, trust);
    let record = vote_of_record(trace, source, packet, trust);
    let ends_well = trust.sized && around.ends_well;
    if !magic && !uuid {
        // Nothing marks it as a packet: all that is left must speak for it.
        let class = faults.is_none_or(|faults| faults.stream_class.is_none());
        let timed = times > 0 || (times == 0 && !trust.beginning);
        return around.is_expected && class && ends_well && timed && record > 0;
    }
    let votes = i32::from(magic)
        + 2 * i32::from(uuid)
        + i32::from(around.is_expected)
        + i32::from(ends_well)
        + times
        + record;
    votes >= ENOUGH + i32::from(!around.is_expected)
}

/// Times that follow those of the packet before speak for a packet.
fn vote_of_times(
    packet: &PacketProperties,
    before: Option<&PacketProperties>,
    trust: EvidenceStrength,
) -> i32 {
    if trust.contradicts_itself(packet) {
        return -2;
    }
    let Some(beginning) = trust.beginning_of(packet) else { return 0 };
    let last = before.and_then(|before| trust.end_of(before).or(trust.beginning_of(before)));
    match last {
        Some(last) if beginning < last => -2,
        Some(last) => i32::from(beginning - last < NEAR),
        None => {
            i32::from(trust.end_of(packet).is_some_and(|end| end.wrapping_sub(beginning) < NEAR))
        }
    }
}

fn vote_of_record(
    trace: &TraceClass,
    source: &dyn ReadAt,
    packet: &Packet,
    trust: EvidenceStrength,
) -> i32 {
    match first_record(trace, source, packet, trust) {
        Some(true) => 1,
        Some(false) => -1,
        None => 0,
    }
}

/// Whether the first event record makes sense; `None` when it proves nothing.
fn first_record(
    trace: &TraceClass,
    source: &dyn ReadAt,
    packet: &Packet,
    trust: EvidenceStrength,
) -> Option<bool> {
    let properties = &packet.properties;
    let class = trace.stream_classes.get(properties.stream_class)?;
    let most = properties.available_bits.div_ceil(8);
    let size = most.min(properties.events_at / 8 + FIRST_RECORD);
    let data = read_exactly(source, properties.offset, size as usize, Vec::new()).ok()?;
    let end = properties.available_bits.min(size * 8);
    if properties.events_at >= end {
        return None;
    }
    let mut state = State::new(0);
    state.slots = packet.slots.clone();
    state.clock = properties.beginning.unwrap_or(0);
    let mut reader = BitReader::new(&data, properties.events_at, end);
    let decoded = step_over(class, &mut reader, &mut state);
    let bytes = data.get((properties.events_at / 8) as usize..(reader.position() / 8) as usize);
    if bytes.unwrap_or_default().iter().all(|&byte| byte == 0) {
        return None;
    }
    match decoded {
        Ok(Some(time)) => {
            let after = trust.beginning_of(properties).is_none_or(|beginning| beginning <= time);
            Some(after && trust.end_of(properties).is_none_or(|end| time <= end))
        }
        Ok(None) => Some(false),
        Err(DecodeError::OutOfData) if size < most => None,
        Err(_) => Some(false),
    }
}

/// Steps over an event record; returns its time, `None` when its class is not declared.
fn step_over(
    class: &StreamClass,
    reader: &mut BitReader<'_>,
    state: &mut State,
) -> Result<Option<u64>, DecodeError> {
    state.forget_roles();
    state.forget_empty_elements();
    if let Some(header) = &class.event_header {
        skip(header, reader, state)?;
    }
    let time = state.clock;
    let event = match state.role(Role::EventClassId) {
        Some(id) => class.event_classes.iter().find(|event| event.id == id),
        None => class.event_classes.first(),
    };
    let Some(event) = event else { return Ok(None) };
    let scopes = [class.event_context.as_ref(), event.context.as_ref(), event.payload.as_ref()];
    for scope in scopes.into_iter().flatten() {
        skip(scope, reader, state)?;
    }
    Ok(Some(time))
}
