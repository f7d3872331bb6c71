//! Where an event comes from: `function at file:line`.

use vestige_escapes::push_safe;

use super::options::Colors;
use super::width::{columns, cut};
use crate::text::digits::push_hexadecimal;

/// What a call ended with, where that is not known.
const UNKNOWN: &[u8] = b"...";
/// How the text of an exception begins that ended a call; texts of values begin otherwise.
const RAISES: &[u8] = b"raises ";

/// A place as text.
#[derive(Debug, Clone, Default)]
pub struct PlaceText {
    text: Vec<u8>,
    columns: usize,
    /// Bytes and columns of the function, of which something is cut first.
    function: (usize, usize),
    /// Bytes of the words that link it with what comes next.
    link: usize,
}

impl PlaceText {
    /// The text of object, function and source line, of which each may be empty.
    pub fn new([object, function, source]: [&str; 3], colors: &Colors) -> Self {
        let mut place = Self::default();
        let shown = if source.is_empty() { function } else { without_offset(function) };
        place.push("", shown, colors.function, colors.reset);
        place.function = (place.text.len(), columns(&place.text));
        if !source.is_empty() {
            let link = if function.is_empty() { "at " } else { " at " };
            place.link = link.len();
            place.push(link, source, colors.source, colors.reset);
        } else if function.is_empty() {
            place.push("", object, colors.function, colors.reset);
        } else if !object.is_empty() {
            place.link = " in ".len();
            place.push(" in ", without_offset(object), colors.source, colors.reset);
        }
        place.columns = columns(&place.text);
        place
    }

    /// Makes it the text of an address of which nothing is known.
    pub fn set_address(&mut self, address: u64) {
        self.text.clear();
        self.text.extend_from_slice(b"0x");
        push_hexadecimal(&mut self.text, address);
        (self.columns, self.function, self.link) = (self.text.len(), (0, 0), 0);
    }

    /// What is called, and where that is; the latter is empty where one of them is known.
    pub fn parts(&self) -> (&[u8], &[u8]) {
        let (bytes, _) = self.function;
        let (function, rest) = self.text.split_at_checked(bytes).unwrap_or((&self.text, b""));
        match function {
            b"" => (rest, b""),
            _ => (function, rest.get(self.link..).unwrap_or_default()),
        }
    }

    /// Makes it the text of another place with what its function is called with, or what the
    /// call ended with.
    pub fn set_call(&mut self, place: &Self, arguments: &[u8], result: &[u8]) {
        let (bytes, _) = place.function;
        let at = if bytes == 0 { place.text.len() } else { bytes };
        let (function, rest) = place.text.split_at_checked(at).unwrap_or((&place.text, b""));
        self.text.clear();
        self.text.extend_from_slice(function);
        push_safe(&mut self.text, arguments, b"");
        if !matches!(result, b"" | UNKNOWN) {
            self.text.extend_from_slice(if result.starts_with(RAISES) { b" " } else { b" -> " });
            push_safe(&mut self.text, result, b"");
        }
        self.link = place.link;
        self.function = if bytes == 0 { (0, 0) } else { (self.text.len(), columns(&self.text)) };
        self.text.extend_from_slice(rest);
        self.columns = columns(&self.text);
    }

    fn push(&mut self, link: &str, text: &str, color: &str, reset: &str) {
        if text.is_empty() {
            return;
        }
        self.text.extend_from_slice(link.as_bytes());
        self.text.extend_from_slice(color.as_bytes());
        push_safe(&mut self.text, text.as_bytes(), b"");
        self.text.extend_from_slice(reset.as_bytes());
    }

    /// Columns of all of it; none when nothing is known.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Appends it.
    #[inline]
    pub fn push_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.text);
    }

    /// Appends it with fewer columns: the function is cut before the line.
    #[cold]
    pub fn push_cut(&self, out: &mut Vec<u8>, room: usize, sign: &str, reset: &str) {
        let start = out.len();
        let (bytes, width) = self.function;
        let tail = self.columns - width;
        let (function, rest) = self.text.split_at_checked(bytes).unwrap_or((&self.text, b""));
        out.extend_from_slice(function);
        let left = room.saturating_sub(tail);
        if width > left && left > 1 {
            cut(out, start, left, sign, reset);
            out.extend_from_slice(rest);
        } else {
            out.extend_from_slice(rest);
            cut(out, start, room, sign, reset);
        }
    }
}

/// A name without what tells how far behind it an address is: `main` of `main+0x1c`.
fn without_offset(text: &str) -> &str {
    match text.rsplit_once('+') {
        Some((name, offset)) if offset == "0" || offset.starts_with("0x") => name,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(object: &str, function: &str, source: &str) -> String {
        let place = PlaceText::new([object, function, source], &Colors::default());
        assert_eq!(place.columns(), place.text.len());
        String::from_utf8(place.text).unwrap()
    }

    #[test]
    fn a_place_says_as_much_as_is_known() {
        assert_eq!(text("a+0x1224", "main+0", "a.c:5"), "main at a.c:5");
        assert_eq!(text("a+0x1224", "operator++0x1c", "a.c:5"), "operator+ at a.c:5");
        assert_eq!(text("a+0x1224", "main+0x1c", ""), "main+0x1c in a");
        assert_eq!(text("libc.so.6+0x1224", "", ""), "libc.so.6+0x1224");
        assert_eq!(text("", "", ""), "");
    }

    #[test]
    fn a_call_is_shown_with_its_function() {
        let place = PlaceText::new(["", "total", "a.py:5"], &Colors::default());
        let mut address = PlaceText::default();
        address.set_address(16);
        for (place, arguments, result, expected) in [
            (&place, "(n=3)", "", "total(n=3) at a.py:5"),
            (&place, "", "'x\u{1b}'", "total -> 'x\\e' at a.py:5"),
            (&place, "", "raises KeyError", "total raises KeyError at a.py:5"),
            (&place, "", "...", "total at a.py:5"),
            (&address, "(n=3)", "", "0x10(n=3)"),
            (&PlaceText::default(), "(n=3)", "", "(n=3)"),
        ] {
            let mut call = PlaceText::default();
            call.set_call(place, arguments.as_bytes(), result.as_bytes());
            assert_eq!(String::from_utf8(call.text.clone()).unwrap(), expected);
            assert_eq!(call.columns(), expected.len());
        }
    }

    #[test]
    fn arguments_are_cut_before_the_line() {
        let place = PlaceText::new(["", "total", "a.py:5"], &Colors::default());
        let mut call = PlaceText::default();
        call.set_call(&place, b"(items=[3 items])", b"");
        let mut out = Vec::new();
        call.push_cut(&mut out, 22, "~", "");
        assert_eq!(String::from_utf8(out).unwrap(), "total(items~ at a.py:5");
    }

    #[test]
    fn the_function_is_cut_before_the_line() {
        let parts = ["a+0x1", "a_very_long_name+0", "file.c:5"];
        let place = PlaceText::new(parts, &Colors::default());
        for (room, expected) in [(18, "a_ver~ at file.c:5"), (10, "a_very_lo~"), (1, "~")] {
            let mut out = Vec::new();
            place.push_cut(&mut out, room, "~", "");
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
