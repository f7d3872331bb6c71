//! A cursor over bytes whose order and word size the file itself states.
//!
//! ELF gives both in its first bytes (System V gABI, "ELF Identification").

/// Byte order and word size of an ELF file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Encoding {
    pub(crate) big_endian: bool,
    pub(crate) is_64: bool,
}

/// Reads numbers one after the other; `None` at the end of the data.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    encoding: Encoding,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(data: &'a [u8], encoding: Encoding) -> Self {
        Self { rest: data, encoding }
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(head)
    }

    fn unsigned(&mut self, count: usize) -> Option<u64> {
        let big_endian = self.encoding.big_endian;
        let bytes = self.bytes(count)?;
        let add = |value: u64, byte: &u8| (value << 8) | u64::from(*byte);
        Some(if big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) })
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.unsigned(1).map(|value| value as u8)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.unsigned(2).map(|value| value as u16)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.unsigned(4).map(|value| value as u32)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.unsigned(8)
    }

    /// An address, offset or size: as wide as the file's class says.
    pub(crate) fn word(&mut self) -> Option<u64> {
        self.unsigned(if self.encoding.is_64 { 8 } else { 4 })
    }
}

/// The bytes from `offset` up to the next zero byte, at most `limit` of them.
pub(crate) fn c_string(data: &[u8], offset: usize, limit: usize) -> Option<&[u8]> {
    let tail = data.get(offset..)?;
    let tail = tail.get(..limit).unwrap_or(tail);
    let end = tail.iter().position(|byte| *byte == 0).unwrap_or(tail.len());
    tail.get(..end)
}
