//! Objects that are not linked, and modules of the kernel, which never are, against addr2line.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{addr2line, chain_of, have, object, open, run, symbol_table, Lcg, Scratch};
use vestige_symbols::{unpacked_file, SymbolTable, Unresolved};

/// Code in several sections, with inlined calls; no header is needed.
const SOURCE: &str = r#"
extern int outside(int);
static int counter;
static inline __attribute__((always_inline)) int inner(int a) { return outside(a) + counter++; }
static inline __attribute__((always_inline)) int middle(int a)
{
    return inner(a) * 3 + outside(7);
}
__attribute__((noinline)) int first(int a) { return middle(a) - 1; }
__attribute__((noinline, section(".init.text"))) int starts(int a)
{
    if (a > 3)
        return outside(a);
    return middle(a + 2);
}
__attribute__((noinline, section(".exit.text"))) void ends(void) { counter = outside(counter); }
__attribute__((noinline, cold)) int rare(int a) { return outside(a) ^ middle(1); }
int last(int a) { return a ? rare(a) : first(a); }
"#;

fn compile(scratch: &Scratch, compiler: &str, name: &str, flags: &[&str]) -> Option<PathBuf> {
    if !have(compiler) {
        return None;
    }
    let (input, output) = (scratch.path("code.c"), scratch.path(name));
    std::fs::write(&input, SOURCE).unwrap();
    let mut arguments = flags.to_vec();
    arguments.extend(["-c", "-o", output.to_str().unwrap(), input.to_str().unwrap()]);
    run(compiler, &arguments).then_some(output)
}

/// Links an object, so that each section stays one and has an address: of objects, addr2line
/// loses inlined calls.
fn link(scratch: &Scratch, linker: &[&str], path: &Path) -> PathBuf {
    let (script, output) = (scratch.path("script.ld"), path.with_extension("linked"));
    std::fs::write(&script, "SECTIONS { . = 0x400000; }").unwrap();
    let mut words = linker[1..].to_vec();
    words.extend(["--defsym=outside=0x10000", "-e", "first", "-T", script.to_str().unwrap()]);
    words.extend(["-o", output.to_str().unwrap(), path.to_str().unwrap()]);
    assert!(run(linker[0], &words));
    output
}

/// Compares all offsets of all sections of `path` with what addr2line says of the linked file;
/// gives the names of the sections.
fn compare(path: &Path, linked: &Path, table: &SymbolTable) -> Vec<String> {
    let (object, other) = (open(path), open(linked));
    let mut names = Vec::new();
    for (name, address, size) in object.code_sections() {
        let text = String::from_utf8(name.to_vec()).unwrap();
        let begin = other.find_section(name).unwrap().address;
        let addresses: Vec<u64> = (begin..begin + size).collect();
        let chains = addr2line(linked, &addresses);
        for (offset, theirs) in (0..size).zip(chains) {
            let ours = chain_of(&table.lookup(address + offset));
            // Padding between functions is of none for addr2line.
            if theirs[0].0 != "??" {
                assert_eq!(ours, theirs, "{} {text}+{offset:#x}", path.display());
            }
        }
        assert_eq!(table.lookup(address + size).reason, Some(Unresolved::OutsideOfText));
        names.push(text);
    }
    names
}

#[test]
fn each_section_has_its_functions_and_lines() {
    let scratch = Scratch::new("relocatable");
    let flags: &[&[&str]] = &[
        &["-gdwarf-4", "-O2"],
        &["-gdwarf-5", "-O2"],
        &["-gdwarf-5", "-O0"],
        &["-gdwarf-5", "-O2", "-ffunction-sections", "-gz=zlib"],
        &["-gdwarf-4", "-O2", "-mcmodel=kernel", "-gz=zlib-gnu"],
        &["-gdwarf-5", "-O2", "-gas-loc-support", "-gno-as-locview-support"],
    ];
    for (number, flags) in flags.iter().enumerate() {
        let Some(path) = compile(&scratch, "gcc", &format!("{number}.o"), flags) else { return };
        let linked = link(&scratch, &["ld"], &path);
        let names = compare(&path, &linked, &symbol_table(&path));
        for name in [".init.text", ".exit.text"] {
            assert!(names.contains(&name.to_owned()), "{names:?}");
        }
    }
}

