//! Strings of debug information, taken no longer than a path may be.
//!
//! Many entries may name one string; if that lacks its end, each of them would
//! cost the whole section. So strings are kept as positions and are cut.

use gimli::{AttributeValue, Reader, Section};

use crate::bytes::c_string;
use crate::debug_info::{Dwarf, GimliUnit, Slice};

const MAX_LENGTH: usize = 4096;

/// Where a string of the line table or of a unit starts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StringPosition {
    Info(usize),
    Line(usize),
    Str(usize),
    LineStr(usize),
    /// In `.debug_str` of the supplementary file.
    SupplementStr(usize),
}

impl StringPosition {
    /// The position of an attribute's string; `None` for a form that has none.
    pub(crate) fn of<'a>(
        dwarf: &Dwarf<'a>,
        unit: &GimliUnit<'a>,
        value: AttributeValue<Slice<'a>>,
    ) -> Option<Self> {
        match value {
            AttributeValue::String(text) => Self::of_inline(dwarf, &text),
            AttributeValue::DebugStrRef(offset) => Some(Self::Str(offset.0)),
            AttributeValue::DebugLineStrRef(offset) => Some(Self::LineStr(offset.0)),
            AttributeValue::DebugStrRefSup(offset) => Some(Self::SupplementStr(offset.0)),
            AttributeValue::DebugStrOffsetsIndex(index) => {
                let format = unit.header.format();
                let base = unit.str_offsets_base;
                let offset = dwarf.debug_str_offsets.get_str_offset(format, base, index);
                Some(Self::Str(offset.ok()?.0))
            }
            _ => None,
        }
    }

    fn of_inline<'a>(dwarf: &Dwarf<'a>, text: &Slice<'a>) -> Option<Self> {
        let id = text.offset_id();
        let (_, section, offset) = dwarf.lookup_offset_id(id)?;
        match section {
            gimli::SectionId::DebugInfo => Some(Self::Info(offset)),
            gimli::SectionId::DebugLine => Some(Self::Line(offset)),
            _ => None,
        }
    }

    /// The string itself, cut if it is longer than any path.
    pub(crate) fn read<'a>(self, dwarf: &Dwarf<'a>) -> Option<&'a [u8]> {
        let (section, offset) = match self {
            Self::Info(offset) => (dwarf.debug_info.reader().slice(), offset),
            Self::Line(offset) => (dwarf.debug_line.reader().slice(), offset),
            Self::Str(offset) => (dwarf.debug_str.reader().slice(), offset),
            Self::LineStr(offset) => (dwarf.debug_line_str.reader().slice(), offset),
            Self::SupplementStr(offset) => (dwarf.sup()?.debug_str.reader().slice(), offset),
        };
        c_string(section, offset, MAX_LENGTH)
    }
}
