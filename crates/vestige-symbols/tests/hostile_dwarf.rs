//! Debug information made to waste time and memory, written as assembly code.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{
    object, open, processor_time, run, symbol_table, text_addresses, with_sections_in_file, Scratch,
};
use vestige_symbols::{Lookup, Unresolved};

/// Abbreviations: 1 unit, 2 function with an origin, 3 inlined call with an
/// origin and ranges, 4 function with ranges, 5 function with an address only.
const ABBREVIATIONS: &str = "
    .section .debug_abbrev,\"\",@progbits
    .uleb128 1, 0x11; .byte 1; .uleb128 0x11, 1, 0x12, 7, 0, 0
    .uleb128 2, 0x2e; .byte 1; .uleb128 0x11, 1, 0x12, 7, 0x31, 0x13, 0, 0
    .uleb128 3, 0x1d; .byte 1; .uleb128 0x31, 0x13, 0x55, 0x17, 0, 0
    .uleb128 4, 0x2e; .byte 0; .uleb128 0x55, 0x17, 0, 0
    .byte 0
";

/// Links a program of 4096 bytes of text with these entries in its only unit.
fn build(scratch: &Scratch, entries: &str, ranges: &str) -> Option<PathBuf> {
    let mut source = String::from("    .text\n    .globl _start\n_start:\n    .skip 4096, 0x90\n");
    source.push_str(ABBREVIATIONS);
    write!(
        source,
        "    .section .debug_ranges,\"\",@progbits\n{ranges}\n    .quad 0, 0\n\
         .section .debug_info,\"\",@progbits\nunit:\n\
         .long unit_end - unit_start\nunit_start:\n    .2byte 4\n    .long 0\n    .byte 8\n\
         .uleb128 1\n    .quad _start, 4096\n{entries}\n    .byte 0\nunit_end:\n"
    )
    .unwrap();
    let (input, output) = (scratch.path("hostile.s"), scratch.path("hostile"));
    std::fs::write(&input, source).unwrap();
    let arguments =
        ["-nostdlib", "-static", "-o", output.to_str().unwrap(), input.to_str().unwrap()];
    run("cc", &arguments).then_some(output)
}

/// Looks up some addresses; fails when that takes long.
fn look_up(path: &Path) -> Vec<Lookup> {
    let in_file = with_sections_in_file(|| look_up_once(path));
    let found = look_up_once(path);
    assert_eq!(in_file, found);
    found
}

fn look_up_once(path: &Path) -> Vec<Lookup> {
    let start = processor_time();
    assert_eq!(open(path).has_dwarf(), Ok(true));
    let table = symbol_table(path);
    let found = text_addresses(path, 16).into_iter().map(|address| table.lookup(address)).collect();
    let taken = processor_time() - start;
    assert!(taken < Duration::from_secs(20), "takes {taken:?}");
    found
}

#[test]
fn entries_that_complete_each_other_in_a_circle_take_the_symbol_s_name() {
    let scratch = Scratch::new("circle");
    let entries = "
    function: .uleb128 2; .quad _start, 4096; .long call - unit
    call: .uleb128 3; .long function - unit; .long 0
    .byte 0, 0";
    let Some(path) = build(&scratch, entries, "    .quad _start, _start + 64") else {
        return;
    };
    for found in look_up(&path) {
        assert!(found.frames.len() <= 2);
        assert_eq!(found.function.map(|place| place.name.to_string()), Some("_start".into()));
    }
}

#[test]
fn calls_inlined_a_hundred_thousand_deep_are_cut() {
    let scratch = Scratch::new("deep");
    let entries = "
    function: .uleb128 2; .quad _start, 4096; .long function - unit
    .rept 100000
    .uleb128 3; .long function - unit; .long 0
    .endr
    .skip 100001";
    let Some(path) = build(&scratch, entries, "    .quad _start, _start + 4096") else {
        return;
    };
    assert!(look_up(&path).iter().all(|found| found.frames.len() < 1000));
}

#[test]
fn many_functions_with_one_long_list_of_ranges_stay_small() {
    let scratch = Scratch::new("ranges");
    let entries = "    .rept 200000\n    .uleb128 4; .long 0\n    .endr";
    let ranges = "    .rept 20000\n    .quad 1, 2\n    .endr";
    let Some(path) = build(&scratch, entries, ranges) else {
        return;
    };
    look_up(&path);
}

#[test]
fn a_function_of_many_parts_costs_each_lookup_little() {
    let scratch = Scratch::new("parts");
    let entries = "    .uleb128 4; .long 0";
    let ranges = "    .rept 1000000\n    .quad 1, 4096\n    .endr";
    let Some(path) = build(&scratch, entries, ranges) else {
        return;
    };
    let table = symbol_table(&path);
    table.lookup(text_addresses(&path, 16)[1]);
    let start = processor_time();
    for address in text_addresses(&path, 1) {
        table.lookup(address);
    }
    let taken = processor_time() - start;
    assert!(taken < Duration::from_secs(5), "takes {taken:?}");
}

#[test]
fn functions_nested_in_functions_stay_fast() {
    let scratch = Scratch::new("nested");
    let entries = "
    function:
    .set index, 0
    .rept 20000
    .uleb128 2; .quad _start + (index % 4000), 1; .long function - unit
    .set index, index + 1
    .endr
    .skip 20000";
    let Some(path) = build(&scratch, entries, "") else {
        return;
    };
    look_up(&path);
}

#[test]
fn a_unit_length_beyond_the_section_is_tolerated() {
    let scratch = Scratch::new("length");
    let Some(path) = build(&scratch, "", "") else {
        return;
    };
    let mut data = std::fs::read(&path).unwrap();
    let object = open(&path);
    let is_info = |name: &[u8]| name == b".debug_info";
    let info = object.sections().iter().find(|one| is_info(object.section_name(one))).unwrap();
    let at = info.offset as usize;
    data[at..at + 4].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    with_sections_in_file(|| answers_by_symbols(data.clone()));
    answers_by_symbols(data);
}

fn answers_by_symbols(data: Vec<u8>) {
    let object = object(data).unwrap();
    let error = object.has_dwarf().unwrap_err();
    assert!(error.to_string().contains(".debug_info"), "{error}");
    let table = vestige_symbols::SymbolTable::new(&object, None).unwrap();
    assert!(table.dwarf_problem().is_some());
    let (start, _) = object.text_ranges()[0];
    assert!(table.lookup(start).reason.is_none_or(|reason| reason == Unresolved::DamagedDebugInfo));
}
