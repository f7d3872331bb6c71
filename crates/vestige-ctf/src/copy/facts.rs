//! What is known of a copy before its metadata are printed.

use std::fmt::Write;

use crate::model::{FieldClass, FieldKind, Member, StreamClass, TraceClass};

/// Version of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// CTF 1.8.
    Old,
    /// CTF 2.
    New,
}

/// What is known of the packets of a stream class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StreamFacts {
    pub has_beginning: bool,
    pub has_end: bool,
    pub has_discarded_events: bool,
}

/// What metadata are printed from.
pub(super) struct Facts<'a> {
    pub trace: &'a TraceClass,
    pub streams: Vec<StreamFacts>,
    pub epoch_origin: bool,
}

/// The members of a packet context besides those that each copy has.
pub(super) fn kept_members(context: &FieldClass) -> impl Iterator<Item = &Member> {
    context.members().iter().filter(|member| !has_role(&member.class))
}

/// Whether a field means something to readers.
pub(super) fn has_role(class: &FieldClass) -> bool {
    match &class.kind {
        FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => integer.role.is_some(),
        FieldKind::BitArray(bits) => !bits.uses.roles.is_empty(),
        FieldKind::VariableLength(integer) => !integer.uses.roles.is_empty(),
        _ => false,
    }
}

/// How many members the packet context of a copy has that each copy has.
pub(super) fn own_members(context: &FieldClass) -> usize {
    context.members().iter().take_while(|member| has_role(&member.class)).count()
}

/// Bits of the ID of event records.
pub(super) fn id_size(stream: &StreamClass) -> u32 {
    let fits = stream.event_classes.iter().all(|event| event.id <= u64::from(u16::MAX));
    if fits {
        16
    } else {
        64
    }
}

/// A UUID in its usual form.
pub(super) fn shown_uuid(uuid: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (index, byte) in uuid.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let _ = write!(text, "{byte:02x}");
    }
    text
}
