//! The section of each symbol, also where there are more of them than 16 bits can count.
//!
//! Follows the gABI, "Symbol Table" (`st_shndx`) and "Sections" (`SHT_SYMTAB_SHNDX`).

use crate::elf::encoded_numbers::{Cursor, Encoding};
use crate::elf::header::Headers;
use crate::error::SymbolError;
use crate::sized_reads::read_range;
use vestige_bytes::ReadAt;

const SHT_SYMTAB_SHNDX: u32 = 18;
const SHN_LORESERVE: u16 = 0xff00;
const SHN_XINDEX: u16 = 0xffff;
const SHN_UNDEF: u16 = 0;
const ENTRY: usize = 4;

/// The numbers that do not fit the entries of a symbol table.
#[derive(Debug)]
pub(crate) struct SymbolSections {
    numbers: Vec<u8>,
    encoding: Encoding,
}

impl SymbolSections {
    /// Reads those of the symbol table that is the section with this number.
    pub(crate) fn read(
        source: &dyn ReadAt,
        headers: &Headers,
        table: usize,
    ) -> Result<Self, SymbolError> {
        let is_its = |kind: u32, link: u32| kind == SHT_SYMTAB_SHNDX && link as usize == table;
        let found = headers.sections.iter().find(|one| is_its(one.kind, one.link));
        let read = |offset, size| read_range(source, "section numbers of symbols", offset, size);
        let numbers = found.map_or(Ok(Vec::new()), |one| read(one.offset, one.size))?;
        Ok(Self { numbers, encoding: headers.encoding })
    }

    /// The number of the section of a symbol, which has `index` in its entry; `None` of one
    /// that is in no section.
    pub(crate) fn number(&self, symbol: usize, index: u16) -> Option<usize> {
        match index {
            SHN_XINDEX => {
                let rest = self.numbers.get(symbol.checked_mul(ENTRY)?..)?;
                Cursor::new(rest, self.encoding).u32().map(|number| number as usize)
            }
            SHN_UNDEF | SHN_LORESERVE.. => None,
            index => Some(usize::from(index)),
        }
    }
}
