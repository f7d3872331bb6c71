//! Debug information that dwz has shared out, against the same before that.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::path::{Path, PathBuf};

use common::supplementary_files::build;
use common::{have, open, run, symbol_table, text_addresses, Scratch};
use vestige_symbols::{ObjectFile, Source, SymbolFiles, SymbolTable};

/// A program before and after dwz, and the supplementary file.
struct Shared {
    before: PathBuf,
    after: PathBuf,
    supplement: PathBuf,
}

/// Lets dwz share what two programs have in common.
fn share(scratch: &Scratch, flags: &[&str], options: &[&str]) -> Option<Shared> {
    let flags = [flags, &["-Wl,--build-id"]].concat();
    let before = build(scratch, "one", "g++", &flags)?;
    let other = build(scratch, "other", "g++", &[&flags[..], &["-DOTHER"]].concat())?;
    let after = scratch.path("one/shared");
    std::fs::copy(&before, &after).unwrap();
    let supplement = scratch.path("common.debug");
    let mut arguments = options.to_vec();
    let paths = [&supplement, &after, &other].map(|path| path.to_str().unwrap());
    arguments.extend(["-m", paths[0], "-M", "../common.debug", paths[1], paths[2]]);
    let done = have("dwz") && run("dwz", &arguments) && supplement.exists();
    done.then_some(Shared { before, after, supplement })
}

fn table(object: &ObjectFile, supplement: Option<&ObjectFile>) -> SymbolTable {
    let files = SymbolFiles { supplement, ..SymbolFiles::new(object, None) };
    SymbolTable::of_files(files, None).unwrap()
}

fn compare(before: &Path, after: &SymbolTable) {
    let expected = symbol_table(before);
    let mut frames = 0;
    for address in text_addresses(before, 1) {
        let (theirs, ours) = (expected.lookup(address), after.lookup(address));
        assert_eq!(ours, theirs, "{address:#x} of {}", before.display());
        frames += ours.frames.len();
    }
    assert!(frames > 100, "{frames}");
}

#[test]
fn a_shared_program_answers_as_before() {
    for (index, (flags, options)) in [
        (["-gdwarf-4", "-O2"], &[][..]),
        (["-gdwarf-5", "-O2"], &[][..]),
        (["-gdwarf-5", "-O2"], &["--dwarf-5"][..]),
    ]
    .into_iter()
    .enumerate()
    {
        let scratch = Scratch::new(&format!("dwz{index}"));
        let Some(shared) = share(&scratch, &flags, options) else {
            continue;
        };
        let (object, supplement) = (open(&shared.after), open(&shared.supplement));
        let link = object.debug_alt_link().unwrap();
        assert_eq!(link.name, b"../common.debug");
        assert!(supplement.is_supplement_of(link) && !object.is_supplement_of(link));
        let table = table(&object, Some(&supplement));
        compare(&shared.before, &table);
        assert_eq!(table.problems(), Vec::<String>::new());
    }
}

#[test]
fn units_of_one_file_that_share_entries_answer_as_before() {
    let scratch = Scratch::new("dwz-one");
    for flags in [["-gdwarf-4", "-O2"], ["-gdwarf-5", "-O2"]] {
        let Some(before) = build(&scratch, flags[0], "g++", &flags) else {
            return;
        };
        let after = before.with_extension("shared");
        let arguments = ["-o", after.to_str().unwrap(), before.to_str().unwrap()];
        if have("dwz") && run("dwz", &arguments) {
            compare(&before, &symbol_table(&after));
        }
    }
}

#[test]
fn without_the_right_supplement_the_rest_still_answers() {
    let scratch = Scratch::new("dwz-missing");
    let Some(shared) = share(&scratch, &["-gdwarf-5", "-O2"], &[]) else {
        return;
    };
    let object = open(&shared.after);
    let expected = symbol_table(&shared.before);
    let wrong = open(&shared.before);
    for (supplement, problem) in [(None, "no file found"), (Some(&wrong), "another build ID")] {
        let table = table(&object, supplement);
        let problems = table.problems();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("../common.debug"), "{problems:?}");
        assert!(problems[0].contains(problem), "{problems:?}");
        let mut dwarf = 0;
        for address in text_addresses(&shared.before, 1) {
            let (theirs, ours) = (expected.lookup(address), table.lookup(address));
            assert_eq!(ours.location, theirs.location, "{address:#x}");
            let entry = |found: &vestige_symbols::Lookup| found.function.as_ref().map(|f| f.entry);
            assert_eq!(entry(&ours), entry(&theirs), "{address:#x}");
            dwarf += usize::from(ours.source == Some(Source::Dwarf));
        }
        assert!(dwarf > 500, "{dwarf}");
    }
}
