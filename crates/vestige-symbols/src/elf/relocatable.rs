//! Where the code of relocatable objects is: `.o` files, and modules of the Linux kernel.
//!
//! Their sections have no addresses (gABI, "Section Header", `sh_addr`), and symbols are offsets in
//! sections. Here each section with code gets an address of its own, which is the same whenever the
//! file is read. A debug file has the same sections with the same sizes, so it gets the same.

use crate::elf::header::{Headers, Section, ET_REL, SHF_EXECINSTR};

const SHF_ALLOC: u64 = 0x2;
/// Where the first section is. What was not relocated, and so is about 0, is in none.
const FIRST: u64 = 1 << 20;
/// Bytes between two sections: a return address behind the last call of one is in no other.
const GAP: u64 = 64;
/// Sections are not aligned to more than that, whatever a damaged file says.
const MAX_ALIGNMENT: u64 = 1 << 16;

/// Gives the sections of a relocatable object their addresses; of others nothing is changed.
pub(crate) fn lay_out(headers: &mut Headers) {
    if headers.file_type != ET_REL {
        return;
    }
    let mut next = FIRST;
    for section in &mut headers.sections {
        section.address = 0;
        if !is_code(section) || section.size == 0 {
            continue;
        }
        let alignment = section.alignment.clamp(GAP, MAX_ALIGNMENT).next_power_of_two();
        let begin = next.checked_next_multiple_of(alignment);
        let end = begin.and_then(|begin| begin.checked_add(section.size)?.checked_add(GAP));
        // What is as large as that is damage, and nothing is found in it.
        let (Some(begin), Some(end)) = (begin, end) else { continue };
        (section.address, next) = (begin, end);
    }
}

/// Whether a section holds code that is loaded.
pub(crate) fn is_code(section: &Section) -> bool {
    section.flags & SHF_ALLOC != 0 && section.flags & SHF_EXECINSTR != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::encoded_numbers::Encoding;

    const CODE: u64 = SHF_ALLOC | SHF_EXECINSTR;

    fn section(flags: u64, size: u64, alignment: u64) -> Section {
        let (offset, address) = (0, 7);
        let (name, kind, link, info, entry_size) = (0, 1, 0, 0, 0);
        Section { name, kind, flags, address, offset, size, link, info, alignment, entry_size }
    }

    fn addresses(file_type: u16, sections: Vec<Section>) -> Vec<u64> {
        let mut headers = Headers {
            encoding: Encoding { big_endian: false, is_64: true },
            file_type,
            machine: 62,
            entry: 0,
            segments: Vec::new(),
            sections,
            section_names: Vec::new(),
        };
        lay_out(&mut headers);
        headers.sections.iter().map(|one| one.address).collect()
    }

    #[test]
    fn sections_with_code_are_one_behind_the_other() {
        let sections = vec![
            section(0, 9, 1),
            section(CODE, 0x1001, 16),
            section(SHF_ALLOC, 50, 1),
            section(CODE, 0, 1),
            section(CODE, 8, 4096),
        ];
        assert_eq!(addresses(ET_REL, sections), [0, FIRST, 0, 0, FIRST + 0x2000]);
    }

    #[test]
    fn sizes_that_cannot_be_take_no_place() {
        let sections = vec![
            section(CODE, u64::MAX, u64::MAX),
            section(CODE, u64::MAX - FIRST, 1),
            section(CODE, 8, 3),
        ];
        assert_eq!(addresses(ET_REL, sections), [0, 0, FIRST]);
    }

    #[test]
    fn other_files_have_addresses_of_their_own() {
        assert_eq!(addresses(3, vec![section(CODE, 8, 1)]), [7]);
    }
}
