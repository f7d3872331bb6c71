//! The first bytes of a unit: its header and root entry.
//!
//! Follows DWARF 5, section 7.5.1.1. A unit that stays in the file is known by these alone
//! until a lookup needs it.

use std::borrow::Cow;

use gimli::{DebugInfo, Format, Reader, RunTimeEndian};

use crate::dwarf::decoder::{GimliUnitHeader, Slice};
use crate::elf::section_data::SectionData;

/// Root entries have some 60 bytes. No header has more than 40.
const SIZE: usize = 512;

/// The head of a unit, cut where that of most units has ended.
#[derive(Debug)]
pub(crate) struct UnitHead<'a> {
    bytes: Cow<'a, [u8]>,
    /// The size of the whole unit with its header.
    pub(crate) unit_size: usize,
    endian: RunTimeEndian,
}

impl<'a> UnitHead<'a> {
    /// Reads the head of the unit at `start`.
    pub(crate) fn read(
        section: &'a SectionData,
        start: usize,
        endian: RunTimeEndian,
    ) -> gimli::Result<Self> {
        let left = section.size().saturating_sub(start);
        let known = section.in_memory().map_or(left.min(SIZE), |_| left);
        let end = start.saturating_add(known);
        let damaged = gimli::Error::UnexpectedEof(gimli::ReaderOffsetId(start as u64));
        let bytes = section.read(&(start..end)).ok_or(damaged)?;
        let (length, format) = Slice::new(&bytes, endian).read_initial_length()?;
        let prefix = usize::from(format.initial_length_size());
        let unit_size = length.checked_add(prefix).filter(|size| *size <= left).ok_or(damaged)?;
        let mut head = Self { bytes, unit_size, endian };
        if unit_size <= known {
            head.cut(unit_size);
        } else {
            head.set_length(format, known.saturating_sub(prefix));
        }
        head.header()?;
        Ok(head)
    }

    /// All of a unit.
    pub(crate) fn whole(bytes: Cow<'a, [u8]>, endian: RunTimeEndian) -> Self {
        Self { unit_size: bytes.len(), bytes, endian }
    }

    /// The header, of a unit that is as long as the bytes here.
    pub(crate) fn header(&self) -> gimli::Result<GimliUnitHeader<'_>> {
        header_of(&self.bytes, self.endian)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.unit_size <= self.bytes.len()
    }

    fn cut(&mut self, size: usize) {
        match &mut self.bytes {
            Cow::Borrowed(bytes) => *bytes = bytes.get(..size).unwrap_or_default(),
            Cow::Owned(bytes) => bytes.truncate(size),
        }
    }

    /// Makes the header say how long the bytes here are: the decoder believes it.
    fn set_length(&mut self, format: Format, length: usize) {
        let is_big = matches!(self.endian, RunTimeEndian::Big);
        let number = length as u64;
        let bytes = if is_big { number.to_be_bytes() } else { number.to_le_bytes() };
        let (place, value) = match format {
            Format::Dwarf64 => (4..12, bytes.as_slice()),
            Format::Dwarf32 if is_big => (0..4, bytes.get(4..).unwrap_or_default()),
            Format::Dwarf32 => (0..4, bytes.get(..4).unwrap_or_default()),
        };
        if let Some(field) = self.bytes.to_mut().get_mut(place) {
            field.copy_from_slice(value);
        }
    }
}

/// The header of the unit that `bytes` are.
pub(crate) fn header_of(bytes: &[u8], endian: RunTimeEndian) -> gimli::Result<GimliUnitHeader<'_>> {
    let section = DebugInfo::from(Slice::new(bytes, endian));
    section.header_from_offset(gimli::DebugInfoOffset(0))
}
