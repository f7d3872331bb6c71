//! The link to a supplementary file, which holds what several debug files share.
//!
//! Follows DWARF 5, section 7.3.6 (`.debug_sup`), and the extension before it,
//! `.gnu_debugaltlink`: a file name, a zero byte and the build ID of that file.

use crate::elf::encoded_numbers::{c_string, Cursor, Encoding};

/// Build IDs have 16 or 20 bytes; a longer one than this is damage.
const MAX_ID: usize = 256;

/// Where the supplementary file is, and how it is known again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AltLink {
    /// The file name, as found; relative to the directory of the file with the link.
    pub name: Vec<u8>,
    /// The build ID the file must have, or the checksum in its own `.debug_sup`.
    pub id: Vec<u8>,
}

/// The content of a `.debug_sup` section.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SupplementHeader {
    /// Whether the section is that of the supplementary file itself.
    pub(crate) is_supplement: bool,
    pub(crate) link: AltLink,
}

impl AltLink {
    /// Decodes `.gnu_debugaltlink`; `None` when it has no name or no build ID.
    pub(crate) fn parse(data: &[u8]) -> Option<Self> {
        let name = c_string(data, 0, data.len()).filter(|name| !name.is_empty())?;
        let id = data.get(name.len().checked_add(1)?..)?;
        let sound = !id.is_empty() && id.len() <= MAX_ID;
        sound.then(|| Self { name: name.to_vec(), id: id.to_vec() })
    }
}

impl SupplementHeader {
    /// Decodes `.debug_sup`; `None` when it is cut or of another version.
    pub(crate) fn parse(data: &[u8], encoding: Encoding) -> Option<Self> {
        let mut cursor = Cursor::new(data, encoding);
        if cursor.u16()? != 5 {
            return None;
        }
        let is_supplement = cursor.u8()? == 1;
        let name = c_string(data, 3, data.len())?;
        cursor.bytes(name.len().checked_add(1)?)?;
        let size = uleb128(&mut cursor)?;
        let id = cursor.bytes(usize::try_from(size).ok().filter(|size| *size <= MAX_ID)?)?;
        Some(Self { is_supplement, link: AltLink { name: name.to_vec(), id: id.to_vec() } })
    }
}

/// A number of 7 bits a byte (DWARF 5, section 7.6).
fn uleb128(cursor: &mut Cursor<'_>) -> Option<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let byte = cursor.u8()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const LITTLE: Encoding = Encoding { big_endian: false, is_64: true };

    #[test]
    fn reads_the_gnu_section() {
        let link = AltLink::parse(b"../common.debug\0\xab\xcd\xef");
        let expected = AltLink { name: b"../common.debug".to_vec(), id: vec![0xab, 0xcd, 0xef] };
        assert_eq!(link, Some(expected));
    }

    #[test]
    fn a_gnu_section_without_name_or_id_is_no_link() {
        for data in [&b""[..], b"\0\x01", b"name", b"name\0"] {
            assert_eq!(AltLink::parse(data), None);
        }
        let mut long = b"name\0".to_vec();
        long.resize(5 + MAX_ID + 1, 7);
        assert_eq!(AltLink::parse(&long), None);
    }

    #[test]
    fn reads_both_kinds_of_the_standard_section_and_no_cut_one() {
        let data = b"\x05\0\0sup\0\x03\x01\x02\x03";
        let header = SupplementHeader::parse(data, LITTLE).unwrap();
        assert!(!header.is_supplement);
        assert_eq!(header.link, AltLink { name: b"sup".to_vec(), id: vec![1, 2, 3] });
        for end in 0..data.len() {
            assert_eq!(SupplementHeader::parse(&data[..end], LITTLE), None);
        }
        let own = SupplementHeader::parse(b"\x05\0\x01\0\x01\x09", LITTLE).unwrap();
        assert!(own.is_supplement && own.link.name.is_empty() && own.link.id == [9]);
    }
}
