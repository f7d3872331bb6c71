//! Functions that a trace describes itself: those of an interpreter.
//!
//! An event tells the addresses of a code object, and its function. A program may make the
//! same function again and again, each time at new addresses; here they are one.
//!
//! It is bounded, whatever the trace: beyond some number of code objects, functions and
//! bytes of their names, what more is told is left out, and counted.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::process::Process;
use crate::bits::BitReader;
use crate::model::{FieldClass, FieldKind, StringEncoding, TextClass};
use crate::record::{skip, text, State};
use crate::stream::{Batch, Record};

/// How many code objects are known at once.
const MOST_CODES: usize = 1 << 22;
/// How many functions they are of.
const MOST_NAMES: usize = 1 << 20;
/// How many bytes the names of functions and files have, each counted once.
const MOST_BYTES: usize = 1 << 27;

/// Where the payload of a code event has what it tells.
#[derive(Debug, Clone, Copy)]
pub struct CodeLayout {
    /// Index of the first address.
    pub base: usize,
    /// Index of how many addresses there are.
    pub size: usize,
    path: usize,
    function: usize,
    line: usize,
}

/// What a code event tells, its addresses left out.
#[derive(Debug, Clone)]
pub struct Told {
    /// The source file.
    pub path: Box<[u8]>,
    /// The function's name.
    pub function: Box<[u8]>,
    /// The first line.
    pub line: i64,
}

impl CodeLayout {
    /// Where things are in a payload, if it has all of them.
    pub fn of(payload: Option<&FieldClass>) -> Option<Self> {
        let member = |name: &str, fits: fn(&FieldKind) -> bool| {
            let (index, class) = payload?.member(name)?;
            fits(&class.kind).then_some(index)
        };
        Some(Self {
            base: member("baddr", is_unsigned)?,
            size: member("memsz", is_unsigned)?,
            path: member("path", is_text)?,
            function: member("func", is_text)?,
            line: member("line", |kind| matches!(kind, FieldKind::Integer(_)))?,
        })
    }

    /// What a record tells.
    pub fn read(&self, batch: &Batch, record: &Record, state: &mut State) -> Option<Told> {
        let mut reader = batch.body_reader(record, state);
        let [context, specific, payload] = batch.body_scopes(record);
        for scope in [context, specific].into_iter().flatten() {
            skip(scope, &mut reader, state).ok()?;
        }
        let payload = payload?;
        reader.align(payload.alignment()).ok()?;
        let (mut path, mut function, mut line) = (None, None, None);
        for (index, member) in payload.members().iter().enumerate() {
            match &member.class.kind {
                FieldKind::Integer(class) => {
                    let value = state.integer(class, &mut reader).ok()?;
                    if index == self.line {
                        line =
                            if class.signed { Some(value as i64) } else { value.try_into().ok() };
                    }
                }
                _ if index == self.path => path = read_text(&member.class, &mut reader, state),
                _ if index == self.function => {
                    function = read_text(&member.class, &mut reader, state);
                }
                _ => skip(&member.class, &mut reader, state).ok()?,
            }
        }
        let function = function.filter(|name| !name.is_empty())?;
        Some(Told { path: path?, function, line: line? })
    }
}

fn is_unsigned(kind: &FieldKind) -> bool {
    matches!(kind, FieldKind::Integer(class) if !class.signed)
}

fn is_text(kind: &FieldKind) -> bool {
    let utf8 = StringEncoding::Utf8;
    matches!(kind, FieldKind::String)
        || matches!(kind, FieldKind::Text(TextClass { encoding, .. }) if *encoding == utf8)
}

fn read_text(class: &FieldClass, reader: &mut BitReader<'_>, state: &State) -> Option<Box<[u8]>> {
    let bytes = match &class.kind {
        FieldKind::Text(string) => text(string, reader, state).ok()?,
        _ => {
            reader.align(8).ok()?;
            reader.string().ok()?
        }
    };
    Some(bytes.into())
}

/// The function of some code objects.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CodeName {
    /// The source file.
    pub path: Arc<[u8]>,
    /// The function's name.
    pub function: Arc<[u8]>,
    /// The first line.
    pub line: i64,
}

/// A code object in the memory of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// Its first address.
    pub base: u64,
    /// Its last address.
    pub last: u64,
    /// Index of its function's name.
    pub name: u32,
}

/// The code objects of all processes.
#[derive(Clone, Default)]
pub struct Codes {
    /// By first address; they never overlap.
    processes: HashMap<Process, BTreeMap<u64, Code>>,
    count: usize,
    names: Vec<CodeName>,
    name_indexes: HashMap<CodeName, u32>,
    paths: HashSet<Arc<[u8]>>,
    bytes: usize,
    left_out: u64,
}

impl Codes {
    /// Takes note of a code object. What was at its addresses before is gone.
    pub fn add(&mut self, process: Process, base: u64, size: u64, told: &Told) {
        let Some(more) = size.checked_sub(1) else { return };
        let last = base.saturating_add(more);
        self.forget(process, base, last);
        let name = if self.count < MOST_CODES { self.name_of(told) } else { None };
        let Some(name) = name else {
            self.left_out += 1;
            return;
        };
        self.count += 1;
        self.processes.entry(process).or_default().insert(base, Code { base, last, name });
    }

