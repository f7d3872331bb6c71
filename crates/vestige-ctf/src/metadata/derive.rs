//! What follows from the declarations: roles, text arrays, clocks, visibility, fixed sizes.

use std::collections::HashSet;

use super::ranges::disjoint;
use crate::model::{
    Encoding, FieldClass, FieldKind, IntegerClass, Length, Member, Role, StreamClass, TextClass,
    TraceClass, Uses,
};

const PACKET_HEADER_ROLES: [(&str, Role); 3] = [
    ("magic", Role::Magic),
    ("stream_id", Role::StreamClassId),
    ("stream_instance_id", Role::DataStreamId),
];

const PACKET_CONTEXT_ROLES: [(&str, Role); 6] = [
    ("timestamp_begin", Role::PacketBeginning),
    ("timestamp_end", Role::PacketEnd),
    ("events_discarded", Role::EventsDiscarded),
    ("packet_seq_num", Role::PacketSequenceNumber),
    ("packet_size", Role::PacketSize),
    ("content_size", Role::ContentSize),
];

/// Derives everything, in the order in which one step needs the other.
pub fn derive(trace: &mut TraceClass) {
    if let Some(header) = &mut trace.packet_header {
        set_member_roles(header, &PACKET_HEADER_ROLES);
    }
    for stream in &mut trace.stream_classes {
        if let Some(context) = &mut stream.packet_context {
            set_member_roles(context, &PACKET_CONTEXT_ROLES);
        }
        if let Some(header) = &mut stream.event_header {
            set_event_id_role(header, None);
        }
        stream.clock = default_clock(stream);
        set_visibility(stream);
    }
    for class in all_scopes(trace) {
        mark_text(class);
        set_fixed_size(class);
    }
}

/// Derives what the metadata of CTF 2 does not declare itself: visibility and fixed sizes.
pub fn derive_declared(trace: &mut TraceClass) {
    trace.stream_classes.iter_mut().for_each(set_visibility);
    all_scopes(trace).for_each(set_fixed_size);
}

/// All structures that are decoded as a whole.
pub(super) fn all_scopes(trace: &mut TraceClass) -> impl Iterator<Item = &mut FieldClass> {
    let streams = trace.stream_classes.iter_mut().flat_map(|stream| {
        let events = stream
            .event_classes
            .iter_mut()
            .flat_map(|event| [&mut event.context, &mut event.payload]);
        [&mut stream.packet_context, &mut stream.event_header, &mut stream.event_context]
            .into_iter()
            .chain(events)
    });
    std::iter::once(&mut trace.packet_header).chain(streams).flatten()
}

fn integer_mut(class: &mut FieldClass) -> Option<&mut IntegerClass> {
    match &mut class.kind {
        FieldKind::Integer(class) | FieldKind::Enumeration(class, _) => Some(class),
        _ => None,
    }
}

fn members_mut(class: &mut FieldClass) -> &mut [Member] {
    match &mut class.kind {
        FieldKind::Structure { members: list, .. } | FieldKind::Variant { options: list, .. } => {
            list
        }
        _ => &mut [],
    }
}

fn set_member_roles(scope: &mut FieldClass, roles: &[(&str, Role)]) {
    for member in members_mut(scope) {
        let role = roles.iter().find(|(name, _)| *name == member.name()).map(|(_, role)| *role);
        if let (Some(role), Some(integer)) = (role, integer_mut(&mut member.class)) {
            integer.role = Some(role);
            if role == Role::PacketEnd {
                // The end of a packet lies ahead of its records: decoding it must not move
                // the clock.
                integer.clock = None;
            }
        }
    }
}

/// The event record class ID is any integer named `id`, at any depth of the header.
fn set_event_id_role(class: &mut FieldClass, name: Option<&str>) {
    if let Some(integer) = integer_mut(class) {
        if name == Some("id") {
            integer.role = Some(Role::EventClassId);
        }
        return;
    }
    for member in members_mut(class) {
        let name = member.name().to_owned();
        set_event_id_role(&mut member.class, Some(&name));
    }
}

/// The clock of a stream class: the one that its headers and contexts update.
fn default_clock(stream: &StreamClass) -> Option<usize> {
    fn find(class: &FieldClass) -> Option<usize> {
        match &class.kind {
            FieldKind::Array { element, .. } => find(element),
            FieldKind::Integer(class) | FieldKind::Enumeration(class, _) => class.clock,
            FieldKind::BitArray(class) => class.uses.clock,
            FieldKind::VariableLength(class) => class.uses.clock,
            FieldKind::Optional(class) => find(&class.field),
            _ => class.members().iter().find_map(|member| find(&member.class)),
        }
    }
    let events = stream.event_classes.iter().flat_map(|event| [&event.context, &event.payload]);
    [&stream.packet_context, &stream.event_header, &stream.event_context]
        .into_iter()
        .chain(events)
        .flatten()
        .find_map(find)
}

/// Hides what only serves the decoder: integers with a role or a clock that no visible
/// array or variant depends on. Users come after their targets, hence the reverse order.
fn set_visibility(stream: &mut StreamClass) {
    let mut needed = HashSet::new();
    for event in &mut stream.event_classes {
        for class in [&mut event.payload, &mut event.context].into_iter().flatten() {
            update_visibility(class, &mut needed);
        }
    }
    for class in [&mut stream.event_context, &mut stream.packet_context].into_iter().flatten() {
        update_visibility(class, &mut needed);
    }
}

