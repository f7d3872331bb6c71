//! How far the times of a stream class can be believed, and how much they prove.

use super::packet::PacketProperties;
use super::quirks::{trusts_packet_beginning, trusts_packet_end};
use crate::model::{FieldClass, FieldKind, Role, TraceClass};

/// What the times and IDs of a stream class are good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvidenceStrength {
    /// Whether no record lies before the beginning of its packet.
    pub beginning: bool,
    /// Whether no record lies after the end of its packet.
    pub end: bool,
    /// Bits of the shortest time stamp in a record header; 0 without any.
    pub time_bits: u32,
    /// Whether packets tell their size; else the only one reaches to the end of its file.
    pub sized: bool,
    /// Bits that a known event record class ID proves: how seldom chance would hit one.
    pub class_bits: u32,
}

impl EvidenceStrength {
    /// The trust in a stream class, by its metadata and by what is known of its tracer.
    #[must_use]
    pub fn of(trace: &TraceClass, class: usize) -> Self {
        let class = trace.stream_classes.get(class);
        let context = class.and_then(|class| class.packet_context.as_ref());
        let header = class.and_then(|class| class.event_header.as_ref());
        let whole = |role| context.and_then(|context| role_size(context, role)) == Some(64);
        let known = class.map_or(0, |class| class.event_classes.len() as u64);
        let id_bits = header.and_then(|header| role_size(header, Role::EventClassId)).unwrap_or(0);
        Self {
            beginning: whole(Role::PacketBeginning) && trusts_packet_beginning(trace),
            end: whole(Role::PacketEnd) && trusts_packet_end(trace),
            sized: [Role::PacketSize, Role::ContentSize]
                .into_iter()
                .any(|role| context.and_then(|context| role_size(context, role)).is_some()),
            time_bits: header.and_then(shortest_time).unwrap_or(0),
            class_bits: id_bits.saturating_sub(u64::BITS - known.saturating_sub(1).leading_zeros()),
        }
    }

    /// The end of a packet, when it has one that can be believed.
    #[must_use]
    pub fn end_of(self, packet: &PacketProperties) -> Option<u64> {
        self.believed_end(packet.beginning, packet.end)
    }

    /// The end of a packet of which both times are known, when it can be believed.
    #[must_use]
    pub fn believed_end(self, beginning: Option<u64>, end: Option<u64>) -> Option<u64> {
        let beginning = beginning.filter(|_| self.beginning).unwrap_or(0);
        // LTTng leaves a zero in packets that it could not close.
        end.filter(|&end| self.end && end != 0 && end >= beginning)
    }

    /// Whether a packet ends before it begins.
    #[must_use]
    pub fn contradicts_itself(self, packet: &PacketProperties) -> bool {
        let times = packet.beginning.zip(packet.end).filter(|_| self.beginning && self.end);
        times.is_some_and(|(beginning, end)| end != 0 && end < beginning)
    }

    /// The beginning of a packet, when it has one that can be believed.
    #[must_use]
    pub fn beginning_of(self, packet: &PacketProperties) -> Option<u64> {
        packet.beginning.filter(|_| self.beginning)
    }
}

/// The size of the smallest integer with a role.
fn role_size(class: &FieldClass, role: Role) -> Option<u32> {
    match &class.kind {
        FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => {
            (integer.role == Some(role)).then_some(integer.size)
        }
        _ => class.members().iter().filter_map(|member| role_size(&member.class, role)).min(),
    }
}

/// The size of the smallest integer that updates the clock.
fn shortest_time(class: &FieldClass) -> Option<u32> {
    match &class.kind {
        FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => {
            integer.clock.is_some().then_some(integer.size)
        }
        _ => class.members().iter().filter_map(|member| shortest_time(&member.class)).min(),
    }
}
