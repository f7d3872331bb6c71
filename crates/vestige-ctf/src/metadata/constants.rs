//! The words TSDL knows for byte orders, bases and encodings.

use super::attributes::{Attribute, Value};
use crate::error::Result;
use crate::model::{ByteOrder, DisplayBase, Encoding};

/// A byte order; `None` means the trace's own.
pub(super) fn byte_order(attribute: &Attribute) -> Result<Option<ByteOrder>> {
    match attribute.word() {
        Some("le") => Ok(Some(ByteOrder::Little)),
        Some("be" | "network") => Ok(Some(ByteOrder::Big)),
        Some("native") => Ok(None),
        _ => Err(attribute.error("le, be, network or native (CTF 1.8.3, 4.1.3)")),
    }
}

/// A display base, as a number or as one of the words and printf letters.
pub(super) fn base(attribute: &Attribute) -> Result<DisplayBase> {
    let base = match &attribute.value {
        Value::Integer(2) => Some(DisplayBase::Binary),
        Value::Integer(8) => Some(DisplayBase::Octal),
        Value::Integer(10) => Some(DisplayBase::Decimal),
        Value::Integer(16) => Some(DisplayBase::Hexadecimal),
        Value::Integer(_) | Value::Text(_) => None,
        Value::Name(word) => match word.as_str() {
            "decimal" | "dec" | "d" | "i" | "u" => Some(DisplayBase::Decimal),
            "hexadecimal" | "hex" | "x" | "X" | "p" => Some(DisplayBase::Hexadecimal),
            "octal" | "oct" | "o" => Some(DisplayBase::Octal),
            "binary" | "b" => Some(DisplayBase::Binary),
            _ => None,
        },
    };
    base.ok_or_else(|| {
        attribute.error("a base as 2, 8, 10, 16 or a word for it (CTF 1.8.3, 4.1.5)")
    })
}

/// A text encoding.
pub(super) fn encoding(attribute: &Attribute) -> Result<Encoding> {
    match attribute.word() {
        Some("UTF8" | "utf8" | "ASCII" | "ascii") => Ok(Encoding::Utf8),
        Some("none" | "NONE") => Ok(Encoding::None),
        // A hyphen cannot be in a word, but some write the encoding as everybody does.
        None if attribute.value == Value::Text("UTF-8".to_owned()) => Ok(Encoding::Utf8),
        _ => Err(attribute.error("UTF8, ASCII or none (CTF 1.8.3, 4.1.5)")),
    }
}

/// An alignment in bits.
pub(super) fn alignment(attribute: &Attribute) -> Result<u32> {
    let bits = u32::try_from(attribute.unsigned()?).unwrap_or(0);
    // A record is read through windows whose start is kept on this boundary.
    if bits.is_power_of_two() && bits <= crate::stream::MAX_ALIGNMENT {
        Ok(bits)
    } else {
        Err(attribute.error("a power of two of at most 32768 bits"))
    }
}
