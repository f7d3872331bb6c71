//! Makes the docstrings of a module: those of its stub, its one description.
//!
//! All crates that bind to Python have this build script; the table below has their stubs.
//!
//! The result is a macro `core_doc!` that gives the text for a class, a method or a function:
//! `core_doc!(Muxer)`, `core_doc!(Merge.counts)`. All but the docstrings goes into the module, which
//! Python compares with the stub that it finds.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

const STUBS: [(&str, &str); 4] = [
    ("vestige-python", "../../src/vestige/_core.pyi"),
    ("vestige-collector-python", "../../src/vestige/record/_collector.pyi"),
    ("vestige-kernel-python", "../../src/vestige/record/_kernel.pyi"),
    ("vestige-relay-python", "../../src/vestige/relay/_relay.pyi"),
];
const QUOTES: &str = "\"\"\"";

fn main() -> io::Result<()> {
    let package = env::var("CARGO_PKG_NAME").map_err(io::Error::other)?;
    let stub = STUBS.iter().find(|(name, _)| *name == package);
    let (_, stub) = stub.ok_or(io::ErrorKind::NotFound)?;
    println!("cargo:rerun-if-changed={stub}");
    let stub = fs::read_to_string(stub)?;
    let mut arms = String::new();
    for (name, text) in docstrings(&stub) {
        // Writing to a String cannot fail.
        let _ = writeln!(arms, "    ({name}) => {{ {text:?} }};");
    }
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let out = Path::new(&out);
    fs::write(out.join("interface.txt"), interface(&stub))?;
    fs::write(out.join("core_doc.rs"), format!("macro_rules! core_doc {{\n{arms}}}\n"))
}

/// The stub without its docstrings, as `vestige.core` makes it, too.
fn interface(stub: &str) -> String {
    stub.split(QUOTES).step_by(2).collect()
}

/// The docstrings of all classes, methods and functions with their names.
fn docstrings(stub: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let (mut class, mut owner) = (String::new(), None);
    let mut lines = stub.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("class ") {
            class = identifier(name).to_owned();
            owner = Some(class.clone());
        } else if let Some(name) = line.strip_prefix("def ") {
            owner = Some(identifier(name).to_owned());
        } else if let Some(name) = line.strip_prefix("    def ") {
            owner = Some(format!("{class}.{}", identifier(name)));
        } else if let Some(text) = line.trim_start().strip_prefix(QUOTES) {
            let text = docstring(text, &mut lines);
            found.extend(owner.take().map(|name| (name, text)));
        }
    }
    found
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}

/// A docstring whose first line is `first`, without its indentation.
fn docstring<'a>(first: &'a str, rest: &mut impl Iterator<Item = &'a str>) -> String {
    if let Some(whole) = first.strip_suffix(QUOTES) {
        return whole.to_owned();
    }
    let mut body: Vec<&str> = Vec::new();
    for line in rest {
        let Some(last) = line.trim_end().strip_suffix(QUOTES) else {
            body.push(line);
            continue;
        };
        body.extend(Some(last).filter(|last| !last.trim().is_empty()));
        break;
    }
    let indentation = |line: &&str| line.len() - line.trim_start().len();
    let filled = body.iter().filter(|line| !line.trim().is_empty());
    let depth = filled.map(indentation).min().unwrap_or(0);
    let lines = body.iter().map(|line| line.get(depth..).unwrap_or("").trim_end());
    let text: Vec<&str> = std::iter::once(first).chain(lines).collect();
    text.join("\n").trim_end().to_owned()
}
