//! Any bytes as an ELF file, or a compressed one: headers, sections, notes, links and ELF symbols.

#![no_main]

use libfuzzer_sys::fuzz_target;
use vestige_symbols::{unpacked_file, ObjectFile};

fuzz_target!(|data: &[u8]| {
    let Ok(unpacked) = unpacked_file(&data.to_vec()) else { return };
    let bytes = unpacked.unwrap_or_else(|| data.to_vec());
    let Ok(object) = ObjectFile::new(Box::new(bytes)) else { return };
    for section in object.sections() {
        std::hint::black_box(object.section_name(section));
    }
    std::hint::black_box((
        object.is_pic(),
        object.is_fixed_executable(),
        object.machine_name(),
        object.segments().len(),
        object.text_ranges().len(),
        object.code_sections().count(),
        object.build_id(),
        object.debug_link(),
        object.link_base(),
        object.has_symbol_table(),
        object.has_dwarf().is_ok(),
    ));
});
