//! What the head of a packet must say, by the metadata.

use crate::model::{FieldKind, Member, StreamClass, TraceClass};

/// The first field of a packet header, in the trace's byte order.
pub const MAGIC: u64 = 0xC1FC_1FC1;

/// The UUID that a member of a packet header must have.
pub(super) fn expected_uuid(member: &Member, trace: &TraceClass) -> Option<[u8; 16]> {
    match &member.class.kind {
        FieldKind::Blob(blob) => blob.expected,
        _ => trace.uuid.filter(|_| trace.version.0 < 2 && member.name() == "uuid"),
    }
}

/// The stream class of packets with an ID of one, or without any.
pub(super) fn stream_class_of(
    trace: &TraceClass,
    id: Option<u64>,
) -> Option<(usize, &StreamClass)> {
    let classes = &trace.stream_classes;
    match id {
        Some(id) => classes.iter().enumerate().find(|(_, class)| class.id == id),
        None => {
            let default = classes.iter().position(|class| class.id == 0).unwrap_or(0);
            classes.iter().enumerate().nth(default)
        }
    }
}
