//! Answers as text: in the form of `addr2line`, for people, and as JSON.
//!
//! One answer is a few lines; many are written in one go, without an object for each.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write as _;

use rayon::prelude::*;

use crate::answer::{Location, Lookup, Unresolved};
use crate::lookup::symbol_table::{SymbolNames, SymbolTable};
use vestige_escapes::push_safe;
use vestige_workers::on_all_cores;

const UNKNOWN: &str = "??";
/// How mangled names of C++, Rust and D begin.
const MANGLED: [&str; 3] = ["_Z", "_R", "_D"];
/// So many answers are written by one thread at a time.
const BLOCK: usize = 512;
/// What a short answer takes.
const SHORT: usize = 64;
/// More hexadecimal digits are no address.
const MAX_DIGITS: usize = 16;

/// What `addr2line` prints: its options of the same names.
#[derive(Debug, Clone, Copy, Default)]
pub struct Addr2lineStyle {
    /// Names of functions.
    pub functions: bool,
    /// All frames, not only the innermost.
    pub inlines: bool,
    /// The address first.
    pub addresses: bool,
    /// Files without their directories.
    pub base_names: bool,
    /// Readable names instead of those of the linker.
    pub demangle: bool,
    /// One line a frame.
    pub pretty: bool,
}

/// The form of answers.
#[derive(Debug, Clone, Copy)]
pub enum AnswerStyle {
    /// As `addr2line` writes them.
    Addr2line(Addr2lineStyle),
    /// For people.
    People {
        /// Whether names are readable instead of those of the linker.
        demangle: bool,
        /// Whether to say why something is missing.
        verbose: bool,
    },
    /// One JSON object a line.
    Json,
}

impl AnswerStyle {
    /// Whether some of the names are those of the source.
    fn demangles(self) -> bool {
        match self {
            Self::Addr2line(style) => style.demangle,
            Self::People { demangle, .. } => demangle,
            Self::Json => true,
        }
    }
}

/// What the answers say of the object, and how they say what is missing.
#[derive(Debug, Clone, Default)]
pub struct Subject {
    /// The width of its addresses.
    pub bits: u8,
    /// Its name without directories.
    pub name: Vec<u8>,
    /// Its path, its build ID and the source of the names, each as JSON.
    pub json: [String; 3],
    /// A phrase for each reason that a lookup gives, for `no-line`, a function without a
    /// line, and for `no-address`, a line of input that holds something else.
    pub reasons: HashMap<String, String>,
}

/// Writes the answers of one object in one form.
#[derive(Debug, Clone)]
pub struct AnswerWriter {
    /// The form.
    pub style: AnswerStyle,
    /// The object.
    pub subject: Subject,
}

/// One frame as it is shown.
pub struct ShownFrame<'a> {
    /// The name of its function.
    pub function: Option<&'a str>,
    /// The name of its symbol.
    pub linkage: Option<&'a str>,
    /// The file.
    pub file: Option<Cow<'a, str>>,
    /// The line in it.
    pub line: Option<u32>,
}

/// What is said of one address.
#[derive(Default)]
pub struct Shown<'a> {
    /// The address; none where there was none to look up.
    pub address: Option<u64>,
    /// Whether an object is known there.
    pub has_object: bool,
    /// The function, and the distance from its entry.
    pub function: Option<(&'a str, i64)>,
    /// The frames, innermost first; the last one is `function`.
    pub frames: Vec<ShownFrame<'a>>,
    /// The column of the innermost.
    pub column: Option<u32>,
    /// Why there is no function, or no line.
    pub reason: Option<&'a str>,
}

