//! Small programs, compiled in many ways, against GNU addr2line.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::path::Path;

use common::programs::{compile, CPP_PROGRAM, C_PROGRAM};
use common::{
    addr2line, ask, chain_of, have, linkage_name, no_line, open, same_place, symbol_table,
};
use common::{text_addresses, Chain, Scratch};
use vestige_symbols::{Lookup, Source, SymbolTable, Unresolved};

/// Compares with addr2line at each address; gives how many have a function.
fn compare(path: &Path, step: usize) -> usize {
    let table = symbol_table(path);
    let addresses = text_addresses(path, step);
    let expected = addr2line(path, &addresses);
    assert_eq!(expected.len(), addresses.len());
    let mut named = 0;
    let mut disputed = Vec::new();
    for (address, theirs) in addresses.iter().zip(&expected) {
        let found = table.lookup(*address);
        named += usize::from(found.function.is_some());
        if !equal(theirs, &found) {
            disputed.push(*address);
        }
    }
    arbitrate(path, &table, &disputed);
    named
}

/// Asks LLVM where GNU addr2line and we differ: two against one is good enough.
///
/// Binutils 2.40 loses the inlined calls of units with a type unit before
/// them, and of some functions of clang.
fn arbitrate(path: &Path, table: &SymbolTable, disputed: &[u64]) {
    let arbiter = "llvm-addr2line";
    if disputed.is_empty() || !have(arbiter) {
        return;
    }
    let opinions = ask(arbiter, path, disputed);
    let mut differences: Vec<_> = disputed
        .iter()
        .zip(&opinions)
        .map(|(address, theirs)| (address, theirs, table.lookup(*address)))
        .filter(|(_, theirs, found)| !equal(theirs, found))
        .map(|(address, theirs, found)| format!("{address:#x} {theirs:?}\n    {found:?}"))
        .collect();
    differences.truncate(12);
    assert!(differences.is_empty(), "{}\n{}", path.display(), differences.join("\n"));
}

/// Whether the functions and lines of all levels are the same.
///
/// What addr2line does otherwise:
/// - in padding it sometimes names the function before, as we do, and sometimes none;
/// - in code without size it names the symbol before;
/// - a place in a split-off part has the name of the whole function;
/// - a line it does not know is `?` or 0, with or without a file.
fn equal(theirs: &Chain, found: &Lookup) -> bool {
    let ours = chain_of(found);
    if theirs.len() == 1 && theirs[0].0 == "??" {
        // Padding without a name: at most the line can be compared.
        let same = same_place(&theirs[0].1, &ours[0].1);
        return same || no_line(&theirs[0].1) || found.location.is_none();
    }
    if found.reason == Some(Unresolved::NoFunctionThere) || found.source != Some(Source::Dwarf) {
        return no_line(&theirs[0].1)
            || no_line(&ours[0].1)
            || same_place(&theirs[0].1, &ours[0].1);
    }
    let lines = theirs.iter().zip(&ours).all(|((_, theirs), (_, ours))| same_place(theirs, ours));
    let name = linkage_name(found);
    let shown = found.function.as_ref().map_or("", |place| place.name.as_ref());
    let outermost = theirs.last().unwrap().0.as_str();
    // Without the function's debug information addr2line names the part by its symbol.
    let same_name = [name.as_str(), shown]
        .iter()
        .any(|ours| *ours == outermost.strip_suffix(".cold").unwrap_or(outermost));
    theirs.len() == ours.len() && lines && same_name
}

#[test]
fn c_programs_of_every_dwarf_version_equal_addr2line() {
    let scratch = Scratch::new("versions");
    for version in ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"] {
        for level in ["-O0", "-O2"] {
            if let Some(path) = compile(&scratch, "gcc", C_PROGRAM, &[version, level]) {
                assert!(compare(&path, 1) > 100);
            }
        }
    }
}

#[test]
fn compressed_and_odd_layouts_equal_addr2line() {
    let scratch = Scratch::new("layouts");
    let flags: &[&[&str]] = &[
        &["-g", "-O2", "-gz=zlib"],
        // addr2line finds no `.zdebug_rnglists`, which DWARF 5 would need.
        &["-gdwarf-4", "-O2", "-gz=zlib-gnu"],
        &["-g", "-O2", "-no-pie", "-static"],
        &["-g", "-O2", "-shared", "-fPIC"],
        &["-g", "-O2", "-flto"],
        &["-g", "-O2", "-fdebug-types-section"],
        &["-g", "-O2", "-gno-as-loc-support"],
        &["-g1", "-O2"],
    ];
    for flags in flags {
        if let Some(path) = compile(&scratch, "gcc", C_PROGRAM, flags) {
            let step = if flags.contains(&"-static") { 53 } else { 1 };
            assert!(compare(&path, step) > 100);
        }
    }
}

#[test]
fn programs_of_32_bits_equal_addr2line() {
    let scratch = Scratch::new("bits");
    // Without a C library, which need not be there in 32 bits.
    let start = C_PROGRAM.find("static inline").unwrap();
    let source =
        C_PROGRAM[start..].replace("int main(", "void abort(void) { for (;;) {} }\nint _start(");
    let declarations = "int atoi(const char *a) { return *a; }\nvoid abort(void);\n\
        __attribute__((noinline)) int printf(const char *a, ...) { return *a; }\n\
        #define stderr 0\n#define fprintf(a, ...) printf(__VA_ARGS__)\n";
    let source = format!("{declarations}{source}");
    for flags in [["-gdwarf-5", "-O2"], ["-gdwarf-3", "-O0"]] {
        let flags =
            ["-m32", "-nostdlib", "-ffreestanding", "-fno-pic", "-no-pie", flags[0], flags[1]];
        if let Some(path) = compile(&scratch, "gcc", &source, &flags) {
            let object = open(&path);
            assert_eq!((object.bits(), object.is_pic(), object.machine()), (32, false, 3));
            assert!(compare(&path, 1) > 60);
        }
    }
}

#[test]
fn cpp_programs_equal_addr2line() {
    let scratch = Scratch::new("cpp");
    for compiler in ["g++", "clang++"] {
        for flags in [&["-g", "-O0"], &["-g", "-O2"], &["-gdwarf-4", "-O1"]] {
            if let Some(path) = compile(&scratch, compiler, CPP_PROGRAM, flags) {
                assert!(compare(&path, 1) > 100);
            }
        }
    }
}

#[test]
fn clang_programs_equal_addr2line() {
    let scratch = Scratch::new("clang");
    let source =
        C_PROGRAM.replace("int local(int b) { return b + a; }", "").replace("local(a)", "a");
    for flags in [&["-gdwarf-4", "-O2"], &["-gdwarf-5", "-O2"], &["-gdwarf-5", "-O0"]] {
        if let Some(path) = compile(&scratch, "clang", &source, flags) {
            assert!(compare(&path, 1) > 100);
        }
    }
}
