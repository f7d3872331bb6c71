//! Any bytes as an ELF file: headers, sections, notes, links and ELF symbols.

#![no_main]

use libfuzzer_sys::fuzz_target;
use vestige_symbols::ObjectFile;

fuzz_target!(|data: &[u8]| {
    let Ok(object) = ObjectFile::new(Box::new(data.to_vec())) else { return };
    for section in object.sections() {
        std::hint::black_box(object.section_name(section));
    }
    std::hint::black_box((
        object.is_pic(),
        object.is_fixed_executable(),
        object.machine_name(),
        object.segments().len(),
        object.text_ranges().len(),
        object.build_id(),
        object.debug_link(),
        object.link_base(),
        object.has_symbol_table(),
        object.has_dwarf().is_ok(),
    ));
});
