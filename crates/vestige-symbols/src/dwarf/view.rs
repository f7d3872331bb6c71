//! The decoder's view of debug information, for as long as one unit is decoded.
//!
//! Sections of a large file stay in the file. A view reads of them what is asked for, and
//! what it has read lives as long as its [`Scope`]: the bytes of the unit, and pages with
//! the strings and entries that it refers to.

use std::borrow::Cow;
use std::ops::{Deref, Range};
use std::sync::OnceLock;

use gimli::{DwarfFileType, Format, Reader, RunTimeEndian, SectionId};

use crate::dwarf::decoder::Slice;
use crate::dwarf::sections::Sections;
use crate::elf::section_data::SectionData;

/// What is read at once where a string or an entry is asked for.
const PAGE: usize = 8 << 10;
/// A page comes with as many bytes that follow it: no string is cut by its end.
pub(crate) const OVERLAP: usize = 4 << 10;

/// Pages of a section, each read when something in it is first asked for.
#[derive(Debug, Default)]
struct Pages(OnceLock<Vec<OnceLock<Vec<u8>>>>);

impl Pages {
    /// The bytes from `offset` on: all of the section, or at least [`OVERLAP`] of them.
    fn bytes_at<'a>(&'a self, section: &'a SectionData, offset: usize) -> Option<&'a [u8]> {
        if let Some(bytes) = section.in_memory() {
            return bytes.get(offset..);
        }
        let size = section.size();
        let slots = || (0..=size / PAGE).map(|_| OnceLock::new()).collect();
        let number = offset / PAGE;
        let page = self.0.get_or_init(slots).get(number)?.get_or_init(|| {
            let start = number * PAGE;
            let end = start.saturating_add(PAGE + OVERLAP).min(size);
            section.read(&(start..end)).unwrap_or_default().into_owned()
        });
        page.get(offset % PAGE..)
    }
}

/// What a view has read of sections that stay in the file.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// The unit that is decoded, and its number.
    unit: OnceLock<(usize, Vec<u8>)>,
    info: Pages,
    line: Pages,
    strings: Pages,
    line_strings: Pages,
    string_offsets: Pages,
    supplement: OnceLock<Box<Self>>,
}

impl Scope {
    /// The same for the supplementary file.
    pub(crate) fn supplement(&self) -> &Self {
        self.supplement.get_or_init(Box::default)
    }
}

/// The sections of a file as the decoder sees them. Those that stay in the file are empty for
/// the decoder of `gimli`, and are read through the methods here.
#[derive(Debug)]
pub(crate) struct Dwarf<'a> {
    decoder: gimli::Dwarf<Slice<'a>>,
    sections: &'a Sections,
    endian: RunTimeEndian,
    scope: &'a Scope,
    supplement: Option<Box<Self>>,
}

impl<'a> Deref for Dwarf<'a> {
    type Target = gimli::Dwarf<Slice<'a>>;

    fn deref(&self) -> &gimli::Dwarf<Slice<'a>> {
        &self.decoder
    }
}

impl<'a> Dwarf<'a> {
    /// A view of sections, whose byte order is given and whether they are split ones.
    pub(crate) fn new(
        sections: &'a Sections,
        (endian, is_split): (RunTimeEndian, bool),
        scope: &'a Scope,
        supplement: Option<Self>,
    ) -> Self {
        let mut decoder = sections.dwarf(endian);
        if is_split {
            decoder.file_type = DwarfFileType::Dwo;
        }
        Self { decoder, sections, endian, scope, supplement: supplement.map(Box::new) }
    }

    pub(crate) fn endian(&self) -> RunTimeEndian {
        self.endian
    }

    /// The size of a section, wherever it is.
    pub(crate) fn section_size(&self, id: SectionId) -> usize {
        self.sections.size(id)
    }

    /// The view of the supplementary file.
    pub(crate) fn supplement(&self) -> Option<&Self> {
        self.supplement.as_deref()
    }

    /// All bytes of a unit. Only one unit that stays in the file is kept by a view.
    pub(crate) fn unit_bytes(&self, number: usize, extent: &Range<usize>) -> Option<&'a [u8]> {
        let section = self.sections.get(SectionId::DebugInfo)?;
        if let Some(bytes) = section.in_memory() {
            return bytes.get(extent.clone());
        }
        let read = || (number, section.read(extent).unwrap_or_default().into_owned());
        let (kept, bytes) = self.scope.unit.get_or_init(read);
        (*kept == number).then_some(bytes.as_slice())
    }

    /// All bytes of a unit, if they are at hand.
    pub(crate) fn known_unit_bytes(
        &self,
        number: usize,
        extent: &Range<usize>,
    ) -> Option<&'a [u8]> {
        let section = self.sections.get(SectionId::DebugInfo)?;
        match section.in_memory() {
            Some(bytes) => bytes.get(extent.clone()),
            None => {
                let (kept, bytes) = self.scope.unit.get()?;
                (*kept == number).then_some(bytes.as_slice())
            }
        }
    }

    /// The bytes of `.debug_info` from `offset` on; of a section that stays in the file
    /// perhaps not all.
    pub(crate) fn info_at(&self, offset: usize) -> Option<&'a [u8]> {
        self.bytes_at(SectionId::DebugInfo, &self.scope.info, offset)
    }

    pub(crate) fn line_at(&self, offset: usize) -> Option<&'a [u8]> {
        self.bytes_at(SectionId::DebugLine, &self.scope.line, offset)
    }

    pub(crate) fn string_at(&self, offset: usize) -> Option<&'a [u8]> {
        self.bytes_at(SectionId::DebugStr, &self.scope.strings, offset)
    }

    pub(crate) fn line_string_at(&self, offset: usize) -> Option<&'a [u8]> {
        self.bytes_at(SectionId::DebugLineStr, &self.scope.line_strings, offset)
    }

    /// The offset of a string that an index names; `base` is that of the unit.
    pub(crate) fn string_offset(&self, format: Format, base: usize, index: usize) -> Option<usize> {
        let at = index.checked_mul(usize::from(format.word_size()))?.checked_add(base)?;
        let bytes = self.bytes_at(SectionId::DebugStrOffsets, &self.scope.string_offsets, at)?;
        Slice::new(bytes, self.endian).read_offset(format).ok()
    }

    fn bytes_at(&self, id: SectionId, pages: &'a Pages, offset: usize) -> Option<&'a [u8]> {
        pages.bytes_at(self.sections.get(id)?, offset)
    }

    /// The line program at an offset, whose size has been checked; read for the caller alone.
    pub(crate) fn line_program(&self, range: &Range<usize>) -> Option<Cow<'a, [u8]>> {
        self.sections.get(SectionId::DebugLine)?.read(range)
    }
}
