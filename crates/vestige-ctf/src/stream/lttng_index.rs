//! LTTng's index files, `index/STREAM.idx`: where the packets of a stream file begin.
//!
//! The format is LTTng's own (versions 1.0 and 1.1): big-endian, a header of magic number,
//! version and entry size, then one entry a packet. An index only saves reading the packet
//! headers; one that does not describe the file exactly is not used.

use super::packet_entry::PacketEntry;
use super::packet_list::PacketList;

const MAGIC: u32 = 0xC1F1_DCC1;
const HEADER_SIZE: usize = 16;
const SMALLEST_ENTRY: usize = 56;

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    let raw: [u8; 4] = bytes.get(offset..offset + 4)?.try_into().ok()?;
    Some(u32::from_be_bytes(raw))
}

fn long(bytes: &[u8], index: usize) -> Option<u64> {
    let raw: [u8; 8] = bytes.get(index * 8..index * 8 + 8)?.try_into().ok()?;
    Some(u64::from_be_bytes(raw))
}

/// The packets that an index file lists, or `None` when it does not describe a stream file
/// of `file_size` bytes packet by packet, without a gap.
#[must_use]
pub fn parse(index: &[u8], file_size: u64) -> Option<PacketList> {
    if word(index, 0)? != MAGIC || word(index, 4)? != 1 {
        return None;
    }
    let entry_size = word(index, 12)? as usize;
    let body = index.get(HEADER_SIZE..)?;
    if entry_size < SMALLEST_ENTRY || body.len() % entry_size != 0 {
        return None;
    }
    let mut expected = 0;
    let mut entries = PacketList::default();
    for bytes in body.chunks_exact(entry_size) {
        let entry = entry(bytes)?;
        if entry.offset != expected || entry.size == 0 {
            return None;
        }
        expected = entry.offset.checked_add(entry.size)?;
        entries.push(&entry.properties());
    }
    (expected == file_size).then_some(entries)
}

fn entry(bytes: &[u8]) -> Option<PacketEntry> {
    let size_bits = long(bytes, 1)?;
    Some(PacketEntry {
        offset: long(bytes, 0)?,
        size: (size_bits % 8 == 0).then_some(size_bits / 8)?,
        beginning: Some(long(bytes, 3)?),
        end: Some(long(bytes, 4)?),
        events_discarded: Some(long(bytes, 5)?),
        sequence_number: long(bytes, 8),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(entries: &[(u64, u64)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for value in [MAGIC, 1, 1, 72] {
            bytes.extend(value.to_be_bytes());
        }
        for &(offset, size) in entries {
            for value in [offset, size * 8, size * 8, 10, 20, 3, 0, 7, 4] {
                bytes.extend(value.to_be_bytes());
            }
        }
        bytes
    }

    #[test]
    fn an_index_that_covers_the_file_is_used() {
        let entries = parse(&index(&[(0, 4096), (4096, 8192)]), 12_288).unwrap();
        assert_eq!(entries.len(), 2);
        let second = entries.get(1).unwrap();
        assert_eq!((second.offset, second.sequence_number), (4096, Some(4)));
    }

    #[test]
    fn entries_of_version_1_0_have_no_sequence_number() {
        let mut bytes = Vec::new();
        for value in [MAGIC, 1, 0, 56] {
            bytes.extend(value.to_be_bytes());
        }
        for value in [0, 8 * 4096_u64, 8 * 4000, 10, 20, 3, 0] {
            bytes.extend(value.to_be_bytes());
        }
        let entries = parse(&bytes, 4096).unwrap();
        let first = entries.get(0).unwrap();
        assert_eq!(first.sequence_number, None);
        assert_eq!((first.beginning, first.end), (Some(10), Some(20)));
    }

    #[test]
    fn an_index_of_another_version_or_with_an_entry_cut_is_not_used() {
        let mut other = index(&[(0, 4096)]);
        other[7] = 2;
        assert!(parse(&other, 4096).is_none());
        let whole = index(&[(0, 4096), (4096, 4096)]);
        assert!(parse(&whole[..whole.len() - 8], 8192).is_none());
    }

    #[test]
    fn an_index_with_a_gap_or_of_another_size_is_not_used() {
        assert!(parse(&index(&[(0, 4096), (8192, 4096)]), 12_288).is_none());
        assert!(parse(&index(&[(0, 4096)]), 8192).is_none());
        assert!(parse(&index(&[(0, 4096)])[..30], 4096).is_none());
    }
}
