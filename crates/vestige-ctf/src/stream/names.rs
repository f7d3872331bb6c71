//! How much text the metadata alone adds to a record, however short its bytes are.
//!
//! Names come with every record, so long names and many fields without a bit make much text
//! of little data. Whoever gathers records for rendering must know, to gather fewer.

use crate::model::{
    BitMeaning, EnumerationMapping, EnvironmentValue, EventClass, FieldClass, FieldKind,
    StreamClass, TraceClass,
};
use crate::record::MAX_EMPTY_ELEMENTS;

/// Punctuation around a field, bytes.
const PUNCTUATION: u64 = 8;

/// Environment entries that the text of a record may show.
const SHOWN_ENVIRONMENT: [&str; 3] = ["hostname", "domain", "procname"];

/// An upper bound of the bytes of names and labels in the text of a record of a stream class.
/// Array elements are counted only when they may take no bit of the data.
pub(super) fn names_size(trace: &TraceClass, class: &StreamClass) -> u64 {
    let shown = |entry: &(String, EnvironmentValue)| match &entry.1 {
        EnvironmentValue::String(text) if SHOWN_ENVIRONMENT.contains(&entry.0.as_str()) => {
            text.len() as u64
        }
        _ => 0,
    };
    let environment: u64 = trace.environment.iter().map(shown).sum();
    let events = class.event_classes.iter().map(event_size).max().unwrap_or(0);
    let contexts = scope_size(&class.packet_context) + scope_size(&class.event_context);
    environment.saturating_add(events).saturating_add(contexts)
}

fn event_size(event: &EventClass) -> u64 {
    let texts = [&event.name, &event.emf_uri];
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    (texts as u64)
        .saturating_add(scope_size(&event.context))
        .saturating_add(scope_size(&event.payload))
}

fn scope_size(scope: &Option<FieldClass>) -> u64 {
    scope.as_ref().map_or(0, field_size)
}

fn field_size(class: &FieldClass) -> u64 {
    let inner = match &class.kind {
        FieldKind::Enumeration(_, mappings) => labels_size(mappings),
        FieldKind::BitArray(class) => match &class.meaning {
            BitMeaning::Flags(mappings) | BitMeaning::Integer { mappings, .. } => {
                labels_size(mappings)
            }
            _ => 0,
        },
        FieldKind::VariableLength(class) => labels_size(&class.mappings),
        FieldKind::Optional(optional) => field_size(&optional.field),
        FieldKind::Array { element, .. } => {
            let elements = if may_be_empty(element) { MAX_EMPTY_ELEMENTS } else { 1 };
            field_size(element).saturating_add(PUNCTUATION).saturating_mul(elements)
        }
        _ => class.members().iter().fold(0u64, |size, member| {
            size.saturating_add(member.declared_name.len() as u64)
                .saturating_add(field_size(&member.class))
        }),
    };
    inner.saturating_add(PUNCTUATION)
}

fn labels_size(mappings: &[EnumerationMapping]) -> u64 {
    mappings.iter().map(|mapping| mapping.label.len() as u64 + PUNCTUATION).sum()
}

fn may_be_empty(class: &FieldClass) -> bool {
    let empty = |class: &FieldClass| may_be_empty(class);
    match &class.kind {
        FieldKind::Integer(_)
        | FieldKind::Enumeration(..)
        | FieldKind::Float { .. }
        | FieldKind::String
        | FieldKind::BitArray(_)
        | FieldKind::VariableLength(_) => false,
        FieldKind::Text(_) | FieldKind::Blob(_) | FieldKind::Optional(_) => true,
        FieldKind::Array { element, length, .. } => {
            !matches!(length, crate::model::Length::Static(1..)) || empty(element)
        }
        FieldKind::Structure { members, .. } => members.iter().all(|member| empty(&member.class)),
        FieldKind::Variant { options, .. } => options.iter().any(|option| empty(&option.class)),
    }
}
