//! Objects that are compressed as a whole, as modules of the Linux kernel are: `.xz`, `.zst`, `.gz`.
//!
//! Follows the formats' descriptions: "The .xz File Format", RFC 8878 (Zstandard), RFC 1952 (gzip).

use std::io::Read;

use lzma_rust2::XzReader;
use miniz_oxide::inflate::decompress_to_vec_with_limit;

use crate::error::SymbolError;
use crate::sized_reads::read_range;
use vestige_bytes::ReadAt;

const XZ: &[u8] = b"\xfd7zXZ\0";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
const GZIP: &[u8] = b"\x1f\x8b\x08";
const WHAT: &str = "a compressed file";

/// Modules shrink to a third; more than this is an attack on memory.
const MAX_RATIO: u64 = 100;
/// Small files may shrink more.
const ALWAYS_ALLOWED: u64 = 1 << 20;
/// The largest modules with their debug information have some 100 MB.
const MAX_SIZE: u64 = 512 << 20;
/// What is larger is not unpacked.
const MAX_PACKED: u64 = 256 << 20;
/// `xz -9` asks for 65 MiB.
const MAX_DECODER_KIB: u32 = 80 << 10;

const FLAG_CHECK: u8 = 2;
const FLAG_EXTRA: u8 = 4;
const FLAG_NAME: u8 = 8;
const FLAG_COMMENT: u8 = 16;
const GZIP_HEADER: usize = 10;

/// The bytes of a file that is compressed; `None` of one that is not.
///
/// # Errors
/// When it cannot be decompressed, or is so large that it is not an object.
pub fn unpacked_file(source: &dyn ReadAt) -> Result<Option<Vec<u8>>, SymbolError> {
    let start = read_range(source, WHAT, 0, source.len().min(XZ.len() as u64))?;
    let unpack: fn(&[u8], u64) -> Option<Vec<u8>> = match start.as_slice() {
        start if start.starts_with(XZ) => unpack_xz,
        start if start.starts_with(ZSTD) => unpack_zstd,
        start if start.starts_with(GZIP) => unpack_gzip,
        _ => return Ok(None),
    };
    let failed = |expected| SymbolError::Malformed { what: WHAT, offset: 0, expected };
    if source.len() > MAX_PACKED {
        return Err(failed("at most 256 MiB of compressed data"));
    }
    let packed = read_range(source, WHAT, 0, source.len())?;
    let limit = (packed.len() as u64).saturating_mul(MAX_RATIO) + ALWAYS_ALLOWED;
    let limit = limit.min(MAX_SIZE);
    let data = unpack(&packed, limit);
    data.map(Some)
        .ok_or_else(|| failed("whole data that are at most a hundred times as large, and 512 MiB"))
}

fn unpack_xz(packed: &[u8], limit: u64) -> Option<Vec<u8>> {
    read_all(XzReader::new_mem_limit(packed, false, MAX_DECODER_KIB), limit)
}

fn unpack_zstd(packed: &[u8], limit: u64) -> Option<Vec<u8>> {
    // A window larger than the decoder's own limit (100 MiB) is refused by it.
    read_all(ruzstd::decoding::StreamingDecoder::new(packed).ok()?, limit)
}

fn unpack_gzip(packed: &[u8], limit: u64) -> Option<Vec<u8>> {
    let flags = *packed.get(3)?;
    let mut rest = packed.get(GZIP_HEADER..)?;
    if flags & FLAG_EXTRA != 0 {
        let (size, behind) = rest.split_first_chunk::<2>()?;
        rest = behind.get(usize::from(u16::from_le_bytes(*size))..)?;
    }
    for flag in [FLAG_NAME, FLAG_COMMENT] {
        if flags & flag != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = rest.get(end.checked_add(1)?..)?;
        }
    }
    if flags & FLAG_CHECK != 0 {
        rest = rest.get(2..)?;
    }
    decompress_to_vec_with_limit(rest, usize::try_from(limit).ok()?).ok()
}

fn read_all(reader: impl Read, limit: u64) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    let read = reader.take(limit.saturating_add(1)).read_to_end(&mut data);
    (read.is_ok() && data.len() as u64 <= limit).then_some(data)
}
