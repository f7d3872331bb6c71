//! What lookups answer for compiled programs: names, offsets, sources, reasons.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::programs::{compile, ASSEMBLY, CPP_PROGRAM, C_PROGRAM};
use common::{linkage_name, open, run, symbol_table, text_addresses, Scratch};
use vestige_symbols::{Lookup, Source, SymbolTable, Unresolved};

#[test]
fn zstd_sections_give_the_same_answers() {
    let scratch = Scratch::new("zstd");
    let Some(plain) = compile(&scratch, "gcc", C_PROGRAM, &["-g", "-O2"]) else {
        return;
    };
    let packed = scratch.path("zstd");
    let option = "--compress-debug-sections=zstd";
    let paths = [plain.to_str().unwrap(), packed.to_str().unwrap()];
    let done =
        ["objcopy", "llvm-objcopy"].iter().any(|tool| run(tool, &[option, paths[0], paths[1]]));
    if !done {
        return;
    }
    let (one, other) = (symbol_table(&plain), symbol_table(&packed));
    for address in text_addresses(&plain, 1) {
        assert_eq!(one.lookup(address), other.lookup(address));
    }
}

#[test]
fn a_method_has_its_demangled_name_and_offset() {
    let scratch = Scratch::new("names");
    let Some(path) = compile(&scratch, "g++", CPP_PROGRAM, &["-g", "-O0"]) else {
        return;
    };
    let table = symbol_table(&path);
    let names: Vec<_> = text_addresses(&path, 1)
        .iter()
        .filter_map(|address| table.lookup(*address).function)
        .filter(|place| place.offset == 4)
        .map(|place| place.name.to_string())
        .collect();
    for name in [
        "app::Conn::open(int)",
        "app::Conn::Conn(int)",
        "app::(anonymous namespace)::hidden(int)",
        "app::Conn::open(int)::{lambda(int)#1}::operator()(int) const",
        "long app::Conn::get<long>(long)",
        "main",
    ] {
        assert!(names.iter().any(|found| found == name), "{name} is not in {names:#?}");
    }
}

#[test]
fn a_part_split_off_belongs_to_its_function_with_and_without_symbols() {
    let scratch = Scratch::new("cold");
    let Some(path) = compile(&scratch, "gcc", C_PROGRAM, &["-g", "-O2"]) else {
        return;
    };
    let stripped = scratch.path("stripped");
    let keep_dwarf = ["--strip-all", "--keep-section=.debug_*"];
    let paths = [path.to_str().unwrap(), stripped.to_str().unwrap()];
    let done = run("objcopy", &[keep_dwarf[0], keep_dwarf[1], paths[0], paths[1]]);
    let mut parts = 0;
    for file in [Some(&path), done.then_some(&stripped)].into_iter().flatten() {
        let table = symbol_table(file);
        for address in text_addresses(file, 1) {
            let Some(place) = table.lookup(address).function else {
                continue;
            };
            assert!(place.offset.abs() < 0x1000, "{place:?}");
            assert_eq!(place.entry.wrapping_add_signed(place.offset), address);
            let outside = !(0..0x100).contains(&place.offset);
            parts += usize::from(place.name.as_ref() == "split" && outside);
        }
    }
    assert!(parts > 10);
}

#[test]
fn a_stripped_object_resolves_through_its_debug_file() {
    let scratch = Scratch::new("separate");
    let Some(path) = compile(&scratch, "gcc", C_PROGRAM, &["-g", "-O2", "-Wl,--build-id"]) else {
        return;
    };
    let (debug, stripped) = (scratch.path("program.debug"), scratch.path("program"));
    let names = [&path, &debug, &stripped].map(|path| path.to_str().unwrap().to_owned());
    let link = format!("--add-gnu-debuglink={}", names[1]);
    let done = run("objcopy", &["--only-keep-debug", &names[0], &names[1]])
        && run("strip", &["-o", &names[2], &names[0]])
        && run("objcopy", &[&link, &names[2]]);
    if !done {
        return;
    }
    let (whole, debug, main) = (open(&path), open(&debug), open(&stripped));
    assert_eq!(debug.build_id(), main.build_id());
    assert_eq!(whole.build_id().map(<[u8]>::len), Some(20));
    assert_eq!((debug.has_dwarf(), main.has_dwarf()), (Ok(true), Ok(false)));
    assert!(debug.has_symbol_table() && !main.has_symbol_table());
    let mut crc = vestige_symbols::Crc32::new();
    crc.update(&std::fs::read(scratch.path("program.debug")).unwrap());
    let link = main.debug_link().unwrap();
    assert_eq!((link.name.as_slice(), link.crc), (&b"program.debug"[..], crc.finish()));
    let combined = SymbolTable::new(&debug, Some(&main)).unwrap();
    let alone = symbol_table(&path);
    for address in text_addresses(&path, 1) {
        assert_eq!(combined.lookup(address), alone.lookup(address));
    }
}

