//! Debug sections that stay in the file answer as they do when they are read whole.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;

use common::programs::{compile, CPP_PROGRAM, C_PROGRAM};
use common::supplementary_files::{build, packaged_table, split_table};
use common::{have, open, run, symbol_table, text_addresses, with_sections_in_file, Scratch};
use vestige_symbols::{Lookup, ObjectFile, ReadAt, Source, SymbolFiles, SymbolTable};

/// All answers, and how many of them come from debug information.
fn answers(path: &Path, table: &SymbolTable) -> (Vec<Lookup>, usize) {
    let addresses = text_addresses(path, 1);
    let found: Vec<_> = addresses.iter().map(|address| table.lookup(*address)).collect();
    let named = found.iter().filter(|found| found.source == Some(Source::Dwarf)).count();
    (found, named)
}

/// Compares the answers of one table, made twice.
fn compare(path: &Path, table: impl Fn() -> SymbolTable) {
    let (expected, named) = answers(path, &table());
    assert!(named > 60, "{named} of {}", path.display());
    let (found, _) = with_sections_in_file(|| {
        let table = table();
        let found = answers(path, &table);
        assert_eq!(table.problems(), Vec::<String>::new());
        found
    });
    for (ours, theirs) in found.iter().zip(&expected) {
        assert_eq!(ours, theirs, "{}", path.display());
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn programs_of_every_version_and_compiler() {
    let scratch = Scratch::new("in-file");
    for version in ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"] {
        if let Some(path) = compile(&scratch, "gcc", C_PROGRAM, &[version, "-O2"]) {
            compare(&path, || symbol_table(&path));
        }
        for compiler in ["g++", "clang++"] {
            if let Some(path) = compile(&scratch, compiler, CPP_PROGRAM, &[version, "-O2"]) {
                compare(&path, || symbol_table(&path));
            }
        }
    }
    let more: &[&[&str]] = &[
        &["-gdwarf-5", "-gdwarf64", "-O2"],
        &["-g", "-O2", "-flto"],
        &["-g", "-O2", "-gz=zlib"],
        &["-g", "-O2", "-ffunction-sections", "-fdebug-types-section"],
    ];
    for flags in more {
        if let Some(path) = build(&scratch, &flags.concat(), "g++", flags) {
            compare(&path, || symbol_table(&path));
        }
    }
}

#[test]
fn split_units_and_packages() {
    let scratch = Scratch::new("in-file-split");
    for (name, compiler, flag, tool) in [
        ("g4", "g++", "-gdwarf-4", "dwp"),
        ("g5", "g++", "-gdwarf-5", ""),
        ("c4", "clang++", "-gdwarf-4", "llvm-dwp"),
        ("c5", "clang++", "-gdwarf-5", "llvm-dwp"),
    ] {
        let Some(path) = build(&scratch, name, compiler, &[flag, "-O2", "-gsplit-dwarf"]) else {
            continue;
        };
        compare(&path, || split_table(&path));
        let package = path.with_extension("dwp");
        let arguments = ["-e", path.to_str().unwrap(), "-o", package.to_str().unwrap()];
        if !tool.is_empty() && have(tool) && run(tool, &arguments) {
            compare(&path, || packaged_table(&path, &package));
        }
    }
}

#[test]
fn entries_shared_between_units_and_files() {
    let scratch = Scratch::new("in-file-dwz");
    let flags = ["-gdwarf-5", "-O2", "-Wl,--build-id"];
    let names = ["one", "other"];
    let built = names.map(|name| build(&scratch, name, "g++", &flags));
    let [Some(one), Some(other)] = built else {
        return;
    };
    let alone = scratch.path("alone");
    let arguments = ["-o", alone.to_str().unwrap(), one.to_str().unwrap()];
    if !have("dwz") || !run("dwz", &arguments) {
        return;
    }
    compare(&alone, || symbol_table(&alone));
    let common = scratch.path("common.debug");
    let paths = [&common, &one, &other].map(|path| path.to_str().unwrap());
    if run("dwz", &["-m", paths[0], paths[1], paths[2]]) && common.exists() {
        compare(&one, || {
            let (object, supplement) = (open(&one), open(&common));
            let files =
                SymbolFiles { supplement: Some(&supplement), ..SymbolFiles::new(&object, None) };
            SymbolTable::of_files(files, None).unwrap()
        });
    }
}

/// A file that counts what is read of it, and can fail.
#[derive(Clone)]
struct Watched {
    data: Arc<Vec<u8>>,
    bytes_read: Arc<AtomicU64>,
    fails: Arc<AtomicBool>,
}

impl ReadAt for Watched {
    fn len(&self) -> u64 {
        self.data.len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(io::Error::other("the disk is gone"));
        }
        self.bytes_read.fetch_add(buf.len() as u64, Ordering::Relaxed);
        self.data.as_ref().read_at(offset, buf)
    }
}

