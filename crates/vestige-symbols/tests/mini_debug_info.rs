//! Symbols packed into `.gnu_debugdata`, as Fedora's packages have them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::path::PathBuf;

use common::programs::{compile, CPP_PROGRAM};
use common::{have, open, run, symbol_table, text_addresses, Lcg, Scratch};
use vestige_symbols::{ObjectFile, Source, SymbolFiles, SymbolTable};

/// A program with symbols, and a stripped copy that has those of functions packed.
fn packed(scratch: &Scratch, xz_options: &[&str]) -> Option<(PathBuf, PathBuf)> {
    let whole = compile(scratch, "g++", CPP_PROGRAM, &["-O2"])?;
    let (mini, stripped) = (scratch.path("mini"), scratch.path("stripped"));
    let text = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let keep = ["--only-keep-debug", "--remove-section=.comment"];
    let steps = [
        ("objcopy", vec![keep[0].into(), keep[1].into(), text(&whole), text(&mini)]),
        ("xz", [&["-kf".to_owned()][..], &owned(xz_options), &[text(&mini)]].concat()),
        ("objcopy", vec!["--strip-all".into(), text(&whole), text(&stripped)]),
        (
            "objcopy",
            vec![format!("--add-section=.gnu_debugdata={}.xz", text(&mini)), text(&stripped)],
        ),
    ];
    for (tool, arguments) in steps {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if !have(tool) || !run(tool, &arguments) {
            return None;
        }
    }
    Some((whole, stripped))
}

fn owned(options: &[&str]) -> Vec<String> {
    options.iter().map(|option| (*option).to_owned()).collect()
}

fn table(object: &ObjectFile, mini: Option<&ObjectFile>) -> SymbolTable {
    SymbolTable::of_files(SymbolFiles { mini, ..SymbolFiles::new(object, None) }, None).unwrap()
}

#[test]
fn packed_symbols_answer_as_the_symbol_table_does() {
    let scratch = Scratch::new("mini");
    for options in [&["-6"][..], &["-9", "--check=sha256"], &["-1", "--check=none"]] {
        let Some((whole, stripped)) = packed(&scratch, options) else {
            return;
        };
        let expected = symbol_table(&whole);
        let object = open(&stripped);
        let mini = object.mini_debug_info().unwrap().unwrap();
        let (with, without) = (table(&object, Some(&mini)), table(&object, None));
        let (mut packed, mut lost) = (0, 0);
        for address in text_addresses(&whole, 1) {
            let (theirs, ours) = (expected.lookup(address), with.lookup(address));
            assert_eq!(ours.function, theirs.function, "{address:#x}");
            packed += usize::from(ours.source == Some(Source::MiniDebugInfo));
            lost += usize::from(without.lookup(address).function != theirs.function);
        }
        assert!(packed > 500 && lost > 500, "{packed} {lost}");
    }
    assert!(open(&scratch.path("mini")).mini_debug_info().unwrap().is_none());
}

#[test]
fn damaged_packed_symbols_are_an_error_or_symbols_and_no_panic() {
    let scratch = Scratch::new("mini-damaged");
    let Some((_, stripped)) = packed(&scratch, &["-6", "--check=none"]) else {
        return;
    };
    let whole = std::fs::read(&stripped).unwrap();
    let object = open(&stripped);
    let names = object.sections().iter();
    let section = names.into_iter().find(|one| object.section_name(one) == b".gnu_debugdata");
    let section = section.unwrap();
    let (start, size) = (section.offset as usize, section.size);
    let (mut errors, mut random) = (0, Lcg(7));
    for _ in 0..600 {
        let mut data = whole.clone();
        for _ in 0..=random.below(3) {
            let at = start + random.below(size) as usize;
            data[at] ^= 1 << random.below(8);
        }
        let object = ObjectFile::new(Box::new(data)).unwrap();
        match object.mini_debug_info() {
            Ok(mini) => {
                let table = table(&object, mini.as_ref());
                for (start, end) in object.text_ranges() {
                    for address in (*start..*end).step_by(512) {
                        table.lookup(address);
                    }
                }
            }
            Err(error) => {
                errors += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    assert!(errors > 100, "{errors}");
}

#[test]
fn packed_zeros_without_end_are_refused() {
    let scratch = Scratch::new("mini-bomb");
    let Some((_, stripped)) = packed(&scratch, &["-6"]) else {
        return;
    };
    let zeros = scratch.path("zeros");
    std::fs::write(&zeros, vec![0u8; 40 << 20]).unwrap();
    let packed = scratch.path("zeros.xz");
    let bomb = scratch.path("bomb");
    let section = format!("--update-section=.gnu_debugdata={}", packed.display());
    let done = run("xz", &["-kf", zeros.to_str().unwrap()])
        && run("objcopy", &[&section, stripped.to_str().unwrap(), bomb.to_str().unwrap()]);
    if done {
        let error = open(&bomb).mini_debug_info().err().unwrap();
        assert!(error.to_string().contains("a hundred times"), "{error}");
    }
}