fn update_visibility(class: &mut FieldClass, needed: &mut HashSet<usize>) {
    class.visible = match &mut class.kind {
        FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => {
            let plain = integer.clock.is_none() && integer.role.is_none();
            plain || integer.slot.is_some_and(|slot| needed.contains(&slot))
        }
        FieldKind::Structure { members, .. } => {
            let mut visible = members.is_empty();
            for member in members.iter_mut().rev() {
                update_visibility(&mut member.class, needed);
                member.class.visible &= !member.is_hidden();
                visible |= member.class.visible;
            }
            visible
        }
        FieldKind::Variant { options, selector } => {
            let mut visible = false;
            for option in options.iter_mut().rev() {
                update_visibility(&mut option.class, needed);
                visible |= option.class.visible;
            }
            if visible {
                options.iter_mut().for_each(|option| option.class.visible = true);
                needed.insert(selector.slot);
            }
            visible
        }
        FieldKind::Array { element, length, .. } => {
            update_visibility(element, needed);
            if let (true, Length::Dynamic { slot, .. }) = (element.visible, &*length) {
                needed.insert(*slot);
            }
            element.visible
        }
        FieldKind::BitArray(class) => is_shown(&class.uses, needed),
        FieldKind::VariableLength(class) => is_shown(&class.uses, needed),
        FieldKind::Optional(optional) => {
            update_visibility(&mut optional.field, needed);
            if optional.field.visible {
                needed.insert(optional.selector.slot);
            }
            optional.field.visible
        }
        FieldKind::Text(TextClass { length, .. }) => {
            if let Some(Length::Dynamic { slot, .. }) = length {
                needed.insert(*slot);
            }
            true
        }
        FieldKind::Blob(blob) => {
            if let Length::Dynamic { slot, .. } = &blob.length {
                needed.insert(*slot);
            }
            blob.expected.is_none()
        }
        FieldKind::Float { .. } | FieldKind::String => true,
    };
}

/// A number that only serves the decoder is not shown, unless a visible field depends on it.
fn is_shown(uses: &Uses, needed: &HashSet<usize>) -> bool {
    let plain = uses.clock.is_none() && uses.roles.is_empty();
    plain || uses.slot.is_some_and(|slot| needed.contains(&slot))
}

/// Arrays of byte-aligned bytes with a text encoding are strings.
fn mark_text(class: &mut FieldClass) {
    if let FieldKind::Array { element, text, .. } = &mut class.kind {
        *text = element.as_integer().is_some_and(|integer| {
            integer.size == 8 && integer.alignment == 8 && integer.encoding == Encoding::Utf8
        });
        mark_text(element);
        return;
    }
    if let FieldKind::Optional(optional) = &mut class.kind {
        mark_text(&mut optional.field);
    }
    for member in members_mut(class) {
        mark_text(&mut member.class);
    }
}

/// Works out the size of fields that always have the same one once they are aligned.
fn set_fixed_size(class: &mut FieldClass) {
    class.fixed_size = match &mut class.kind {
        // A value that others or the clock need must be read, not stepped over.
        FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => {
            integer.noted =
                integer.slot.is_some() || integer.clock.is_some() || integer.role.is_some();
            (!integer.noted).then_some(u64::from(integer.size))
        }
        FieldKind::Float { size, .. } => Some(u64::from(*size)),
        FieldKind::String | FieldKind::Variant { .. } | FieldKind::VariableLength(_) => None,
        FieldKind::BitArray(class) => (!class.uses.any()).then_some(u64::from(class.size)),
        FieldKind::Text(text) => match text.length {
            // Whether wider code units are whole is seen only when they are read.
            Some(Length::Static(count)) if text.encoding.unit() == 1 => count.checked_mul(8),
            _ => None,
        },
        FieldKind::Blob(blob) => match blob.length {
            Length::Static(count) if blob.expected.is_none() => count.checked_mul(8),
            _ => None,
        },
        FieldKind::Optional(optional) => {
            set_fixed_size(&mut optional.field);
            None
        }
        FieldKind::Array { element, length, .. } => {
            set_fixed_size(element);
            match length {
                Length::Static(count) => fixed_array_size(element, *count),
                Length::Dynamic { .. } => None,
            }
        }
        FieldKind::Structure { members, .. } => {
            let mut size = Some(0u64);
            for member in members.iter_mut() {
                set_fixed_size(&mut member.class);
                size = size.and_then(|size| add_member(size, &member.class));
            }
            size
        }
    };
    if let FieldKind::Variant { options, selector } = &mut class.kind {
        selector.ranges = disjoint(std::mem::take(&mut selector.ranges));
        options.iter_mut().for_each(|option| set_fixed_size(&mut option.class));
    }
}

fn add_member(size: u64, member: &FieldClass) -> Option<u64> {
    let mask = u64::from(member.alignment()) - 1;
    let start = size.checked_add(mask)? & !mask;
    start.checked_add(member.fixed_size?)
}

/// Elements may need padding in between; then the stride is the padded size. Elements
/// without a bit have to be counted when they are read, so that there are not too many.
fn fixed_array_size(element: &FieldClass, count: u64) -> Option<u64> {
    let Some(before_last) = count.checked_sub(1) else { return Some(0) };
    let size = element.fixed_size.filter(|size| *size > 0)?;
    let mask = u64::from(element.alignment()) - 1;
    let stride = size.checked_add(mask)? & !mask;
    stride.checked_mul(before_last)?.checked_add(size)
}