#[test]
fn without_debug_information_symbols_answer() {
    let scratch = Scratch::new("symbols");
    let Some(path) = compile(&scratch, "g++", CPP_PROGRAM, &["-O0", "-rdynamic"]) else {
        return;
    };
    let with_debug = compile(&scratch, "g++", CPP_PROGRAM, &["-O0", "-g", "-rdynamic"]).unwrap();
    let (symbols, dwarf) = (symbol_table(&path), symbol_table(&with_debug));
    for address in text_addresses(&path, 1) {
        let (one, other) = (symbols.lookup(address), dwarf.lookup(address));
        // Constructors have several symbols at one address, which demangle alike.
        let name = |found: Lookup| found.function.map(|place| (place.name, place.offset));
        let (name, expected) = (name(one.clone()), name(other));
        // A name too hard for the demangler is shown as linked; DWARF has the bare name too.
        if !name.as_ref().is_some_and(|(name, _)| name.starts_with("_Z")) {
            assert_eq!(name, expected);
        }
        assert_eq!(one.location, None);
        assert!(one.source.is_none_or(|source| matches!(source, Source::ElfSymtab | Source::Plt)));
    }
    if run("strip", &[path.to_str().unwrap()]) {
        let stripped = symbol_table(&path);
        let sources =
            text_addresses(&path, 1).into_iter().filter_map(|at| stripped.lookup(at).source);
        assert!(sources.collect::<Vec<_>>().contains(&Source::ElfDynsym));
    }
}

#[test]
fn assembly_symbols_without_a_size_end_at_the_next() {
    let scratch = Scratch::new("assembly");
    let Some(path) = compile(&scratch, "gcc", ASSEMBLY, &["-nostartfiles"]) else {
        return;
    };
    let table = symbol_table(&path);
    let start = open(&path).text_ranges()[0].0;
    let names: Vec<_> = text_addresses(&path, 1)
        .iter()
        .filter_map(|address| table.lookup(*address).function)
        .map(|place| (place.name.to_string(), place.offset))
        .collect();
    assert!(names.contains(&("first_unsized".into(), 2)), "{start:#x} {names:?}");
    assert!(!names.contains(&("first_unsized".into(), 3)));
    assert!(names.contains(&("second_untyped".into(), 1)));
    assert!(names.contains(&("main".into(), 2)));
    // The padding behind belongs to the function before it.
    assert!(names.contains(&("main".into(), 3)));
}

#[test]
fn split_dwarf_falls_back_on_symbols_and_keeps_lines() {
    let scratch = Scratch::new("split");
    let flags = ["-g", "-O0", "-gsplit-dwarf"];
    let Some(path) = compile(&scratch, "gcc", C_PROGRAM, &flags) else {
        return;
    };
    let table = symbol_table(&path);
    let found: Vec<_> = text_addresses(&path, 1).into_iter().map(|at| table.lookup(at)).collect();
    let main = found.iter().find(|one| linkage_name(one) == "main").unwrap();
    assert_eq!(main.source, Some(Source::ElfSymtab));
    assert!(main.location.as_ref().is_some_and(|location| location.file.as_ref() == "program.c"));
}

#[test]
fn addresses_outside_have_a_reason() {
    let scratch = Scratch::new("outside");
    let Some(path) = compile(&scratch, "gcc", C_PROGRAM, &["-g"]) else {
        return;
    };
    let table = symbol_table(&path);
    for address in [0, 1, u64::MAX, u64::MAX / 2] {
        let found = table.lookup(address);
        assert_eq!(found.reason, Some(Unresolved::OutsideOfText));
        assert_eq!((found.function, found.location, found.source), (None, None, None));
    }
    if run("strip", &["-R", ".dynsym", path.to_str().unwrap()]) {
        let start = open(&path).text_ranges()[0].0;
        assert_eq!(symbol_table(&path).lookup(start).reason, Some(Unresolved::NoSymbols));
    }
}

#[test]
fn one_table_answers_several_threads_alike() {
    let scratch = Scratch::new("threads");
    let Some(path) = compile(&scratch, "g++", CPP_PROGRAM, &["-g", "-O2"]) else {
        return;
    };
    let addresses = text_addresses(&path, 3);
    let alone = symbol_table(&path);
    let expected: Vec<_> = addresses.iter().map(|address| alone.lookup(*address)).collect();
    let shared = symbol_table(&path);
    let work = || addresses.iter().map(|address| shared.lookup(*address)).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), expected);
        }
    });
}