    /// The index of a function's name.
    fn name_of(&mut self, told: &Told) -> Option<u32> {
        let known = self.paths.get(&told.path[..]).cloned();
        let is_new = known.is_none();
        let path = known.unwrap_or_else(|| Arc::from(&told.path[..]));
        let name = CodeName { path, function: Arc::from(&told.function[..]), line: told.line };
        if let Some(&index) = self.name_indexes.get(&name) {
            return Some(index);
        }
        let bytes = name.function.len() + if is_new { name.path.len() } else { 0 };
        if self.names.len() >= MOST_NAMES || self.bytes.saturating_add(bytes) > MOST_BYTES {
            return None;
        }
        self.bytes += bytes;
        if is_new {
            self.paths.insert(Arc::clone(&name.path));
        }
        let index = self.names.len() as u32;
        self.name_indexes.insert(name.clone(), index);
        self.names.push(name);
        Some(index)
    }

    /// The code object at an address.
    #[inline]
    pub fn find(&self, process: Process, address: u64) -> Option<Code> {
        if self.count == 0 {
            return None;
        }
        let (_, code) = self.processes.get(&process)?.range(..=address).next_back()?;
        (address <= code.last).then_some(*code)
    }

    /// Forgets the code objects of a process that have any of some addresses, the last one
    /// included. Returns whether there was one.
    pub fn forget(&mut self, process: Process, first: u64, last: u64) -> bool {
        let Some(codes) = self.processes.get_mut(&process) else { return false };
        let before = codes.len();
        while let Some((&base, code)) = codes.range(..=last).next_back() {
            if code.last < first {
                break;
            }
            codes.remove(&base);
        }
        let forgotten = before - codes.len();
        self.count -= forgotten;
        forgotten > 0
    }

    /// The name with an index.
    pub fn name(&self, index: u32) -> Option<&CodeName> {
        self.names.get(index as usize)
    }

    /// Whether anything was told.
    pub fn has_any(&self) -> bool {
        !self.names.is_empty()
    }

    /// How many code objects are left out, since there are too many.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESS: Process = (0, 1);

    fn told(function: &str) -> Told {
        Told { path: b"/a.py"[..].into(), function: function.as_bytes().into(), line: 1 }
    }

    fn name_at(codes: &Codes, address: u64) -> Option<&[u8]> {
        let code = codes.find(PROCESS, address)?;
        codes.name(code.name).map(|name| &name.function[..])
    }

    #[test]
    fn equal_functions_share_a_name() {
        let mut codes = Codes::default();
        for (base, function) in [(0x10, "f"), (0x20, "g"), (0x30, "f")] {
            codes.add(PROCESS, base, 8, &told(function));
        }
        assert_eq!(codes.names.len(), 2);
        assert_eq!(codes.find(PROCESS, 0x37).map(|code| (code.base, code.name)), Some((0x30, 0)));
        assert_eq!(codes.find(PROCESS, 0x38), None);
        assert_eq!(codes.find((0, 2), 0x30), None);
        assert_eq!(codes.bytes, "/a.py".len() + 2);
    }

    #[test]
    fn what_is_told_later_takes_the_addresses() {
        let mut codes = Codes::default();
        codes.add(PROCESS, 0x10, 8, &told("f"));
        codes.add(PROCESS, 0x20, 8, &told("g"));
        codes.add(PROCESS, 0x30, 8, &told("h"));
        codes.add(PROCESS, 0x17, 0x10, &told("other"));
        assert_eq!(name_at(&codes, 0x10), None);
        assert_eq!(name_at(&codes, 0x20), Some(&b"other"[..]));
        assert_eq!(name_at(&codes, 0x30), Some(&b"h"[..]));
        assert_eq!(codes.count, 2);
    }

    #[test]
    fn sizes_and_addresses_may_be_any() {
        let mut codes = Codes::default();
        codes.add(PROCESS, 5, 0, &told("nothing"));
        assert!(!codes.has_any());
        codes.add(PROCESS, u64::MAX, u64::MAX, &told("end"));
        assert_eq!(name_at(&codes, u64::MAX), Some(&b"end"[..]));
        codes.add(PROCESS, 0, u64::MAX, &told("most"));
        assert_eq!(name_at(&codes, u64::MAX - 1), Some(&b"most"[..]));
        assert!(codes.forget(PROCESS, 0, u64::MAX));
        assert_eq!((codes.count, codes.find(PROCESS, 7)), (0, None));
    }

    #[test]
    fn what_is_too_much_is_left_out() {
        let mut codes = Codes::default();
        codes.add(PROCESS, 0x10, 8, &told("f"));
        let long = Told { path: vec![b'a'; MOST_BYTES].into(), ..told("g") };
        codes.add(PROCESS, 0x10, 8, &long);
        // Neither that one, nor what was there before it.
        assert_eq!((codes.left_out(), codes.find(PROCESS, 0x10)), (1, None));
        codes.add(PROCESS, 0x10, 8, &told("h"));
        assert_eq!(name_at(&codes, 0x10), Some(&b"h"[..]));
    }
}
