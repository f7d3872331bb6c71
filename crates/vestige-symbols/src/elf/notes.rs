//! ELF notes, and the build ID among them.
//!
//! Follows the gABI, "Note Section", and the GNU convention that a note with
//! the name `GNU` and type 3 holds the build ID. Neither the name of the
//! section nor the place of the note in it means anything.

use crate::elf::encoded_numbers::{Cursor, Encoding};
use crate::elf::header::{Headers, PT_NOTE, SHT_NOTE};
use crate::sized_reads::read_range;
use vestige_bytes::ReadAt;

const GNU_NAME: &[u8] = b"GNU\0";
const NT_GNU_BUILD_ID: u32 = 3;

/// The build ID of the file with these headers, when one of its notes holds it.
///
/// Damaged notes are passed over rather than reported: in a debug file the
/// note segments may point at bytes that were left out.
pub(crate) fn find_build_id(source: &dyn ReadAt, headers: &Headers) -> Option<Vec<u8>> {
    // Sections first: strip tools keep their offsets right, not always those of segments.
    let sections = headers
        .sections
        .iter()
        .filter(|section| section.kind == SHT_NOTE)
        .map(|section| (section.offset, section.size, section.alignment));
    let segments = headers
        .segments
        .iter()
        .filter(|segment| segment.kind == PT_NOTE)
        .map(|segment| (segment.offset, segment.file_size, segment.alignment));
    // Sections and segments each cover a byte once in an honest file; headers that repeat
    // one large area must not make the search long.
    let mut budget = source.len().saturating_mul(2);
    for (offset, size, alignment) in sections.chain(segments) {
        budget = budget.checked_sub(size)?;
        let Ok(data) = read_range(source, "notes", offset, size) else {
            continue;
        };
        let alignment = if alignment == 8 { 8 } else { 4 };
        if let Some(id) = build_id_in(&data, headers.encoding, alignment) {
            return Some(id.to_vec());
        }
    }
    None
}

fn build_id_in(data: &[u8], encoding: Encoding, alignment: usize) -> Option<&[u8]> {
    let mut cursor = Cursor::new(data, encoding);
    loop {
        let name_size = cursor.u32()? as usize;
        let content_size = cursor.u32()? as usize;
        let kind = cursor.u32()?;
        let name = cursor.bytes(name_size)?;
        // The header has 12 bytes: what follows is aligned counted from the note's start.
        cursor.bytes(padding(name_size.checked_add(12)?, alignment))?;
        let content = cursor.bytes(content_size)?;
        if kind == NT_GNU_BUILD_ID && name == GNU_NAME && !content.is_empty() {
            return Some(content);
        }
        cursor.bytes(padding(content_size, alignment))?;
    }
}

fn padding(size: usize, alignment: usize) -> usize {
    size.wrapping_neg() & (alignment - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LITTLE: Encoding = Encoding { big_endian: false, is_64: true };

    fn note(name: &[u8], kind: u32, content: &[u8]) -> Vec<u8> {
        let mut data = Vec::new();
        data.extend((name.len() as u32).to_le_bytes());
        data.extend((content.len() as u32).to_le_bytes());
        data.extend(kind.to_le_bytes());
        data.extend(name);
        data.resize(data.len().next_multiple_of(4), 0);
        data.extend(content);
        data.resize(data.len().next_multiple_of(4), 0);
        data
    }

    #[test]
    fn finds_the_id_behind_other_notes() {
        let mut data = note(b"GNU\0", 1, &[0; 16]);
        data.extend(note(b"stapsdt\0", 3, &[9; 7]));
        data.extend(note(b"GNU\0", 3, &[0xab, 0xcd, 0xef]));
        assert_eq!(build_id_in(&data, LITTLE, 4), Some(&[0xab, 0xcd, 0xef][..]));
    }

    #[test]
    fn ignores_empty_and_cut_notes() {
        assert_eq!(build_id_in(&note(b"GNU\0", 3, &[]), LITTLE, 4), None);
        let data = note(b"GNU\0", 3, &[1; 20]);
        for end in 0..data.len() {
            assert_eq!(build_id_in(&data[..end], LITTLE, 4), None);
        }
    }
}
