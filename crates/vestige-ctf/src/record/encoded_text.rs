//! Strings with a length or in UTF-16 or UTF-32, and BLOBs (CTF2-SPEC-2.0, sections 6.4.11
//! to 6.4.15).

use super::state::{array_length, DecodeError, State};
use crate::bits::{BitReader, OutOfData};
use crate::model::{BlobClass, ByteOrder, StringEncoding, TextClass};

/// Reads a string: its encoded codepoints, without U+0000 and the padding behind it.
///
/// # Errors
///
/// When the data ends before it, or its length is no multiple of a code unit.
pub fn text<'a>(
    class: &TextClass,
    reader: &mut BitReader<'a>,
    state: &State,
) -> Result<&'a [u8], DecodeError> {
    reader.align(8)?;
    let unit = class.encoding.unit();
    let Some(length) = &class.length else {
        return if unit == 1 { Ok(reader.string()?) } else { terminated(reader, unit) };
    };
    let count = array_length(length, Some(8), state, reader)?;
    let bytes = reader.bytes(count)?;
    match terminator(bytes, unit) {
        Some(end) => Ok(bytes.get(..end).unwrap_or(bytes)),
        None if bytes.len() % unit == 0 => Ok(bytes),
        None => Err(DecodeError::CutText { length: count, unit }),
    }
}

/// A string that ends with a code unit of zeros.
fn terminated<'a>(reader: &mut BitReader<'a>, unit: usize) -> Result<&'a [u8], DecodeError> {
    let start = (reader.position() / 8) as usize;
    let end = start + (reader.remaining() / 8) as usize;
    let rest = reader.data().get(start..end).ok_or(OutOfData)?;
    let length = terminator(rest, unit).ok_or(OutOfData)?;
    reader.skip((length + unit) as u64 * 8)?;
    rest.get(..length).ok_or(DecodeError::OutOfData)
}

/// Where the first code unit of zeros is.
fn terminator(bytes: &[u8], unit: usize) -> Option<usize> {
    if unit == 1 {
        return memchr::memchr(0, bytes);
    }
    let zero = |unit: &[u8]| unit.iter().all(|&byte| byte == 0);
    bytes.chunks_exact(unit).position(zero).map(|index| index * unit)
}

/// Reads a BLOB.
///
/// # Errors
///
/// When the data ends before it, or it has not the bytes that it must have.
pub fn blob<'a>(
    class: &BlobClass,
    reader: &mut BitReader<'a>,
    state: &State,
) -> Result<&'a [u8], DecodeError> {
    reader.align(8)?;
    let count = array_length(&class.length, Some(8), state, reader)?;
    let bytes = reader.bytes(count)?;
    match &class.expected {
        Some(expected) if bytes != expected => Err(DecodeError::OtherMetadata),
        _ => Ok(bytes),
    }
}

/// UTF-16 or UTF-32 as UTF-8; what is no codepoint becomes U+FFFD.
#[must_use]
pub fn to_utf8(bytes: &[u8], encoding: StringEncoding) -> Vec<u8> {
    let mut out = String::with_capacity(bytes.len());
    match encoding {
        StringEncoding::Utf8 => return bytes.to_vec(),
        StringEncoding::Utf16(order) => {
            let units = bytes.chunks_exact(2).map(|unit| integer(unit, order) as u16);
            let lone = char::REPLACEMENT_CHARACTER;
            out.extend(char::decode_utf16(units).map(|found| found.unwrap_or(lone)));
        }
        StringEncoding::Utf32(order) => {
            let units = bytes.chunks_exact(4).map(|unit| integer(unit, order));
            out.extend(
                units.map(|unit| char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)),
            );
        }
    }
    out.into_bytes()
}

fn integer(bytes: &[u8], order: ByteOrder) -> u32 {
    let join = |value: u32, &byte: &u8| value << 8 | u32::from(byte);
    match order {
        ByteOrder::Little => bytes.iter().rev().fold(0, join),
        ByteOrder::Big => bytes.iter().fold(0, join),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Length;

    fn read(class: &TextClass, data: &[u8]) -> Result<(Vec<u8>, u64), DecodeError> {
        let mut reader = BitReader::new(data, 0, data.len() as u64 * 8);
        let text = text(class, &mut reader, &State::new(0))?;
        Ok((to_utf8(text, class.encoding), reader.position()))
    }

    #[test]
    fn a_terminator_is_a_whole_aligned_code_unit() {
        let class = TextClass { length: None, encoding: StringEncoding::Utf16(ByteOrder::Little) };
        // U+0100 U+0001: two zero bytes in a row that are no terminator.
        assert_eq!(read(&class, &[0, 1, 1, 0, 0, 0, 9]), Ok(("\u{100}\u{1}".into(), 48)));
        assert_eq!(read(&class, &[0, 1, 1, 0, 0]), Err(DecodeError::OutOfData));
    }

    #[test]
    fn bytes_behind_the_terminator_are_padding() {
        let class = TextClass {
            length: Some(Length::Static(9)),
            encoding: StringEncoding::Utf32(ByteOrder::Big),
        };
        assert_eq!(read(&class, &[0, 1, 0xf6, 0, 0, 0, 0, 0, 7]), Ok(("\u{1f600}".into(), 72)));
        let cut = Err(DecodeError::CutText { length: 9, unit: 4 });
        assert_eq!(read(&class, &[0, 0, 0, 65, 0, 0, 0, 66, 7]), cut);
    }

    #[test]
    fn what_is_no_codepoint_is_replaced() {
        let lone = to_utf8(&[0xd8, 0, 0, 65], StringEncoding::Utf16(ByteOrder::Big));
        assert_eq!(String::from_utf8(lone).unwrap(), "\u{fffd}A");
        let large = to_utf8(&[0xff; 4], StringEncoding::Utf32(ByteOrder::Little));
        assert_eq!(String::from_utf8(large).unwrap(), "\u{fffd}");
    }
}
