//! Function descriptors of 64-bit PowerPC, ELF ABI version 1.
//!
//! Follows that ABI, section 3.2.5: the symbol of a function is the address of
//! a descriptor in `.opd`, whose first word is the address of the code.

use crate::elf::elf_file::ElfFile;
use crate::elf::encoded_numbers::{Cursor, Encoding};
use crate::error::SymbolError;

const EM_PPC64: u16 = 21;

/// The bytes of a `.opd` section.
#[derive(Debug)]
pub(crate) struct Opd {
    address: u64,
    data: Vec<u8>,
    encoding: Encoding,
}

impl Opd {
    /// Reads the section; `None` for another machine or when it is absent.
    pub(crate) fn read(object: &ElfFile) -> Result<Option<Self>, SymbolError> {
        if object.machine() != EM_PPC64 {
            return Ok(None);
        }
        let Some(section) = object.find_section(b".opd") else {
            return Ok(None);
        };
        let data = object.read_section(section)?;
        Ok(Some(Self { address: section.address, data, encoding: object.headers().encoding }))
    }

    /// The address of the code that the descriptor at `address` stands for.
    pub(crate) fn entry_point(&self, address: u64) -> Option<u64> {
        let offset = usize::try_from(address.checked_sub(self.address)?).ok()?;
        Cursor::new(self.data.get(offset..)?, self.encoding).word()
    }
}
