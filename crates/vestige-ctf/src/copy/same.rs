//! Whether two field classes encode the same values in the same bits.

use crate::model::{FieldClass, FieldKind, Length, Member, Selector, StringEncoding, TextClass};

/// Whether fields of both classes have the same bits, if they begin at offsets that are the same
/// for all alignments.
pub(super) fn same_bits(source: &FieldClass, target: &FieldClass) -> bool {
    if source.alignment() != target.alignment() {
        return false;
    }
    match (&source.kind, &target.kind) {
        (
            FieldKind::Integer(one) | FieldKind::Enumeration(one, _),
            FieldKind::Integer(other) | FieldKind::Enumeration(other, _),
        ) => one.size == other.size && one.order == other.order,
        (
            FieldKind::Float { size, order, .. },
            FieldKind::Float { size: other, order: other_order, .. },
        ) => size == other && order == other_order,
        (FieldKind::String, FieldKind::String) => true,
        (FieldKind::VariableLength(_), FieldKind::VariableLength(_)) => true,
        (FieldKind::Structure { members, .. }, FieldKind::Structure { members: others, .. }) => {
            same_members(members, others)
        }
        (
            FieldKind::Array { element, length, .. },
            FieldKind::Array { element: other, length: other_length, .. },
        ) => same_length(length, other_length) && same_bits(element, other),
        (
            FieldKind::Variant { options, selector },
            FieldKind::Variant { options: others, selector: other },
        ) => {
            let kept = kept_options(options, selector, others.len());
            kept.len() == others.len()
                && selector.ranges.len() == other.ranges.len()
                && kept.iter().zip(others).all(|((_, one), two)| same_bits(&one.class, &two.class))
        }
        (FieldKind::BitArray(one), FieldKind::BitArray(other)) => {
            one.size == other.size && one.order == other.order && one.reversed == other.reversed
        }
        (
            FieldKind::BitArray(bits),
            FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _),
        ) => bits.size == integer.size && bits.order == integer.order && !bits.reversed,
        (FieldKind::Text(one), FieldKind::Text(other)) => {
            one.encoding == other.encoding && same_text_length(one, other)
        }
        (FieldKind::Blob(one), FieldKind::Blob(other)) => same_length(&one.length, &other.length),
        (FieldKind::Optional(one), FieldKind::Optional(other)) => {
            same_bits(&one.field, &other.field)
        }
        (FieldKind::Optional(one), FieldKind::Variant { options, .. }) => {
            options.get(1).is_some_and(|option| same_bits(&one.field, &option.class))
        }
        _ => same_bytes(source, target),
    }
}

/// Texts, BLOBs and many bits in one, which in CTF 1.8 are arrays.
fn same_bytes(source: &FieldClass, target: &FieldClass) -> bool {
    match (&source.kind, &target.kind) {
        (FieldKind::Array { element, length, text: true }, FieldKind::Text(text)) => {
            is_octet(element) && is_utf8_of(text, length)
        }
        (FieldKind::Text(text), FieldKind::Array { element, length, .. }) => {
            is_octet(element) && is_utf8_of(text, length)
        }
        (FieldKind::BitArray(bits), FieldKind::Array { element, length, .. }) => {
            is_octet(element)
                && matches!(length, Length::Static(count) if count * 8 == bits.size.into())
        }
        (FieldKind::Blob(blob), FieldKind::Array { element, length, .. }) => {
            is_octet(element) && same_length(&blob.length, length)
        }
        _ => false,
    }
}

fn is_utf8_of(text: &TextClass, length: &Length) -> bool {
    let same = text.length.as_ref().is_some_and(|other| same_length(other, length));
    text.encoding == StringEncoding::Utf8 && same
}

/// Whether elements are whole bytes in a row.
pub(super) fn is_octet(class: &FieldClass) -> bool {
    matches!(&class.kind, FieldKind::Integer(one) if one.size == 8 && one.alignment <= 8)
}

fn same_members(members: &[Member], others: &[Member]) -> bool {
    let mut pairs = members.iter().zip(others);
    members.len() == others.len() && pairs.all(|(one, other)| same_bits(&one.class, &other.class))
}

fn same_length(one: &Length, other: &Length) -> bool {
    match (one, other) {
        (Length::Static(one), Length::Static(other)) => one == other,
        (Length::Dynamic { .. }, Length::Dynamic { .. }) => true,
        _ => false,
    }
}

fn same_text_length(one: &TextClass, other: &TextClass) -> bool {
    match (&one.length, &other.length) {
        (None, None) => true,
        (Some(one), Some(other)) => same_length(one, other),
        _ => false,
    }
}

/// The options that a variant of `count` options in the copy has, with their indexes: CTF 2 has
/// none that no value selects.
pub(super) fn kept_options<'a>(
    options: &'a [Member],
    selector: &Selector,
    count: usize,
) -> Vec<(usize, &'a Member)> {
    let is_kept = |index: usize| {
        options.len() == count || selector.ranges.iter().any(|range| range.2 == index)
    };
    options.iter().enumerate().filter(|(index, _)| is_kept(*index)).collect()
}

/// The greatest alignment of a field and all in it, bits.
pub(super) fn greatest_alignment(class: &FieldClass) -> u32 {
    let inner = match &class.kind {
        FieldKind::Array { element, .. } => greatest_alignment(element),
        FieldKind::Optional(optional) => greatest_alignment(&optional.field),
        _ => class.members().iter().map(|one| greatest_alignment(&one.class)).max().unwrap_or(1),
    };
    inner.max(class.alignment())
}
