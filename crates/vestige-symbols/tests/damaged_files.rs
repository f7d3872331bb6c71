//! Cut and altered files: an error or an answer, in little time, never a panic.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::path::PathBuf;
use std::time::Duration;

use common::{object, processor_time, run, with_sections_in_file, Lcg, Scratch};
use vestige_symbols::{Lookup, ObjectFile, SymbolError, SymbolTable};

const PROGRAM: &str = "
#include <stdlib.h>
static inline int twice(int a) { return a * 2 + atoi(\"1\"); }
struct pair { int one, two; };
__attribute__((noinline)) int sum(struct pair *p, int n)
{
    int all = 0;
    for (int i = 0; i < n; i++) all += twice(p[i].one) + p[i].two;
    if (__builtin_expect(all == 5, 0)) abort();
    return all;
}
int main(int argc, char **argv) { struct pair p = { argc, 2 }; return sum(&p, 1); }
";

fn compile(scratch: &Scratch, flags: &[&str]) -> Option<Vec<u8>> {
    let (input, output): (PathBuf, PathBuf) = (scratch.path("program.c"), scratch.path("program"));
    std::fs::write(&input, PROGRAM).unwrap();
    let mut arguments = flags.to_vec();
    arguments.extend(["-o", output.to_str().unwrap(), input.to_str().unwrap()]);
    run("cc", &arguments).then(|| std::fs::read(&output).unwrap())
}

/// Does everything the crate offers with a file; gives the answers of lookups.
fn use_file(data: Vec<u8>) -> Result<Vec<Lookup>, SymbolError> {
    let object = object(data)?;
    for section in object.sections() {
        object.section_name(section);
    }
    let _ = (object.link_base(), object.build_id(), object.debug_link(), object.machine_name());
    let _ = object.has_dwarf();
    let table = SymbolTable::new(&object, None)?;
    let addresses = object.text_ranges().iter().flat_map(|(start, end)| {
        let step = ((end - start) / 40).max(1);
        (0..40u64).map(move |index| start.saturating_add(index.saturating_mul(step)))
    });
    Ok(addresses.map(|address| table.lookup(address)).collect())
}

/// Runs `use_file` and fails on a file that takes long.
fn check(data: Vec<u8>, what: &str) -> Result<usize, SymbolError> {
    let start = processor_time();
    let in_file = with_sections_in_file(|| use_file(data.clone()));
    let result = use_file(data);
    assert_eq!(in_file, result, "{what}");
    let taken = processor_time() - start;
    assert!(taken < Duration::from_secs(10), "{what} takes {taken:?}");
    if let Err(error) = &result {
        assert!(error.to_string().contains("expected") || error.to_string().contains("cannot"));
    }
    result.map(|found| found.iter().filter(|found| found.function.is_some()).count())
}

const KINDS: &[&[&str]] =
    &[&["-gdwarf-5", "-O2"], &["-gdwarf-3", "-O2"], &["-gdwarf-5", "-O2", "-gz=zlib"]];

#[test]
fn files_cut_anywhere_are_errors() {
    let scratch = Scratch::new("cut");
    for flags in KINDS {
        let Some(whole) = compile(&scratch, flags) else {
            return;
        };
        assert!(check(whole.clone(), "the whole file").unwrap() > 5);
        for end in (0..whole.len()).step_by(97) {
            let result = check(whole[..end].to_vec(), "a cut file");
            // The section headers come last, so every cut takes some of them.
            assert!(result.is_err(), "cut at {end}");
        }
    }
}

#[test]
fn altered_bits_never_panic() {
    let scratch = Scratch::new("bits");
    let mut random = Lcg(1);
    for flags in KINDS {
        let Some(whole) = compile(&scratch, flags) else {
            return;
        };
        for round in 0..1500 {
            let mut data = whole.clone();
            for _ in 0..=random.below(12) {
                let at = random.below(data.len() as u64) as usize;
                data[at] ^= 1 << random.below(8);
            }
            let _ = check(data, &format!("{flags:?} round {round}"));
        }
    }
}

#[test]
fn altered_debug_sections_never_panic() {
    let scratch = Scratch::new("sections");
    let mut random = Lcg(2);
    for flags in KINDS {
        let Some(whole) = compile(&scratch, flags) else {
            return;
        };
        let object = ObjectFile::new(Box::new(whole.clone())).unwrap();
        let sections: Vec<_> = object
            .sections()
            .iter()
            .filter(|section| object.section_name(section).starts_with(b".debug_"))
            .filter(|section| section.has_bits())
            .collect();
        for round in 0..1500 {
            let mut data = whole.clone();
            let section = sections[random.below(sections.len() as u64) as usize];
            for _ in 0..=random.below(4) {
                let at = (section.offset + random.below(section.size)) as usize;
                data[at] = random.below(256) as u8;
            }
            let _ = check(data, &format!("{flags:?} round {round}"));
        }
    }
}

#[test]
fn altered_headers_never_panic() {
    let scratch = Scratch::new("headers");
    let Some(whole) = compile(&scratch, &["-g"]) else {
        return;
    };
    let start = u64::from_le_bytes(whole[0x28..0x30].try_into().unwrap()) as usize;
    let places: Vec<usize> = (4..0x40 + 56 * 8).chain(start..whole.len()).collect();
    for (round, at) in places.into_iter().enumerate() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut data = whole.clone();
            data[at] = value;
            let _ = check(data, &format!("round {round}"));
        }
    }
}

#[test]
fn what_is_no_elf_file_says_so() {
    for data in [&b""[..], b"\x7fEL", b"#!/bin/sh\n", b"!<arch>\n"] {
        let error = check(data.to_vec(), "no ELF file").unwrap_err();
        assert!(matches!(error, SymbolError::NotElf { .. }), "{error}");
    }
}

#[test]
fn an_error_names_place_and_expectation() {
    let scratch = Scratch::new("message");
    let Some(whole) = compile(&scratch, &["-g"]) else {
        return;
    };
    let start = u64::from_le_bytes(whole[0x28..0x30].try_into().unwrap());
    let error = check(whole[..whole.len() - 1].to_vec(), "a cut file").unwrap_err();
    assert_eq!(error.offset(), Some(start));
    let message = error.to_string();
    assert!(message.contains("section header table"), "{message}");
    assert!(message.contains(&format!("{start:#x}")), "{message}");
}