impl AnswerWriter {
    /// Answers for each line of `text`; gives beside it the numbers, from 0, of the lines
    /// that are no address. Each but the last ends in a newline.
    pub fn answer(&self, table: &SymbolTable, text: &[u8]) -> (Vec<u8>, Vec<usize>) {
        let words: Vec<Option<u64>> = text.split(|byte| *byte == b'\n').map(address).collect();
        let mask = if self.subject.bits == 32 { u64::from(u32::MAX) } else { u64::MAX };
        // Neighbours share what is in the processor's cache, so answers are made by address.
        let known = words.iter().enumerate();
        let mut order: Vec<(u64, usize)> =
            known.filter_map(|(number, word)| Some(((*word)?, number))).collect();
        order.sort_unstable();
        table.prepare(order.iter().map(|(address, _)| address & mask));
        let write = |block: &[(u64, usize)]| {
            let mut text = Vec::with_capacity(block.len() * SHORT);
            let mut ends = Vec::with_capacity(block.len());
            let mut names = SymbolNames::new(self.style.demangles());
            for (address, _) in block {
                let found = table.lookup_with(address & mask, &mut names);
                self.write(&self.shown(*address, &found), &mut text);
                ends.push(text.len());
            }
            (text, ends)
        };
        let blocks: Vec<_> = on_all_cores(|| order.par_chunks(BLOCK).map(write).collect());
        let mut unknown = Vec::new();
        self.write(&self.not_looked_up(), &mut unknown);
        let mut answers = vec![unknown.as_slice(); words.len()];
        for (addresses, (text, ends)) in order.chunks(BLOCK).zip(&blocks) {
            let mut start = 0;
            for ((_, number), end) in addresses.iter().zip(ends) {
                if let (Some(place), Some(answer)) =
                    (answers.get_mut(*number), text.get(start..*end))
                {
                    *place = answer;
                }
                start = *end;
            }
        }
        let is_bad = |(number, word): (usize, &Option<u64>)| word.is_none().then_some(number);
        (answers.concat(), words.iter().enumerate().filter_map(is_bad).collect())
    }

    /// Appends an answer.
    pub fn write(&self, answer: &Shown<'_>, out: &mut Vec<u8>) {
        match self.style {
            AnswerStyle::Addr2line(style) => {
                let bits = if answer.address.is_none() { 64 } else { self.subject.bits };
                write_addr2line(style, answer.address.unwrap_or(0), bits, &answer.frames, out);
            }
            AnswerStyle::People { demangle, verbose } => {
                self.write_people(answer, demangle, verbose, out);
            }
            AnswerStyle::Json => self.write_json(answer, out),
        }
    }

    /// What is said of a line that is no address.
    fn not_looked_up(&self) -> Shown<'_> {
        let reason = self.subject.reasons.get("no-address").map(String::as_str);
        Shown { reason, ..Shown::default() }
    }

    /// What is said of a lookup.
    fn shown<'a>(&'a self, address: u64, found: &'a Lookup) -> Shown<'a> {
        let location = found.location.as_ref();
        let reason = match &found.function {
            None => Some(found.reason.map_or("no-function-there", Unresolved::as_str)),
            Some(_) if location.is_none_or(|place| place.line == 0) => Some("no-line"),
            Some(_) => None,
        };
        Shown {
            address: Some(address),
            has_object: true,
            function: found.function.as_ref().map(|place| (&*place.name, place.offset)),
            frames: shown_frames(found),
            column: location.and_then(|location| location.column),
            reason: reason.and_then(|name| self.subject.reasons.get(name)).map(String::as_str),
        }
    }

    fn write_people(&self, answer: &Shown<'_>, demangle: bool, verbose: bool, out: &mut Vec<u8>) {
        let unknown = || UNKNOWN.to_owned();
        let address = answer.address.map_or_else(unknown, |address| format!("{address:#x}"));
        for (index, frame) in answer.frames.iter().enumerate() {
            if index == 0 {
                put(out, [&address, "  "]);
            } else {
                out.extend(std::iter::repeat_n(b' ', address.len() + 4));
                put(out, ["inlined by "]);
            }
            let plain = frame.function;
            let name = if demangle { plain } else { present(frame.linkage).or(plain) };
            push_safe(out, present(name).unwrap_or(UNKNOWN).as_bytes(), b"");
            if let (Some((_, offset)), Some(_)) = (answer.function, present(name)) {
                if index + 1 == answer.frames.len() {
                    write_offset(offset, out);
                }
            }
            put(out, [" at "]);
            match frame.line.filter(|line| *line > 0) {
                Some(_) => {
                    let mut place = Vec::new();
                    write_place(frame, false, &mut place);
                    push_safe(out, &place, b"");
                }
                None => put(out, [UNKNOWN, ":0"]),
            }
            if index == 0 {
                self.write_tail(answer, verbose, out);
            }
            out.push(b'\n');
        }
        if answer.frames.is_empty() {
            put(out, [&address, "  ", UNKNOWN, " ", UNKNOWN, ":0"]);
            self.write_tail(answer, verbose, out);
            out.push(b'\n');
        }
    }

    fn write_tail(&self, answer: &Shown<'_>, verbose: bool, out: &mut Vec<u8>) {
        let name = self.subject.name.as_slice();
        if answer.has_object && !name.is_empty() {
            // What is no file, such as the vDSO, has brackets of its own.
            let (open, close) = if name.starts_with(b"[") { ("  ", "") } else { ("  [", "]") };
            put(out, [open]);
            push_safe(out, name, b"");
            put(out, [close]);
        }
        if let Some(reason) = answer.reason.filter(|_| verbose) {
            put(out, ["  (", reason, ")"]);
        }
    }

    fn write_json(&self, answer: &Shown<'_>, out: &mut Vec<u8>) {
        let Shown { function, frames, .. } = answer;
        let column = answer.column.filter(|column| *column > 0);
        let [path, build_id, source] = &self.subject.json;
        let known = |text| if answer.has_object { text } else { "null" };
        let address = answer.address.map(|address| format!("{address:#x}"));
        let innermost = frames.first();
        put(out, ["{\"address\": "]);
        put_text(address.as_deref(), out);
        put(out, [", \"object\": ", known(path), ", \"build_id\": ", known(build_id)]);
        put(out, [", \"function\": "]);
        put_text(function.map(|(name, _)| name), out);
        put(out, [", \"offset\": "]);
        let named = function.filter(|(name, _)| !name.is_empty());
        put_number(named.map(|(_, offset)| offset), out);
        put(out, [", \"file\": "]);
        put_text(innermost.and_then(|frame| frame.file.as_deref()), out);
        put(out, [", \"line\": "]);
        put_number(innermost.and_then(|frame| frame.line), out);
        put(out, [", \"column\": "]);
        put_number(column, out);
        put(out, [", \"frames\": ["]);
        for (index, frame) in frames.iter().enumerate() {
            put(out, [if index == 0 { "{\"function\": " } else { ", {\"function\": " }]);
            put_text(frame.function, out);
            put(out, [", \"file\": "]);
            put_text(frame.file.as_deref(), out);
            put(out, [", \"line\": "]);
            put_number(frame.line, out);
            put(out, [", \"linkage_name\": "]);
            put_text(frame.linkage, out);
            out.push(b'}');
        }
        put(out, ["], \"source\": ", known(source), ", \"reason\": "]);
        put_text(answer.reason, out);
        put(out, ["}\n"]);
    }
}

