//! Strings of debug information, taken no longer than a path may be.
//!
//! Many entries may name one string; if that lacks its end, each of them would
//! cost the whole section. So strings are kept as positions and are cut.

use gimli::AttributeValue;

use crate::dwarf::decoder::{GimliUnit, Slice};
use crate::dwarf::view::{Dwarf, OVERLAP};
use crate::elf::encoded_numbers::c_string;

const MAX_LENGTH: usize = OVERLAP;

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
    /// The position of an attribute's string; `None` for a form that has none. `inline` gives
    /// it where the string is in the entry itself.
    pub(crate) fn of<'a>(
        dwarf: &Dwarf<'a>,
        unit: &GimliUnit<'a>,
        value: AttributeValue<Slice<'a>>,
        inline: impl FnOnce(&Slice<'a>) -> Option<Self>,
    ) -> Option<Self> {
        match value {
            AttributeValue::String(text) => inline(&text),
            AttributeValue::DebugStrRef(offset) => Some(Self::Str(offset.0)),
            AttributeValue::DebugLineStrRef(offset) => Some(Self::LineStr(offset.0)),
            AttributeValue::DebugStrRefSup(offset) => Some(Self::SupplementStr(offset.0)),
            AttributeValue::DebugStrOffsetsIndex(index) => {
                let format = unit.header.format();
                dwarf.string_offset(format, unit.str_offsets_base.0, index.0).map(Self::Str)
            }
            _ => None,
        }
    }

    /// The string itself, cut if it is longer than any path.
    pub(crate) fn read<'a>(self, dwarf: &Dwarf<'a>) -> Option<&'a [u8]> {
        let bytes = match self {
            Self::Info(offset) => dwarf.info_at(offset)?,
            Self::Line(offset) => dwarf.line_at(offset)?,
            Self::Str(offset) => dwarf.string_at(offset)?,
            Self::LineStr(offset) => dwarf.line_string_at(offset)?,
            Self::SupplementStr(offset) => dwarf.supplement()?.string_at(offset)?,
        };
        c_string(bytes, 0, MAX_LENGTH)
    }
}

/// The string of an attribute, cut if it is longer than any path.
pub(crate) fn attribute_string<'a>(
    dwarf: &Dwarf<'a>,
    unit: &GimliUnit<'a>,
    value: AttributeValue<Slice<'a>>,
) -> Option<&'a [u8]> {
    if let AttributeValue::String(text) = value {
        return c_string(text.slice(), 0, MAX_LENGTH);
    }
    StringPosition::of(dwarf, unit, value, |_| None)?.read(dwarf)
}

/// The offset of an inline string in the bytes it was read from.
pub(crate) fn offset_in(bytes: &[u8], text: &Slice<'_>) -> Option<usize> {
    let offset = (text.slice().as_ptr() as usize).checked_sub(bytes.as_ptr() as usize)?;
    (offset <= bytes.len()).then_some(offset)
}
