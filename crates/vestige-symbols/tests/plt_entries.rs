//! Entries of procedure linkage tables against the labels of objdump.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::path::Path;
use std::process::Command;

use common::{have, open, run, symbol_table, Scratch};
use vestige_symbols::{Source, SymbolTable};

const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef int (*compare)(const char *, const char *);
compare chosen = strcmp;
int main(int argc, char **argv)
{
    char *copy = strdup(argv[0]);
    printf("%d %s %zu\n", argc, copy, strlen(argv[argc - 1]));
    qsort(argv, argc, sizeof(char *), (int (*)(const void *, const void *))chosen);
    free(copy);
    return strcmp(argv[0], "x") ? atoi(argv[0]) : abs(argc);
}
"#;

/// Address and name of each entry, as objdump labels them.
fn labels(objdump: &str, path: &Path) -> Vec<(u64, String)> {
    let listing = Command::new(objdump).arg("-d").arg(path).output().unwrap();
    let text = String::from_utf8_lossy(&listing.stdout).into_owned();
    let label = |line: &str| {
        let (address, name) = line.split_once(" <")?;
        let name = name.strip_suffix(">:")?;
        let name = name.strip_suffix("@plt")?;
        // IFUNCs of a static executable: objdump names the resolver's address.
        let named = !name.starts_with("*ABS*");
        let address = u64::from_str_radix(address, 16).ok()?;
        named.then(|| (address, name.to_owned()))
    };
    text.lines().filter_map(label).collect()
}

/// Compares; gives how many entries there are.
fn compare(objdump: &str, path: &Path, table: &SymbolTable) -> usize {
    let expected = labels(objdump, path);
    for (address, name) in &expected {
        for offset in [0, 3, 7] {
            let found = table.lookup(address + offset);
            let place = found.function.unwrap_or_else(|| panic!("{address:#x} {name} of {path:?}"));
            assert_eq!(place.name.as_ref(), format!("{name}@plt"), "{address:#x} of {path:?}");
            assert_eq!((place.entry, place.offset), (*address, offset as i64), "{path:?}");
            assert_eq!(found.source, Some(Source::Plt));
        }
    }
    expected.len()
}

#[test]
fn entries_are_named_as_objdump_names_them() {
    let scratch = Scratch::new("plt");
    let source = scratch.path("program.c");
    std::fs::write(&source, PROGRAM).unwrap();
    let native = ("gcc", "objdump");
    let lazy = "-Wl,-z,lazy";
    let ways: [((&str, &str), &[&str]); 11] = [
        (native, &["-O1", lazy]),
        (native, &["-O1", "-fcf-protection", lazy, "-Wl,-z,ibtplt"]),
        (native, &["-O1", "-Wl,-z,now"]),
        (native, &["-O1", "-no-pie", "-fno-plt", "-Wl,-z,now"]),
        (native, &["-O0", "-no-pie", "-fno-pic", lazy]),
        (native, &["-O1", "-fuse-ld=lld"]),
        (native, &["-O1", "-fuse-ld=mold"]),
        (("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump"), &["-O1", lazy]),
        (
            ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump"),
            &["-O1", "-mbranch-protection=standard", "-Wl,-z,force-bti"],
        ),
        (("i686-linux-gnu-gcc", "i686-linux-gnu-objdump"), &["-O1", lazy]),
        (("i686-linux-gnu-gcc", "i686-linux-gnu-objdump"), &["-O1", "-no-pie", "-fno-pic"]),
    ];
    let mut counts = Vec::new();
    for (index, ((compiler, objdump), flags)) in ways.into_iter().enumerate() {
        if !have(compiler) || !have(objdump) {
            continue;
        }
        let path = scratch.path(&format!("program{index}"));
        let mut arguments = flags.to_vec();
        arguments.extend(["-o", path.to_str().unwrap(), source.to_str().unwrap()]);
        if run(compiler, &arguments) {
            counts.push((index, compare(objdump, &path, &symbol_table(&path))));
        }
    }
    println!("entries by way: {counts:?}");
    assert!(counts.iter().map(|(_, count)| count).sum::<usize>() > 20, "{counts:?}");
}

#[test]
fn entries_of_a_stripped_object_keep_their_names() {
    let scratch = Scratch::new("plt-stripped");
    let source = scratch.path("program.c");
    std::fs::write(&source, PROGRAM).unwrap();
    let path = scratch.path("program");
    let arguments =
        ["-O1", "-s", "-Wl,-z,lazy", "-o", path.to_str().unwrap(), source.to_str().unwrap()];
    if have("gcc") && have("objdump") && run("gcc", &arguments) {
        let object = open(&path);
        assert!(!object.has_symbol_table());
        assert!(compare("objdump", &path, &symbol_table(&path)) > 5);
    }
}

#[test]
fn entries_of_a_static_executable_are_named_by_their_resolver() {
    let scratch = Scratch::new("plt-static");
    let source = scratch.path("program.c");
    std::fs::write(&source, PROGRAM).unwrap();
    let path = scratch.path("program");
    let arguments = ["-O1", "-static", "-o", path.to_str().unwrap(), source.to_str().unwrap()];
    if !have("gcc") || !run("gcc", &arguments) {
        return;
    }
    let object = open(&path);
    let plt = object.sections().iter().find(|one| object.section_name(one) == b".plt").unwrap();
    let table = symbol_table(&path);
    let entries = (plt.address..plt.address + plt.size).step_by(8);
    let names: Vec<_> =
        entries.filter_map(|at| Some(table.lookup(at).function?.name.to_string())).collect();
    assert!(names.iter().any(|name| name == "strlen@plt"), "{names:?}");
    assert!(names.iter().all(|name| name.ends_with("@plt")), "{names:?}");
}