/// The frames of an answer; one where nothing is inlined, none where nothing is known.
fn shown_frames(found: &Lookup) -> Vec<ShownFrame<'_>> {
    if !found.frames.is_empty() {
        let shown = found.frames.iter().map(|frame| ShownFrame {
            function: frame.function.as_deref(),
            linkage: frame.linkage_name.as_deref(),
            file: frame.path.as_deref().map(Cow::Borrowed),
            line: frame.line,
        });
        return shown.collect();
    }
    let function = found.function.as_ref();
    let file = found.location.as_ref().and_then(path_of);
    if function.is_none_or(|place| place.name.is_empty()) && file.is_none() {
        return Vec::new();
    }
    vec![ShownFrame {
        function: function.map(|place| &*place.name),
        linkage: function.and_then(|place| place.linkage_name.as_deref()),
        file,
        line: found.location.as_ref().map(|location| location.line).filter(|line| *line > 0),
    }]
}

/// The full path of a file, as far as it is known.
fn path_of(location: &Location) -> Option<Cow<'_, str>> {
    let (directory, file) = (&*location.directory, &*location.file);
    if file.is_empty() {
        return None;
    }
    if directory.is_empty() || file.starts_with('/') {
        return Some(Cow::Borrowed(file));
    }
    Some(Cow::Owned(format!("{}/{file}", directory.trim_end_matches('/'))))
}