#[test]
fn other_machines_have_relocations_of_their_own() {
    let scratch = Scratch::new("other-relocatable");
    let cross: &[&str] = &["aarch64-linux-gnu-ld"];
    let machines = [
        ("aarch64-linux-gnu-gcc", cross, "-gdwarf-5"),
        ("aarch64-linux-gnu-gcc", cross, "-gdwarf-4"),
        ("gcc", &["ld", "-m", "elf_i386"], "-m32"),
    ];
    for (number, (compiler, linker, flag)) in machines.into_iter().enumerate() {
        let flags = ["-g", "-O2", "-fno-pic", flag];
        let Some(path) = compile(&scratch, compiler, &format!("{number}.o"), &flags) else {
            continue;
        };
        if have(linker[0]) {
            let linked = link(&scratch, linker, &path);
            assert!(compare(&path, &linked, &symbol_table(&path)).len() >= 3);
        }
    }
}

#[test]
fn modules_are_several_objects_in_one_with_their_debug_information_elsewhere() {
    let scratch = Scratch::new("module");
    let flags = ["-g", "-O2", "-mcmodel=kernel"];
    let Some(one) = compile(&scratch, "gcc", "one.o", &flags) else { return };
    let other = scratch.path("other.o");
    let renamed =
        ["first", "starts", "ends", "rare", "last"].map(|name| format!("-D{name}=x{name}"));
    let mut words = flags.to_vec();
    words.extend(renamed.iter().map(String::as_str));
    std::fs::copy(compile(&scratch, "gcc", "renamed.o", &words).unwrap(), &other).unwrap();
    let paths = ["module.ko", "module.ko.debug", "stripped.ko"].map(|name| scratch.path(name));
    let [whole, debug, stripped] = paths.each_ref().map(|path| path.to_str().unwrap());
    let objects = [&one, &other].map(|path| path.to_str().unwrap());
    let done = run("ld", &["-r", "--build-id", "-o", whole, objects[0], objects[1]])
        && run("objcopy", &["--only-keep-debug", whole, debug])
        && run("strip", &["-g", "-o", stripped, whole]);
    assert!(done);
    let linked = link(&scratch, &["ld"], &paths[0]);
    compare(&paths[0], &linked, &symbol_table(&paths[0]));

    let together = SymbolTable::new(&open(&paths[1]), Some(&open(&paths[2]))).unwrap();
    compare(&paths[0], &linked, &together);
    assert_eq!(open(&paths[0]).build_id(), open(&paths[1]).build_id());

    for (tool, flag) in [("xz", "--check=crc32"), ("zstd", "-19"), ("gzip", "-9")] {
        if have(tool) {
            let packed = Command::new(tool).args([flag, "-c", whole]).output().unwrap().stdout;
            let unpacked = unpacked_file(&packed).unwrap().unwrap();
            assert!(unpacked == std::fs::read(whole).unwrap(), "{tool}");
            for cut in [7, 20, packed.len() / 2, packed.len() - 12] {
                assert!(unpacked_file(&packed[..cut].to_vec()).is_err(), "{tool} {cut}");
            }
        }
    }
}

#[test]
fn damaged_objects_give_reasons_and_no_panic() {
    let scratch = Scratch::new("damaged-relocatable");
    let Some(path) = compile(&scratch, "gcc", "code.o", &["-g", "-O2"]) else { return };
    let whole = std::fs::read(path).unwrap();
    let mut random = Lcg(7);
    let mut refused = 0;
    for _ in 0..3000 {
        let mut data = whole.clone();
        // Half of them in the section headers, which are at the end.
        let from = if random.below(2) == 0 { 0 } else { whole.len() - 64 * 20 };
        for _ in 0..=random.below(3) {
            let at = from + random.below((whole.len() - from) as u64) as usize;
            data[at] = random.below(256) as u8;
        }
        let Ok(object) = object(data) else { continue };
        let Ok(table) = SymbolTable::new(&object, None) else { continue };
        refused += usize::from(table.dwarf_problem().is_some());
        for (begin, end) in object.text_ranges() {
            for address in [*begin, begin + 9, end - 1] {
                std::hint::black_box(table.lookup(address));
            }
        }
    }
    assert!(refused > 0);
}

#[test]
fn relocations_of_unknown_types_are_a_reason() {
    let scratch = Scratch::new("unknown-relocation");
    let Some(path) = compile(&scratch, "gcc", "code.o", &["-g", "-O2"]) else { return };
    let mut data = std::fs::read(path).unwrap();
    // A machine with types of its own (RISC-V), and the same functions.
    data[18] = 243;
    let object = object(data).unwrap();
    let table = SymbolTable::new(&object, None).unwrap();
    let problem = table.dwarf_problem().unwrap().to_string();
    assert!(problem.contains("a type that is known of the machine in relocations"), "{problem}");
    let (_, address, _) = object.code_sections().next().unwrap();
    assert_eq!(&*table.lookup(address).function.unwrap().name, "first");
}
