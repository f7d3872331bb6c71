//! Stripped programs of Go, against `go tool addr2line` on the same program unstripped.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{open, Scratch};
use vestige_symbols::{Source, SymbolTable};

const PROGRAM: &str = r#"package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

type Shape interface{ Area() float64 }

type Square struct{ side float64 }

func (s *Square) Area() float64 { return s.side * s.side }

func Largest[T any](all []T, less func(a, b T) bool) T {
	sort.Slice(all, func(i, j int) bool { return less(all[i], all[j]) })
	return all[len(all)-1]
}

func main() {
	shapes := []Shape{&Square{2}, &Square{3}}
	fmt.Println(Largest(shapes, func(a, b Shape) bool { return a.Area() < b.Area() }).Area())
	fmt.Println(strings.Repeat("=", len(os.Args)))
}
"#;

/// Runs `go` in a directory; `None`, with a printed reason, when that does not work.
fn go(directory: &Path, arguments: &[&str]) -> Option<()> {
    let mut command = Command::new("go");
    command.args(arguments).current_dir(directory);
    // No module, no network, no cache that is not there.
    command.env("GO111MODULE", "off").env("GOFLAGS", "").env("GOTOOLCHAIN", "local");
    command.env("GOCACHE", std::env::temp_dir().join("vestige-go-cache"));
    match command.output() {
        Ok(done) if done.status.success() => Some(()),
        Ok(done) => {
            println!("skipped: go: {}", String::from_utf8_lossy(&done.stderr));
            None
        }
        Err(error) => {
            println!("skipped: go: {error}");
            None
        }
    }
}

/// What Go's own tool says of addresses: name, and file with line.
fn peer(program: &Path, addresses: &[u64]) -> Vec<(String, String)> {
    let mut process = Command::new("go")
        .args(["tool", "addr2line"])
        .arg(program)
        .env("GOCACHE", std::env::temp_dir().join("vestige-go-cache"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    let text: String = addresses.iter().map(|address| format!("{address:#x}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = process.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    lines.chunks(2).map(|pair| (pair[0].to_owned(), pair[1].to_owned())).collect()
}

fn agrees_with_the_peer(name: &str, flags: &[&str]) {
    let scratch = Scratch::new(name);
    let directory = scratch.path("");
    std::fs::write(scratch.path("main.go"), PROGRAM).unwrap();
    let whole: Vec<&str> =
        ["build", "-o", "whole"].iter().chain(flags).chain(&["main.go"]).copied().collect();
    let bare = ["build", "-ldflags=-s -w", "-o", "bare"];
    let bare: Vec<&str> = bare.iter().chain(flags).chain(&["main.go"]).copied().collect();
    if go(&directory, &whole).and_then(|()| go(&directory, &bare)).is_none() {
        return;
    }
    let object = open(&scratch.path("bare"));
    assert!(!object.has_symbol_table());
    let table = SymbolTable::new(&object, None).unwrap();
    assert_eq!(table.problems(), Vec::<String>::new());
    let text = object.sections().iter().find(|one| object.section_name(one) == b".text").unwrap();
    let unstripped = open(&scratch.path("whole"));
    let same = unstripped.sections().iter().find(|one| unstripped.section_name(one) == b".text");
    assert_eq!((text.address, text.size), same.map(|one| (one.address, one.size)).unwrap());
    let addresses: Vec<u64> = (text.address..text.address + text.size).step_by(397).collect();
    let expected = peer(&scratch.path("whole"), &addresses);
    assert_eq!(expected.len(), addresses.len());
    if expected.iter().all(|(function, _)| function == "?") {
        println!("skipped: addr2line of this Go reads no program that is loaded anywhere");
        return;
    }

    let mut named = 0;
    for (address, (function, place)) in addresses.iter().zip(&expected) {
        let found = table.lookup(*address);
        let got = found.function.as_ref().map_or("?", |function| &function.name);
        assert_eq!(got, function, "{address:#x}");
        let line = found.location.as_ref().map(|one| format!("{}:{}", one.path(), one.line));
        let known = !place.starts_with(['?', ':']);
        assert_eq!(line, known.then(|| place.clone()), "{address:#x} in {function}");
        named += usize::from(found.source == Some(Source::GoLineTable));
    }
    assert!(named > 1000, "only {named} of {} addresses have names", addresses.len());
}

#[test]
fn a_stripped_program_has_functions_files_and_lines() {
    agrees_with_the_peer("go-fixed", &[]);
}

#[test]
fn so_has_one_that_is_loaded_anywhere() {
    agrees_with_the_peer("go-pie", &["-buildmode=pie"]);
}

#[test]
fn a_damaged_table_is_told_and_harms_nothing() {
    let scratch = Scratch::new("go-damaged");
    std::fs::write(scratch.path("main.go"), PROGRAM).unwrap();
    let build = ["build", "-ldflags=-s -w", "-o", "bare", "main.go"];
    if go(&scratch.path(""), &build).is_none() {
        return;
    }
    let bytes = std::fs::read(scratch.path("bare")).unwrap();
    let object = open(&scratch.path("bare"));
    let section = *object
        .sections()
        .iter()
        .find(|one| object.section_name(one).ends_with(b".gopclntab"))
        .unwrap();
    let start = section.offset as usize;
    // Each byte of the header, and then some of the rest, as other numbers.
    for place in (0..80).chain((80..section.size as usize).step_by(section.size as usize / 50)) {
        for value in [0_u8, 0x7f, 0xff] {
            let mut damaged = bytes.clone();
            damaged[start + place] = value;
            let object = common::object(damaged).unwrap();
            let table = SymbolTable::new(&object, None).unwrap();
            for address in (0x40_1000..0x48_0000).step_by(0x3fff) {
                let _ = table.lookup(address);
            }
        }
    }
    let mut other = bytes;
    other[start] = 0;
    let object = common::object(other).unwrap();
    let table = SymbolTable::new(&object, None).unwrap();
    assert_eq!(table.problems().len(), 1);
    assert!(table.problems()[0].starts_with("line table of Go: "), "{:?}", table.problems());
}