fn write_addr2line(
    style: Addr2lineStyle,
    address: u64,
    bits: u8,
    frames: &[ShownFrame<'_>],
    out: &mut Vec<u8>,
) {
    let digits = if bits == 32 { 8 } else { 16 };
    if style.addresses {
        write_to(out, format_args!("0x{address:0digits$x}"));
        put(out, [if style.pretty { ": " } else { "\n" }]);
    }
    if frames.is_empty() {
        if style.functions {
            put(out, [UNKNOWN, if style.pretty { " " } else { "\n" }]);
        }
        put(out, [UNKNOWN, ":0\n"]);
        return;
    }
    let count = if style.inlines { frames.len() } else { 1 };
    for (index, frame) in frames.iter().take(count).enumerate() {
        if style.pretty && index > 0 {
            put(out, [" (inlined by) "]);
        }
        if style.functions {
            put(out, [name_of(frame, style.demangle)]);
            put(out, [if style.pretty { " at " } else { "\n" }]);
        }
        write_place(frame, style.base_names, out);
        out.push(b'\n');
    }
}

/// Of a C function the symbol may be that of a clone, such as `f.part.0`: it is not shown.
fn name_of<'a>(frame: &ShownFrame<'a>, demangle: bool) -> &'a str {
    let mangled = |symbol: &&str| MANGLED.iter().any(|start| symbol.starts_with(start));
    let symbol = frame.linkage.filter(mangled).filter(|_| !demangle);
    symbol.or(present(frame.function)).unwrap_or(UNKNOWN)
}

fn write_place(frame: &ShownFrame<'_>, base_names: bool, out: &mut Vec<u8>) {
    let file = present(frame.file.as_deref()).unwrap_or(UNKNOWN);
    let base = file.rsplit('/').next().filter(|base| base_names && !base.is_empty());
    put(out, [base.unwrap_or(file), ":"]);
    match frame.line.filter(|line| *line > 0) {
        Some(line) => write_to(out, format_args!("{line}")),
        None => out.push(b'?'),
    }
}

fn write_offset(offset: i64, out: &mut Vec<u8>) {
    let sign = if offset < 0 { '-' } else { '+' };
    write_to(out, format_args!("{sign}{:#x}", offset.unsigned_abs()));
}

