//! Encoding numbers, bits and texts (CTF 1.8.3, section 4.1; CTF2-SPEC-2.0, section 6.4).

use super::bit_writer::Output;
use super::error::EncodeError;
use super::value::Cell;
use crate::bits::low_bits;
use crate::model::{BitArrayClass, BitMeaning, ByteOrder, IntegerClass, StringEncoding};

type Result<T> = std::result::Result<T, EncodeError>;

/// The error for a field that was given no value.
pub fn missing() -> EncodeError {
    EncodeError::new("no value is given")
}

/// The error for a value of another kind.
pub fn expected(what: &str) -> EncodeError {
    EncodeError::new(format!("expected {what}"))
}

/// Refuses what does not fit an integer of `size` bits.
#[inline]
pub fn check_range(value: i128, size: u32, signed: bool) -> Result<()> {
    // What most values are, without arithmetic on 128 bits.
    let low = value as u64;
    if i128::from(low) == value && !signed && (size >= 64 || low >> size == 0) {
        return Ok(());
    }
    check_any_range(value, size, signed)
}

#[inline(never)]
fn check_any_range(value: i128, size: u32, signed: bool) -> Result<()> {
    let (lowest, highest) = match (signed, size.min(127)) {
        (true, size) => (-(1i128 << (size - 1)), (1i128 << (size - 1)) - 1),
        (false, size) => (0, ((1u128 << size) - 1) as i128),
    };
    if (lowest..=highest).contains(&value) {
        return Ok(());
    }
    let message = format!("{value} is out of range: expected {lowest} to {highest}");
    Err(EncodeError::number(value, message))
}

/// Writes an integer of up to 64 bits.
#[inline]
pub fn integer<O: Output>(out: &mut O, class: &IntegerClass, value: i128) -> Result<()> {
    check_range(value, class.size, class.signed)?;
    out.align(class.alignment);
    out.unsigned(low_bits(value as u64, class.size), class.size, class.order);
    Ok(())
}

/// Writes a floating point number of 32 or 64 bits.
#[inline]
pub fn float<O: Output>(
    out: &mut O,
    (size, alignment, order): (u32, u32, ByteOrder),
    value: f64,
) -> Result<()> {
    out.align(alignment);
    let bits = if size == 32 {
        let narrow = value as f32;
        if narrow.is_infinite() && value.is_finite() {
            return Err(EncodeError::new(format!("{value} is out of range for 32 bits")));
        }
        u64::from(narrow.to_bits())
    } else {
        value.to_bits()
    };
    out.unsigned(bits, size, order);
    Ok(())
}

/// Writes bits of any number and meaning; returns what a selector makes of them.
pub fn bit_array<O: Output>(out: &mut O, class: &BitArrayClass, cell: Cell<'_>) -> Result<i128> {
    let signed = matches!(class.meaning, BitMeaning::Integer { signed: true, .. });
    if matches!(class.meaning, BitMeaning::Float) {
        let message = "floating point numbers of this size cannot be written";
        return Err(EncodeError::new(message));
    }
    let (mut bytes, negative) = cell.wide().ok_or_else(|| expected("an integer"))?;
    if matches!(class.meaning, BitMeaning::Boolean) {
        bytes = vec![u8::from(bytes.iter().any(|&byte| byte != 0))];
    } else if !fits(&bytes, negative, class.size, signed) {
        let range = if signed { "a signed" } else { "an unsigned" };
        let message = format!("out of range: expected {range} integer of {} bits", class.size);
        return Err(EncodeError::new(message));
    }
    bytes.resize((class.size as usize).div_ceil(8), if negative { 0xff } else { 0 });
    let first = bytes.first().copied().unwrap_or(0);
    if class.reversed {
        bytes = reversed(&bytes, class.size);
    }
    out.align(class.alignment);
    let rest = class.size % 8;
    let whole = (class.size / 8) as usize;
    let last = bytes.get(whole).map(|&byte| low_bits(byte.into(), rest));
    let octets = bytes.get(..whole).unwrap_or(&[]);
    match class.order {
        ByteOrder::Little => {
            octets.iter().for_each(|&byte| out.unsigned(byte.into(), 8, class.order));
            last.into_iter().for_each(|bits| out.unsigned(bits, rest, class.order));
        }
        ByteOrder::Big => {
            last.into_iter().for_each(|bits| out.unsigned(bits, rest, class.order));
            octets.iter().rev().for_each(|&byte| out.unsigned(byte.into(), 8, class.order));
        }
    }
    Ok(match class.meaning {
        BitMeaning::Boolean => i128::from(first & 1),
        _ => cell.integer().unwrap_or(0),
    })
}

