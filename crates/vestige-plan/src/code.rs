//! The machine code of an object, by address.

use vestige_symbols::{ObjectFile, SymbolError};

const SHF_ALLOC: u64 = 2;
const SHF_EXECINSTR: u64 = 4;
/// Sections whose code is no function of the program.
const NOT_FUNCTIONS: &[&[u8]] = &[b".init", b".fini"];

/// One section with its bytes.
#[derive(Debug)]
pub(crate) struct CodeSection {
    start: u64,
    bytes: Vec<u8>,
    has_functions: bool,
}

/// All sections that hold code, in the order of their addresses.
#[derive(Debug, Default)]
pub(crate) struct Code {
    sections: Vec<CodeSection>,
}

impl Code {
    /// Reads the code of an object.
    pub(crate) fn read(object: &ObjectFile) -> Result<Self, SymbolError> {
        let wanted = SHF_ALLOC | SHF_EXECINSTR;
        let sections = object.sections().iter();
        let sections = sections.filter(|one| one.has_bits() && one.flags & wanted == wanted);
        let mut sections = sections
            .map(|section| {
                let name = object.section_name(section);
                let has_functions = !name.starts_with(b".plt") && !NOT_FUNCTIONS.contains(&name);
                let bytes = object.read_section(section)?;
                Ok(CodeSection { start: section.address, bytes, has_functions })
            })
            .collect::<Result<Vec<_>, SymbolError>>()?;
        sections.sort_by_key(|section| section.start);
        Ok(Self { sections })
    }

    fn section(&self, address: u64) -> Option<&CodeSection> {
        let next = self.sections.partition_point(|one| one.start <= address);
        let section = self.sections.get(next.checked_sub(1)?)?;
        (address - section.start < section.bytes.len() as u64).then_some(section)
    }

    /// Whether there may be a function at an address.
    pub(crate) fn has_function(&self, address: u64) -> bool {
        self.section(address).is_some_and(|section| section.has_functions)
    }

    /// The bytes from an address on, up to another one or to the end of the section.
    pub(crate) fn bytes(&self, start: u64, end: u64) -> &[u8] {
        let Some(section) = self.section(start) else {
            return &[];
        };
        let from = (start - section.start) as usize;
        let rest = section.bytes.get(from..).unwrap_or_default();
        let size = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
        rest.get(..size).unwrap_or(rest)
    }
}
