//! ELF files: headers, sections, symbols, links to other files.

pub(crate) mod alt_link;
pub(crate) mod compression;
pub(crate) mod debug_link;
pub(crate) mod elf_file;
pub(crate) mod encoded_numbers;
pub(crate) mod executable_ranges;
pub(crate) mod function_descriptors;
pub(crate) mod function_symbols;
pub(crate) mod header;
pub(crate) mod mini_debug_info;
pub(crate) mod notes;
pub(crate) mod packed_file;
pub(crate) mod plt;
pub(crate) mod relocatable;
pub(crate) mod relocations;
pub(crate) mod section_data;
pub(crate) mod symbol_sections;
