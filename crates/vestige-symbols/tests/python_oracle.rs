//! A large real program, with its debug file, against GNU addr2line.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use common::{addr2line, chain_of, have, linkage_name, open, same_place, Lcg};
use vestige_symbols::{Lookup, ObjectFile, Source, SymbolTable};

const PROGRAM: &str = "/usr/bin/python3.11";

fn debug_file(program: &ObjectFile) -> Option<PathBuf> {
    let id: String = program.build_id()?.iter().map(|byte| format!("{byte:02x}")).collect();
    let (directory, name) = id.split_at_checked(2)?;
    let path = PathBuf::from(format!("/usr/lib/debug/.build-id/{directory}/{name}.debug"));
    path.exists().then_some(path)
}

fn program_and_debug_file() -> Option<(ObjectFile, PathBuf)> {
    if !Path::new(PROGRAM).exists() {
        println!("skipped: no {PROGRAM}");
        return None;
    }
    let program = open(Path::new(PROGRAM));
    let path = debug_file(&program);
    if path.is_none() {
        println!("skipped: no debug file of {PROGRAM}");
    }
    Some((program, path?))
}

fn random_addresses(program: &ObjectFile, count: usize) -> Vec<u64> {
    let (start, end) = program.text_ranges()[0];
    let mut random = Lcg(42);
    (0..count).map(|_| start + random.below(end - start)).collect()
}

#[test]
fn functions_and_lines_equal_addr2line() {
    let Some((program, path)) = program_and_debug_file() else {
        return;
    };
    if !have("addr2line") {
        return;
    }
    let table = SymbolTable::new(&open(&path), Some(&program)).unwrap();
    let addresses = random_addresses(&program, 1000);
    let expected = addr2line(&path, &addresses);
    assert_eq!(expected.len(), addresses.len());
    let mut differences = String::new();
    for (address, chain) in addresses.iter().zip(&expected) {
        let found = table.lookup(*address);
        // What the linker made is not in the debug file.
        if found.source == Some(Source::Plt) && chain.iter().all(|(name, _)| name == "??") {
            continue;
        }
        let ours = chain_of(&found);
        let outermost = &chain.last().unwrap().0;
        let shown = found.function.as_ref().map_or("??", |place| place.name.as_ref());
        let same_name = *outermost == linkage_name(&found) || outermost == shown;
        let places = chain.iter().zip(&ours);
        let same_lines = chain.len() == ours.len()
            && places.into_iter().all(|((_, theirs), (_, ours))| same_place(theirs, ours));
        if !(same_name && (same_lines || has_no_line(&found))) {
            writeln!(differences, "{address:#x}: addr2line {chain:?}\n    ours {ours:?}").unwrap();
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

/// In the padding behind a function addr2line takes the line of the last row; no row
/// covers it, so we give none.
fn has_no_line(found: &Lookup) -> bool {
    found.location.is_none() && found.frames.is_empty()
}

#[test]
fn twenty_thousand_lookups_take_little_time() {
    let Some((program, path)) = program_and_debug_file() else {
        return;
    };
    let addresses = random_addresses(&program, 20_000);
    let debug = open(&path);
    let start = Instant::now();
    let table = SymbolTable::new(&debug, Some(&program)).unwrap();
    let opened = start.elapsed();
    let resolved = |table: &SymbolTable| {
        addresses.iter().filter(|address| table.lookup(**address).function.is_some()).count()
    };
    let start = Instant::now();
    let count = resolved(&table);
    let cold = start.elapsed();
    let start = Instant::now();
    resolved(&table);
    let warm = start.elapsed();
    println!("{count} resolved; opening {opened:?}, cold {cold:?}, warm {warm:?}");
    assert!(count > 19_000);
    // Far above what is expected, as test machines are slow and tests unoptimised.
    assert!(cold.as_secs() < 60 && warm.as_secs() < 30);
}
