//! The texts that stand for a place in a trace: object, function and source line.
//!
//! The rules are those of `vestige.debuginfo.formatting` and `.resolver`, for the many
//! addresses of a trace at once; tests hold the two against each other.

use std::fmt::Write as _;

use crate::answer::{Frame, Lookup};

/// How the places in one mapped object are written.
#[derive(Debug, Clone)]
pub struct PlaceFormat {
    /// The name of the object, in the form to show.
    pub name: String,
    /// Where a position-independent object is mapped; `None` for one at fixed addresses.
    pub base: Option<u64>,
    /// What is added to an address in the process, wrapping, for that in the file.
    pub shift: u64,
    /// The bits of addresses in the file.
    pub mask: u64,
    /// Whether to write the whole path of source files.
    pub full_path: bool,
    /// Whether to write readable names and not those of the linker.
    pub demangle: bool,
    /// How the names of functions begin whose inlined calls are hidden.
    pub helpers: Vec<String>,
}

impl PlaceFormat {
    /// The address in the file of an address in the process.
    pub fn file_address(&self, address: u64) -> u64 {
        address.wrapping_add(self.shift) & self.mask
    }

    /// The texts for an address in the process, of which `found` is known.
    pub fn texts(&self, address: u64, found: Option<&Lookup>) -> [String; 3] {
        let Some(found) = found else {
            return [self.binary(address), String::new(), String::new()];
        };
        [self.binary(address), self.function(found), self.source(found)]
    }

    fn binary(&self, address: u64) -> String {
        let (separator, number) = match self.base {
            Some(base) => ('+', address.wrapping_sub(base)),
            None => ('@', address),
        };
        let mut text = String::with_capacity(self.name.len() + 19);
        text.push_str(&self.name);
        text.push(separator);
        push_hexadecimal(&mut text, number);
        text
    }

    fn function(&self, found: &Lookup) -> String {
        let Some(function) = &found.function else { return String::new() };
        let linkage = function.linkage_name.as_ref();
        let linkage = linkage.filter(|name| !self.demangle && !name.is_empty());
        let name = linkage.unwrap_or(&function.name);
        let mut text = String::with_capacity(name.len() + 12);
        text.push_str(name);
        text.push('+');
        // A part that the compiler split off may lie before the entry.
        if function.offset < 0 {
            text.push('-');
        }
        push_hexadecimal(&mut text, function.offset.unsigned_abs());
        text
    }

    fn source(&self, found: &Lookup) -> String {
        let (directory, file, line) = match self.visible_frame(found) {
            Some(frame) => {
                let path = frame.path.as_deref().unwrap_or_default();
                let (directory, file) = match path.rsplit_once('/') {
                    Some(("", file)) => ("/", file),
                    Some(parts) => parts,
                    None => ("", path),
                };
                (directory, file, frame.line.unwrap_or_default())
            }
            None => match &found.location {
                Some(place) => (place.directory.as_ref(), place.file.as_ref(), place.line),
                None => return String::new(),
            },
        };
        if file.is_empty() || line == 0 {
            return String::new();
        }
        let last = file.rsplit('/').next().filter(|last| !last.is_empty() && !self.full_path);
        let mut text = String::with_capacity(file.len() + 8);
        if last.is_none() && !directory.is_empty() && !file.starts_with('/') {
            text.push_str(directory.trim_end_matches('/'));
            text.push('/');
        }
        text.push_str(last.unwrap_or(file));
        // Writing to a string cannot fail.
        let _ = write!(text, ":{line}");
        text
    }

    /// The call site of the outermost inlined helper; `None` where there is no helper.
    fn visible_frame<'a>(&self, found: &'a Lookup) -> Option<&'a Frame> {
        // The last frame is a function of its own, not inlined.
        let inlined = found.frames.len().checked_sub(1)?;
        let is_helper = |frame: &Frame| {
            let name = frame.function.as_deref().unwrap_or_default();
            self.helpers.iter().any(|helper| name.starts_with(helper.as_str()))
        };
        let helper = found.frames.get(..inlined)?.iter().rposition(is_helper)?;
        found.frames.get(helper + 1)
    }
}

fn push_hexadecimal(text: &mut String, number: u64) {
    // Zero has no "0x" in front, as with C's "%#lx".
    if number == 0 {
        text.push('0');
    } else {
        // Writing to a string cannot fail.
        let _ = write!(text, "{number:#x}");
    }
}