/// An empty name is as good as none.
fn present(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

fn put<const N: usize>(out: &mut Vec<u8>, texts: [&str; N]) {
    texts.iter().for_each(|text| out.extend(text.as_bytes()));
}

fn write_to(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Memory takes all that is written to it.
    let _ = out.write_fmt(text);
}

fn put_number(number: Option<impl std::fmt::Display>, out: &mut Vec<u8>) {
    match number {
        Some(number) => write_to(out, format_args!("{number}")),
        None => put(out, ["null"]),
    }
}

/// A JSON string (RFC 8259, section 7) of ASCII characters only.
fn put_text(text: Option<&str>, out: &mut Vec<u8>) {
    let Some(text) = text else {
        put(out, ["null"]);
        return;
    };
    out.push(b'"');
    for character in text.chars() {
        match character {
            '"' => put(out, ["\\\""]),
            '\\' => put(out, ["\\\\"]),
            '\n' => put(out, ["\\n"]),
            '\r' => put(out, ["\\r"]),
            '\t' => put(out, ["\\t"]),
            '\u{8}' => put(out, ["\\b"]),
            '\u{c}' => put(out, ["\\f"]),
            ' '..='~' => out.push(character as u8),
            other => {
                let mut units = [0; 2];
                for unit in other.encode_utf16(&mut units) {
                    write_to(out, format_args!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push(b'"');
}

/// The address that a line of input holds: hexadecimal, with or without `0x`.
fn address(line: &[u8]) -> Option<u64> {
    let is_space = |byte: &u8| matches!(byte, b'\t'..=b'\r' | 0x1c..=0x20);
    let start = line.iter().position(|byte| !is_space(byte))?;
    let end = line.iter().rposition(|byte| !is_space(byte))?;
    let word = line.get(start..=end)?;
    let digits = word.strip_prefix(b"0x").or_else(|| word.strip_prefix(b"0X")).unwrap_or(word);
    if digits.is_empty() || digits.len() > MAX_DIGITS {
        return None;
    }
    let digit = |byte: &u8| (*byte as char).to_digit(16).map(u64::from);
    digits.iter().try_fold(0, |value, byte| Some(value << 4 | digit(byte)?))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::answer::{Frame, FunctionPlace};

    fn text(style: AnswerStyle, answer: Option<(u64, &Lookup)>) -> String {
        let reasons =
            [("outside-of-text", "no code"), ("no-line", "no line"), ("no-address", "no address")];
        let reasons = reasons.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
        let json = ["\"/bin/a\"".into(), "null".into(), "\"symbols\"".into()];
        let subject = Subject { bits: 32, name: b"a".to_vec(), json, reasons };
        let mut out = Vec::new();
        let writer = AnswerWriter { style, subject };
        let shown = answer.map_or_else(
            || writer.not_looked_up(),
            |(address, found)| writer.shown(address, found),
        );
        writer.write(&shown, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn inlined() -> Lookup {
        let frame = |function: &str, linkage: Option<&str>, line| Frame {
            function: Some(function.into()),
            linkage_name: linkage.map(Arc::from),
            path: Some("/src/a.c".into()),
            line,
        };
        Lookup {
            function: Some(FunctionPlace {
                name: "outer".into(),
                linkage_name: None,
                entry: 0x10,
                offset: -2,
            }),
            frames: vec![frame("in(int)", Some("_Z2ini"), Some(3)), frame("outer", None, None)],
            ..Lookup::default()
        }
    }

    #[test]
    fn addresses_are_hexadecimal_words() {
        let good: [&[u8]; 4] = [b"ff", b"0xff", b"\t0XFF\r", b" 00000000000000ff "];
        for word in good {
            assert_eq!(address(word), Some(255));
        }
        let bad: [&[u8]; 7] = [b"", b" ", b"0x", b"-1", b"f f", b"00000000000000000", b"\xff"];
        for word in bad {
            assert_eq!(address(word), None);
        }
        assert_eq!(address(b"0xffffffffffffffff"), Some(u64::MAX));
    }

    #[test]
    fn the_form_of_addr2line() {
        let found = inlined();
        let style = Addr2lineStyle { functions: true, inlines: true, ..Default::default() };
        let plain = text(AnswerStyle::Addr2line(style), Some((14, &found)));
        assert_eq!(plain, "_Z2ini\n/src/a.c:3\nouter\n/src/a.c:?\n");
        let style = Addr2lineStyle {
            addresses: true,
            base_names: true,
            demangle: true,
            pretty: true,
            ..style
        };
        let pretty = text(AnswerStyle::Addr2line(style), Some((14, &found)));
        assert_eq!(pretty, "0x0000000e: in(int) at a.c:3\n (inlined by) outer at a.c:?\n");
        let nothing = text(AnswerStyle::Addr2line(style), None);
        assert_eq!(nothing, "0x0000000000000000: ?? ??:0\n");
    }

    #[test]
    fn the_form_for_people() {
        let style = AnswerStyle::People { demangle: true, verbose: true };
        let found = inlined();
        assert_eq!(
            text(style, Some((14, &found))),
            "0xe  in(int) at /src/a.c:3  [a]  (no line)\n       inlined by outer-0x2 at ??:0\n"
        );
        let nothing = Lookup { reason: Some(Unresolved::OutsideOfText), ..Lookup::default() };
        assert_eq!(text(style, Some((14, &nothing))), "0xe  ?? ??:0  [a]  (no code)\n");
        assert_eq!(text(style, None), "??  ?? ??:0  (no address)\n");
    }

    #[test]
    fn nothing_that_people_see_steers_a_terminal() {
        let frame = Frame {
            function: Some("f\u{1b}[2J".into()),
            linkage_name: None,
            path: Some("/\u{9b}/\u{202e}a.c".into()),
            line: Some(3),
        };
        let found = Lookup { frames: vec![frame], ..Lookup::default() };
        let style = AnswerStyle::People { demangle: true, verbose: false };
        let subject = Subject { bits: 64, name: b"a\x1b\xff".to_vec(), ..Subject::default() };
        let mut out = Vec::new();
        let writer = AnswerWriter { style, subject };
        writer.write(&writer.shown(14, &found), &mut out);
        let expected = "0xe  f\\e[2J at /\\u009b/\\u202ea.c:3  [a\\e\\xff]\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn json_has_ascii_characters_only() {
        let name = "a\"\\\n\u{7f}é😀";
        let function = FunctionPlace { name: name.into(), linkage_name: None, entry: 0, offset: 1 };
        let found = Lookup { function: Some(function), ..Lookup::default() };
        let line = text(AnswerStyle::Json, Some((1, &found)));
        let escaped = "\"function\": \"a\\\"\\\\\\n\\u007f\\u00e9\\ud83d\\ude00\"";
        assert!(line.contains(escaped), "{line}");
        assert!(line.starts_with("{\"address\": \"0x1\", \"object\": \"/bin/a\", "), "{line}");
        assert!(line.ends_with("\"source\": \"symbols\", \"reason\": \"no line\"}\n"), "{line}");
    }
}
