//! What the tests share: compiling programs, asking GNU addr2line, comparing.
#![allow(dead_code)]

pub mod programs;
pub mod supplementary_files;

use std::cell::Cell;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use vestige_symbols::{Lookup, ObjectFile, SymbolError, SymbolTable};

/// What this thread has used: a busy machine lets it wait as long as it likes.
pub fn processor_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

/// A directory of its own for one test, removed with it.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let name = format!("vestige-symbols-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether a tool can be started; prints why a test is skipped when not.
pub fn have(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok_and(|run| run.status.success());
    if !found {
        println!("skipped: no {tool} on this machine");
    }
    found
}

/// Runs a tool; false, with a printed reason, when it fails.
pub fn run(tool: &str, arguments: &[&str]) -> bool {
    match Command::new(tool).args(arguments).output() {
        Ok(run) if run.status.success() => true,
        Ok(run) => {
            let message = String::from_utf8_lossy(&run.stderr).into_owned();
            println!("skipped: {tool} {arguments:?} failed: {message}");
            false
        }
        Err(error) => {
            println!("skipped: {tool}: {error}");
            false
        }
    }
}

thread_local! {
    static MEMORY_LIMIT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Does something with objects whose debug sections stay in the file.
pub fn with_sections_in_file<T>(action: impl FnOnce() -> T) -> T {
    let before = MEMORY_LIMIT.replace(0);
    let result = action();
    MEMORY_LIMIT.set(before);
    result
}

/// An object with these bytes.
pub fn object(data: Vec<u8>) -> Result<ObjectFile, SymbolError> {
    ObjectFile::with_memory_limit(Box::new(data), MEMORY_LIMIT.get())
}

pub fn open(path: &Path) -> ObjectFile {
    object(std::fs::read(path).unwrap()).unwrap()
}

pub fn symbol_table(path: &Path) -> SymbolTable {
    SymbolTable::new(&open(path), None).unwrap()
}

/// The deterministic generator of the tests (Knuth's MMIX constants).
pub struct Lcg(pub u64);

impl Lcg {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 24) % limit
    }
}

/// Function and `FILE:LINE` of each level, innermost first, as addr2line prints them.
pub type Chain = Vec<(String, String)>;

/// Asks `addr2line -f -i` for all addresses at once.
pub fn addr2line(path: &Path, addresses: &[u64]) -> Vec<Chain> {
    ask("addr2line", path, addresses)
}

/// Asks a tool with the options and the output of addr2line.
pub fn ask(tool: &str, path: &Path, addresses: &[u64]) -> Vec<Chain> {
    let mut child = Command::new(tool)
        .args(["-a", "-f", "-i", "-e"])
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let text: String = addresses.iter().map(|address| format!("{address:#x}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    parse_chains(&String::from_utf8_lossy(&output.stdout))
}

fn parse_chains(text: &str) -> Vec<Chain> {
    let mut chains: Vec<Chain> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("0x") {
            chains.push(Vec::new());
        } else if let (Some(chain), Some(place)) = (chains.last_mut(), lines.next()) {
            let place = place.split(" (discriminator").next().unwrap_or(place);
            chain.push((line.to_owned(), place.to_owned()));
        }
    }
    chains
}

/// A lookup in the form of [`addr2line`]'s answer, with names as linked.
pub fn chain_of(found: &Lookup) -> Chain {
    let place = |path: Option<&str>, line: Option<u32>| {
        let line = line.map_or("?".to_owned(), |line| line.to_string());
        format!("{}:{line}", path.unwrap_or("??"))
    };
    if found.frames.is_empty() {
        let location = found.location.as_ref();
        let path = location.map(|location| location.path());
        let line = location.map(|location| location.line);
        return vec![(linkage_name(found), place(path.as_deref(), line))];
    }
    let frames = found.frames.iter();
    frames
        .map(|frame| {
            let name = frame.function.as_deref().unwrap_or("??").to_owned();
            (name, place(frame.path.as_deref(), frame.line))
        })
        .collect()
}

/// The name as linked; without one, the name shown.
pub fn linkage_name(found: &Lookup) -> String {
    found.function.as_ref().map_or("??".to_owned(), |place| {
        place.linkage_name.as_ref().unwrap_or(&place.name).to_string()
    })
}

/// The text of an address list: every `step`th byte of the executable ranges.
pub fn text_addresses(path: &Path, step: usize) -> Vec<u64> {
    let object = open(path);
    let ranges = object.text_ranges().iter();
    ranges.flat_map(|(start, end)| (*start..*end).step_by(step)).collect()
}

/// Whether a place has no line: addr2line then gives a file or `??`, and `?` or 0.
pub fn no_line(place: &str) -> bool {
    place.ends_with(":?") || place.ends_with(":0")
}

/// Whether two places are the same, but for a mistake of addr2line.
///
/// Binutils 2.40 takes file 0 for file 1 where a DWARF 5 line program does not
/// set the file. File 0 is the file compiled, or in objects made by GCC's
/// link-time optimiser `<artificial>`. llvm-dwarfdump and eu-addr2line give the
/// real file, as we do.
pub fn same_place(theirs: &str, ours: &str) -> bool {
    let line = |place: &str| place.rsplit_once(':').map(|(_, line)| line.to_owned());
    let is_file_zero = theirs.contains("<artificial>") || theirs.contains("/program.cc:");
    theirs == ours || no_line(theirs) && no_line(ours) || is_file_zero && line(theirs) == line(ours)
}
