//! The words TSDL knows for byte orders, bases and encodings.

use super::attributes::{Attribute, Value};
use crate::error::Result;
use crate::model::{ByteOrder, DisplayBase, Encoding};

/// A byte order; `None` means the trace's own.
pub(super) fn byte_order(attribute: &Attribute) -> Result<Option<ByteOrder>> {
    match attribute.text()? {
        "le" => Ok(Some(ByteOrder::Little)),
        "be" | "network" => Ok(Some(ByteOrder::Big)),
        "native" => Ok(None),
        _ => Err(attribute.error("le, be, network or native")),
    }
}

/// A display base, as a number or as one of the words and printf letters.
pub(super) fn base(attribute: &Attribute) -> Result<DisplayBase> {
    let base = match &attribute.value {
        Value::Integer(2) => Some(DisplayBase::Binary),
        Value::Integer(8) => Some(DisplayBase::Octal),
        Value::Integer(10) => Some(DisplayBase::Decimal),
        Value::Integer(16) => Some(DisplayBase::Hexadecimal),
        Value::Integer(_) => None,
        Value::Text(word) | Value::Name(word) => match word.as_str() {
            "decimal" | "dec" | "d" | "i" | "u" => Some(DisplayBase::Decimal),
            "hexadecimal" | "hex" | "x" | "X" | "p" => Some(DisplayBase::Hexadecimal),
            "octal" | "oct" | "o" => Some(DisplayBase::Octal),
            "binary" | "b" => Some(DisplayBase::Binary),
            _ => None,
        },
    };
    base.ok_or_else(|| attribute.error("2, 8, 10 or 16"))
}

/// A text encoding.
pub(super) fn encoding(attribute: &Attribute) -> Result<Encoding> {
    match attribute.text()? {
        "UTF8" | "utf8" | "UTF-8" | "utf-8" | "ASCII" | "ascii" => Ok(Encoding::Utf8),
        "none" | "NONE" => Ok(Encoding::None),
        _ => Err(attribute.error("UTF8, ASCII or none")),
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
