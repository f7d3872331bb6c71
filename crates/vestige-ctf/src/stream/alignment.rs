//! The greatest alignment in the records of a stream class.

use crate::model::{FieldClass, FieldKind, StreamClass};

/// The greatest alignment of any field of its records, bits; at least a byte.
///
/// Fields are aligned from the beginning of their packet. Where packets lie in one buffer,
/// each has to begin at a multiple of this.
pub(super) fn greatest_alignment(class: &StreamClass) -> u32 {
    let events = class.event_classes.iter().flat_map(|event| [&event.context, &event.payload]);
    let scopes = [&class.event_header, &class.event_context].into_iter().chain(events);
    scopes.flatten().map(of_field).max().unwrap_or(0).max(8)
}

fn of_field(class: &FieldClass) -> u32 {
    let inner = match &class.kind {
        FieldKind::Array { element, .. } => of_field(element),
        FieldKind::Optional(optional) => of_field(&optional.field),
        _ => class.members().iter().map(|member| of_field(&member.class)).max().unwrap_or(0),
    };
    inner.max(class.alignment()).max(class.minimum_alignment)
}
