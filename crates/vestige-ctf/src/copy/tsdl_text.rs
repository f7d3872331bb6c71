//! Numbers, labels, comments and strings as TSDL has them.

use crate::model::{BitArrayClass, ByteOrder, DisplayBase, EnumerationMapping};

pub(super) fn number_text(
    size: u32,
    alignment: u32,
    signed: bool,
    order: ByteOrder,
    base: DisplayBase,
) -> String {
    let base = match base {
        DisplayBase::Binary => 2,
        DisplayBase::Octal => 8,
        DisplayBase::Decimal => 10,
        DisplayBase::Hexadecimal => 16,
    };
    let order = order_name(order);
    format!(
        "integer {{ size = {size}; align = {alignment}; signed = {signed}; byte_order = {order}; \
         base = {base}; }}"
    )
}

/// The labels of an enumeration with what its container can hold of their ranges.
pub(super) fn labels(mappings: &[EnumerationMapping], bits: u32, signed: bool) -> String {
    let bits = bits.min(64);
    let (lowest, highest) = match signed {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    let mut shown = Vec::new();
    for mapping in mappings {
        let (lower, upper) = (mapping.lower.max(lowest), mapping.upper.min(highest));
        if lower > upper {
            continue;
        }
        let label = quoted(&mapping.label);
        shown.push(match lower == upper {
            true => format!("{label} = {lower}"),
            false => format!("{label} = {lower} ... {upper}"),
        });
    }
    shown.join(", ")
}

/// The labels of a boolean: those of 1 are those of all values but 0.
pub(super) fn truth_labels(mappings: &[EnumerationMapping], bits: u32) -> String {
    let widened = mappings.iter().filter(|one| one.lower <= 1).map(|one| {
        let upper = if one.upper >= 1 { i128::from(u64::MAX) } else { one.upper };
        EnumerationMapping { upper, ..one.clone() }
    });
    labels(&widened.collect::<Vec<_>>(), bits, false)
}

/// Bits of the elements that stand for many bits in one: bytes, if they are whole.
pub(super) fn unit_of(bits: &BitArrayClass) -> u32 {
    if bits.size % 8 == 0 && bits.alignment % 8 == 0 {
        8
    } else {
        1
    }
}

/// A comment that says what something was.
pub(super) fn comment(what: &str) -> String {
    if what.is_empty() {
        return String::new();
    }
    // What a comment holds cannot end it.
    format!("/* {} */ ", what.replace("*/", "* /"))
}

pub(super) fn order_name(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::Little => "le",
        ByteOrder::Big => "be",
    }
}

/// A string literal (CTF 1.8.3, C.1.6).
pub(super) fn quoted(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 2);
    shown.push('"');
    for one in text.chars() {
        match one {
            '\\' => shown.push_str("\\\\"),
            '"' => shown.push_str("\\\""),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            '\0' => {}
            one => shown.push(one),
        }
    }
    shown.push('"');
    shown
}
