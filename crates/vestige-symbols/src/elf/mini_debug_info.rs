//! MiniDebugInfo: a symbol table packed into the object itself.
//!
//! Fedora strips an object of all but what the dynamic linker needs and keeps
//! the other function symbols in `.gnu_debugdata`: a whole ELF file with little
//! more than `.symtab`, compressed in the `.xz` format.

use std::io::Read;

use lzma_rust2::XzReader;

use crate::error::SymbolError;

/// Symbol tables shrink some four times; more than this is an attack on memory.
const MAX_RATIO: u64 = 100;
/// Small files may shrink more.
const ALWAYS_ALLOWED: u64 = 1 << 20;
/// The largest one of Fedora's packages unpacks to some 30 MB.
const MAX_SIZE: u64 = 256 << 20;
/// `xz -9` asks for 65 MiB.
const MAX_DECODER_KIB: u32 = 80 << 10;

/// Unpacks the bytes of a `.gnu_debugdata` section; `offset` is for messages.
pub(crate) fn unpack(section: &[u8], offset: u64) -> Result<Vec<u8>, SymbolError> {
    let damaged = |expected| SymbolError::Malformed { what: ".gnu_debugdata", offset, expected };
    let limit = (section.len() as u64).saturating_mul(MAX_RATIO) + ALWAYS_ALLOWED;
    let limit = limit.min(MAX_SIZE);
    // Some packers pad the section; the reader would take that for a second stream.
    let mut reader = XzReader::new_mem_limit(section, false, MAX_DECODER_KIB);
    let mut data = Vec::new();
    let read = reader.by_ref().take(limit + 1).read_to_end(&mut data);
    read.map_err(|_| damaged("whole data in the xz format"))?;
    if data.len() as u64 > limit {
        return Err(damaged("at most a hundred times the size of the compressed data"));
    }
    Ok(data)
}