impl Watched {
    /// A program with many units, of which one lookup needs one.
    fn program(scratch: &Scratch) -> Option<Self> {
        let mut objects = Vec::new();
        for number in 0..20 {
            let unit = format!("unit_{number}");
            let main = if number == 0 { "int main(void) { return 0; }" } else { "" };
            let body: String = (0..200)
                .map(|n| {
                    format!("int {unit}_{n}(int a) {{ for (; a > {n}; a--) a ^= a; return a; }}\n")
                })
                .collect();
            let (input, output) =
                (scratch.path(&format!("{unit}.c")), scratch.path(&format!("{unit}.o")));
            std::fs::write(&input, format!("{main}\n{body}")).unwrap();
            let paths = [&output, &input].map(|path| path.to_str().unwrap());
            if !run("cc", &["-g", "-O1", "-c", "-o", paths[0], paths[1]]) {
                return None;
            }
            objects.push(output);
        }
        let program = scratch.path("program");
        let mut arguments = vec!["-o", program.to_str().unwrap()];
        arguments.extend(objects.iter().map(|object| object.to_str().unwrap()));
        run("cc", &arguments).then(|| Self {
            data: Arc::new(std::fs::read(&program).unwrap()),
            bytes_read: Arc::default(),
            fails: Arc::default(),
        })
    }

    fn object(&self) -> ObjectFile {
        ObjectFile::with_memory_limit(Box::new(self.clone()), 0).unwrap()
    }
}

fn debug_size(object: &ObjectFile) -> u64 {
    let sections = object.sections().iter();
    sections
        .filter(|one| object.section_name(one).starts_with(b".debug_"))
        .map(|one| one.size)
        .sum()
}

#[test]
fn one_lookup_reads_a_small_part() {
    let scratch = Scratch::new("in-file-part");
    let Some(file) = Watched::program(&scratch) else {
        return;
    };
    let object = file.object();
    let (start, end) = *object.text_ranges().iter().max_by_key(|(start, end)| end - start).unwrap();
    let table = SymbolTable::new(&object, None).unwrap();
    let before = file.bytes_read.load(Ordering::Relaxed);
    let found = table.lookup(start + (end - start) / 2);
    assert_eq!(found.source, Some(Source::Dwarf));
    let read = file.bytes_read.load(Ordering::Relaxed) - before;
    let whole = debug_size(&object);
    assert!(read > 0 && read * 4 < whole, "{read} of {whole}");
}

#[test]
fn a_failing_file_is_told_and_goes_into_no_index() {
    let scratch = Scratch::new("in-file-fails");
    let Some(file) = Watched::program(&scratch) else {
        return;
    };
    let object = file.object();
    let table = SymbolTable::new(&object, None).unwrap();
    let (start, end) = *object.text_ranges().iter().max_by_key(|(start, end)| end - start).unwrap();
    table.lookup(start + (end - start) / 2);
    file.fails.store(true, Ordering::Relaxed);
    let found = table.lookup(end - 64);
    assert_eq!(found.source, Some(Source::ElfSymtab));
    let problems = table.problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("the disk is gone"), "{problems:?}");
    assert_eq!(table.take_index_part(b"key"), None);
}
