//! Compressed sections: `SHF_COMPRESSED` (gABI, "Compression Header") with
//! zlib or zstd data, and the older `.zdebug_*` form of the GNU tools.

use std::io::Read;

use miniz_oxide::inflate::core::{decompress, inflate_flags, DecompressorOxide};
use miniz_oxide::inflate::TINFLStatus;

use crate::elf::encoded_numbers::{Cursor, Encoding};
use crate::error::SymbolError;

const ELFCOMPRESS_ZLIB: u32 = 1;
const ELFCOMPRESS_ZSTD: u32 = 2;
const GNU_MAGIC: &[u8] = b"ZLIB";

/// Debug information shrinks some ten times; more than this is an attack on memory.
const MAX_RATIO: u64 = 100;
/// Small sections of zeros may shrink more.
const ALWAYS_ALLOWED: u64 = 1 << 20;

enum Method {
    Zlib,
    Zstd,
}

/// Compressed data, and what its header says of it.
struct Compressed<'a> {
    method: Method,
    size: u64,
    data: &'a [u8],
}

/// Decompresses a section that has the flag `SHF_COMPRESSED`; `offset` is for messages.
pub(crate) fn decompress_section(
    section: &[u8],
    encoding: Encoding,
    offset: u64,
) -> Result<Vec<u8>, SymbolError> {
    let header = parse_header(section, encoding).ok_or(SymbolError::Malformed {
        what: "a compressed section",
        offset,
        expected: "a compression header of type 1 (zlib) or 2 (zstd)",
    })?;
    inflate(&header, offset)
}

/// Decompresses a `.zdebug_*` section; `offset` is for messages.
pub(crate) fn decompress_gnu(section: &[u8], offset: u64) -> Result<Vec<u8>, SymbolError> {
    let header = parse_gnu_header(section).ok_or(SymbolError::Malformed {
        what: "a .zdebug section",
        offset,
        expected: "the bytes `ZLIB` and a size of 8 bytes",
    })?;
    inflate(&header, offset)
}

fn parse_header(section: &[u8], encoding: Encoding) -> Option<Compressed<'_>> {
    let mut cursor = Cursor::new(section, encoding);
    let method = match cursor.u32()? {
        ELFCOMPRESS_ZLIB => Method::Zlib,
        ELFCOMPRESS_ZSTD => Method::Zstd,
        _ => return None,
    };
    if encoding.is_64 {
        cursor.u32()?;
    }
    let (size, _alignment) = (cursor.word()?, cursor.word()?);
    let header_size = if encoding.is_64 { 24 } else { 12 };
    Some(Compressed { method, size, data: section.get(header_size..)? })
}

fn parse_gnu_header(section: &[u8]) -> Option<Compressed<'_>> {
    // The size is big-endian whatever the file's byte order is.
    let encoding = Encoding { big_endian: true, is_64: true };
    let mut cursor = Cursor::new(section.strip_prefix(GNU_MAGIC)?, encoding);
    let size = cursor.u64()?;
    Some(Compressed { method: Method::Zlib, size, data: section.get(12..)? })
}

fn inflate(compressed: &Compressed<'_>, offset: u64) -> Result<Vec<u8>, SymbolError> {
    let announced = compressed.size;
    let failed = |expected| SymbolError::Compressed { offset, expected, announced };
    let limit = (compressed.data.len() as u64).saturating_mul(MAX_RATIO) + ALWAYS_ALLOWED;
    let size = usize::try_from(announced)
        .ok()
        .filter(|_| announced <= limit)
        .ok_or_else(|| failed("at most a hundred times the size of the compressed data"))?;
    let mut data = vec![0; size];
    let complete = match compressed.method {
        Method::Zlib => inflate_zlib(compressed.data, &mut data),
        Method::Zstd => inflate_zstd(compressed.data, &mut data),
    };
    complete.ok_or_else(|| failed("data that decompresses to that size"))?;
    Ok(data)
}

fn inflate_zlib(input: &[u8], output: &mut [u8]) -> Option<()> {
    // The output is whole and never wraps. The checksum is left out: the linker wrote it
    // over the same bytes, and a wrong byte must be tolerated later in any case.
    let flags = inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER
        | inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF
        | inflate_flags::TINFL_FLAG_IGNORE_ADLER32;
    let mut state = DecompressorOxide::new();
    let (status, _, written) = decompress(&mut state, input, output, 0, flags);
    (status == TINFLStatus::Done && written == output.len()).then_some(())
}

fn inflate_zstd(input: &[u8], output: &mut [u8]) -> Option<()> {
    // A window larger than the decoder's own limit (100 MiB) is refused by it.
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(input).ok()?;
    decoder.read_exact(output).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENCODING: Encoding = Encoding { big_endian: false, is_64: true };

    fn section(method: u32, size: u64, data: &[u8]) -> Vec<u8> {
        let mut section = Vec::new();
        section.extend(method.to_le_bytes());
        section.extend(0u32.to_le_bytes());
        section.extend(size.to_le_bytes());
        section.extend(1u64.to_le_bytes());
        section.extend(data);
        section
    }

    #[test]
    fn zlib_round_trip_in_both_forms() {
        let text = b"line line line line line".repeat(50);
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(&text, 6);
        let new = section(ELFCOMPRESS_ZLIB, text.len() as u64, &packed);
        assert_eq!(decompress_section(&new, ENCODING, 0), Ok(text.clone()));
        let mut old = GNU_MAGIC.to_vec();
        old.extend((text.len() as u64).to_be_bytes());
        old.extend(&packed);
        assert_eq!(decompress_gnu(&old, 0), Ok(text));
    }

    #[test]
    fn a_wrong_size_or_a_cut_is_an_error() {
        let text = b"abcabcabcabcabcabc".repeat(20);
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(&text, 6);
        for size in [0, text.len() as u64 - 1, text.len() as u64 + 1, u64::MAX] {
            assert!(decompress_section(&section(1, size, &packed), ENCODING, 7).is_err());
        }
        let whole = section(1, text.len() as u64, &packed);
        for end in 0..whole.len() - 4 {
            assert!(decompress_section(&whole[..end], ENCODING, 7).is_err());
        }
    }

    #[test]
    fn a_bomb_is_refused_before_memory_is_taken() {
        let bomb = section(1, 1 << 40, &[0x78, 0x9c]);
        let error = decompress_section(&bomb, ENCODING, 0x40).unwrap_err();
        assert_eq!(error.offset(), Some(0x40));
    }
}
