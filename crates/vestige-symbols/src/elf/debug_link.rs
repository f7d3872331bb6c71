//! The debug link: the name of a separate debug file, and its checksum.
//!
//! Follows the GDB manual, "Debugging Information in Separate Files": a file
//! name without directories, a zero byte, padding to a multiple of four, and a
//! CRC-32 of the whole debug file in the byte order of the ELF file.

use crate::elf::encoded_numbers::{c_string, Cursor, Encoding};

/// The content of a `.gnu_debuglink` section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebugLink {
    /// The file name, as found; it need not be UTF-8.
    pub name: Vec<u8>,
    /// The CRC-32 the debug file must have.
    pub crc: u32,
}

impl DebugLink {
    /// Decodes a section; `None` when it is too short or has no name.
    pub(crate) fn parse(data: &[u8], encoding: Encoding) -> Option<Self> {
        let name = c_string(data, 0, data.len()).filter(|name| !name.is_empty())?;
        let crc_offset = name.len().checked_add(1)?.next_multiple_of(4);
        let crc = Cursor::new(data.get(crc_offset..)?, encoding).u32()?;
        Some(Self { name: name.to_vec(), crc })
    }
}

/// The checksum of a debug file, taken block by block.
///
/// This is the CRC-32 of IEEE 802.3 that `zlib` and `gzip` use, not the one of
/// GDB's remote protocol.
#[derive(Debug, Clone, Default)]
pub struct Crc32(crc32fast::Hasher);

impl Crc32 {
    /// Starts a checksum over no bytes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next block of the file.
    pub fn update(&mut self, block: &[u8]) {
        self.0.update(block);
    }

    /// The checksum of all blocks added.
    pub fn finish(self) -> u32 {
        self.0.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_name_and_crc_in_both_byte_orders() {
        let data = b"foo.debug\0\0\0\x01\x02\x03\x04";
        let parse = |big_endian| DebugLink::parse(data, Encoding { big_endian, is_64: false });
        assert_eq!(parse(true).map(|link| link.crc), Some(0x0102_0304));
        assert_eq!(parse(false).map(|link| link.crc), Some(0x0403_0201));
        assert_eq!(parse(false).map(|link| link.name), Some(b"foo.debug".to_vec()));
    }

    #[test]
    fn cut_sections_hold_no_link() {
        let data = b"foo.debug\0\0\0\x01\x02\x03\x04";
        let encoding = Encoding { big_endian: false, is_64: true };
        for end in 0..data.len() {
            assert_eq!(DebugLink::parse(&data[..end], encoding), None);
        }
    }

    #[test]
    fn crc_equals_the_published_check_value() {
        let mut crc = Crc32::new();
        crc.update(b"1234");
        crc.update(b"56789");
        assert_eq!(crc.finish(), 0xcbf4_3926);
    }
}