/// Whether all bits behind the `size` lowest are copies of the sign.
fn fits(bytes: &[u8], negative: bool, size: u32, signed: bool) -> bool {
    if negative && !signed {
        return false;
    }
    let kept = if signed { size - 1 } else { size } as usize;
    let bit = |index: usize| bytes.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1);
    (kept..bytes.len() * 8).all(|index| bit(index) == negative)
}

/// The same bits with the first one last.
fn reversed(bytes: &[u8], size: u32) -> Vec<u8> {
    let mut result = vec![0u8; bytes.len()];
    for index in 0..size as usize {
        let set = bytes.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1);
        let target = size as usize - 1 - index;
        if let Some(byte) = result.get_mut(target / 8).filter(|_| set) {
            *byte |= 1 << (target % 8);
        }
    }
    result
}

/// Writes an integer in the LEB128 encoding (CTF2-SPEC-2.0, sections 6.4.9 and 6.4.10).
pub fn variable_length<O: Output>(out: &mut O, signed: bool, value: i128) -> Result<()> {
    if value < 0 && !signed {
        let message = format!("{value} is out of range: expected 0 or more");
        return Err(EncodeError::number(value, message));
    }
    out.align(8);
    let mut rest = value;
    loop {
        let group = (rest & 0x7f) as u64;
        rest >>= 7;
        let done = match signed {
            true => (rest == 0 && group & 0x40 == 0) || (rest == -1 && group & 0x40 != 0),
            false => rest == 0,
        };
        out.unsigned(if done { group } else { group | 0x80 }, 8, ByteOrder::Little);
        if done {
            return Ok(());
        }
    }
}

/// The code units of a text, which is given as UTF-8.
pub fn code_units(bytes: &[u8], encoding: StringEncoding) -> Result<Vec<u8>> {
    let text = || std::str::from_utf8(bytes).map_err(|_| expected("a text that is valid UTF-8"));
    Ok(match encoding {
        StringEncoding::Utf8 => bytes.to_vec(),
        StringEncoding::Utf16(ByteOrder::Little) => {
            text()?.encode_utf16().flat_map(u16::to_le_bytes).collect()
        }
        StringEncoding::Utf16(ByteOrder::Big) => {
            text()?.encode_utf16().flat_map(u16::to_be_bytes).collect()
        }
        StringEncoding::Utf32(ByteOrder::Little) => {
            text()?.chars().flat_map(|one| u32::from(one).to_le_bytes()).collect()
        }
        StringEncoding::Utf32(ByteOrder::Big) => {
            text()?.chars().flat_map(|one| u32::from(one).to_be_bytes()).collect()
        }
    })
}

/// The bytes of a text without U+0000, at which readers would end it.
pub fn text_bytes(cell: Cell<'_>) -> Result<&[u8]> {
    let bytes = cell.array_bytes().ok_or_else(|| expected("a text"))?;
    without_nul(bytes).map(|()| bytes)
}

/// Refuses a text with U+0000.
pub fn without_nul(bytes: &[u8]) -> Result<()> {
    match memchr::memchr(0, bytes) {
        None => Ok(()),
        Some(at) => Err(EncodeError::new(format!("U+0000 at byte {at} would end the text"))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::bit_writer::BitWriter;
    use super::super::value::Value;
    use super::*;
    use crate::model::{DisplayBase, Uses};

    fn leb128(signed: bool, value: i128) -> Vec<u8> {
        let mut writer = BitWriter::default();
        variable_length(&mut writer, signed, value).unwrap();
        writer.data().to_vec()
    }

    #[test]
    fn the_examples_of_the_specification_have_their_bytes() {
        assert_eq!(leb128(false, 1_876_916), [0xb4, 0xc7, 0x72]);
        assert_eq!(leb128(true, -220_236), [0xb4, 0xc7, 0x72]);
        assert_eq!(leb128(true, 64), [0xc0, 0x00]);
        assert_eq!(leb128(true, -64), [0x40]);
        assert_eq!(leb128(false, 0), [0x00]);
    }

    #[test]
    fn integers_of_many_bits_fit_by_their_sign() {
        let class = |signed| BitArrayClass {
            size: 65,
            alignment: 1,
            order: ByteOrder::Little,
            reversed: false,
            meaning: BitMeaning::Integer {
                signed,
                base: DisplayBase::Decimal,
                mappings: Vec::new(),
            },
            uses: Uses::default(),
        };
        let fits = |signed, value| {
            let value = Value::Integer(value);
            bit_array(&mut BitWriter::default(), &class(signed), Cell::Value(&value)).is_ok()
        };
        assert!(fits(false, (1 << 65) - 1) && !fits(false, 1 << 65) && !fits(false, -1));
        assert!(fits(true, (1 << 64) - 1) && !fits(true, 1 << 64));
        assert!(fits(true, -(1 << 64)) && !fits(true, -(1 << 64) - 1));
    }
}
