//! Cut and altered files beside an object: the rest still answers, in little time.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use common::supplementary_files::build;
use common::{
    have, object as object_of, open, processor_time, run, text_addresses, with_sections_in_file,
    Lcg, Scratch,
};
use vestige_symbols::{ObjectFile, SplitFailure, SplitFiles, SymbolFiles, SymbolTable};

/// `.dwo` files in memory.
struct InMemory(BTreeMap<u64, Vec<u8>>);

impl SplitFiles for InMemory {
    fn open(&self, dwo_id: u64) -> Option<Result<Arc<ObjectFile>, SplitFailure>> {
        let data = self.0.get(&dwo_id)?.clone();
        Some(object_of(data).map(Arc::new).map_err(SplitFailure::Content))
    }
}

/// Versions of a file: some cut, the others with a few bytes altered.
fn altered(whole: &[u8], count: u64) -> Vec<Vec<u8>> {
    let mut random = Lcg(11);
    let size = whole.len() as u64;
    let alter = |index| {
        let mut data = whole.to_vec();
        if index % 8 == 0 {
            data.truncate(random.below(size) as usize);
            return data;
        }
        for _ in 0..=random.below(20) {
            let at = random.below(size) as usize;
            data[at] = if random.below(2) == 0 { random.below(256) as u8 } else { data[at] ^ 0x80 };
        }
        data
    };
    (0..count).map(alter).collect()
}

/// Where the sections of the altered files are: in memory, and in the file.
fn both_ways(action: impl Fn()) {
    action();
    with_sections_in_file(action);
}

/// Looks up some addresses; gives how many have a function. Fails when that takes long.
fn ask(table: &SymbolTable, addresses: &[u64], what: &str) -> usize {
    let start = processor_time();
    let named = addresses.iter().filter(|at| table.lookup(**at).function.is_some()).count();
    let taken = processor_time() - start;
    assert!(taken < Duration::from_secs(10), "{what} takes {taken:?}");
    named
}

fn some_addresses(path: &Path) -> Vec<u64> {
    text_addresses(path, 61)
}

#[test]
fn damaged_split_files_leave_the_names_of_symbols() {
    both_ways(check_damaged_split_files);
}

fn check_damaged_split_files() {
    let scratch = Scratch::new("damaged-dwo");
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let flags = [version, "-O2", "-gsplit-dwarf"];
        let Some(program) = build(&scratch, version, "g++", &flags) else {
            return;
        };
        let object = open(&program);
        let units = object.split_units().unwrap();
        let read = |name: &[u8]| std::fs::read(std::str::from_utf8(name).unwrap()).unwrap();
        let files: BTreeMap<u64, Vec<u8>> =
            units.iter().map(|unit| (unit.dwo_id, read(&unit.name))).collect();
        let addresses = some_addresses(&program);
        let with = |files| {
            let files = Arc::new(InMemory(files));
            SymbolTable::of_files(SymbolFiles::new(&object, None), Some(files)).unwrap()
        };
        let named = ask(&with(files.clone()), &addresses, "the whole file");
        assert!(named > 20, "{named}");
        let mut told = 0;
        for data in altered(&files[&units[0].dwo_id], 300) {
            let mut files = files.clone();
            files.insert(units[0].dwo_id, data);
            let table = with(files);
            // A symbol covers each function, so no name gets lost.
            assert!(ask(&table, &addresses, "an altered file") >= named);
            told += table.problems().len();
        }
        assert!(told > 30, "{told}");
    }
}

#[test]
fn damaged_packages_leave_the_names_of_symbols() {
    both_ways(check_damaged_packages);
}

fn check_damaged_packages() {
    let scratch = Scratch::new("damaged-dwp");
    let flags = ["-gdwarf-4", "-O2", "-gsplit-dwarf"];
    let Some(program) = build(&scratch, "program", "g++", &flags) else {
        return;
    };
    let package = program.with_extension("dwp");
    let arguments = ["-e", program.to_str().unwrap(), "-o", package.to_str().unwrap()];
    if !have("dwp") || !run("dwp", &arguments) {
        return;
    }
    let object = open(&program);
    let addresses = some_addresses(&program);
    let whole = std::fs::read(&package).unwrap();
    let mut usable = 0;
    for data in altered(&whole, 400) {
        let Ok(package) = object_of(data) else {
            continue;
        };
        let files = SymbolFiles { package: Some(&package), ..SymbolFiles::new(&object, None) };
        let table = SymbolTable::of_files(files, None).unwrap();
        usable += usize::from(ask(&table, &addresses, "an altered package") > 20);
    }
    assert!(usable > 200, "{usable}");
}

#[test]
fn damaged_supplements_leave_places_and_lines() {
    both_ways(check_damaged_supplements);
}

fn check_damaged_supplements() {
    let scratch = Scratch::new("damaged-sup");
    let flags = ["-gdwarf-5", "-O2"];
    let supplement = scratch.path("common.debug");
    let programs = ["one", "two"].map(|name| build(&scratch, name, "g++", &flags));
    let [Some(one), Some(two)] = programs else {
        return;
    };
    let (path, paths) = (supplement.to_str().unwrap(), [&one, &two].map(|p| p.to_str().unwrap()));
    if !have("dwz") || !run("dwz", &["-m", path, paths[0], paths[1]]) {
        return;
    }
    let object = open(&one);
    let addresses = some_addresses(&one);
    for data in altered(&std::fs::read(&supplement).unwrap(), 400) {
        let Ok(supplement) = object_of(data) else {
            continue;
        };
        let files =
            SymbolFiles { supplement: Some(&supplement), ..SymbolFiles::new(&object, None) };
        let table = SymbolTable::of_files(files, None).unwrap();
        assert!(ask(&table, &addresses, "an altered supplement") > 20);
    }
    // The links of the program lead to places that the supplement does not have in mind.
    let right = open(&supplement);
    for data in altered(&std::fs::read(&one).unwrap(), 300) {
        let Ok(object) = object_of(data) else {
            continue;
        };
        let files = SymbolFiles { supplement: Some(&right), ..SymbolFiles::new(&object, None) };
        if let Ok(table) = SymbolTable::of_files(files, None) {
            ask(&table, &addresses, "an altered program");
        }
    }
}

#[test]
fn an_object_that_is_its_own_supplement_is_no_circle() {
    let scratch = Scratch::new("circle");
    let flags = ["-gdwarf-5", "-O2", "-Wl,--build-id=0x0102030405060708"];
    let Some(program) = build(&scratch, "program", "g++", &flags) else {
        return;
    };
    // A link to itself, by its own build ID.
    let link = scratch.path("link");
    std::fs::write(&link, b"program\0\x01\x02\x03\x04\x05\x06\x07\x08").unwrap();
    let looped = scratch.path("looped");
    let section = format!("--add-section=.gnu_debugaltlink={}", link.display());
    let arguments = [&section, program.to_str().unwrap(), looped.to_str().unwrap()];
    if !have("objcopy") || !run("objcopy", &arguments) {
        return;
    }
    let object = open(&looped);
    let files = SymbolFiles { supplement: Some(&object), ..SymbolFiles::new(&object, None) };
    let table = SymbolTable::of_files(files, None).unwrap();
    assert!(ask(&table, &some_addresses(&program), "a circle") > 20);
}
