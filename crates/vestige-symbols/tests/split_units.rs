//! Split debug information against the same program with all in one file.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::path::{Path, PathBuf};

use common::supplementary_files::{build, packaged_table, split_table, Directory};
use common::{have, open, run, symbol_table, text_addresses, Scratch};
use vestige_symbols::{Source, SymbolFiles, SymbolTable};

/// Compares each address of two builds with the same code; gives how many frames there were.
fn compare(whole: &Path, table: &SymbolTable) -> usize {
    let expected = symbol_table(whole);
    let mut frames = 0;
    let mut named = 0;
    for address in text_addresses(whole, 1) {
        let (theirs, ours) = (expected.lookup(address), table.lookup(address));
        assert_eq!(ours, theirs, "{address:#x} of {}", whole.display());
        frames += ours.frames.len();
        named += usize::from(ours.source == Some(Source::Dwarf));
    }
    assert!(named > 500, "{named}");
    assert_eq!(table.problems(), Vec::<String>::new());
    frames
}

/// Each way to split: compiler and flags.
fn ways() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut ways = Vec::new();
    for compiler in ["g++", "clang++"] {
        ways.push((compiler, vec!["-gdwarf-4", "-O2"]));
        ways.push((compiler, vec!["-gdwarf-5", "-O2"]));
    }
    ways.push(("g++", vec!["-gdwarf-4", "-O0"]));
    ways.push(("g++", vec!["-gdwarf-5", "-O2", "-gz", "-ffunction-sections"]));
    ways.push(("clang++", vec!["-gdwarf-5", "-O2", "-fno-split-dwarf-inlining"]));
    ways
}

/// The same program whole and split.
fn pair(
    scratch: &Scratch,
    index: usize,
    compiler: &str,
    flags: &[&str],
) -> Option<(PathBuf, PathBuf)> {
    let whole = build(scratch, &format!("whole{index}"), compiler, flags)?;
    let flags = [flags, &["-gsplit-dwarf"]].concat();
    Some((whole, build(scratch, &format!("split{index}"), compiler, &flags)?))
}

#[test]
fn split_files_and_packages_answer_as_the_whole_file_does() {
    let scratch = Scratch::new("split");
    for (index, (compiler, flags)) in ways().into_iter().enumerate() {
        let Some((whole, split)) = pair(&scratch, index, compiler, &flags) else {
            continue;
        };
        assert_eq!(open(&split).split_units().unwrap().len(), 2);
        assert_eq!(open(&whole).split_units().unwrap(), Vec::new());
        let frames = compare(&whole, &split_table(&split));
        assert!(frames > 100 || flags.contains(&"-O0"), "{frames} frames with {flags:?}");
        // The packager of binutils knows no DWARF 5, that of LLVM does not end on GCC's.
        let tool = if compiler == "clang++" { "llvm-dwp" } else { "dwp" };
        if compiler == "g++" && flags.contains(&"-gdwarf-5") {
            println!("skipped: no tool here packages what {compiler} {flags:?} writes");
            continue;
        }
        let package = split.with_extension("dwp");
        let arguments = ["-e", split.to_str().unwrap(), "-o", package.to_str().unwrap()];
        if have(tool) && run(tool, &arguments) {
            compare(&whole, &packaged_table(&split, &package));
        }
    }
}

#[test]
fn an_index_takes_no_unit_whose_file_is_missing() {
    let scratch = Scratch::new("split-index");
    let Some((_, split)) = pair(&scratch, 0, "g++", &["-gdwarf-5", "-O1"]) else {
        return;
    };
    let addresses = text_addresses(&split, 16);
    let part_of = |table: SymbolTable| {
        table.lookup_many(&addresses);
        table.take_index_part(b"key")
    };
    assert!(part_of(split_table(&split)).is_some());
    assert!(part_of(symbol_table(&split)).is_none());
}

#[test]
fn a_missing_file_is_told_and_symbols_answer() {
    let scratch = Scratch::new("missing-dwo");
    let Some((_, split)) = pair(&scratch, 0, "g++", &["-gdwarf-5", "-O1"]) else {
        return;
    };
    let units = open(&split).split_units().unwrap();
    let name = String::from_utf8(units[1].name.clone()).unwrap();
    std::fs::remove_file(&name).unwrap();
    let table = split_table(&split);
    let addresses = text_addresses(&split, 1);
    let sources: Vec<_> = addresses.iter().map(|at| table.lookup(*at)).collect();
    let of_second = sources.iter().filter(|found| {
        found.function.as_ref().is_some_and(|place| place.name.starts_with("second_unit"))
    });
    let mut count = 0;
    for found in of_second {
        assert_eq!(found.source, Some(Source::ElfSymtab));
        assert!(found.location.is_some(), "the line table is in the object");
        count += 1;
    }
    assert!(count > 50);
    assert!(sources.iter().any(|found| found.source == Some(Source::Dwarf)));
    let problems = table.problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains(&name) && problems[0].contains("No such file"), "{problems:?}");
}

#[test]
fn a_file_with_another_id_is_refused() {
    let scratch = Scratch::new("other-dwo");
    let Some((_, split)) = pair(&scratch, 0, "g++", &["-gdwarf-4", "-O1"]) else {
        return;
    };
    let object = open(&split);
    let files = Directory::of(&object);
    let mut swapped = files.0.clone();
    for ((_, path), other) in swapped.iter_mut().zip(files.0.values().rev()) {
        path.clone_from(other);
    }
    let files = std::sync::Arc::new(Directory(swapped));
    let table = SymbolTable::of_files(SymbolFiles::new(&object, None), Some(files)).unwrap();
    for address in text_addresses(&split, 1) {
        assert_ne!(table.lookup(address).source, Some(Source::Dwarf));
    }
    let problems = table.problems();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems.iter().all(|problem| problem.contains("no unit with this dwo_id")));
}
