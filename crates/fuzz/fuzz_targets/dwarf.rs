//! Any bytes as an ELF file with DWARF: addresses all over its text are looked up.

#![no_main]

use libfuzzer_sys::fuzz_target;
use vestige_symbols::{unpacked_file, ObjectFile, SymbolTable};

/// How many addresses are looked up in each range of code.
const STEPS: u64 = 16;
/// How many ranges of code are tried.
const MAX_RANGES: usize = 8;

fuzz_target!(|data: &[u8]| {
    let Ok(unpacked) = unpacked_file(&data.to_vec()) else { return };
    let bytes = unpacked.unwrap_or_else(|| data.to_vec());
    let Ok(object) = ObjectFile::new(Box::new(bytes)) else { return };
    let Ok(table) = SymbolTable::new(&object, None) else { return };
    for &(start, end) in object.text_ranges().iter().take(MAX_RANGES) {
        let step = (end.saturating_sub(start) / STEPS).max(1);
        for index in 0..=STEPS {
            let address = start.saturating_add(index.saturating_mul(step));
            std::hint::black_box(table.lookup(address));
        }
        let _ = std::hint::black_box(object.signature(start));
    }
    for address in [0, u64::MAX] {
        std::hint::black_box(table.lookup(address));
    }
});
