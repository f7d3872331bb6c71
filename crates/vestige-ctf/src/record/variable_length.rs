//! Integers in the LEB128 encoding (CTF2-SPEC-2.0, sections 6.4.9 and 6.4.10).

use super::state::{DecodeError, State, MAX_INTEGER_BYTES};
use super::wide_number::Number;
use crate::bits::BitReader;
use crate::model::{ByteOrder, VariableLengthClass};

/// Reads a variable-length integer and notes it for whoever needs it.
///
/// # Errors
///
/// When the data ends before it, or it has more than [`MAX_INTEGER_BYTES`].
#[inline]
pub fn variable_length(
    class: &VariableLengthClass,
    reader: &mut BitReader<'_>,
    state: &mut State,
) -> Result<Number, DecodeError> {
    reader.align(8)?;
    let start = (reader.position() / 8) as usize;
    let mut length = 0;
    let mut raw = 0u64;
    loop {
        let byte = reader.unsigned(8, ByteOrder::Little)?;
        let shift = length as u32 * 7;
        if shift < 64 {
            raw |= (byte & 0x7f) << shift;
        }
        length += 1;
        if byte < 0x80 {
            break;
        }
        if length == MAX_INTEGER_BYTES {
            return Err(DecodeError::IntegerTooLong);
        }
    }
    let bits = length as u32 * 7;
    let number = if bits <= 63 {
        narrow(raw, bits, class.signed)
    } else {
        let bytes = reader.data().get(start..start + length).unwrap_or_default();
        wide(bytes, bits, class.signed)
    };
    if class.uses.any() {
        state.note_uses(&class.uses, bits, raw, number.saturated());
    }
    Ok(number)
}

fn narrow(raw: u64, bits: u32, signed: bool) -> Number {
    if signed {
        Number::Signed(crate::bits::sign_extend(raw, bits))
    } else {
        Number::Unsigned(raw)
    }
}

/// Joins the groups of seven bits of a long encoding; padded short values become short.
fn wide(groups: &[u8], bits: u32, signed: bool) -> Number {
    let mut bytes = vec![0u8; (bits as usize).div_ceil(8)];
    for (index, group) in groups.iter().enumerate() {
        let at = index * 7;
        let pair = u16::from(group & 0x7f) << (at % 8);
        for (step, part) in pair.to_le_bytes().into_iter().enumerate() {
            if let Some(byte) = bytes.get_mut(at / 8 + step) {
                *byte |= part;
            }
        }
    }
    let number = Number::from_bytes(bytes, bits, signed);
    let Some(value) = number.value() else { return number };
    let short = if signed {
        i64::try_from(value).map(Number::Signed)
    } else {
        u64::try_from(value).map(Number::Unsigned)
    };
    short.unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DisplayBase, Uses};

    fn decode(bytes: &[u8], signed: bool) -> Result<Number, DecodeError> {
        let class = VariableLengthClass {
            signed,
            base: DisplayBase::Decimal,
            mappings: Vec::new(),
            uses: Uses::default(),
        };
        let mut reader = BitReader::new(bytes, 0, bytes.len() as u64 * 8);
        variable_length(&class, &mut reader, &mut State::new(0))
    }

    #[test]
    fn the_examples_of_the_specification_have_their_values() {
        assert_eq!(decode(&[0xb4, 0xc7, 0x72], false), Ok(Number::Unsigned(1_876_916)));
        assert_eq!(decode(&[0xb4, 0xc7, 0x72], true), Ok(Number::Signed(-220_236)));
    }

    #[test]
    fn values_of_64_bits_and_more_are_exact() {
        let mut largest = vec![0xff; 9];
        largest.push(0x01);
        assert_eq!(decode(&largest, false), Ok(Number::Unsigned(u64::MAX)));
        let lowest = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f];
        assert_eq!(decode(&lowest, true), Ok(Number::Signed(i64::MIN)));
        let beyond = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02];
        assert_eq!(decode(&beyond, false).map(|number| number.value()), Ok(Some(1 << 64)));
    }

    #[test]
    fn an_integer_without_an_end_is_refused() {
        assert_eq!(decode(&[0x80; 1000], false), Err(DecodeError::IntegerTooLong));
        assert_eq!(decode(&[0x80; 3], false), Err(DecodeError::OutOfData));
    }
}
